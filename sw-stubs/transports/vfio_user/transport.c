/* SPDX-License-Identifier: Apache-2.0 */
#define _GNU_SOURCE
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "sw-stubs/transports/vfio_user/vfio_user.h"

/* Timeouts in wall time, which differs from the device's time, hence the large scale. */
enum { WALL_CLOCK_SCALE = 100 };

static const uint64_t first_iova = 0x10000000; /* above addresses near null */
static const uint64_t page = 4096;

struct context {
    trn_vfio_user* client;
    uint64_t next_iova;
    int simulated_time; /* the server supports waits in simulated time */
    uint64_t bus_addresses[6];
    char name[160];
};

static struct context* self(void* context) {
    return context;
}
static trn_vfio_user* client(void* context) {
    return self(context)->client;
}

/* Maps an error to those that trn_transport allows for accesses. */
static int bus_error(int error) {
    return error == 0 || error == -EINVAL || error == -ENODEV || error == -ETIMEDOUT ? error : -EIO;
}

static uint64_t bar_size(void* context, uint32_t bar) {
    trn_vfio_user_region region;
    if (bar > 5 || trn_vfio_user_region_info(client(context), bar, &region) != 0) return 0;
    return region.size;
}

static int bar_read_block(void* context, uint32_t bar, uint64_t offset, void* bytes,
                          uint64_t count) {
    if (bar > 5) return -EINVAL;
    return bus_error(trn_vfio_user_read(client(context), bar, offset, bytes, count));
}

static int bar_write_block(void* context, uint32_t bar, uint64_t offset, const void* bytes,
                           uint64_t count) {
    if (bar > 5) return -EINVAL;
    return bus_error(trn_vfio_user_write(client(context), bar, offset, bytes, count));
}

static int bar_read32(void* context, uint32_t bar, uint64_t offset, uint32_t* value) {
    return offset % 4 != 0 ? -EINVAL : bar_read_block(context, bar, offset, value, sizeof *value);
}

static int bar_write32(void* context, uint32_t bar, uint64_t offset, uint32_t value) {
    trn_vfio_user_region region; /* posted writes have no reply: check here */
    if (bar > 5 || offset % 4 != 0) return -EINVAL;
    const int error = trn_vfio_user_region_info(client(context), bar, &region);
    if (error != 0) return bus_error(error);
    if (region.size < 4 || offset > region.size - 4) return -EINVAL;
    return bus_error(trn_vfio_user_post(client(context), bar, offset, &value, sizeof value));
}

static int config_read(void* context, uint32_t offset, uint32_t width, uint32_t* value) {
    *value = 0;
    if (width != 1 && width != 2 && width != 4) return -EINVAL;
    return bus_error(
        trn_vfio_user_read(client(context), TRN_VFIO_USER_CONFIG, offset, value, width));
}

static int config_write(void* context, uint32_t offset, uint32_t width, uint32_t value) {
    if (width != 1 && width != 2 && width != 4) return -EINVAL;
    return bus_error(
        trn_vfio_user_write(client(context), TRN_VFIO_USER_CONFIG, offset, &value, width));
}

static int dma_alloc(void* context, uint64_t size, trn_dma_memory* memory) {
    struct context* state = self(context);
    const int error = trn_vfio_user_dma_alloc(state->client, size, state->next_iova, memory);
    if (error == 0) state->next_iova += memory->size + page; /* a hole, to detect overruns */
    if (error == -ETIMEDOUT) state->next_iova += size / page * page + 2 * page; /* may be mapped */
    return error;
}

static void dma_free(void* context, const trn_dma_memory* memory) {
    trn_vfio_user_dma_free(client(context), memory);
}

static uint64_t wall_nanoseconds(void) {
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (uint64_t)now.tv_sec * 1000000000 + (uint64_t)now.tv_nsec;
}

static uint64_t now(void* context) {
    uint64_t time = 0;
    if (self(context)->simulated_time && trn_vfio_user_now(client(context), &time) == 0)
        return time;
    return wall_nanoseconds();
}

