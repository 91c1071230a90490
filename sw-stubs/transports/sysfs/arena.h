/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TRN_SYSFS_ARENA_H
#define TRN_SYSFS_ARENA_H

#include "trn_transport.h"

/* Host memory for DMA: physically contiguous pieces of huge pages, first fit. */
typedef struct trn_arena trn_arena;

trn_arena* trn_arena_create(void);
/** Allocates zeroed memory; size and address are multiples of 4096. 0, -ENOMEM, or -EPERM (pagemap
 * shows physical addresses to root only). */
int trn_arena_alloc(trn_arena* arena, uint64_t size, trn_dma_memory* memory);
void trn_arena_free(trn_arena* arena, const trn_dma_memory* memory);
/** Frees all pages, including allocated memory. */
void trn_arena_destroy(trn_arena* arena);

#endif
