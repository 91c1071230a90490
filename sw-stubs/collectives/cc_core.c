/* SPDX-License-Identifier: Apache-2.0 */
#include "cc_core.h"

#include <string.h>

#include "trn/cc_core_regs.h"
#include "trn/cc_mailbox_regs.h"
#include "trn/cc_program_regs.h"
#include "trn/notification_queue_regs.h"
#include "trn_coll.h"

/* CC-Cores and their firmware (doc/models/processor/top_sp.md, doc/collectives.md):
 * invented. */

#define CONTROL_PAGE UINT64_C(0x2000)
#define DATA_MEMORY UINT64_C(0x20000) /* begins with the mailbox */
#define PROGRAMS UINT64_C(0x100000)
#define APERTURE_BYTES UINT64_C(0x400000)

#define CONTROL(name) (CONTROL_PAGE + TRN_CC_CORE_##name##_OFFSET)
#define MAILBOX(name) (DATA_MEMORY + TRN_CC_MAILBOX_##name##_OFFSET)
#define SLOT(name, slot) (DATA_MEMORY + TRN_CC_MAILBOX_SLOT_##name##_OFFSET(slot))

#define LOAD_COMMAND 0x20u /* of the management firmware's mailbox */
#define COMMAND_BIT (1u << 0)
#define TRIGGER_BIT(slot) (1u << (8 + (slot)))
#define START_LIMIT (10 * NS_PER_MS)
#define COMMAND_LIMIT (100 * NS_PER_MS)
#define POLL_INTERVAL (2 * NS_PER_US)

uint64_t trn_cc_bar_offset(const trn_device* device, uint32_t core) {
    return trn_block_address(&device->map->top_sp_sync, core);
}

/* Number of a core in the address map, which has 10 per die; the driver numbers 8 of them. */
static uint32_t number_in_map(const trn_device* device, uint32_t core) {
    const uint32_t used = device->map->top_sp_sync.runs[0].count;
    return core / used * device->map->programmable[1].blocks.runs[0].count + core % used;
}

uint64_t trn_cc_axi_address(const trn_device* device, uint32_t core) {
    return trn_block_address(&device->map->programmable[1].blocks, number_in_map(device, core));
}

static trn_status check_core(trn_device* device, uint32_t core) {
    return core < device->map->top_sps
               ? TRN_OK
               : trn_fail(device, TRN_INVALID_ARGUMENT, "no CC-Core %u: there are %u", core,
                          device->map->top_sps);
}

static trn_status need_cc_core(trn_device* device, uint32_t core, uint32_t slot) {
    trn_status status = trn_need_ready(device);
    if (status == TRN_OK) status = check_core(device, core);
    if (status != TRN_OK) return status;
    if (slot >= TRN_CC_SLOTS)
        return trn_fail(device, TRN_INVALID_ARGUMENT, "no slot %u: a core has %u", slot,
                        TRN_CC_SLOTS);
    return TRN_OK;
}

static uint32_t get(trn_mmio* io, uint32_t core, uint64_t offset) {
    return trn_mmio_read(io, trn_cc_bar_offset(io->device, core) + offset);
}

static void put(trn_mmio* io, uint32_t core, uint64_t offset, uint32_t value) {
    trn_mmio_write(io, trn_cc_bar_offset(io->device, core) + offset, value);
}

static trn_status wait_for_word(trn_device* device, uint32_t core, uint64_t offset, uint32_t value,
                                uint64_t limit, bool* came) {
    const uint64_t start = trn_now(device), end = trn_timeout(device, limit);
    for (;;) {
        trn_mmio io = trn_mmio_of(device);
        *came = get(&io, core, offset) == value;
        if (io.status != TRN_OK || *came || trn_now(device) - start >= end) return io.status;
        const trn_status status = trn_pause(device, POLL_INTERVAL);
        if (status != TRN_OK) return status;
    }
}

/* ---- loading ---- */

static const char* load_fault(uint32_t result) {
    static const char* const image[] = {"",
                                        "not an image (bad magic)",
                                        "its header is damaged (CRC)",
                                        "its header has an unknown format",
                                        "its length is wrong",
                                        "it is not made for this memory",
                                        "its payload is damaged (CRC)"};
    static const char* const other[] = {"firmware cannot read it", "there is no such core",
                                        "no response from a core"};
    if (result < sizeof image / sizeof image[0]) return image[result];
    return result >= 32 && result - 32 < sizeof other / sizeof other[0] ? other[result - 32]
                                                                        : "unknown fault";
}

