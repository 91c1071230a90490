/* SPDX-License-Identifier: Apache-2.0 */
#include "device.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Life, probe (contract 1) and what every part needs: errors, register accesses, host memory. */

#define VENDOR_ID 0x1D0Fu
#define REVISION_QEMU 255u
#define REVISION_EMULATOR 240u
#define BOOT_TIMEOUT_MS 600000u /* contract 1.3: 20 attempts of 30 rounds of 1 s */
#define DUMMY_RING_DESCRIPTORS 64u

const char* trn_status_text(trn_status status) {
    switch (status) {
    case TRN_OK:
        return "ok";
    case TRN_INVALID_ARGUMENT:
        return "invalid argument";
    case TRN_UNKNOWN_DEVICE:
        return "unknown device";
    case TRN_NOT_READY:
        return "not ready";
    case TRN_TIMED_OUT:
        return "timed out";
    case TRN_ABORTED:
        return "aborted by the DMA engine";
    case TRN_REFUSED:
        return "refused by the firmware";
    case TRN_PROTOCOL_ERROR:
        return "protocol error";
    case TRN_BUSY:
        return "busy";
    case TRN_NOT_SUPPORTED:
        return "not supported";
    case TRN_NO_MEMORY:
        return "out of host memory";
    case TRN_TRANSPORT_ERROR:
        return "transport error";
    case TRN_DEVICE_GONE:
        return "device gone";
    }
    return "unknown status";
}

trn_status fail(trn_device* device, trn_status status, const char* format, ...) {
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(device->error, sizeof device->error, format, arguments);
    va_end(arguments);
    if (device->transport.log)
        device->transport.log(device->transport.context, TRN_LOG_DEBUG, device->error);
    return status;
}

const char* trn_last_error(const trn_device* device) {
    return device->error;
}

static trn_status transport_failed(trn_device* device, int error, const char* what,
                                   uint64_t where) {
    trn_status status = TRN_TRANSPORT_ERROR;
    if (error == -ENODEV) status = TRN_DEVICE_GONE;
    if (error == -ETIMEDOUT) status = TRN_TIMED_OUT;
    if (error == -ENOMEM) status = TRN_NO_MEMORY;
    if (error == -ENOTSUP) status = TRN_NOT_SUPPORTED;
    return fail(device, status, "%s 0x%llx over %s: %s", what, (unsigned long long)where,
                device->transport.name, strerror(-error));
}

void mmio_begin(trn_device* device) {
    device->io = TRN_OK;
}

uint32_t mmio_read(trn_device* device, uint64_t offset) {
    uint32_t value = 0;
    if (device->io != TRN_OK) return 0;
    const int error = device->transport.bar_read32(device->transport.context, 0, offset, &value);
    if (error) device->io = transport_failed(device, error, "cannot read BAR0 +", offset);
    return value;
}

void mmio_write(trn_device* device, uint64_t offset, uint32_t value) {
    if (device->io != TRN_OK) return;
    const int error = device->transport.bar_write32(device->transport.context, 0, offset, value);
    if (error) device->io = transport_failed(device, error, "cannot write BAR0 +", offset);
}

trn_status mmio_end(trn_device* device) {
    return device->io;
}

uint64_t now(const trn_device* device) {
    return device->transport.now(device->transport.context);
}

trn_status pause_for(trn_device* device, uint64_t nanoseconds) {
    const int error = device->transport.wait(device->transport.context, nanoseconds);
    return error ? transport_failed(device, error, "cannot wait: at time", now(device)) : TRN_OK;
}

uint64_t patience(const trn_device* device, uint64_t nanoseconds) {
    uint64_t scale = device->options.timeout_scale;
    if (!scale) scale = device->transport.timeout_scale;
    return nanoseconds * (scale ? scale : 1);
}

trn_status allocate(trn_device* device, uint64_t size, trn_dma_memory* memory) {
    memset(memory, 0, sizeof *memory);
    const int error = device->transport.dma_alloc(device->transport.context, size, memory);
    if (error) {
        memset(memory, 0, sizeof *memory);
        return transport_failed(device, error, "no memory for DMA: size", size);
    }
    if ((memory->iova + memory->size) & ~(LAYOUT_HOST_WINDOW - 1)) {
        release(device, memory);
        return fail(device, TRN_NO_MEMORY, "host memory for DMA lies above 2^46");
    }
    return TRN_OK;
}

void release(trn_device* device, trn_dma_memory* memory) {
    if (memory->host) device->transport.dma_free(device->transport.context, memory);
    memset(memory, 0, sizeof *memory);
}

trn_status need_probe(trn_device* device) {
    return device->probed ? TRN_OK
                          : fail(device, TRN_NOT_READY, "the device has not been probed yet");
}

