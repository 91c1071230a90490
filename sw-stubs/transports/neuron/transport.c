/* SPDX-License-Identifier: Apache-2.0 */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "sw-stubs/transports/neuron/accounts.h"
#include "sw-stubs/transports/neuron/memory.h"
#include "sw-stubs/transports/neuron/neuron.h"
#include "sw-stubs/transports/neuron/requests.h"
#include "sw-stubs/transports/sysfs/linux_host.h"

enum {
    DESCRIPTOR_BYTES = 16,
    MAX_ENGINES = 256,
    QUEUES = 16,
    PAGE = 4096,
    NOTIFY_TYPE = 1, /* the driver's tables have rings by type and slot, its registers by slot */
    MAX_DEVICES = 64
};
static const uint64_t host_window = UINT64_C(1) << 46; /* contract 3.1 */

struct queue_rings {
    struct neuron_block *m2s, *s2m;
};

struct context {
    char name[32];
    char folder[64]; /* of the function in sysfs */
    int config;
    struct neuron_device_info info;
    struct neuron_memory memory; /* has the file */
    struct neuron_accounts accounts;
    struct queue_rings rings[MAX_ENGINES][QUEUES];
};

static struct context* self(void* context) {
    return context;
}

static int request(void* context, unsigned code, void* argument) {
    return trn_neuron_request(self(context)->memory.file, code, argument);
}

/* ---- registers and configuration space ---- */

static uint64_t bar_size(void* context, uint32_t bar) {
    char path[96];
    struct stat file;
    snprintf(path, sizeof path, "%s/resource%u", self(context)->folder, bar);
    return bar < 6 && stat(path, &file) == 0 ? (uint64_t)file.st_size : 0;
}

static int access_register(void* context, unsigned code, uint32_t bar, uint64_t offset,
                           uint32_t* value) {
    const struct neuron_device_info* info = &self(context)->info;
    if (bar != 0 || offset % 4 != 0 || offset >= info->bar_size[0]) return -EINVAL;
    const uint64_t address = info->bar_address[0] + offset;
    struct neuron_bar_access access = {0, &address, value, 1};
    return request(context, code, &access);
}

static int bar_read32(void* context, uint32_t bar, uint64_t offset, uint32_t* value) {
    return access_register(context, NEURON_BAR_READ, bar, offset, value);
}

static int bar_write32(void* context, uint32_t bar, uint64_t offset, uint32_t value) {
    return access_register(context, NEURON_BAR_WRITE, bar, offset, &value);
}

/* The driver gives processes no access to BAR4. */
static int bar_read_block(void* context, uint32_t bar, uint64_t offset, void* bytes,
                          uint64_t count) {
    (void)context, (void)bar, (void)offset, (void)bytes, (void)count;
    return -ENOTSUP;
}

static int bar_write_block(void* context, uint32_t bar, uint64_t offset, const void* bytes,
                           uint64_t count) {
    (void)context, (void)bar, (void)offset, (void)bytes, (void)count;
    return -ENOTSUP;
}

static int config_read(void* context, uint32_t offset, uint32_t width, uint32_t* value) {
    return trn_linux_config_read(self(context)->config, offset, width, value);
}

static int config_write(void* context, uint32_t offset, uint32_t width, uint32_t value) {
    return trn_linux_config_write(self(context)->config, offset, width, value);
}

/* ---- memory ---- */

static void describe(const struct neuron_block* block, trn_dma_memory* memory) {
    *memory = (trn_dma_memory){block->host, block->address & ~host_window, block->size};
}

static int dma_alloc(void* context, uint64_t size, trn_dma_memory* memory) {
    struct neuron_block* block = NULL;
    const int error = trn_neuron_alloc_host(&self(context)->memory, size, &block);
    if (error == 0) describe(block, memory);
    return error;
}

static void dma_free(void* context, const trn_dma_memory* memory) {
    struct neuron_memory* all = &self(context)->memory;
    struct neuron_block* block = trn_neuron_find(all, memory->iova | host_window, 1);
    if (block != NULL) trn_neuron_free(all, block);
}

