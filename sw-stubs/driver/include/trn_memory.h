/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TRN_MEMORY_H
#define TRN_MEMORY_H

#include <stdbool.h>
#include <stdint.h>

#include "trn_status.h"
#include "trn_transport.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Addresses and host memory. */

/** Bytes at the start of each stack that are reserved for firmware (contract 3.4): 16 MiB. */
#define TRN_HBM_RESERVED_BYTES (UINT64_C(16) << 20)

/** Whether `size` bytes at `begin` exceed 64-bit addresses. All addresses and offsets with sizes
 * that the caller passes are checked with it. */
static inline bool trn_range_wraps(uint64_t begin, uint64_t size) {
    return size != 0 && begin > UINT64_MAX - (size - 1);
}

/** AXI address of a byte in an HBM stack or in a core's state buffer; 0 for an unknown stack or
 * core. The offset is not checked. */
uint64_t trn_hbm_address(const trn_device* device, uint32_t stack, uint64_t offset);
uint64_t trn_sbuf_address(const trn_device* device, uint32_t core, uint64_t offset);

/** Host memory that DMA can reach. */
typedef struct trn_buffer {
    trn_dma_memory memory;
} trn_buffer;

trn_status trn_buffer_alloc(trn_device* device, uint64_t size, trn_buffer* buffer);
void trn_buffer_free(trn_device* device, trn_buffer* buffer);
/** AXI address of a byte of the buffer, with the host-window bit (contract 3.1). */
uint64_t trn_buffer_address(const trn_device* device, const trn_buffer* buffer, uint64_t offset);

#ifdef __cplusplus
}
#endif

#endif
