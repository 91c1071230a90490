/* SPDX-License-Identifier: Apache-2.0 */
#define _GNU_SOURCE
#include "sw-stubs/transports/sysfs/arena.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#ifndef MAP_HUGE_SHIFT
#define MAP_HUGE_SHIFT 26
#endif

static const uint64_t page = 4096;

/* A free or used part of a huge page. The list of a page is in the order of offsets, without gaps.
 */
struct extent {
    struct extent* next;
    uint64_t offset, size;
    int used;
};

struct huge_page {
    struct huge_page* next;
    uint8_t* host;
    uint64_t iova, size;
    struct extent* first;
};

struct trn_arena {
    struct huge_page* pages;
};

trn_arena* trn_arena_create(void) {
    return calloc(1, sizeof(trn_arena));
}

/* Physical address of a present page: /proc/pid/pagemap, bits 54:0 are the frame number. */
static int physical_address(const void* host, uint64_t* address) {
    uint64_t entry = 0;
    const int file = open("/proc/self/pagemap", O_RDONLY | O_CLOEXEC);
    if (file < 0) return -errno;
    const off_t offset = (off_t)((uintptr_t)host / page * sizeof entry);
    const int read = pread(file, &entry, sizeof entry, offset) == sizeof entry;
    close(file);
    const uint64_t frame = entry & ((UINT64_C(1) << 55) - 1);
    if (!read || frame == 0) return -EPERM;
    *address = frame * page;
    return 0;
}

static int add_page(trn_arena* arena, unsigned size_log2) {
    const uint64_t size = UINT64_C(1) << size_log2;
    const int flags = MAP_PRIVATE | MAP_ANONYMOUS | MAP_HUGETLB | MAP_LOCKED;
    struct huge_page* made = calloc(1, sizeof *made);
    struct extent* all = calloc(1, sizeof *all);
    void* host = MAP_FAILED;
    int error = -ENOMEM;
    if (made && all)
        host = mmap(NULL, size, PROT_READ | PROT_WRITE, flags | (int)(size_log2 << MAP_HUGE_SHIFT),
                    -1, 0);
    if (host != MAP_FAILED) {
        *(volatile uint8_t*)host = 0; /* touch: allocates the page */
        error = physical_address(host, &made->iova);
    }
    if (error != 0) {
        if (host != MAP_FAILED) munmap(host, size);
        free(made);
        free(all);
        return error;
    }
    *all = (struct extent){.size = size};
    *made = (struct huge_page){arena->pages, host, made->iova, size, all};
    arena->pages = made;
    return 0;
}

static int take(struct huge_page* owner, uint64_t size, trn_dma_memory* memory) {
    for (struct extent* extent = owner->first; extent != NULL; extent = extent->next) {
        if (extent->used || extent->size < size) continue;
        if (extent->size > size) {
            struct extent* rest = calloc(1, sizeof *rest);
            if (rest == NULL) return 0;
            *rest = (struct extent){extent->next, extent->offset + size, extent->size - size, 0};
            extent->next = rest;
            extent->size = size;
        }
        extent->used = 1;
        *memory =
            (trn_dma_memory){owner->host + extent->offset, owner->iova + extent->offset, size};
        memset(memory->host, 0, size);
        return 1;
    }
    return 0;
}

int trn_arena_alloc(trn_arena* arena, uint64_t size, trn_dma_memory* memory) {
    if (size == 0 || size > UINT64_C(1) << 30) return -ENOMEM;
    size = (size + page - 1) / page * page;
    for (struct huge_page* owner = arena->pages; owner != NULL; owner = owner->next)
        if (take(owner, size, memory)) return 0;
    int error = add_page(arena, 30);
    if (error == -ENOMEM && size <= UINT64_C(1) << 21) error = add_page(arena, 21);
    if (error != 0) return error;
    return take(arena->pages, size, memory) ? 0 : -ENOMEM;
}

void trn_arena_free(trn_arena* arena, const trn_dma_memory* memory) {
    for (struct huge_page* owner = arena->pages; owner != NULL; owner = owner->next) {
        if (memory->iova < owner->iova || memory->iova - owner->iova >= owner->size) continue;
        for (struct extent* extent = owner->first; extent != NULL; extent = extent->next)
            if (extent->offset == memory->iova - owner->iova) extent->used = 0;
        for (struct extent* extent = owner->first; extent != NULL && extent->next != NULL;) {
            struct extent* next = extent->next;
            if (extent->used || next->used) {
                extent = next;
                continue;
            }
            extent->size += next->size;
            extent->next = next->next;
            free(next);
        }
    }
}

void trn_arena_destroy(trn_arena* arena) {
    while (arena->pages != NULL) {
        struct huge_page* owner = arena->pages;
        arena->pages = owner->next;
        while (owner->first != NULL) {
            struct extent* freed = owner->first;
            owner->first = freed->next;
            free(freed);
        }
        munmap(owner->host, owner->size);
        free(owner);
    }
    free(arena);
}