static int memory_alloc(void* context, const trn_kernel_memory* wanted, uint64_t* address) {
    struct neuron_block* block = NULL;
    const uint32_t type =
        wanted->purpose == TRN_MEMORY_TENSORS ? NEURON_DEVICE_TENSORS : NEURON_DEVICE_CODE;
    const int error = trn_neuron_alloc(&self(context)->memory, wanted, type, &block);
    if (error == 0) *address = block->address;
    return error;
}

static void memory_free(void* context, uint64_t address) {
    struct neuron_block* block = trn_neuron_find(&self(context)->memory, address, 1);
    if (block != NULL) trn_neuron_free(&self(context)->memory, block);
}

static int copy(void* context, const struct neuron_block* block, uint64_t address, void* bytes,
                uint64_t size, bool to_device) {
    struct neuron_buffer_copy all = {block->handle, bytes, size, address - block->address,
                                     to_device};
    return size == 0 ? 0 : request(context, NEURON_BUFFER_COPY, &all);
}

/* Addresses without a handle belong to a core, a TOP_SP or a stack (contract 10). */
static int write_memory(void* context, uint32_t core, uint64_t address, const void* bytes,
                        uint64_t size) {
    const struct neuron_block* block = trn_neuron_find(&self(context)->memory, address, size);
    if (block != NULL) return copy(context, block, address, (void*)(uintptr_t)bytes, size, true);
    struct neuron_program_engine place = {core, address, bytes, size, 0};
    return size == 0 ? 0 : request(context, NEURON_PROGRAM_ENGINE, &place);
}

static int read_memory(void* context, uint32_t core, uint64_t address, void* bytes, uint64_t size) {
    (void)core;
    const struct neuron_block* block = trn_neuron_find(&self(context)->memory, address, size);
    return block == NULL ? -ENOTSUP : copy(context, block, address, bytes, size, false);
}

/* ---- reset, rings ---- */

static int reset(void* context, uint32_t core_map) {
    struct neuron_core_reset wanted = {.core_map = core_map};
    int error = request(context, NEURON_CORE_RESET, &wanted);
    if (error != 0) return error;
    struct neuron_core_reset_ready ready = {.id = wanted.id};
    error = request(context, NEURON_CORE_RESET_READY, &ready);
    return error == 0 && ready.result != 0 ? -EIO : error;
}

/* A ring of the driver is the start of a block. An existing block is reused: the queue may still
 * use it. */
static int find_block(void* context, const trn_kernel_ring* r, uint64_t base, uint32_t length,
                      struct neuron_block** block) {
    const uint64_t size = (uint64_t)length * DESCRIPTOR_BYTES;
    if (*block != NULL && (*block)->size >= size) return 0;
    struct neuron_memory* memory = &self(context)->memory;
    const struct neuron_block* source = trn_neuron_find(memory, base, size);
    if (source == NULL) return -EINVAL;
    const trn_kernel_memory wanted = {
        .core = r->core, .stack = source->stack, .size = size, .alignment = PAGE};
    return trn_neuron_alloc(memory, &wanted, NEURON_DEVICE_DMA_RINGS, block);
}

static int put_descriptors(void* context, uint64_t base, uint32_t length,
                           const struct neuron_block* block, uint32_t side) {
    const uint64_t size = (uint64_t)length * DESCRIPTOR_BYTES;
    void* descriptors = malloc(size);
    if (descriptors == NULL) return -ENOMEM;
    int error = read_memory(context, 0, base, descriptors, size);
    struct neuron_copy_descriptors all = {block->handle, descriptors, length, 0, side};
    if (error == 0) error = request(context, NEURON_COPY_DESCRIPTORS, &all);
    free(descriptors);
    return error;
}

