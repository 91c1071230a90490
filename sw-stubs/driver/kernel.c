/* SPDX-License-Identifier: Apache-2.0 */
#include <string.h>

#include "device.h"

/* Operations of a kernel driver that replace the library's own (trn_kernel_driver). */

#define KERNEL(device, operation, ...) \
    (device)->transport.kernel->operation((device)->transport.context, __VA_ARGS__)

static trn_status result(trn_device* device, int error, const char* operation, uint64_t number) {
    return error ? trn_transport_failed(device, error, operation, number) : TRN_OK;
}

trn_status trn_kernel_reset(trn_device* device, uint32_t core_map) {
    device->ready = false;
    const trn_status status = result(device, KERNEL(device, reset, core_map),
                                     "the kernel driver cannot reset cores", core_map);
    for (uint32_t engine = 0; engine < device->map->user_engines; ++engine)
        if (core_map >> engine / TRN_ENGINES_PER_CORE & 1) device->user_rings[engine] = 0;
    device->ready = status == TRN_OK;
    return status;
}

trn_status trn_kernel_write(trn_device* device, uint32_t core, uint64_t address, const void* bytes,
                            uint64_t size) {
    return result(device, KERNEL(device, write, core, address, bytes, size),
                  "the kernel driver cannot write to", address);
}

trn_status trn_kernel_read(trn_device* device, uint32_t core, void* bytes, uint64_t address,
                           uint64_t size) {
    return result(device, KERNEL(device, read, core, address, bytes, size),
                  "the kernel driver cannot read from", address);
}

trn_status trn_kernel_ring_init(trn_device* device, const trn_ring_request* request) {
    const trn_kernel_ring ring = {.core = request->engine / TRN_ENGINES_PER_CORE,
                                  .engine = request->engine,
                                  .queue = request->queue,
                                  .m2s_base = request->m2s_base,
                                  .s2m_base = request->s2m_base,
                                  .m2s_length = request->m2s_length,
                                  .s2m_length = request->s2m_length};
    return result(device, KERNEL(device, ring_init, &ring),
                  "the kernel driver cannot set up rings of engine", request->engine);
}

trn_status trn_kernel_notifications(trn_device* device, trn_notification_ring* ring) {
    const bool top_sp = ring->block == TRN_NOTIFY_TOP_SP;
    if (!top_sp && ring->block != TRN_NOTIFY_CORE)
        return trn_fail(device, TRN_NOT_SUPPORTED,
                        "a kernel driver has notification rings of cores and TOP_SPs only");
    const trn_status status = result(
        device,
        KERNEL(device, notifications, top_sp, ring->number, ring->slot, ring->size, &ring->memory),
        "the kernel driver has no notification ring for slot", ring->slot);
    if (status != TRN_OK) memset(&ring->memory, 0, sizeof ring->memory);
    return status;
}

trn_status trn_kernel_memory_alloc(trn_device* device, trn_kernel_memory wanted,
                                   uint64_t* address) {
    wanted.stack = wanted.core / (device->map->cores / device->map->stacks);
    return result(device, KERNEL(device, memory_alloc, &wanted, address),
                  "the kernel driver has no memory of size", wanted.size);
}

void trn_kernel_memory_free(trn_device* device, uint64_t address) {
    KERNEL(device, memory_free, address);
}
