/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TRN_NEURON_MEMORY_H
#define TRN_NEURON_MEMORY_H

#include <stdbool.h>

#include "trn_transport.h"

/* List of memory that the driver has allocated for this process, searched by address. */

struct neuron_block {
    struct neuron_block* next;
    uint64_t handle;
    uint64_t address; /* AXI */
    uint64_t size;
    uint32_t stack;
    void* host;   /* mapped address; NULL: not mapped */
    bool is_ours; /* false: the driver frees it */
};

struct neuron_memory {
    int file;
    struct neuron_block* blocks;
};

/** Makes an ioctl request. Returns 0 or a negative errno. */
int trn_neuron_request(int file, unsigned code, void* argument);

/** Allocates memory of an HBM stack for a core; `type`: enum neuron_memory_type. */
int trn_neuron_alloc(struct neuron_memory* memory, const trn_kernel_memory* wanted, uint32_t type,
                     struct neuron_block** block);
/** Allocates host memory, mapped and zeroed. */
int trn_neuron_alloc_host(struct neuron_memory* memory, uint64_t size, struct neuron_block** block);
/** Maps memory whose handle another request has returned, and adds it to the list. */
int trn_neuron_adopt(struct neuron_memory* memory, uint64_t handle, struct neuron_block** block);
/** The block that contains all of the bytes; NULL: none. */
struct neuron_block* trn_neuron_find(const struct neuron_memory* memory, uint64_t address,
                                     uint64_t size);
void trn_neuron_free(struct neuron_memory* memory, struct neuron_block* block);
void trn_neuron_free_all(struct neuron_memory* memory);

#endif
