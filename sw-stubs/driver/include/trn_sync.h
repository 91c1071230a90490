/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TRN_SYNC_H
#define TRN_SYNC_H

#include <stdint.h>

#include "trn_status.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Semaphores and events (contract 3.3, 10). */

typedef enum trn_sync_block {
    TRN_SYNC_CORE = 0,  /**< a NeuronCore */
    TRN_SYNC_TOP_SP = 1 /**< a collective-core block, in the driver's numbering */
} trn_sync_block;

#define TRN_SEMAPHORES 256u
#define TRN_EVENTS 256u

trn_status trn_semaphore_read(trn_device* device, trn_sync_block block, uint32_t number,
                              uint32_t index, int32_t* value);
trn_status trn_semaphore_set(trn_device* device, trn_sync_block block, uint32_t number,
                             uint32_t index, int32_t value);
trn_status trn_semaphore_increment(trn_device* device, trn_sync_block block, uint32_t number,
                                   uint32_t index, uint32_t amount);
trn_status trn_semaphore_decrement(trn_device* device, trn_sync_block block, uint32_t number,
                                   uint32_t index, uint32_t amount);
/** AXI address of a NeuronCore semaphore's increment register, for DMA, firmware and engines of the
 * same chip; 0 for an unknown core or semaphore. */
uint64_t trn_semaphore_address(const trn_device* device, uint32_t core, uint32_t index);
trn_status trn_event_get(trn_device* device, trn_sync_block block, uint32_t number, uint32_t index,
                         uint32_t* value);
trn_status trn_event_set(trn_device* device, trn_sync_block block, uint32_t number, uint32_t index,
                         uint32_t value);

#ifdef __cplusplus
}
#endif

#endif
