/* SPDX-License-Identifier: Apache-2.0 */
#include "device.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "bar.h"

/* Shared by all files: errors, register accesses, time, host memory, addresses and BARs. */

#define ENGINE_BYTES 0x40000u /* of UDMA registers */

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
        return "aborted";
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
        return "device not present";
    }
    return "unknown status";
}

trn_time_text trn_text_of_time(uint64_t nanoseconds) {
    static const struct {
        uint64_t ns;
        const char* name;
    } units[] = {{NS_PER_S, "s"}, {NS_PER_MS, "ms"}, {NS_PER_US, "us"}, {1, "ns"}};
    unsigned unit = 0;
    while (units[unit].ns > 1 && nanoseconds < units[unit].ns) ++unit;
    trn_time_text time;
    snprintf(time.text, sizeof time.text, "%.6g %s", (double)nanoseconds / (double)units[unit].ns,
             units[unit].name);
    return time;
}

trn_status trn_fail(trn_device* device, trn_status status, const char* format, ...) {
    if (!device) return status;
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(device->error, sizeof device->error, format, arguments);
    va_end(arguments);
    if (device->transport.log)
        device->transport.log(device->transport.context, TRN_LOG_DEBUG, device->error);
    return status;
}

trn_status trn_no_argument(trn_device* device) {
    return trn_fail(device, TRN_INVALID_ARGUMENT, "an argument is NULL");
}

const char* trn_last_error(const trn_device* device) {
    if (!device) return "";
    return device->error;
}

trn_status trn_transport_failed(trn_device* device, int error, const char* operation,
                                uint64_t number) {
    trn_status status = TRN_TRANSPORT_ERROR;
    if (error == -ENODEV) status = TRN_DEVICE_GONE;
    if (error == -ETIMEDOUT) status = TRN_TIMED_OUT;
    if (error == -ENOMEM) status = TRN_NO_MEMORY;
    if (error == -ENOTSUP) status = TRN_NOT_SUPPORTED;
    return trn_fail(device, status, "%s 0x%llx over %s: %s", operation, (unsigned long long)number,
                    device->transport.name, strerror(-error));
}

uint32_t trn_register_bar(const trn_device* device) {
    return device->map->register_bar[device->mode];
}

trn_mmio trn_mmio_of(trn_device* device) {
    return (trn_mmio){device, TRN_OK};
}

uint32_t trn_mmio_read(trn_mmio* io, uint64_t offset) {
    if (io->status != TRN_OK) return 0;
    trn_device* device = io->device;
    uint32_t value = 0;
    const int error = device->transport.bar_read32(device->transport.context,
                                                   trn_register_bar(device), offset, &value);
    if (error) io->status = trn_transport_failed(device, error, "cannot read register", offset);
    return value;
}

void trn_mmio_write(trn_mmio* io, uint64_t offset, uint32_t value) {
    if (io->status != TRN_OK) return;
    trn_device* device = io->device;
    const int error = device->transport.bar_write32(device->transport.context,
                                                    trn_register_bar(device), offset, value);
    if (error) io->status = trn_transport_failed(device, error, "cannot write register", offset);
}

uint64_t trn_engine_registers(const trn_device* device, uint32_t engine) {
    return trn_block_address(&device->map->engine, engine);
}

uint64_t trn_misc_ram_word(const trn_device* device, uint32_t offset) {
    return device->map->misc_ram + offset;
}

uint64_t trn_host_address(const trn_device* device, uint64_t iova) {
    return iova | device->map->host_window;
}

uint64_t trn_now(const trn_device* device) {
    if (!device) return 0;
    return device->transport.now(device->transport.context);
}

trn_status trn_pause(trn_device* device, uint64_t nanoseconds) {
    const int error = device->transport.wait(device->transport.context, nanoseconds);
    return error ? trn_transport_failed(device, error, "cannot wait: at time", trn_now(device))
                 : TRN_OK;
}

uint64_t trn_time_after(const trn_device* device, uint64_t nanoseconds) {
    const uint64_t now = trn_now(device);
    return nanoseconds < UINT64_MAX - now ? now + nanoseconds : UINT64_MAX;
}

uint64_t trn_timeout(const trn_device* device, uint64_t nanoseconds) {
    uint64_t scale = device->options.timeout_scale;
    if (!scale) scale = device->transport.timeout_scale;
    if (scale == 0) scale = 1;
    return nanoseconds < UINT64_MAX / scale ? nanoseconds * scale : UINT64_MAX;
}

void trn_limit_firmware(trn_device* device, uint64_t ns) {
    if (device) device->firmware_limit_ns = ns;
}