static trn_status request_load(trn_device* device, uint32_t cores, const trn_dma_memory* image,
                               uint64_t size) {
    struct {
        uint64_t address;
        uint32_t length, cores;
    } request = {trn_host_address(device, image->iova), (uint32_t)size, 0};
    for (uint32_t core = 0; core < device->map->top_sps; ++core)
        if (cores >> core & 1) request.cores |= 1u << number_in_map(device, core);
    uint32_t result = 0;
    const trn_status status =
        trn_mailbox_word(device, LOAD_COMMAND, &request, sizeof request, &result);
    if (status == TRN_OK && result != 0)
        return trn_fail(device, TRN_REFUSED, "the collective firmware's image was refused: %s",
                        load_fault(result));
    return status;
}

trn_status trn_cc_load(trn_device* device, uint32_t cores, const void* image, uint64_t size) {
    trn_status status = trn_need_ready(device);
    if (status != TRN_OK) return status;
    if (cores == 0 || cores >> device->map->top_sps != 0)
        return trn_fail(device, TRN_INVALID_ARGUMENT, "core map 0x%x: bits 0 to %u are cores",
                        cores, device->map->top_sps - 1);
    if (size == 0 || size > APERTURE_BYTES)
        return trn_fail(device, TRN_INVALID_ARGUMENT, "an image has 1 byte to 4 MiB");
    trn_dma_memory memory;
    status = trn_dma_allocate(device, size, &memory);
    if (status != TRN_OK) return status;
    memcpy(memory.host, image, size);
    /* Clear MAGIC, which the previous firmware has set, to detect the start of the new one. */
    trn_mmio io = trn_mmio_of(device);
    for (uint32_t core = 0; core < device->map->top_sps; ++core)
        if (cores >> core & 1 && get(&io, core, CONTROL(CONTROL)) == 0)
            put(&io, core, MAILBOX(MAGIC), 0);
    status = io.status;
    if (status == TRN_OK) status = request_load(device, cores, &memory, size);
    trn_dma_release(device, &memory);
    for (uint32_t core = 0; status == TRN_OK && core < device->map->top_sps; ++core) {
        bool runs = true;
        if (cores >> core & 1)
            status = wait_for_word(device, core, MAILBOX(MAGIC), TRN_CC_MAILBOX_MAGIC_WORD_VALUE,
                                   START_LIMIT, &runs);
        if (status == TRN_OK && !runs)
            status = trn_fail(device, TRN_TIMED_OUT, "CC-Core %u does not start", core);
    }
    return status;
}

/* ---- programs ---- */

static const char* program_fault(uint32_t error) {
    static const char* const texts[] = {"",
                                        "unknown command",
                                        "no such slot",
                                        "a program runs there",
                                        "not a program (bad magic or format)",
                                        "wrong length",
                                        "damaged (CRC)",
                                        "rank out of range",
                                        "too many queues",
                                        "semaphore out of range",
                                        "a semaphore is in use",
                                        "bad step",
                                        "bad rings of the network"};
    return error < sizeof texts / sizeof texts[0] ? texts[error] : "unknown fault";
}

static trn_status command(trn_device* device, uint32_t core, uint32_t op, uint32_t slot,
                          uint32_t argument) {
    trn_mmio io = trn_mmio_of(device);
    put(&io, core, MAILBOX(ARGUMENT), argument);
    put(&io, core, MAILBOX(COMMAND),
        TRN_CC_MAILBOX_COMMAND_OP_SET(op) | TRN_CC_MAILBOX_COMMAND_SLOT_SET(slot));
    put(&io, core, CONTROL(DOORBELL), COMMAND_BIT);
    trn_status status = io.status;
    bool answered = false;
    if (status == TRN_OK)
        status = wait_for_word(device, core, MAILBOX(COMMAND), 0, COMMAND_LIMIT, &answered);
    if (status != TRN_OK) return status;
    if (!answered)
        return trn_fail(device, TRN_TIMED_OUT, "no response of CC-Core %u: is it loaded?", core);
    const uint32_t result = get(&io, core, MAILBOX(RESULT));
    status = io.status;
    if (status == TRN_OK && result != 0)
        return trn_fail(device, TRN_REFUSED, "CC-Core %u slot %u: program refused: %s (%u)", core,
                        slot, program_fault(TRN_CC_MAILBOX_RESULT_ERROR_GET(result)),
                        TRN_CC_MAILBOX_RESULT_DETAIL_GET(result));
    return status;
}