trn_status need_ready(trn_device* device) {
    return device->ready ? TRN_OK
                         : fail(device, TRN_NOT_READY,
                                "the device has not been reset yet, or its last reset failed");
}

trn_status need_core(trn_device* device, uint32_t core) {
    const trn_status status = need_probe(device);
    if (status != TRN_OK) return status;
    return core < device->layout->cores
               ? TRN_OK
               : fail(device, TRN_INVALID_ARGUMENT, "no core %u: %s has %u", core,
                      device->layout->name, device->layout->cores);
}

trn_device* trn_create(const trn_transport* transport, const trn_options* options) {
    trn_device* device = calloc(1, sizeof *device);
    if (!device) return NULL;
    device->transport = *transport;
    if (options) device->options = *options;
    return device;
}

void trn_destroy(trn_device* device) {
    if (!device) return;
    if (device->ready)
        for (uint32_t engine = 0; engine < TRN_USER_ENGINES; ++engine)
            for (uint32_t queue = 0; queue < TRN_QUEUES; ++queue)
                if (device->user_rings[engine] >> queue & 1)
                    trn_ring_release(device, engine, queue);
    for (uint32_t core = 0; core < TRN_MAX_CORES; ++core)
        ring_close(device, &device->copy_rings[core], TRN_DEVICE_GONE);
    release(device, &device->bounce);
    release(device, &device->dummy_ring);
    release(device, &device->mailbox);
    device->transport.close(device->transport.context);
    free(device);
}

/* ---- probe ---- */

static trn_status config_read(trn_device* device, uint32_t offset, uint32_t width,
                              uint32_t* value) {
    const int error =
        device->transport.config_read(device->transport.context, offset, width, value);
    return error ? transport_failed(device, error, "cannot read configuration +", offset) : TRN_OK;
}

static trn_status identify(trn_device* device) {
    uint32_t ids = 0, revision = 0, command = 0;
    trn_status status = config_read(device, 0x00, 4, &ids);
    if (status == TRN_OK) status = config_read(device, 0x08, 1, &revision);
    if (status == TRN_OK) status = config_read(device, 0x04, 2, &command);
    if (status != TRN_OK) return status;
    device->vendor_id = (uint16_t)ids;
    device->device_id = (uint16_t)(ids >> 16);
    device->revision = (uint8_t)revision;
    device->layout = device->vendor_id == VENDOR_ID ? layout_find(device->device_id) : NULL;
    if (!device->layout)
        return fail(device, TRN_UNKNOWN_DEVICE,
                    "function %04x:%04x is no Trainium that this "
                    "library knows (1d0f:7564, :7565, :7364)",
                    device->vendor_id, device->device_id);
    device->mode = device->revision == REVISION_QEMU       ? TRN_MODE_QEMU
                   : device->revision == REVISION_EMULATOR ? TRN_MODE_EMULATOR
                                                           : TRN_MODE_SILICON;
    const uint32_t memory_and_master = 1u << 1 | 1u << 2;
    const int error = device->transport.config_write(device->transport.context, 0x04, 2,
                                                     command | memory_and_master);
    return error ? transport_failed(device, error, "cannot write configuration +", 4) : TRN_OK;
}

static trn_status find_bars(trn_device* device) {
    for (uint32_t bar = 0; bar < 6; ++bar)
        device->bar_size[bar] = device->transport.bar_size(device->transport.context, bar);
    if (device->bar_size[0] < UINT64_C(1) << 32)
        return fail(device, TRN_PROTOCOL_ERROR,
                    "BAR0 has %llu bytes: the register space needs 4 GiB",
                    (unsigned long long)device->bar_size[0]);
    if (device->mode == TRN_MODE_QEMU && device->bar_size[4] == 0)
        return fail(device, TRN_PROTOCOL_ERROR, "no BAR4: on revision 255 it tells the HBM size");
    return TRN_OK;
}

static trn_status wait_for_routing_id(trn_device* device) {
    const uint32_t given = device->options.boot_timeout_ms;
    const uint64_t limit = (uint64_t)(given ? given : BOOT_TIMEOUT_MS) * NS_PER_MS;
    const uint64_t start = now(device);
    for (;;) {
        mmio_begin(device);
        const uint32_t id = mmio_read(device, LAYOUT_MISC_RAM + MISC_RAM(ROUTING_ID));
        trn_status status = mmio_end(device);
        if (status != TRN_OK) return status;
        if (id != WORD_NOT_PUBLISHED) {
            device->routing_id = id;
            return TRN_OK;
        }
        if (now(device) - start >= limit)
            return fail(device, TRN_TIMED_OUT, "firmware did not publish its routing id in %llu ms",
                        (unsigned long long)(limit / NS_PER_MS));
        status = pause_for(device, NS_PER_MS);
        if (status != TRN_OK) return status;
    }
}

