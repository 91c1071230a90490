/* SPDX-License-Identifier: Apache-2.0 */
#define _GNU_SOURCE
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "sw-stubs/transports/sysfs/arena.h"
#include "sw-stubs/transports/sysfs/linux_host.h"
#include "sw-stubs/transports/sysfs/sysfs.h"

/* BARs are mapped in windows, because the kernel fills the page tables of a whole mapping at once
 * (1 GiB of them for a BAR4). */
static const uint64_t window_size = UINT64_C(16) << 20;

struct bar {
    uint64_t size;
    int file;
    uint8_t** windows; /* by number; NULL: not mapped yet */
};

struct context {
    char name[64];
    char folder[64];
    int config;
    struct bar bars[6];
    trn_arena* arena;
};

static struct context* self(void* context) {
    return context;
}

/* ---- BARs -------------------------------------------------------------------------------- */

static uint64_t bar_size(void* context, uint32_t bar) {
    return bar > 5 ? 0 : self(context)->bars[bar].size;
}

static uint64_t window_bytes(const struct bar* bar, uint64_t number) {
    const uint64_t start = number * window_size;
    return bar->size - start < window_size ? bar->size - start : window_size;
}

/* Address of a BAR's byte in this process; `room`: bytes from it to the end of its window. */
static uint8_t* locate(struct context* context, uint32_t number, uint64_t offset, uint64_t* room) {
    struct bar* bar = number > 5 ? NULL : &context->bars[number];
    if (bar == NULL || offset >= bar->size) return NULL;
    const uint64_t window = offset / window_size;
    const uint64_t bytes = window_bytes(bar, window);
    if (bar->windows[window] == NULL) {
        void* host = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_SHARED, bar->file,
                          (off_t)(window * window_size));
        if (host == MAP_FAILED) return NULL;
        bar->windows[window] = host;
    }
    *room = bytes - offset % window_size;
    return bar->windows[window] + offset % window_size;
}

static volatile uint32_t* locate_word(void* context, uint32_t bar, uint64_t offset) {
    uint64_t room = 0;
    uint8_t* byte = offset % 4 == 0 ? locate(self(context), bar, offset, &room) : NULL;
    return room >= 4 ? (volatile uint32_t*)(void*)byte : NULL;
}

static int bar_read32(void* context, uint32_t bar, uint64_t offset, uint32_t* value) {
    volatile uint32_t* word = locate_word(context, bar, offset);
    if (word == NULL) return -EINVAL;
    *value = *word;
    __sync_synchronize(); /* later reads of memory must not be earlier */
    return 0;
}

static int bar_write32(void* context, uint32_t bar, uint64_t offset, uint32_t value) {
    volatile uint32_t* word = locate_word(context, bar, offset);
    if (word == NULL) return -EINVAL;
    __sync_synchronize(); /* descriptors must be in memory before the doorbell */
    *word = value;
    return 0;
}

/* Copies in aligned 8-byte words where possible, the widest access of the bus. */
static void copy_words(volatile uint8_t* destination, const volatile uint8_t* source,
                       uint64_t count) {
    while (count > 0) {
        const uint64_t misaligned = ((uintptr_t)destination | (uintptr_t)source) % 8;
        if (misaligned == 0 && count >= 8) {
            *(volatile uint64_t*)destination = *(const volatile uint64_t*)source;
            destination += 8, source += 8, count -= 8;
        } else {
            *destination++ = *source++;
            --count;
        }
    }
}

static int bar_read_block(void* context, uint32_t bar, uint64_t offset, void* bytes,
                          uint64_t count) {
    for (uint8_t* destination = bytes; count > 0;) {
        uint64_t room = 0;
        const uint8_t* source = locate(self(context), bar, offset, &room);
        if (source == NULL) return -EINVAL;
        if (room > count) room = count;
        copy_words(destination, source, room);
        destination += room, offset += room, count -= room;
    }
    return 0;
}

static int bar_write_block(void* context, uint32_t bar, uint64_t offset, const void* bytes,
                           uint64_t count) {
    for (const uint8_t* source = bytes; count > 0;) {
        uint64_t room = 0;
        uint8_t* destination = locate(self(context), bar, offset, &room);
        if (destination == NULL) return -EINVAL;
        if (room > count) room = count;
        copy_words(destination, source, room);
        source += room, offset += room, count -= room;
    }
    return 0;
}

static int bar_map(void* context, uint32_t number, uint64_t offset, uint64_t size,
                   trn_bar_mapping* mapping) {
    const struct bar* bar = number > 5 ? NULL : &self(context)->bars[number];
    if (bar == NULL || size == 0 || offset > bar->size || size > bar->size - offset) return -EINVAL;
    if (number == 0 || offset % 4096 != 0) return -ENOTSUP; /* registers have side effects */
    void* host = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_SHARED, bar->file, (off_t)offset);
    if (host == MAP_FAILED) return -ENOMEM;
    *mapping = (trn_bar_mapping){host, offset, size};
    return 0;
}

static void bar_unmap(void* context, const trn_bar_mapping* mapping) {
    (void)context;
    munmap(mapping->host, mapping->size);
}

/* ---- configuration space, memory ------------------------------------------------------------ */

static int config_read(void* context, uint32_t offset, uint32_t width, uint32_t* value) {
    return trn_linux_config_read(self(context)->config, offset, width, value);
}

static int config_write(void* context, uint32_t offset, uint32_t width, uint32_t value) {
    return trn_linux_config_write(self(context)->config, offset, width, value);
}

static int dma_alloc(void* context, uint64_t size, trn_dma_memory* memory) {
    return trn_arena_alloc(self(context)->arena, size, memory);
}