uint64_t trn_firmware_limit(const trn_device* device, uint64_t contract_ns) {
    return device->firmware_limit_ns ? device->firmware_limit_ns : contract_ns;
}

uint64_t trn_operation_begins(trn_device* device, const char* operation, uint64_t joins) {
    const trn_transport* t = &device->transport;
    return t->operation_begins ? t->operation_begins(t->context, operation, joins) : 0;
}

void trn_operation_posted(trn_device* device) {
    const trn_transport* t = &device->transport;
    if (t->operation_begins) t->operation_posted(t->context);
}

void trn_operation_complete(trn_device* device, uint64_t operation) {
    const trn_transport* t = &device->transport;
    if (t->operation_begins) t->operation_complete(t->context, operation);
}

/* Adds to the list of memory that descriptors of the caller may address (contract 13.2,
 * COPY_DESCRIPTORS). */
static trn_status add_host_memory(trn_device* device, trn_dma_memory* memory) {
    const size_t count = device->host_memory_count + 1u;
    trn_dma_memory* more = realloc(device->host_memory, count * sizeof *more);
    if (!more) {
        trn_dma_release(device, memory);
        return trn_fail(device, TRN_NO_MEMORY, "no memory for the list of buffers");
    }
    device->host_memory = more;
    more[device->host_memory_count++] = *memory;
    return TRN_OK;
}

bool trn_host_memory_holds(const trn_device* device, uint64_t iova, uint64_t size) {
    for (uint32_t i = 0; i < device->host_memory_count; ++i) {
        const trn_dma_memory* each = &device->host_memory[i];
        if (iova >= each->iova && size <= each->size && iova - each->iova <= each->size - size)
            return true;
    }
    return false;
}

trn_status trn_dma_allocate(trn_device* device, uint64_t size, trn_dma_memory* memory) {
    memset(memory, 0, sizeof *memory);
    if (size > device->map->host_window) /* a transport may round it up */
        return trn_fail(device, TRN_NO_MEMORY, "no host memory has 0x%llx bytes",
                        (unsigned long long)size);
    const int error = device->transport.dma_alloc(device->transport.context, size, memory);
    if (error) {
        memset(memory, 0, sizeof *memory);
        return trn_transport_failed(device, error, "no memory for DMA: size", size);
    }
    const uint64_t window = device->map->host_window;
    if ((memory->iova + memory->size) & ~(window - 1)) {
        trn_dma_release(device, memory);
        return trn_fail(device, TRN_NO_MEMORY, "host memory for DMA lies above 0x%llx",
                        (unsigned long long)window);
    }
    return add_host_memory(device, memory);
}

void trn_dma_release(trn_device* device, trn_dma_memory* memory) {
    for (uint32_t i = 0; memory->host && i < device->host_memory_count; ++i)
        if (device->host_memory[i].iova == memory->iova) {
            device->host_memory[i] = device->host_memory[--device->host_memory_count];
            break;
        }
    if (memory->host) device->transport.dma_free(device->transport.context, memory);
    memset(memory, 0, sizeof *memory);
}

trn_status trn_need_probe(trn_device* device) {
    if (!device) return trn_no_argument(device);
    return device->probed ? TRN_OK
                          : trn_fail(device, TRN_NOT_READY, "the device has not been probed yet");
}

trn_status trn_need_ready(trn_device* device) {
    if (!device) return trn_no_argument(device);
    return device->ready ? TRN_OK
                         : trn_fail(device, TRN_NOT_READY,
                                    "the device has not been reset yet, or its last reset failed");
}

trn_status trn_need_core(trn_device* device, uint32_t core) {
    const trn_status status = trn_need_probe(device);
    if (status != TRN_OK) return status;
    return core < device->map->cores
               ? TRN_OK
               : trn_fail(device, TRN_INVALID_ARGUMENT, "no core %u: %s has %u", core,
                          device->part->name, device->map->cores);
}

trn_status trn_need_range(trn_device* device, uint64_t begin, uint64_t size) {
    return trn_range_wraps(begin, size)
               ? trn_fail(device, TRN_INVALID_ARGUMENT,
                          "%llu bytes at 0x%llx pass the end of the address space",
                          (unsigned long long)size, (unsigned long long)begin)
               : TRN_OK;
}

static bool windows_follow_bar4(const trn_device* device) {
    return device->mode == TRN_MODE_QEMU && device->map->windows_follow_bar4;
}

static uint64_t stack_bytes(const trn_device* device) {
    return windows_follow_bar4(device) ? device->bar_size[4] / device->map->stacks
                                       : device->generation->stack_bytes;
}

