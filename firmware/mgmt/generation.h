// SPDX-License-Identifier: Apache-2.0
// What the chip generations have different for this firmware: rows of generation.c, chosen
// by the generation strap. Nothing else asks which generation a chip is.
#pragma once

#include <stdbool.h>
#include <stdint.h>

/// Blocks of one kind that stand side by side; they are numbered through the groups of their kind.
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
    unsigned numbers[2];   ///< as the strap says them
    uint32_t api_version;  ///< misc RAM +0x00: which protocols the driver of this generation knows
    unsigned dies, stacks;
    uint64_t host_window;  ///< AXI address bit of host memory
    struct {
        uint64_t base, size;
    } readable;                     ///< AXI space that the host may read by mailbox
    struct block_group top_sps[2];  ///< apertures by die
    unsigned core_groups;
    struct block_group cores[CORE_MAX_GROUPS];  ///< TPB_TOP
    uint64_t sram_errors;                       ///< in TPB_TOP
    unsigned dma_groups;
    /// Registers of engines whose abort is one interrupt line, IRQ_DMA_ABORT + n for group n.
    struct block_group dma[DMA_MAX_GROUPS];
    struct {
        struct map_field cores, dma_groups, top_sps;
        /// The map counts the TOP_SPs that the driver uses, the lines those there are.
        unsigned top_sps_per_die, top_sp_lines_per_die;
        /// A host-transfer engine goes down only with all that share it (contract 5.3).
        unsigned host_engines, dma_groups_per_host_engine;
    } reset;
    bool simulator_word_is_map;  ///< else it announces a handshake (contract 2)
};

/// Of this chip; NULL until generation_select().
extern const struct generation* generation;
/// False for a generation that this firmware does not know.
bool generation_select(unsigned number);

/// AXI address of a block of a group.
static inline uint64_t block_of(const struct block_group* group, unsigned number) {
    return group->base + number * group->stride;
}