trn_status trn_cc_program(trn_device* device, uint32_t core, uint32_t slot, const void* program,
                          uint32_t size) {
    const trn_status status = need_cc_core(device, core, slot);
    if (status != TRN_OK) return status;
    if (size == 0 || size > TRN_CC_PROGRAM_SIZE || size % sizeof(uint32_t) != 0)
        return trn_fail(device, TRN_INVALID_ARGUMENT, "a program has up to %u bytes, whole words",
                        TRN_CC_PROGRAM_SIZE);
    const uint64_t offset = trn_cc_bar_offset(device, core) + PROGRAMS + slot * TRN_CC_PROGRAM_SIZE;
    const trn_transport* bus = &device->transport;
    if (bus->bar_write_block(bus->context, device->map->register_bar[device->mode], offset, program,
                             size))
        return trn_fail(device, TRN_TRANSPORT_ERROR, "cannot write the program of core %u", core);
    return command(device, core, TRN_CC_MAILBOX_COMMAND_OP_LOAD, slot, size);
}

trn_status trn_cc_unload(trn_device* device, uint32_t core, uint32_t slot) {
    const trn_status status = need_cc_core(device, core, slot);
    return status == TRN_OK ? command(device, core, TRN_CC_MAILBOX_COMMAND_OP_UNLOAD, slot, 0)
                            : status;
}

trn_coll_trigger trn_cc_trigger_of(const trn_device* device, uint32_t core, uint32_t slot) {
    return (trn_coll_trigger){trn_cc_axi_address(device, core) + CONTROL(DOORBELL),
                              TRIGGER_BIT(slot)};
}

trn_status trn_cc_trigger(trn_device* device, uint32_t core, uint32_t slot) {
    const trn_status status = need_cc_core(device, core, slot);
    if (status != TRN_OK) return status;
    trn_mmio io = trn_mmio_of(device);
    put(&io, core, CONTROL(DOORBELL), TRIGGER_BIT(slot));
    return io.status;
}

/* ---- state and log ---- */

static uint64_t get_long(trn_mmio* io, uint32_t core, uint64_t low) {
    const uint32_t first = get(io, core, low);
    return (uint64_t)get(io, core, low + 4) << 32 | first;
}

trn_status trn_cc_slot_state(trn_device* device, uint32_t core, uint32_t slot, trn_cc_slot* state) {
    const trn_status status = need_cc_core(device, core, slot);
    if (status != TRN_OK) return status;
    trn_mmio io = trn_mmio_of(device);
    *state = (trn_cc_slot){.state = (trn_cc_state)get(&io, core, SLOT(STATE, slot)),
                           .error = (trn_cc_error)get(&io, core, SLOT(ERROR, slot)),
                           .runs = get(&io, core, SLOT(RUNS, slot)),
                           .step = get(&io, core, SLOT(STEP, slot)),
                           .semaphore = get(&io, core, SLOT(SEMAPHORE, slot)),
                           .peer = get(&io, core, SLOT(PEER, slot)),
                           .wanted = get(&io, core, SLOT(WANTED, slot)),
                           .value = (int32_t)get(&io, core, SLOT(VALUE, slot)),
                           .started = get_long(&io, core, SLOT(STARTED_LO, slot)),
                           .ended = get_long(&io, core, SLOT(ENDED_LO, slot))};
    return io.status;
}

trn_status trn_cc_marks(trn_device* device, uint32_t core, uint32_t slot, uint32_t* times,
                        uint32_t room, uint32_t* count) {
    trn_status status = need_cc_core(device, core, slot);
    *count = 0;
    if (status != TRN_OK) return status;
    const uint64_t program = PROGRAMS + slot * TRN_CC_PROGRAM_SIZE;
    trn_mmio io = trn_mmio_of(device);
    const uint32_t length = get(&io, core, program + TRN_CC_PROGRAM_LENGTH_OFFSET);
    const uint32_t marks = get(&io, core, program + TRN_CC_PROGRAM_MARKS_OFFSET);
    const uint32_t executed = get(&io, core, SLOT(MARKS, slot));
    status = io.status;
    if (status != TRN_OK) return status;
    const uint32_t noted = executed < marks ? executed : marks,
                   available = noted < room ? noted : room;
    if (length > TRN_CC_PROGRAM_SIZE || marks > (TRN_CC_PROGRAM_SIZE - length) / sizeof *times)
        return trn_fail(device, TRN_PROTOCOL_ERROR, "CC-Core %u slot %u has no program", core,
                        slot);
    const trn_transport* bus = &device->transport;
    if (available > 0 && bus->bar_read_block(bus->context, device->map->register_bar[device->mode],
                                             trn_cc_bar_offset(device, core) + program + length,
                                             times, available * sizeof *times))
        return trn_fail(device, TRN_TRANSPORT_ERROR, "cannot read the marks of core %u", core);
    *count = noted;
    return TRN_OK;
}

