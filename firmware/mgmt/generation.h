// SPDX-License-Identifier: Apache-2.0
// Differences between the chip generations: rows of generation.c, selected by the generation strap.
// No other file depends on the generation's number.
#pragma once

#include <stdbool.h>
#include <stdint.h>

/// Blocks of one kind at equal distances. Numbering continues from one group of a kind to the next.
struct block_group {
    unsigned count;
    uint64_t base, stride;  ///< AXI
};
#define DMA_MAX_GROUPS 6
#define CORE_MAX_GROUPS 4

/// Consecutive bits of a reset map (contract 5.2).
struct map_field {
    uint8_t first_bit, bits;
};

struct generation {
    unsigned numbers[2];   ///< values of the generation strap
    uint32_t api_version;  ///< misc RAM +0x00: protocols of this generation's driver
    unsigned dies, stacks;
    uint64_t host_window;  ///< AXI address bit that selects host memory
    struct {
        uint64_t base, size;
    } readable;                     ///< AXI range that the host may read through the mailbox
    struct block_group top_sps[2];  ///< apertures, one group per die
    unsigned core_groups;
    struct block_group cores[CORE_MAX_GROUPS];  ///< TPB_TOP
    uint64_t sram_errors;                       ///< offset in TPB_TOP
    unsigned dma_groups;
    /// DMA engines. Aborts of group n raise interrupt IRQ_DMA_ABORT + n.
    struct block_group dma[DMA_MAX_GROUPS];
    struct {
        struct map_field cores, dma_groups, top_sps;
        /// The reset map has one bit per TOP_SP that the driver uses; reset lines exist for all.
        unsigned top_sps_per_die, top_sp_lines_per_die;
        /// A host-transfer engine is reset only together with all DMA groups that share it
        /// (contract 5.3).
        unsigned host_engines, dma_groups_per_host_engine;
    } reset;
    bool simulator_word_is_map;  ///< else the word only announces a handshake (contract 2)
};

/// The row of this chip; NULL until generation_select().
extern const struct generation* generation;
/// Selects the row of a generation strap's value. False: no such row.
bool generation_select(unsigned number);

/// AXI address of a block of a group.
static inline uint64_t block_of(const struct block_group* group, unsigned number) {
    return group->base + number * group->stride;
}
