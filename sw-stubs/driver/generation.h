/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TRN_LIB_GENERATION_H
#define TRN_LIB_GENERATION_H

#include <stdbool.h>
#include <stdint.h>

#include "trn_driver.h"

/* Differences between the chip generations, as in the public driver: one constant each in
 * generation.c. No other code depends on the generation's number. */

#define TRN_QUEUES 16u
#define TRN_ENGINES_PER_CORE 16u
#define TRN_MAX_CORES 8u
#define TRN_MAX_USER_ENGINES 128u
#define TRN_MAX_ENGINES 132u
#define TRN_SCRUB_ENGINES 16u

/* Addresses of numbered blocks: runs of `count` blocks from `base` on, `stride` bytes apart.
 * Numbering continues from run to run; unused runs have count 0. */
typedef struct trn_blocks {
    struct {
        uint32_t count;
        uint64_t base, stride;
    } runs[6];
} trn_blocks;

/* Numbers and addresses of a chip's blocks. */
typedef struct trn_map {
    uint32_t cores, dies, top_sps, stacks;
    uint32_t user_engines;          /* host-transfer engines follow in numbering */
    uint32_t engines;               /* user and host-transfer engines */
    uint32_t cores_per_host_engine; /* each core has its own queue */

    /* AXI space (contract 3.1) */
    uint64_t host_window;
    trn_blocks stack, core;
    trn_blocks core_engine; /* registers of the cores' engines, for the CC-Cores */

    struct {
        trn_blocks blocks;
        uint64_t bytes; /* of each; 0: size of a stack */
    } programmable[4];  /* where PROGRAM_ENGINE may write (contract 10) */

    /* The register BAR (contract 3.2, 9); offsets */
    uint32_t register_bar[TRN_MODES]; /* its number, by trn_mode */
    uint64_t register_bar_bytes;      /* minimum */
    trn_blocks engine, engine_misc;
    trn_blocks engine_errors; /* registers that mask ring id errors; none: not masked */
    trn_blocks core_sync, top_sp_sync, core_notifiers, top_sp_notifiers;
    uint64_t misc_ram, simulator_reset;

    /* BAR4 (contract 3.4) */
    uint64_t window_slice;    /* distance between stacks */
    bool windows_follow_bar4; /* revision 255: stack size is BAR4 / stacks */

    struct {
        uint8_t first_bit, bits_per_core;
    } reset_map[3]; /* contract 5.2: cores, their DMA groups, their TOP_SPs */
    uint8_t scrub_engines[TRN_SCRUB_ENGINES]; /* of stack 0; those of other stacks follow in
                                                 numbering */
} trn_map;

typedef struct trn_generation {
    uint32_t architecture; /* the public driver's number */
    const trn_map* map;
    uint64_t stack_bytes, state_buffer_bytes;

    bool index_continues; /* routing id 16 + n has index 16 + that of n, not that of n */

    /* Reset (contract 2, 5) */
    uint32_t reset_limit_s;           /* until firmware accepts the request */
    uint32_t simulator_reset_limit_s; /* until the simulator's reset register reads 0 */
    bool simulator_asks_firmware;     /* revision 255: handshake too; the register has no map */
    bool emulator_is_reset;           /* revision 240: as silicon; else no reset */

    /* DMA (contract 6.1, 15.3) */
    uint32_t m2s_data_cfg, m2s_outstanding, s2m_outstanding_read;
    bool has_outstanding_write_2, has_backpressure, has_broadcast, aborts_on_axi_errors;
    bool has_strong_order;  /* in zero-copy markers (contract 7.5) */
    uint8_t pod_engines[4]; /* read neighbours: left, left, right, right (contract 11.1) */
    uint32_t limit_us_per_descriptor; /* contract 7.5: time limit of a copy of 64 KiB */
} trn_generation;

/* A chip of a generation, by its PCI device id. */
typedef struct trn_part {
    uint16_t device_id;
    const char* name;
    const trn_generation* generation;
    const uint8_t* index_of_routing_id; /* 16 entries: contract 1.3, 15.2 */
} trn_part;

#ifdef __cplusplus
extern "C" {
#endif

/* NULL: unknown device id. */
const trn_part* trn_part_find(uint16_t device_id);

/* Address of block `number`; 0: no such block. */
uint64_t trn_block_address(const trn_blocks* blocks, uint32_t number);

#ifdef __cplusplus
}
#endif

#endif
