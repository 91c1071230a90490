/* SPDX-License-Identifier: Apache-2.0 */
#include "sw-stubs/transports/neuron/memory.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>

#include "sw-stubs/transports/neuron/requests.h"

int trn_neuron_request(int file, unsigned code, void* argument) {
    const int result = ioctl(file, code, argument);
    if (result >= 0) return result == 0 ? 0 : -EIO; /* > 0: bytes that were not copied */
    return -errno;
}

static int keep(struct neuron_memory* memory, uint64_t handle, bool maps, bool is_ours,
                struct neuron_block** block) {
    struct neuron_mem_info info = {.handle = handle, .version = 1};
    int error = trn_neuron_request(memory->file, NEURON_MEM_INFO, &info);
    if (error != 0) return error;
    void* host = NULL;
    if (maps) {
        host = mmap(NULL, info.size, PROT_READ | PROT_WRITE, MAP_SHARED, memory->file,
                    (off_t)info.mmap_offset);
        if (host == MAP_FAILED) return -errno;
    }
    struct neuron_block* made = calloc(1, sizeof *made);
    if (made == NULL) {
        if (host != NULL) munmap(host, info.size);
        return -ENOMEM;
    }
    *made =
        (struct neuron_block){memory->blocks, handle, info.address, info.size, 0, host, is_ours};
    memory->blocks = made;
    *block = made;
    return 0;
}

static int allocate(struct neuron_memory* memory, struct neuron_mem_alloc* wanted,
                    struct neuron_block** block) {
    uint64_t handle = 0;
    wanted->handle = &handle;
    int error = trn_neuron_request(memory->file, NEURON_MEM_ALLOC, wanted);
    if (error != 0) return error;
    error = keep(memory, handle, wanted->in_host != 0, true, block);
    if (error != 0) {
        struct neuron_mem_free freed = {handle};
        trn_neuron_request(memory->file, NEURON_MEM_FREE, &freed);
    }
    return error;
}

int trn_neuron_alloc(struct neuron_memory* memory, const trn_kernel_memory* wanted, uint32_t type,
                     struct neuron_block** block) {
    struct neuron_mem_alloc all = {.size = wanted->size,
                                   .alignment = wanted->alignment,
                                   .stack = wanted->stack,
                                   .core = wanted->core,
                                   .type = type};
    const int error = allocate(memory, &all, block);
    if (error == 0) (*block)->stack = wanted->stack;
    return error;
}

int trn_neuron_alloc_host(struct neuron_memory* memory, uint64_t size,
                          struct neuron_block** block) {
    struct neuron_mem_alloc wanted = {.size = size, .in_host = 1, .type = NEURON_HOST_DMA_BUFFERS};
    const int error = allocate(memory, &wanted, block);
    if (error == 0) memset((*block)->host, 0, (*block)->size);
    return error;
}

int trn_neuron_adopt(struct neuron_memory* memory, uint64_t handle, struct neuron_block** block) {
    return keep(memory, handle, true, false, block);
}

struct neuron_block* trn_neuron_find(const struct neuron_memory* memory, uint64_t address,
                                     uint64_t size) {
    for (struct neuron_block* b = memory->blocks; b != NULL; b = b->next)
        if (address >= b->address && address - b->address <= b->size &&
            size <= b->size - (address - b->address))
            return b;
    return NULL;
}

void trn_neuron_free(struct neuron_memory* memory, struct neuron_block* block) {
    struct neuron_block** link = &memory->blocks;
    while (*link != block) link = &(*link)->next;
    *link = block->next;
    struct neuron_mem_free freed = {block->handle};
    if (block->host != NULL) munmap(block->host, block->size);
    if (block->is_ours) trn_neuron_request(memory->file, NEURON_MEM_FREE, &freed);
    free(block);
}

void trn_neuron_free_all(struct neuron_memory* memory) {
    while (memory->blocks != NULL) trn_neuron_free(memory, memory->blocks);
}
