// SPDX-License-Identifier: Apache-2.0
// Blocks in the chip's AXI space, generation 4 (contract section 3.1 and 3.2).
#pragma once

#include <stdint.h>

#define AXI_DIE_1 0x800000000000ull  // address bit that selects die 1
#define AXI_HOST_WINDOW 0x400000000000ull
#define AXI_APB_IO 0x8000000000ull
#define AXI_APB_IO_SIZE 0x20000000ull
#define AXI_MISC_RAM (AXI_APB_IO + 0x06c84000)
#define AXI_SIMULATOR_RESET (AXI_APB_IO + 0x06300010)

#define SENGS 4
#define DMA_ENGINES_PER_SENG 32
#define DMA_ENGINES_PER_GROUP 16  // a NeuronCore's
#define DMA_CORE_ENGINES (SENGS * DMA_ENGINES_PER_SENG)
#define HOST_ENGINES_PER_DIE 2
#define DMA_HOST_ENGINES 4

/// Register base of a DMA engine: 0..127 by NeuronCore, 128..131 host transfer (D2H, H2D per die).
static inline uint64_t axi_dma_engine(unsigned engine) {
    if (engine >= DMA_CORE_ENGINES) {
        const unsigned host = engine - DMA_CORE_ENGINES;
        return (host / HOST_ENGINES_PER_DIE ? AXI_DIE_1 : 0) + AXI_APB_IO + 0x06800000 +
               host % HOST_ENGINES_PER_DIE * 0x100000;
    }
    static const uint64_t seng[SENGS] = {0x1002000000, 0x5004000000, AXI_DIE_1 + 0x1002000000,
                                         AXI_DIE_1 + 0x5004000000};
    return seng[engine / DMA_ENGINES_PER_SENG] + engine % DMA_ENGINES_PER_SENG * 0x100000;
}
