// SPDX-License-Identifier: Apache-2.0
#include "firmware/mgmt/generation.h"

#include <stddef.h>

#include "firmware/lib/axi_map.h"

#define MIB (1ull << 20)

static const struct generation generations[] = {
    // One row for Trainium2 and Trainium3: firmware reads their differences (sizes of stacks) from
    // the hardware.
    {.numbers = {3, 4},
     .api_version = 7,
     .dies = 2,
     .stacks = 4,
     .host_window = AXI_HOST_WINDOW,
     .readable = {AXI_APB_IO, AXI_APB_IO_SIZE},
     .top_sps = {{10, 0x8280000000, 1024 * MIB}, {10, AXI_DIE_1 + 0x8280000000, 1024 * MIB}},
     .core_groups = 4,
     .cores = {{2, AXI_APB_IO + 0x06000000, 0x180000},
               {2, AXI_APB_IO + 0x06400000, 0x180000},
               {2, AXI_DIE_1 + AXI_APB_IO + 0x06000000, 0x180000},
               {2, AXI_DIE_1 + AXI_APB_IO + 0x06400000, 0x180000}},
     .sram_errors = 0x160000,
     .dma_groups = 6,
     .dma = {{32, 0x1002000000, MIB},
             {32, 0x5004000000, MIB},
             {32, AXI_DIE_1 + 0x1002000000, MIB},
             {32, AXI_DIE_1 + 0x5004000000, MIB},
             {2, AXI_APB_IO + 0x06800000, MIB},
             {2, AXI_DIE_1 + AXI_APB_IO + 0x06800000, MIB}},
     .reset = {.cores = {0, 8},
               .dma_groups = {8, 8},
               .top_sps = {16, 8},
               .top_sps_per_die = 4,
               .top_sp_lines_per_die = 5,
               .host_engines = 4,
               .dma_groups_per_host_engine = 2},
     .simulator_word_is_map = true},
    // Trainium1 and Inferentia2 (contract 15)
    {.numbers = {2, 2},
     .api_version = 5,
     .dies = 1,
     .stacks = 2,
     .host_window = 0x100000000000,
     .readable = {0xfffc0000000, 0x40000000},
     .top_sps = {{6, 0xfffd0000000, 4 * MIB}},
     .core_groups = 1,
     .cores = {{2, 0xffff0530000, 7 * MIB}},
     .sram_errors = 0xa0000,
     .dma_groups = 4,
     .dma = {{16, 0xffff0000000, MIB / 4},
             {16, 0xffff0700000, MIB / 4},
             {1, 0xffff0600000, 0},
             {1, 0xffff0d00000, 0}},
     .reset = {.cores = {0, 2},
               .dma_groups = {0, 2},
               .top_sps = {8, 6},
               .top_sps_per_die = 6,
               .top_sp_lines_per_die = 6,
               .host_engines = 2,
               .dma_groups_per_host_engine = 1}},
};

const struct generation* generation;

bool generation_select(unsigned number) {
    generation = NULL;
    for (unsigned n = 0; n < sizeof generations / sizeof generations[0]; ++n)
        if (generations[n].numbers[0] == number || generations[n].numbers[1] == number)
            generation = &generations[n];
    return generation != NULL;
}
