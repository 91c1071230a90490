/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TRN_LIB_LAYOUT_H
#define TRN_LIB_LAYOUT_H

#include <stdbool.h>
#include <stdint.h>

/* Where the blocks of a chip stand in BAR0 and in AXI space (contract 3), one row per generation.
 */

#define TRN_MAX_CORES 8u
#define TRN_H2T_ENGINES 4u
#define TRN_ENGINES_PER_CORE 16u
#define TRN_QUEUES 16u

typedef struct trn_layout {
    uint16_t device_ids[2];
    uint32_t architecture;
    const char* name;
    uint32_t cores, engines, sync_blocks, stacks;
    uint64_t stack_size;
    bool has_outstanding_write_2; /* register 0x2012C is set up (contract 14) */
} trn_layout;

/* NULL for a device id that no generation has. */
const trn_layout* layout_find(uint16_t device_id);

uint64_t layout_engine(uint32_t engine);        /* UDMA block, BAR0 */
uint64_t layout_engine_misc(uint32_t engine);   /* SDMA misc block, BAR0 */
uint64_t layout_engine_errors(uint32_t engine); /* FIS error block, BAR0; engines 0..127 */
uint64_t layout_core_sync(uint32_t core);       /* events and semaphores of a core, BAR0 */
uint64_t layout_top_sp_sync(uint32_t number);
uint64_t layout_core_notifiers(uint32_t core);
uint64_t layout_top_sp_notifiers(uint32_t number);
uint64_t layout_engine_notifiers(uint32_t engine);
uint64_t layout_stack(uint32_t stack); /* AXI */
uint64_t layout_core(uint32_t core);   /* AXI: state buffer at +0 */

#define LAYOUT_MISC_RAM UINT64_C(0x06C84000)
#define LAYOUT_SIMULATOR_RESET UINT64_C(0x06300000)
#define LAYOUT_HOST_WINDOW (UINT64_C(1) << 46)
#define LAYOUT_BAR4_STACK_BYTES \
    (UINT64_C(64) << 30) /* silicon; a quarter of BAR4 on revision 255 */

#endif
