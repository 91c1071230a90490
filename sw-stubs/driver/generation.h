/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TRN_LIB_GENERATION_H
#define TRN_LIB_GENERATION_H

#include <stdbool.h>
#include <stdint.h>

#include "trn_driver.h"

/* What the chip generations have different, as the public driver knows it: one constant each in
 * generation.c. Nothing else in this library asks which generation a device is. */

#define TRN_QUEUES 16u
#define TRN_ENGINES_PER_CORE 16u
#define TRN_MAX_CORES 8u
#define TRN_MAX_USER_ENGINES 128u
#define TRN_MAX_ENGINES 132u
#define TRN_SCRUB_ENGINES 16u

/* Places of blocks that are numbered through: runs of `count` blocks from `base` on, `stride` bytes
 * apart. Unused runs at the end have no blocks. */
typedef struct trn_blocks {
    struct {
        uint32_t count;
        uint64_t base, stride;
    } runs[6];
} trn_blocks;

/* What there is in a chip, and where. */
typedef struct trn_map {
    uint32_t cores, dies, top_sps, stacks;
    uint32_t user_engines;          /* host-transfer engines have the next numbers */
    uint32_t engines;               /* with these */
    uint32_t cores_per_host_engine; /* each on a queue of its own */

    /* AXI space (contract 3.1) */
    uint64_t host_window;
    trn_blocks stack, core;
    trn_blocks
        core_engine; /* registers of the cores' engines, as the collective cores reach them */

    struct {
        trn_blocks blocks;
        uint64_t bytes; /* of each; 0: as a stack has */
    } programmable[4];  /* where PROGRAM_ENGINE may write (contract 10) */

    /* The register BAR (contract 3.2, 9); offsets */
    uint32_t register_bar[TRN_MODES]; /* its number, by trn_mode */
    uint64_t register_bar_bytes;      /* at least */
    trn_blocks engine, engine_misc;
    trn_blocks engine_errors; /* where ring id errors are masked, if they are */
    trn_blocks core_sync, top_sp_sync, core_notifiers, top_sp_notifiers;
    uint64_t misc_ram, simulator_reset;

    /* BAR4 (contract 3.4) */
    uint64_t window_slice;    /* from stack to stack */
    bool windows_follow_bar4; /* revision 255: stacks are as large as equal parts of BAR4 */

    struct {
        uint8_t first_bit, bits_per_core;
    } reset_map[3]; /* contract 5.2: cores, their DMA groups, their TOP_SPs */
    uint8_t
        scrub_engines[TRN_SCRUB_ENGINES]; /* of stack 0; the next stack's have the next numbers */
} trn_map;

typedef struct trn_generation {
    uint32_t architecture; /* as the public driver numbers them */
    const trn_map* map;
    uint64_t stack_bytes, state_buffer_bytes;

    bool index_continues; /* routing id 16 is index 16 + that of id 0, not 0 again */

    /* Reset (contract 2, 5) */
    uint32_t reset_limit_s;           /* until firmware takes the request */
    uint32_t simulator_reset_limit_s; /* until the simulator's reset register reads 0 */
    bool simulator_asks_firmware; /* revision 255: the handshake too, and no map in the register */
    bool emulator_is_reset;       /* revision 240: as silicon; else there is no reset */

    /* DMA (contract 6.1, 15.3) */
    uint32_t m2s_data_cfg, m2s_outstanding, s2m_outstanding_read;
    bool has_outstanding_write_2, has_backpressure, has_broadcast, aborts_on_axi_errors;
    bool has_strong_order;  /* of zero-copy markers (contract 7.5) */
    uint8_t pod_engines[4]; /* that read the neighbours: left, left, right, right (contract 11.1) */
    uint32_t limit_us_per_descriptor; /* contract 7.5: time limit of a copy of 64 KiB */
} trn_generation;

/* A chip of a generation, by its PCI device id. */
typedef struct trn_part {
    uint16_t device_id;
    const char* name;
    const trn_generation* generation;
    const uint8_t* index_of_routing_id; /* 16 of them: contract 1.3, 15.2 */
} trn_part;

/* NULL for a device id that is not known. */
const trn_part* trn_part_find(uint16_t device_id);

/* Where block `number` stands; 0 when there is none. */
uint64_t trn_block_address(const trn_blocks* blocks, uint32_t number);

#endif
