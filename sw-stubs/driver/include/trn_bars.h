/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TRN_BARS_H
#define TRN_BARS_H

#include <stdint.h>

#include "trn_status.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Accesses to BARs. */

/** One 32-bit register of the register BAR (BAR0, but see register_bar); offset aligned. */
trn_status trn_bar_read(trn_device* device, uint64_t offset, uint32_t* value);
/** Write with the checks for user space: TRN_INVALID_ARGUMENT for mailbox words and ring registers
 * (contract 13.2, BAR_WRITE). */
trn_status trn_bar_write(trn_device* device, uint64_t offset, uint32_t value);
/** Write without these checks, for the driver's own writes. */
trn_status trn_bar_write_raw(trn_device* device, uint64_t offset, uint32_t value);
/** Bus address of a BAR for other functions of the same server (peer-to-peer), and its size. The
 * register BAR is trn_device_info.register_bar. TRN_NOT_SUPPORTED: the function has no such BAR. */
trn_status trn_bar_address(trn_device* device, uint32_t bar, uint64_t* bus_address, uint64_t* size);
/** Memory of a stack through BAR4, without DMA. TRN_NOT_SUPPORTED without BAR4. */
trn_status trn_window_read(trn_device* device, uint32_t stack, uint64_t offset, void* bytes,
                           uint64_t size);
trn_status trn_window_write(trn_device* device, uint32_t stack, uint64_t offset, const void* bytes,
                            uint64_t size);

#ifdef __cplusplus
}
#endif

#endif