trn_status trn_get_info(const trn_device* device, trn_device_info* info) {
    if (!device || !info) return TRN_INVALID_ARGUMENT;
    if (!device->probed) return TRN_NOT_READY;
    const trn_generation* generation = device->generation;
    *info = (trn_device_info){
        .vendor_id = device->vendor_id,
        .device_id = device->device_id,
        .revision = device->revision,
        .mode = device->mode,
        .architecture = generation->architecture,
        .name = device->part->name,
        .routing_id = device->routing_id,
        .device_index = device->device_index,
        .cores = device->map->cores,
        .dma_engines = device->map->engines,
        .queues_per_engine = TRN_QUEUES,
        .sync_blocks = device->map->top_sps,
        .stacks = device->map->stacks,
        .dies = device->map->dies,
        .stack_size = stack_bytes(device),
        .state_buffer_size = generation->state_buffer_bytes,
        .register_bar = trn_register_bar(device),
        .register_bar_size = device->bar_size[trn_register_bar(device)],
        .bar4_size = device->bar_size[4],
    };
    return TRN_OK;
}

/* ---- addresses, host memory, BARs ---- */

uint64_t trn_hbm_address(const trn_device* device, uint32_t stack, uint64_t offset) {
    if (!device || !device->map) return 0;
    return stack < device->map->stacks ? trn_block_address(&device->map->stack, stack) + offset : 0;
}

uint64_t trn_sbuf_address(const trn_device* device, uint32_t core, uint64_t offset) {
    if (!device || !device->map) return 0;
    return core < device->map->cores ? trn_block_address(&device->map->core, core) + offset : 0;
}

trn_status trn_buffer_alloc(trn_device* device, uint64_t size, trn_buffer* buffer) {
    if (!device || !buffer) return trn_no_argument(device);
    const trn_status status = trn_need_probe(device);
    if (status != TRN_OK) return status;
    if (size == 0) return trn_fail(device, TRN_INVALID_ARGUMENT, "a buffer of 0 bytes");
    return trn_dma_allocate(device, size, &buffer->memory);
}

void trn_buffer_free(trn_device* device, trn_buffer* buffer) {
    if (!device || !buffer) return;
    trn_dma_release(device, &buffer->memory);
}

uint64_t trn_buffer_address(const trn_device* device, const trn_buffer* buffer, uint64_t offset) {
    if (!device || !device->map || !buffer) return 0;
    return trn_host_address(device, buffer->memory.iova + offset);
}

trn_status trn_sleep(trn_device* device, uint64_t nanoseconds) {
    if (!device) return trn_no_argument(device);
    return trn_pause(device, nanoseconds);
}

uint64_t trn_simulated_now(const trn_device* device) {
    if (!device) return 0;
    return device->transport.simulated_now
               ? device->transport.simulated_now(device->transport.context)
               : trn_now(device);
}

static trn_status check_register(trn_device* device, uint64_t offset) {
    const trn_status status = trn_need_probe(device);
    if (status != TRN_OK) return status;
    const uint64_t size = device->bar_size[trn_register_bar(device)];
    if (offset % 4 || offset >= size)
        return trn_fail(device, TRN_INVALID_ARGUMENT,
                        "0x%llx is not a register: offsets are multiples of 4 below 0x%llx",
                        (unsigned long long)offset, (unsigned long long)size);
    return TRN_OK;
}

trn_status trn_bar_read(trn_device* device, uint64_t offset, uint32_t* value) {
    if (!device || !value) return trn_no_argument(device);
    const trn_status status = check_register(device, offset);
    if (status != TRN_OK) return status;
    trn_mmio io = trn_mmio_of(device);
    *value = trn_mmio_read(&io, offset);
    return io.status;
}

trn_status trn_bar_write_raw(trn_device* device, uint64_t offset, uint32_t value) {
    const trn_status status = check_register(device, offset);
    if (status != TRN_OK) return status;
    trn_mmio io = trn_mmio_of(device);
    trn_mmio_write(&io, offset, value);
    return io.status;
}

/* Contract 13.2, ioctl 12: registers that user space may not write, because the driver owns the
 * rings. */