/* Contract 1.3 step 5. */
static trn_status place_in_torus(trn_device* device) {
    static const uint8_t torus[16] = {0, 3, 4, 7, 12, 15, 8, 11, 1, 2, 5, 6, 13, 14, 9, 10};
    const bool pds = device->options.platform == TRN_HOST_PDS;
    const uint32_t most = pds ? 128 : 64;
    if (device->routing_id >= most)
        return fail(device, TRN_PROTOCOL_ERROR, "routing id 0x%x: 0..%u are possible",
                    device->routing_id, most - 1);
    device->device_index = pds ? device->routing_id % 16 : torus[device->routing_id % 16];
    if (!pds) return TRN_OK;
    mmio_begin(device);
    const uint32_t server = mmio_read(device, LAYOUT_MISC_RAM + MISC_RAM(SERVER_ID));
    const trn_status status = mmio_end(device);
    if (status == TRN_OK && !(server & 1u << 15))
        return fail(device, TRN_PROTOCOL_ERROR, "server id 0x%08x is not valid (bit 15)", server);
    return status;
}

trn_status trn_probe(trn_device* device) {
    device->probed = device->ready = false;
    trn_status status = identify(device);
    if (status == TRN_OK) status = find_bars(device);
    if (status == TRN_OK) status = wait_for_routing_id(device);
    if (status == TRN_OK) status = place_in_torus(device);
    if (status == TRN_OK && !device->dummy_ring.host)
        status = allocate(device, 2 * DUMMY_RING_DESCRIPTORS * sizeof(trn_descriptor),
                          &device->dummy_ring);
    device->probed = status == TRN_OK;
    return status;
}

static uint64_t stack_bytes(const trn_device* device) {
    return device->mode == TRN_MODE_QEMU ? device->bar_size[4] / 4 : device->layout->stack_size;
}

trn_status trn_get_info(const trn_device* device, trn_device_info* info) {
    if (!device->probed) return TRN_NOT_READY;
    const trn_layout* layout = device->layout;
    *info = (trn_device_info){
        .vendor_id = device->vendor_id,
        .device_id = device->device_id,
        .revision = device->revision,
        .mode = device->mode,
        .architecture = layout->architecture,
        .name = layout->name,
        .routing_id = device->routing_id,
        .device_index = device->device_index,
        .cores = layout->cores,
        .dma_engines = layout->engines,
        .queues_per_engine = TRN_QUEUES,
        .sync_blocks = layout->sync_blocks,
        .stacks = layout->stacks,
        .stack_size = stack_bytes(device),
        .bar0_size = device->bar_size[0],
        .bar4_size = device->bar_size[4],
    };
    return TRN_OK;
}

/* ---- addresses, host memory, BARs ---- */

uint64_t trn_hbm_address(const trn_device* device, uint32_t stack, uint64_t offset) {
    (void)device;
    return stack < TRN_MAX_STACKS ? layout_stack(stack) + offset : 0;
}

uint64_t trn_sbuf_address(const trn_device* device, uint32_t core, uint64_t offset) {
    (void)device;
    return core < TRN_MAX_CORES ? layout_core(core) + offset : 0;
}

trn_status trn_buffer_alloc(trn_device* device, uint64_t size, trn_buffer* buffer) {
    if (size == 0) return fail(device, TRN_INVALID_ARGUMENT, "a buffer of 0 bytes");
    return allocate(device, size, &buffer->memory);
}

void trn_buffer_free(trn_device* device, trn_buffer* buffer) {
    release(device, &buffer->memory);
}

uint64_t trn_buffer_address(const trn_device* device, const trn_buffer* buffer, uint64_t offset) {
    (void)device;
    return (buffer->memory.iova + offset) | LAYOUT_HOST_WINDOW;
}

trn_status trn_sleep(trn_device* device, uint64_t nanoseconds) {
    return pause_for(device, nanoseconds);
}

uint64_t trn_now(const trn_device* device) {
    return now(device);
}

uint64_t trn_simulated_now(const trn_device* device) {
    return device->transport.simulated_now
               ? device->transport.simulated_now(device->transport.context)
               : now(device);
}

static trn_status check_register(trn_device* device, uint64_t offset) {
    const trn_status status = need_probe(device);
    if (status != TRN_OK) return status;
    if (offset % 4 || offset >= device->bar_size[0])
        return fail(device, TRN_INVALID_ARGUMENT,
                    "BAR0 + 0x%llx is no register: offsets are multiples of 4 below 0x%llx",
                    (unsigned long long)offset, (unsigned long long)device->bar_size[0]);
    return TRN_OK;
}

