/* SPDX-License-Identifier: Apache-2.0 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "sw-stubs/transports/library/library_transport.h"

enum { PS_PER_NS = 1000, PAGE = 4096 };

struct allocation {
    struct allocation* next;
    trn_dma_memory memory;
};

struct context {
    trnvp_machine* machine;
    trnvp_function* function;
    struct allocation* allocations;
};

static struct context* self(void* context) {
    return context;
}

static trnvp_function* function(void* context) {
    return self(context)->function;
}

/* The errors that trn_transport allows. */
static int error_of(trnvp_status status) {
    switch (status) {
    case TRNVP_OK:
        return 0;
    case TRNVP_INVALID_ARGUMENT:
        return -EINVAL;
    case TRNVP_OUT_OF_MEMORY:
        return -ENOMEM;
    case TRNVP_ENDED:
    case TRNVP_STALLED:
        return -ENODEV;
    default:
        return -EIO;
    }
}

static uint64_t bar_size(void* context, uint32_t bar) {
    return trnvp_bar_size(function(context), bar);
}

static int bar_read32(void* context, uint32_t bar, uint64_t offset, uint32_t* value) {
    if (offset % sizeof *value != 0) return -EINVAL;
    return error_of(trnvp_bar_read(function(context), bar, offset, value, sizeof *value));
}

static int bar_write32(void* context, uint32_t bar, uint64_t offset, uint32_t value) {
    if (offset % sizeof value != 0) return -EINVAL;
    return error_of(trnvp_bar_write(function(context), bar, offset, &value, sizeof value));
}

static int bar_read_block(void* context, uint32_t bar, uint64_t offset, void* bytes,
                          uint64_t count) {
    unsigned char* next = bytes;
    while (count != 0) {
        const uint64_t size = count < TRNVP_MAX_BYTES ? count : TRNVP_MAX_BYTES;
        const int error = error_of(trnvp_bar_read(function(context), bar, offset, next, size));
        if (error != 0) return error;
        next += size;
        offset += size;
        count -= size;
    }
    return 0;
}

static int bar_write_block(void* context, uint32_t bar, uint64_t offset, const void* bytes,
                           uint64_t count) {
    const unsigned char* next = bytes;
    while (count != 0) {
        const uint64_t size = count < TRNVP_MAX_BYTES ? count : TRNVP_MAX_BYTES;
        const int error = error_of(trnvp_bar_write(function(context), bar, offset, next, size));
        if (error != 0) return error;
        next += size;
        offset += size;
        count -= size;
    }
    return 0;
}

static int config_read(void* context, uint32_t offset, uint32_t width, uint32_t* value) {
    *value = 0;
    return error_of(trnvp_config_read(function(context), offset, width, value));
}

static int config_write(void* context, uint32_t offset, uint32_t width, uint32_t value) {
    return error_of(trnvp_config_write(function(context), offset, width, value));
}

static int dma_alloc(void* context, uint64_t size, trn_dma_memory* memory) {
    if (size > UINT64_MAX - PAGE) return -ENOMEM;
    struct allocation* made = malloc(sizeof *made);
    if (made == NULL) return -ENOMEM;
    made->memory.size = (size + PAGE - 1) / PAGE * PAGE;
    const int error = error_of(trnvp_host_alloc(function(context), made->memory.size,
                                                &made->memory.host, &made->memory.iova));
    if (error != 0) {
        free(made);
        return error;
    }
    made->next = self(context)->allocations;
    self(context)->allocations = made;
    *memory = made->memory;
    return 0;
}

static void dma_free(void* context, const trn_dma_memory* memory) {
    struct allocation** link = &self(context)->allocations;
    for (; *link != NULL; link = &(*link)->next) {
        struct allocation* const found = *link;
        if (found->memory.iova != memory->iova) continue;
        trnvp_host_free(function(context), found->memory.iova, found->memory.size);
        *link = found->next;
        free(found);
        return;
    }
}

static int wait_for(void* context, uint64_t nanoseconds) {
    trnvp_machine* const machine = self(context)->machine;
    const uint64_t now = trnvp_time_ps(machine);
    const uint64_t left = (UINT64_MAX - now) / PS_PER_NS;
    if (nanoseconds == 0) nanoseconds = 1;
    if (nanoseconds > left) nanoseconds = left;
    const trnvp_status status = trnvp_run_until(machine, now + nanoseconds * PS_PER_NS);
    return status == TRNVP_PAUSED ? 0 : error_of(status);
}

static uint64_t now_ns(void* context) {
    return trnvp_time_ps(self(context)->machine) / PS_PER_NS;
}

static int bar_bus_address(void* context, uint32_t bar, uint64_t* bus_address) {
    const trnvp_status status = trnvp_bar_address(function(context), bar, bus_address);
    return status == TRNVP_NOT_FOUND ? -ENOTSUP : error_of(status);
}

static int function_reset(void* context) {
    return error_of(trnvp_function_reset(function(context)));
}

static void close_transport(void* context) {
    while (self(context)->allocations != NULL) {
        const trn_dma_memory memory = self(context)->allocations->memory;
        dma_free(context, &memory);
    }
    free(context);
}

int trn_library_transport(trnvp_machine* machine, const char* name, trn_transport* transport) {
    struct context* const made = calloc(1, sizeof *made);
    if (made == NULL) return -ENOMEM;
    made->machine = machine;
    if (trnvp_find_function(machine, name, &made->function) != TRNVP_OK) {
        free(made);
        return -ENODEV;
    }
    memset(transport, 0, sizeof *transport);
    transport->context = made;
    transport->name = "a machine in this process";
    transport->timeout_scale = 1;
    transport->bar_size = bar_size;
    transport->bar_read32 = bar_read32;
    transport->bar_write32 = bar_write32;
    transport->bar_read_block = bar_read_block;
    transport->bar_write_block = bar_write_block;
    transport->config_read = config_read;
    transport->config_write = config_write;
    transport->dma_alloc = dma_alloc;
    transport->dma_free = dma_free;
    transport->wait = wait_for;
    transport->now = now_ns;
    transport->simulated_now = now_ns;
    transport->bar_bus_address = bar_bus_address;
    transport->function_reset = function_reset;
    transport->close = close_transport;
    return 0;
}