static void dma_free(void* context, const trn_dma_memory* memory) {
    trn_arena_free(self(context)->arena, memory);
}

static int put(const struct context* context, const char* file, const char* text) {
    char path[128];
    snprintf(path, sizeof path, "%s/%s", context->folder, file);
    const int out = open(path, O_WRONLY | O_CLOEXEC);
    if (out < 0) return -errno;
    const int error = write(out, text, strlen(text)) < 0 ? -errno : 0;
    close(out);
    return error;
}

static int function_reset(void* context) {
    return put(self(context), "reset", "1") == 0 ? 0 : -EIO;
}

static void close_transport(void* context) {
    struct context* state = context;
    for (struct bar* bar = state->bars; bar < state->bars + 6; ++bar) {
        for (uint64_t w = 0; bar->windows != NULL && w * window_size < bar->size; ++w)
            if (bar->windows[w] != NULL) munmap(bar->windows[w], window_bytes(bar, w));
        free(bar->windows);
        if (bar->file >= 0) close(bar->file);
    }
    if (state->arena != NULL) trn_arena_destroy(state->arena);
    if (state->config >= 0) close(state->config);
    free(state);
}

/* ---- opening ----------------------------------------------------------------------------- */

static int open_bar(struct context* context, int number, uint64_t size) {
    char path[128];
    struct bar* bar = &context->bars[number];
    snprintf(path, sizeof path, "%s/resource%d", context->folder, number);
    bar->file = open(path, O_RDWR | O_SYNC | O_CLOEXEC);
    if (bar->file < 0) return -errno;
    bar->windows = calloc((size + window_size - 1) / window_size, sizeof *bar->windows);
    bar->size = size;
    return bar->windows == NULL ? -ENOMEM : 0;
}

/* The kernel's table of BARs: a line each with first address, last address and flags. */
static int open_bars(struct context* context) {
    char path[128];
    snprintf(path, sizeof path, "%s/resource", context->folder);
    FILE* table = fopen(path, "re");
    if (table == NULL) return -errno;
    int error = 0;
    for (int number = 0; number < 6 && error == 0; ++number) {
        unsigned long long first = 0, last = 0, flags = 0;
        const unsigned long long is_memory = 0x200;
        if (fscanf(table, "%llx %llx %llx", &first, &last, &flags) != 3) error = -EIO;
        if (error == 0 && (flags & is_memory) != 0 && first != 0)
            error = open_bar(context, number, last - first + 1);
    }
    fclose(table);
    return error;
}

static int failed(struct context* context, int error, char* why, size_t why_size,
                  const char* operation) {
    if (why_size > 0)
        snprintf(why, why_size, "%s: %s: %s", context->name, operation, strerror(-error));
    close_transport(context);
    return error;
}

int trn_sysfs_transport(const char* function, trn_transport* transport, char* why,
                        size_t why_size) {
    struct context* context = calloc(1, sizeof *context);
    if (context == NULL) return -ENOMEM;
    for (int i = 0; i < 6; ++i) context->bars[i].file = -1;
    char path[128];
    snprintf(context->name, sizeof context->name, "sysfs %s", function);
    snprintf(context->folder, sizeof context->folder, TRN_SYSFS_DEVICES "/%s", function);
    snprintf(path, sizeof path, "%s/config", context->folder);
    context->config = open(path, O_RDWR | O_CLOEXEC);
    if (context->config < 0)
        return failed(context, -errno, why, why_size, "no configuration space");
    int error = put(context, "enable", "1");
    if (error != 0) return failed(context, error, why, why_size, "cannot be enabled");
    error = open_bars(context);
    if (error != 0) return failed(context, error, why, why_size, "its BARs cannot be opened");
    context->arena = trn_arena_create();
    if (context->arena == NULL) return failed(context, -ENOMEM, why, why_size, "no memory");
    *transport = (trn_transport){
        .context = context,
        .name = context->name,
        .timeout_scale = TRN_WALL_CLOCK_SCALE,
        .bar_size = bar_size,
        .bar_read32 = bar_read32,
        .bar_write32 = bar_write32,
        .bar_read_block = bar_read_block,
        .bar_write_block = bar_write_block,
        .config_read = config_read,
        .config_write = config_write,
        .dma_alloc = dma_alloc,
        .dma_free = dma_free,
        .wait = trn_linux_wait,
        .now = trn_linux_now,
        .bar_map = bar_map,
        .bar_unmap = bar_unmap,
        .function_reset = function_reset,
        .close = close_transport,
    };
    return 0;
}

static unsigned read_id(const char* function, const char* file) {
    char path[128];
    unsigned value = 0;
    snprintf(path, sizeof path, TRN_SYSFS_DEVICES "/%s/%s", function, file);
    FILE* input = fopen(path, "re");
    if (input == NULL) return 0;
    if (fscanf(input, "%x", &value) != 1) value = 0;
    fclose(input);
    return value;
}

int trn_sysfs_find(uint16_t vendor_id, trn_sysfs_function* functions, int room) {
    struct dirent** names = NULL;
    const int listed =
        scandir(TRN_SYSFS_DEVICES, &names, NULL, alphasort); /* fixed width: bus order */
    if (listed < 0) return -errno;
    int found = 0;
    for (int i = 0; i < listed; ++i) {
        const char* name = names[i]->d_name;
        if (strlen(name) < sizeof functions->name && read_id(name, "vendor") == vendor_id) {
            if (found < room) {
                trn_sysfs_function* entry = &functions[found];
                snprintf(entry->name, sizeof entry->name, "%.15s", name);
                entry->vendor_id = vendor_id;
                entry->device_id = (uint16_t)read_id(name, "device");
            }
            ++found;
        }
        free(names[i]);
    }
    free(names);
    return found;
}