static bool is_ring_register(const trn_device* device, uint64_t offset) {
    for (uint32_t engine = 0; engine < device->map->engines; ++engine) {
        const uint64_t base = trn_engine_registers(device, engine);
        if (offset < base || offset >= base + ENGINE_BYTES) continue;
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

static bool is_mailbox_register(const trn_device* device, uint64_t offset) {
    const uint64_t misc = device->map->misc_ram;
    return (offset >= misc + MISC_RAM(REQUEST_0) && offset <= misc + MISC_RAM(RESPONSE_LO)) ||
           offset == misc + MISC_RAM(TRIGGER);
}

trn_status trn_bar_write(trn_device* device, uint64_t offset, uint32_t value) {
    const trn_status status = check_register(device, offset);
    if (status != TRN_OK) return status;
    if (is_mailbox_register(device, offset) || is_ring_register(device, offset))
        return trn_fail(device, TRN_INVALID_ARGUMENT,
                        "register 0x%llx belongs to the driver (mailbox or ring register)",
                        (unsigned long long)offset);
    return trn_bar_write_raw(device, offset, value);
}

static uint64_t window_slice(const trn_device* device) {
    return windows_follow_bar4(device) ? stack_bytes(device) : device->map->window_slice;
}

/* A core's aperture begins with its SBUF, in the register BAR as in AXI space, and has events and
 * semaphores after it (contract 3.3). */
static uint64_t sbuf_in_bar(const trn_device* device, uint32_t core) {
    return trn_block_address(&device->map->core_sync, core) - CORE_SYNC_OFFSET;
}

static bool contains(const trn_chip_memory* memory, uint64_t address) {
    return address >= memory->begin && address - memory->begin < memory->bytes;
}

bool trn_chip_memory_at(const trn_device* device, uint64_t address, trn_chip_memory* memory) {
    for (uint32_t n = 0; n < device->map->stacks; ++n) {
        *memory = (trn_chip_memory){.number = n,
                                    .begin = trn_hbm_address(device, n, 0),
                                    .bytes = stack_bytes(device),
                                    .in_bar = n * window_slice(device)};
        if (contains(memory, address)) return true;
    }
    for (uint32_t n = 0; n < device->map->cores; ++n) {
        *memory = (trn_chip_memory){.is_sbuf = true,
                                    .number = n,
                                    .begin = trn_sbuf_address(device, n, 0),
                                    .bytes = device->generation->state_buffer_bytes,
                                    .in_bar = sbuf_in_bar(device, n)};
        if (contains(memory, address)) return true;
    }
    return false;
}

static trn_status window_offset(trn_device* device, uint32_t stack, uint64_t offset, uint64_t size,
                                uint64_t* place) {
    const trn_status status = trn_need_probe(device);
    if (status != TRN_OK) return status;
    const uint64_t slice = window_slice(device);
    if (device->bar_size[4] == 0)
        return trn_fail(device, TRN_NOT_SUPPORTED, "the function has no BAR4");
    if (stack >= device->map->stacks || offset > stack_bytes(device) ||
        size > stack_bytes(device) - offset)
        return trn_fail(device, TRN_INVALID_ARGUMENT, "HBM %u has no %llu bytes at 0x%llx", stack,
                        (unsigned long long)size, (unsigned long long)offset);
    *place = stack * slice + offset;
    return TRN_OK;
}

trn_status trn_window_read(trn_device* device, uint32_t stack, uint64_t offset, void* bytes,
                           uint64_t size) {
    if (!device || (size && !bytes)) return trn_no_argument(device);
    uint64_t place = 0;
    const trn_status status = window_offset(device, stack, offset, size, &place);
    if (status != TRN_OK) return status;
    const int error =
        device->transport.bar_read_block(device->transport.context, 4, place, bytes, size);
    return error ? trn_transport_failed(device, error, "cannot read BAR4 +", place) : TRN_OK;
}

trn_status trn_window_write(trn_device* device, uint32_t stack, uint64_t offset, const void* bytes,
                            uint64_t size) {
    if (!device || (size && !bytes)) return trn_no_argument(device);
    uint64_t place = 0;
    const trn_status status = window_offset(device, stack, offset, size, &place);
    if (status != TRN_OK) return status;
    const int error =
        device->transport.bar_write_block(device->transport.context, 4, place, bytes, size);
    return error ? trn_transport_failed(device, error, "cannot write BAR4 +", place) : TRN_OK;
}

trn_status trn_bar_address(trn_device* device, uint32_t bar, uint64_t* bus_address,
                           uint64_t* size) {
    if (!device || !bus_address || !size) return trn_no_argument(device);
    const trn_status status = trn_need_probe(device);
    if (status != TRN_OK) return status;
    if (bar > 4 || device->bar_size[bar] == 0 ||
        bar_bus_address(&device->transport, bar, bus_address) != 0)
        return trn_fail(device, TRN_NOT_SUPPORTED, "the bus address of BAR%u is unknown", bar);
    *size = device->bar_size[bar];
    return TRN_OK;
}