static uint64_t simulated_now(void* context) {
    uint64_t time = 0;
    trn_vfio_user_now(client(context), &time);
    return time;
}

static int wait(void* context, uint64_t nanoseconds) {
    if (self(context)->simulated_time) {
        const int error = trn_vfio_user_wait(client(context), nanoseconds, NULL);
        return error == -ETIMEDOUT ? error : error != 0 ? -ENODEV : 0;
    }
    const uint64_t end = wall_nanoseconds() + nanoseconds;
    for (;;) { /* serve the device's accesses to host memory */
        const uint64_t current = wall_nanoseconds();
        const uint64_t left = current < end ? (end - current) / 1000000 : 0;
        const int served = trn_vfio_user_serve(client(context), left < 100 ? (uint32_t)left : 100);
        if (served < 0) return -ENODEV;
        if (wall_nanoseconds() >= end) return 0;
        if (left == 0) { /* less than poll()'s unit of 1 ms is left */
            const struct timespec rest = {0, (long)(end - current)};
            nanosleep(&rest, NULL);
        }
    }
}

static int bar_map(void* context, uint32_t bar, uint64_t offset, uint64_t size,
                   trn_bar_mapping* mapping) {
    if (bar > 5) return -EINVAL;
    void* host = NULL;
    const int error = trn_vfio_user_region_map(client(context), bar, offset, size, &host);
    if (error == 0) *mapping = (trn_bar_mapping){host, offset, size};
    return error;
}

static void bar_unmap(void* context, const trn_bar_mapping* mapping) {
    trn_vfio_user_region_unmap(client(context), mapping->host, mapping->size);
}

static int bar_bus_address(void* context, uint32_t bar, uint64_t* bus_address) {
    if (bar > 5) return -EINVAL;
    *bus_address = self(context)->bus_addresses[bar];
    return *bus_address == 0 ? -ENOTSUP : 0;
}

static int function_reset(void* context) {
    return bus_error(trn_vfio_user_reset(client(context)));
}

static void account(void* context, const trn_accounts* accounts) {
    trn_vfio_user_account(client(context), accounts, sizeof *accounts);
}

static void close_transport(void* context) {
    trn_vfio_user_close(client(context));
    free(context);
}

int trn_vfio_user_transport(const char* path, const trn_vfio_user_options* options,
                            trn_transport* transport, char* why, size_t why_size) {
    struct context* context = calloc(1, sizeof *context);
    if (context == NULL) return -ENOMEM;
    const int error = trn_vfio_user_open(path, options, &context->client, why, why_size);
    if (error != 0) {
        free(context);
        return error;
    }
    context->next_iova = first_iova;
    const uint64_t* addresses = options != NULL ? options->bus_addresses : NULL;
    if (addresses != NULL) memcpy(context->bus_addresses, addresses, sizeof context->bus_addresses);
    context->simulated_time = trn_vfio_user_wait(context->client, 0, NULL) == 0;
    uint64_t time = 0;
    const int knows_time = trn_vfio_user_now(context->client, &time) == 0;
    snprintf(context->name, sizeof context->name, "vfio-user %s", path);
    *transport = (trn_transport){
        .context = context,
        .name = context->name,
        .timeout_scale = context->simulated_time ? 1 : WALL_CLOCK_SCALE,
        .bar_size = bar_size,
        .bar_read32 = bar_read32,
        .bar_write32 = bar_write32,
        .bar_read_block = bar_read_block,
        .bar_write_block = bar_write_block,
        .config_read = config_read,
        .config_write = config_write,
        .dma_alloc = dma_alloc,
        .dma_free = dma_free,
        .wait = wait,
        .now = now,
        .simulated_now = knows_time ? simulated_now : NULL,
        .bar_map = bar_map,
        .bar_unmap = bar_unmap,
        .bar_bus_address = addresses != NULL ? bar_bus_address : NULL,
        .function_reset = function_reset,
        .account = account,
        .close = close_transport,
    };
    return 0;
}