trn_status trn_bar_read(trn_device* device, uint64_t offset, uint32_t* value) {
    const trn_status status = check_register(device, offset);
    if (status != TRN_OK) return status;
    mmio_begin(device);
    *value = mmio_read(device, offset);
    return mmio_end(device);
}

trn_status trn_bar_write_raw(trn_device* device, uint64_t offset, uint32_t value) {
    const trn_status status = check_register(device, offset);
    if (status != TRN_OK) return status;
    mmio_begin(device);
    mmio_write(device, offset, value);
    return mmio_end(device);
}

/* Contract 13.2, ioctl 12: what user space may not write because rings are the driver's. */
static bool is_ring_register(const trn_device* device, uint64_t offset) {
    for (uint32_t engine = 0; engine < device->layout->engines; ++engine) {
        const uint64_t base = layout_engine(engine);
        if (offset < base || offset >= layout_engine_misc(engine)) continue;
        for (uint32_t q = 0; q < TRN_QUEUES; ++q) {
            const uint64_t guarded[] = {UDMA(M2S_Q_BASE_LO)(q),
                                        UDMA(M2S_Q_BASE_HI)(q),
                                        UDMA(M2S_Q_TAIL_INCREMENT)(q),
                                        UDMA(M2S_Q_COMPLETION_BASE_LO)(q),
                                        UDMA(M2S_Q_COMPLETION_BASE_HI)(q),
                                        UDMA(S2M_Q_BASE_LO)(q),
                                        UDMA(S2M_Q_BASE_HI)(q),
                                        UDMA(S2M_Q_TAIL_INCREMENT)(q),
                                        UDMA(S2M_Q_COMPLETION_BASE_LO)(q),
                                        UDMA(S2M_Q_COMPLETION_BASE_HI)(q)};
            for (size_t i = 0; i < sizeof guarded / sizeof guarded[0]; ++i)
                if (offset == base + guarded[i]) return true;
        }
    }
    return false;
}

static bool is_mailbox_register(uint64_t offset) {
    const uint64_t misc = LAYOUT_MISC_RAM;
    return (offset >= misc + MISC_RAM(REQUEST_0) && offset <= misc + MISC_RAM(RESPONSE_LO)) ||
           offset == misc + MISC_RAM(TRIGGER);
}

trn_status trn_bar_write(trn_device* device, uint64_t offset, uint32_t value) {
    const trn_status status = check_register(device, offset);
    if (status != TRN_OK) return status;
    if (is_mailbox_register(offset) || is_ring_register(device, offset))
        return fail(device, TRN_INVALID_ARGUMENT,
                    "BAR0 + 0x%llx belongs to the driver (mailbox or ring register)",
                    (unsigned long long)offset);
    return trn_bar_write_raw(device, offset, value);
}

static trn_status window_offset(trn_device* device, uint32_t stack, uint64_t offset, uint64_t size,
                                uint64_t* place) {
    const trn_status status = need_probe(device);
    if (status != TRN_OK) return status;
    const uint64_t slice =
        device->mode == TRN_MODE_QEMU ? device->bar_size[4] / 4 : LAYOUT_BAR4_STACK_BYTES;
    if (device->bar_size[4] == 0)
        return fail(device, TRN_NOT_SUPPORTED, "the function has no BAR4");
    if (stack >= device->layout->stacks || offset > stack_bytes(device) ||
        size > stack_bytes(device) - offset)
        return fail(device, TRN_INVALID_ARGUMENT, "HBM %u has no %llu bytes at 0x%llx", stack,
                    (unsigned long long)size, (unsigned long long)offset);
    *place = stack * slice + offset;
    return TRN_OK;
}

trn_status trn_window_read(trn_device* device, uint32_t stack, uint64_t offset, void* bytes,
                           uint64_t size) {
    uint64_t place = 0;
    const trn_status status = window_offset(device, stack, offset, size, &place);
    if (status != TRN_OK) return status;
    const int error =
        device->transport.bar_read_block(device->transport.context, 4, place, bytes, size);
    return error ? transport_failed(device, error, "cannot read BAR4 +", place) : TRN_OK;
}

trn_status trn_window_write(trn_device* device, uint32_t stack, uint64_t offset, const void* bytes,
                            uint64_t size) {
    uint64_t place = 0;
    const trn_status status = window_offset(device, stack, offset, size, &place);
    if (status != TRN_OK) return status;
    const int error =
        device->transport.bar_write_block(device->transport.context, 4, place, bytes, size);
    return error ? transport_failed(device, error, "cannot write BAR4 +", place) : TRN_OK;
}