static int ring_init(void* context, const trn_kernel_ring* r) {
    if (r->engine >= MAX_ENGINES || r->queue >= QUEUES) return -EINVAL;
    struct queue_rings* rings = &self(context)->rings[r->engine][r->queue];
    int error = find_block(context, r, r->m2s_base, r->m2s_length, &rings->m2s);
    if (error == 0) error = find_block(context, r, r->s2m_base, r->s2m_length, &rings->s2m);
    if (error == 0) error = put_descriptors(context, r->m2s_base, r->m2s_length, rings->m2s, 0);
    if (error == 0) error = put_descriptors(context, r->s2m_base, r->s2m_length, rings->s2m, 1);
    if (error != 0) return error;
    struct neuron_queue_init queue = {.engine = r->engine,
                                      .queue = r->queue,
                                      .m2s_count = r->m2s_length,
                                      .s2m_count = r->s2m_length,
                                      .m2s_handle = rings->m2s->handle,
                                      .s2m_handle = rings->s2m->handle};
    return request(context, NEURON_QUEUE_INIT, &queue);
}

static int notifications(void* context, int is_top_sp, uint32_t number, uint32_t slot,
                         uint32_t size, trn_dma_memory* ring) {
    struct neuron_notifications_init wanted = {.number = number,
                                               .is_top_sp = (uint32_t)is_top_sp,
                                               .type = NOTIFY_TYPE,
                                               .slot = slot,
                                               .size = size,
                                               .in_host = 1,
                                               .new_memory = 1};
    int error = request(context, NEURON_NOTIFICATIONS_INIT, &wanted);
    struct neuron_block* block = NULL;
    if (error == 0) error = trn_neuron_adopt(&self(context)->memory, wanted.handle, &block);
    if (error == 0) describe(block, ring);
    return error;
}

static void account(void* context, const trn_accounts* accounts) {
    trn_neuron_account(&self(context)->accounts, accounts);
}

static const trn_kernel_driver kernel_driver = {.reset = reset,
                                                .memory_alloc = memory_alloc,
                                                .memory_free = memory_free,
                                                .write = write_memory,
                                                .read = read_memory,
                                                .ring_init = ring_init,
                                                .notifications = notifications};

/* ---- opening ---- */

static void close_transport(void* context) {
    struct context* state = context;
    trn_neuron_free_all(&state->memory);
    trn_neuron_accounts_close(&state->accounts);
    if (state->config >= 0) close(state->config);
    if (state->memory.file >= 0) close(state->memory.file);
    free(state);
}

static int open_device(struct context* context, unsigned number) {
    char path[96];
    snprintf(path, sizeof path, "/dev/neuron%u", number);
    context->memory.file = open(path, O_RDWR | O_CLOEXEC);
    if (context->memory.file < 0) return -errno;
    int error = request(context, NEURON_DEVICE_INFO, &context->info);
    struct neuron_function_address function = {.device = 0};
    if (error == 0) error = request(context, NEURON_FUNCTION_ADDRESS, &function);
    if (error != 0) return error;
    trn_neuron_accounts_open(&context->accounts, context->memory.file);
    snprintf(context->folder, sizeof context->folder, TRN_SYSFS_DEVICES "/%04x:%02x:%02x.%x",
             function.domain, function.bus, function.slot, function.function);
    snprintf(path, sizeof path, "%s/config", context->folder);
    context->config = open(path, O_RDWR | O_CLOEXEC);
    return context->config < 0 ? -errno : 0;
}

int trn_neuron_transport(unsigned number, trn_transport* transport, char* why, size_t why_size) {
    struct context* context = calloc(1, sizeof *context);
    if (context == NULL) return -ENOMEM;
    context->config = context->memory.file = -1;
    snprintf(context->name, sizeof context->name, "/dev/neuron%u", number);
    const int error = open_device(context, number);
    if (error != 0) {
        if (why_size > 0) snprintf(why, why_size, "%s: %s", context->name, strerror(-error));
        close_transport(context);
        return error;
    }
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
        .kernel = &kernel_driver,
        .account = account,
        .close = close_transport,
    };
    return 0;
}

unsigned trn_neuron_count(void) {
    unsigned count = 0;
    for (char path[32]; count < MAX_DEVICES; ++count) {
        snprintf(path, sizeof path, "/dev/neuron%u", count);
        if (access(path, F_OK) != 0) break;
    }
    return count;
}