trn_status trn_cc_get_statistics(trn_device* device, uint32_t core, trn_cc_statistics* statistics) {
    const trn_status status = need_cc_core(device, core, 0);
    if (status != TRN_OK) return status;
    trn_mmio io = trn_mmio_of(device);
    *statistics = (trn_cc_statistics){.wakeups = get(&io, core, MAILBOX(WAKEUPS)),
                                      .steps = get(&io, core, MAILBOX(STEPS)),
                                      .waits = get(&io, core, MAILBOX(WAITS)),
                                      .doorbells = get(&io, core, MAILBOX(DOORBELLS)),
                                      .posts = get(&io, core, MAILBOX(POSTS)),
                                      .hangs = get(&io, core, MAILBOX(HANGS)),
                                      .refused = get(&io, core, MAILBOX(REFUSED))};
    return io.status;
}

trn_status trn_cc_log(trn_device* device, uint32_t core, char* text, uint32_t size) {
    trn_status status = trn_need_probe(device);
    if (status == TRN_OK) status = check_core(device, core);
    if (status != TRN_OK) return status;
    if (size == 0) return trn_fail(device, TRN_INVALID_ARGUMENT, "no room for a log");
    trn_mmio io = trn_mmio_of(device);
    const uint32_t offset = get(&io, core, MAILBOX(LOG_OFFSET));
    const uint32_t ring = get(&io, core, MAILBOX(LOG_SIZE));
    const uint32_t head = get(&io, core, MAILBOX(LOG_HEAD));
    uint32_t length = head < ring ? head : ring;
    if (length > size - 1) length = size - 1;
    if (ring == 0 || ring & (ring - 1) || offset + (uint64_t)ring > APERTURE_BYTES) length = 0;
    for (uint32_t n = 0; n < length; ++n) {
        const uint32_t position = offset + ((head - length + n) & (ring - 1));
        text[n] = (char)(get(&io, core, position & ~3u) >> 8 * (position & 3));
    }
    text[length] = 0;
    return io.status;
}

/* ---- notifications of failures ---- */

#define NOTICE(field, payload) TRN_CC_MAILBOX_SLOT_NOTICE_##field##_GET(payload)

const char* trn_cc_code_text(trn_cc_code code) {
    switch (code) {
    case TRN_CC_CODE_NONE:
        return "no failure";
    case TRN_CC_CODE_INVALID:
        return "invalid";
    case TRN_CC_CODE_HARDWARE:
        return "hardware error";
    case TRN_CC_CODE_STUCK:
        return "collectives stuck";
    case TRN_CC_CODE_ABORT:
        return "DMA abort";
    case TRN_CC_CODE_LOST:
        return "notification queue overflow";
    }
    return "unknown failure";
}

trn_status trn_cc_failures_open(trn_device* device, uint32_t core, uint32_t slot, uint32_t size,
                                trn_notification_ring* ring) {
    const trn_status status = need_cc_core(device, core, slot);
    return status == TRN_OK
               ? trn_notifications_open(device, TRN_NOTIFY_TOP_SP, core, slot, size, ring)
               : status;
}

trn_cc_failure trn_cc_failure_of(const trn_notification* entry) {
    return (trn_cc_failure){.code = (trn_cc_code)NOTICE(CODE, entry->payload),
                            .detail = NOTICE(DETAIL, entry->payload),
                            .time = entry->time};
}

trn_status trn_cc_failures_next(trn_device* device, trn_notification_ring* ring,
                                trn_cc_failure* failure) {
    trn_notification entry;
    bool available = false, lost = false;
    *failure = (trn_cc_failure){.code = TRN_CC_CODE_NONE};
    trn_status status = trn_notifications_next(device, ring, &entry, &available);
    if (status == TRN_OK && !available) status = trn_notifications_lost(device, ring, &lost);
    if (lost) failure->code = TRN_CC_CODE_LOST;
    if (status != TRN_OK || !available) return status;
    if (entry.type != TRN_NOTIFICATION_QUEUE_POST_TYPE_ERROR)
        return trn_fail(device, TRN_PROTOCOL_ERROR,
                        "CC-Core %u slot %u: an entry of type %u is not a failure", ring->number,
                        ring->slot, entry.type);
    *failure = trn_cc_failure_of(&entry);
    return TRN_OK;
}
