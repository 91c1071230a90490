/* SPDX-License-Identifier: Apache-2.0 */
#include <string.h>

#include "crc32c.h"
#include "device.h"

/* Both mailbox protocols of the firmware (contract 4). */

#define PAGE_BYTES UINT64_C(65536) /* legacy request, then legacy response */
#define LEGACY_TRIES 30u
#define LEGACY_TRY_TIME NS_PER_S
#define NEW_TRIES 3u
#define API_NEW_MAILBOX 7u

enum { READ_REGISTERS = 1, POST_METRIC = 2, SET_POWER_PROFILE = 3, GET_DATA = 4, SET_FEATURE = 5 };
enum { ANSWER_OK = 0, ANSWER_FAILED = 1, ANSWER_UNKNOWN = 2 };

/* Both protocols: 8 bytes in front of a request. */
typedef struct request_header {
    uint8_t sequence, command;
    uint16_t size; /* header included */
    uint32_t crc;
} request_header;

/* 4 bytes in front of a response. */
typedef struct response_header {
    uint8_t sequence, error;
    uint16_t size; /* header included */
} response_header;

/* 1..255: in host memory 0 means that there is no response yet. */
static uint8_t next_sequence(trn_device* device) {
    device->mailbox_sequence = (uint8_t)(device->mailbox_sequence % 255 + 1);
    return device->mailbox_sequence;
}

static request_header make_header(trn_device* device, uint8_t command, const void* bytes,
                                  uint32_t size) {
    request_header header = {next_sequence(device), command,
                             (uint16_t)(sizeof(request_header) + size), 0};
    header.crc = ~trn_crc32c(trn_crc32c(0xFFFFFFFF, &header, sizeof header), bytes, size);
    return header;
}

/* ---- legacy: request and response in host memory ---- */

static void write_doorbell(trn_mmio* io, uint64_t request, uint64_t response) {
    const uint64_t misc = io->device->map->misc_ram;
    __atomic_thread_fence(__ATOMIC_SEQ_CST);
    trn_mmio_write(io, misc + MISC_RAM(REQUEST_1), (uint32_t)request);
    trn_mmio_write(io, misc + MISC_RAM(REQUEST_0), (uint32_t)(request >> 32));
    trn_mmio_write(io, misc + MISC_RAM(RESPONSE_LO), (uint32_t)response);
    trn_mmio_write(io, misc + MISC_RAM(RESPONSE_HI), (uint32_t)(response >> 32));
    trn_mmio_write(io, misc + MISC_RAM(TRIGGER), 1);
}

/* One attempt; *answered: the response has this request's sequence. */
static trn_status legacy_try(trn_device* device, uint8_t command, const void* bytes, uint32_t size,
                             bool* answered) {
    uint8_t* const request = device->mailbox.host;
    uint8_t* const response = request + PAGE_BYTES;
    const request_header header = make_header(device, command, bytes, size);
    memcpy(request, &header, sizeof header);
    memcpy(request + sizeof header, bytes, size);
    __atomic_store_n(response, 0, __ATOMIC_RELEASE);
    const uint64_t address = trn_host_address(device, device->mailbox.iova);
    const uint64_t operation = trn_operation_begins(device, "mailbox", 0);
    trn_mmio io = trn_mmio_of(device);
    write_doorbell(&io, address, address + PAGE_BYTES);
    trn_status status = io.status;
    trn_operation_posted(device);
    const uint64_t start = trn_now(device), limit = trn_timeout(device, LEGACY_TRY_TIME);
    *answered = false;
    while (status == TRN_OK) {
        if (__atomic_load_n(response, __ATOMIC_ACQUIRE) == header.sequence) {
            *answered = true;
            trn_operation_complete(device, operation);
            return TRN_OK;
        }
        if (trn_now(device) - start >= limit) return TRN_OK;
        status = trn_pause(device, NS_PER_MS);
    }
    return status;
}

static trn_status legacy(trn_device* device, uint8_t command, const void* bytes, uint32_t size,
                         const uint8_t** answer, uint32_t* answer_size) {
    trn_status status = trn_need_probe(device);
    if (status == TRN_OK && !device->mailbox.host)
        status = trn_dma_allocate(device, 2 * PAGE_BYTES, &device->mailbox);
    const uint8_t* const response = (const uint8_t*)device->mailbox.host + PAGE_BYTES;
    bool was_answered = false;
    for (uint32_t tries = 0; tries < LEGACY_TRIES && status == TRN_OK; ++tries) {
        bool answered = false;
        status = legacy_try(device, command, bytes, size, &answered);
        if (status != TRN_OK) return status;
        if (!answered) continue;
        was_answered = true;
        response_header header;
        memcpy(&header, response, sizeof header);
        if (header.error == ANSWER_UNKNOWN)
            return trn_fail(device, TRN_REFUSED, "firmware does not know mailbox command %u",
                            command);
        if (header.error != ANSWER_OK) continue;
        if (header.size < sizeof header)
            return trn_fail(device, TRN_PROTOCOL_ERROR,
                            "firmware's response has a size of %u bytes", header.size);
        *answer = response + sizeof header;
        *answer_size = header.size - (uint32_t)sizeof header;
        return TRN_OK;
    }
    if (status != TRN_OK) return status;
    if (was_answered)
        return trn_fail(device, TRN_REFUSED, "firmware returned error 1 for mailbox command %u",
                        command);
    return trn_fail(device, TRN_TIMED_OUT,
                    "no response of firmware to mailbox command %u after %u tries", command,
                    LEGACY_TRIES);
}

trn_status trn_read_counters(trn_device* device, const uint64_t* addresses, uint32_t* values,
                             uint32_t count) {
    if (!device || !addresses || !values) return trn_no_argument(device);
    if (count == 0 || count > TRN_MAX_COUNTERS)
        return trn_fail(device, TRN_INVALID_ARGUMENT, "1 to %u registers at a time, not %u",
                        TRN_MAX_COUNTERS, count);
    const uint8_t* answer = NULL;
    uint32_t size = 0;
    const trn_status status = legacy(device, READ_REGISTERS, addresses,
                                     count * (uint32_t)sizeof *addresses, &answer, &size);
    if (status != TRN_OK) return status;
    if (size != count * sizeof *values)
        return trn_fail(device, TRN_PROTOCOL_ERROR, "asked for %u registers, got %u bytes", count,
                        size);
    memcpy(values, answer, size);
    return TRN_OK;
}

/* Writes bytes to the data area in whole words; the last one is padded with zeroes. */
static void write_data(trn_mmio* io, const void* bytes, uint32_t size) {
    for (uint32_t i = 0; i < (size + 3) / 4; ++i) {
        uint32_t word = 0;
        const uint32_t left = size - 4 * i;
        memcpy(&word, (const uint8_t*)bytes + 4 * i, left < 4 ? left : 4);
        trn_mmio_write(io, trn_misc_ram_word(io->device, MISC_RAM(DATA)(i)), word);
    }
}

trn_status trn_post_metric(trn_device* device, const void* bytes, uint32_t size) {
    if (!device || !bytes) return trn_no_argument(device);
    const trn_status status = trn_need_probe(device);
    if (status != TRN_OK) return status;
    if (size == 0 || size > TRN_MAX_METRIC_BYTES)
        return trn_fail(device, TRN_INVALID_ARGUMENT, "a metric has 1 to %u bytes, not %u",
                        TRN_MAX_METRIC_BYTES, size);
    trn_mmio io = trn_mmio_of(device);
    write_data(&io, bytes, size); /* contract 4.2 step 1 */
    if (io.status != TRN_OK) return io.status;
    const uint8_t* answer = NULL;
    uint32_t answer_size = 0;
    return legacy(device, POST_METRIC, bytes, size, &answer, &answer_size);
}

/* ---- new: request and response in misc RAM ---- */

static void post_request(trn_mmio* io, const request_header* header, const void* bytes,
                         uint32_t size) {
    const uint64_t misc = io->device->map->misc_ram;
    uint32_t words[2];
    memcpy(words, header, sizeof words);
    write_data(io, bytes, size);
    trn_mmio_write(io, misc + MISC_RAM(REQUEST_0), words[0]);
    trn_mmio_write(io, misc + MISC_RAM(REQUEST_1), words[1]);
    trn_mmio_write(io, misc + MISC_RAM(RESPONSE_HI), 0);
    trn_mmio_write(io, misc + MISC_RAM(RESPONSE_LO), 0);
    trn_mmio_write(io, misc + MISC_RAM(ACK), 1);
    trn_mmio_write(io, misc + MISC_RAM(TRIGGER), 1);
}

static trn_status wait_idle(trn_device* device, uint64_t limit, bool* idle) {
    const uint64_t start = trn_now(device);
    *idle = false;
    for (;;) {
        trn_mmio io = trn_mmio_of(device);
        *idle = trn_mmio_read(&io, trn_misc_ram_word(device, MISC_RAM(TRIGGER))) == 0;
        const uint64_t spent = trn_now(device) - start;
        if (io.status != TRN_OK || *idle || spent >= limit) return io.status;
        const uint64_t step = spent / 16;
        const trn_status status = trn_pause(device, step < 10 * NS_PER_US ? 10 * NS_PER_US : step);
        if (status != TRN_OK) return status;
    }
}

static trn_status read_answer(trn_device* device, uint8_t sequence, uint8_t command, void* bytes,
                              uint32_t* size) {
    const uint64_t misc = device->map->misc_ram;
    uint8_t data[TRN_MAX_MAILBOX_BYTES];
    trn_mmio io = trn_mmio_of(device);
    const uint32_t word = trn_mmio_read(&io, misc + MISC_RAM(REQUEST_0)); /* contract 4.3 step 3 */
    response_header header;
    memcpy(&header, &word, sizeof header);
    const uint32_t bytes_in = header.size - (uint32_t)sizeof header;
    const bool valid = header.sequence == sequence && header.size >= sizeof header &&
                       bytes_in <= TRN_MAX_MAILBOX_BYTES;
    for (uint32_t i = 0; valid && i < (bytes_in + 3) / 4; ++i) {
        const uint32_t value = trn_mmio_read(&io, misc + MISC_RAM(DATA)(i));
        memcpy(data + 4 * i, &value, 4);
    }
    if (io.status != TRN_OK) return io.status;
    if (!valid)
        return trn_fail(device, TRN_PROTOCOL_ERROR,
                        "response 0x%08x does not match request %u of command %u", word, sequence,
                        command);
    if (header.error)
        return trn_fail(device, TRN_REFUSED, "firmware returned error %u for mailbox command %u",
                        header.error, command);
    if (bytes_in > *size)
        return trn_fail(device, TRN_INVALID_ARGUMENT, "the response has %u bytes, the buffer %u",
                        bytes_in, *size);
    if (bytes_in) memcpy(bytes, data, bytes_in);
    *size = bytes_in;
    return TRN_OK;
}

trn_status trn_mailbox_request(trn_device* device, uint8_t command, const void* request,
                               uint32_t request_size, void* response, uint32_t* response_size) {
    if (!device || (request_size && !request) || !response_size || (*response_size && !response))
        return trn_no_argument(device);
    uint32_t version = 0;
    trn_status status = trn_get_api_version(device, &version);
    if (status != TRN_OK) return status;
    if (version < API_NEW_MAILBOX)
        return trn_fail(device, TRN_NOT_SUPPORTED,
                        "the firmware's API version is %u: this needs %u", version,
                        API_NEW_MAILBOX);
    if (request_size > TRN_MAX_MAILBOX_BYTES)
        return trn_fail(device, TRN_INVALID_ARGUMENT, "a request has up to %u bytes, not %u",
                        TRN_MAX_MAILBOX_BYTES, request_size);
    const uint64_t limit = trn_timeout(device, (command == GET_DATA ? 1 : 60) * NS_PER_S);
    for (uint32_t tries = 0; tries < NEW_TRIES; ++tries) {
        const request_header header = make_header(device, command, request, request_size);
        bool idle = false;
        const uint64_t operation = trn_operation_begins(device, "mailbox", 0);
        trn_mmio io = trn_mmio_of(device);
        post_request(&io, &header, request, request_size);
        status = io.status;
        trn_operation_posted(device);
        if (status == TRN_OK) status = wait_idle(device, limit, &idle);
        if (status != TRN_OK) return status;
        if (idle) trn_operation_complete(device, operation);
        if (idle) return read_answer(device, header.sequence, command, response, response_size);
    }
    return trn_fail(device, TRN_TIMED_OUT,
                    "no response of firmware to mailbox command %u after %u tries", command,
                    NEW_TRIES);
}

trn_status trn_set_power_profile(trn_device* device, uint8_t profile) {
    const uint8_t request[8] = {[4] = profile}; /* contract 4.3: the driver sets nothing else */
    uint32_t none = 0;
    return trn_mailbox_request(device, SET_POWER_PROFILE, request, sizeof request, NULL, &none);
}

trn_status trn_set_throttling_notifications(trn_device* device, bool on) {
    const uint8_t request = on;
    uint32_t none = 0;
    return trn_mailbox_request(device, SET_FEATURE, &request, sizeof request, NULL, &none);
}

trn_status trn_get_data(trn_device* device, uint32_t type, void* bytes, uint32_t* size) {
    if (!device || !bytes || !size) return trn_no_argument(device);
    return trn_mailbox_request(device, GET_DATA, &type, sizeof type, bytes, size);
}

trn_status trn_mailbox_word(trn_device* device, uint8_t command, const void* request, uint32_t size,
                            uint32_t* answer) {
    uint32_t version = 0, length = sizeof *answer;
    trn_status status = trn_get_api_version(device, &version);
    if (status != TRN_OK) return status;
    if (version >= API_NEW_MAILBOX) {
        status = trn_mailbox_request(device, command, request, size, answer, &length);
    } else {
        const uint8_t* bytes = NULL;
        status = legacy(device, command, request, size, &bytes, &length);
        if (status == TRN_OK && length == sizeof *answer) memcpy(answer, bytes, sizeof *answer);
    }
    if (status == TRN_OK && length != sizeof *answer)
        return trn_fail(device, TRN_PROTOCOL_ERROR, "mailbox command %u returned %u bytes", command,
                        length);
    return status;
}

/* ---- words that firmware publishes (contract 4.1, 12) ---- */

static trn_status read_words(trn_device* device, const uint32_t* offsets, uint32_t* words,
                             uint32_t count) {
    const trn_status status = trn_need_probe(device);
    if (status != TRN_OK) return status;
    trn_mmio io = trn_mmio_of(device);
    for (uint32_t i = 0; i < count; ++i)
        words[i] = trn_mmio_read(&io, trn_misc_ram_word(device, offsets[i]));
    return io.status;
}

/* Reads the API version first, then `count` further words. */
static trn_status read_versioned(trn_device* device, uint32_t* version, const uint32_t* offsets,
                                 uint32_t* words, uint32_t count) {
    const uint32_t offset = MISC_RAM(API_VERSION);
    trn_status status = read_words(device, &offset, version, 1);
    if (status == TRN_OK && *version == ~0u) /* reads without a response return ones */
        return trn_fail(device, TRN_DEVICE_GONE,
                        "the API version reads as ones: the device is not present");
    if (status == TRN_OK) status = read_words(device, offsets, words, count);
    return status;
}

trn_status trn_get_api_version(trn_device* device, uint32_t* version) {
    if (!device || !version) return trn_no_argument(device);
    return read_versioned(device, version, NULL, NULL, 0);
}

trn_status trn_get_serial(trn_device* device, uint64_t* serial) {
    if (!device || !serial) return trn_no_argument(device);
    const uint32_t offsets[] = {MISC_RAM(SERIAL_LO), MISC_RAM(SERIAL_HI)};
    uint32_t words[2] = {0, 0};
    const trn_status status = read_words(device, offsets, words, 2);
    *serial = (uint64_t)words[1] << 32 | words[0];
    return status;
}

trn_status trn_get_power(trn_device* device, uint32_t die, trn_power_sample* sample) {
    if (!device || !sample) return trn_no_argument(device);
    trn_status status = trn_need_probe(device);
    if (status != TRN_OK) return status;
    if (die >= device->map->dies)
        return trn_fail(device, TRN_INVALID_ARGUMENT, "no die %u: %s has %u", die,
                        device->part->name, device->map->dies);
    const uint32_t offset = MISC_RAM(POWER)(die);
    uint32_t version = 0, power = 0;
    status = read_versioned(device, &version, &offset, &power, 1);
    if (status != TRN_OK) return status;
    if (version < 3)
        return trn_fail(device, TRN_NOT_SUPPORTED, "the firmware's API version is %u: this needs 3",
                        version);
    *sample = (trn_power_sample){power & 0xffff, power >> 16};
    if (sample->basis_points > 10000)
        return trn_fail(device, TRN_PROTOCOL_ERROR, "power of die %u reads %u of 10000", die,
                        sample->basis_points);
    return TRN_OK;
}

trn_status trn_get_ecc(trn_device* device, trn_ecc_counts* counts) {
    if (!device || !counts) return trn_no_argument(device);
    const uint32_t offsets[] = {MISC_RAM(SRAM_ECC),   MISC_RAM(HBM_ECC)(0), MISC_RAM(HBM_ECC)(1),
                                MISC_RAM(HBM_ECC)(2), MISC_RAM(HBM_ECC)(3), MISC_RAM(HBM_REPAIR)};
    uint32_t version = 0, words[6] = {0};
    const trn_status status = read_versioned(device, &version, offsets, words, 6);
    if (status != TRN_OK) return status;
    *counts = (trn_ecc_counts){0};
    const bool split = version >= 6;
    if (words[0] != WORD_NOT_PUBLISHED) {
        counts->sram_uncorrected = words[0] & 0xffff;
        counts->sram_corrected = words[0] >> 16;
    }
    for (uint32_t stack = 0; stack < device->map->stacks; ++stack) {
        const uint32_t word = words[1 + stack];
        if (word == WORD_NOT_PUBLISHED) continue;
        counts->hbm_uncorrectable[stack] = split ? word >> 12 & 0xf : word & 0xffff;
        counts->hbm_repairable[stack] = split ? word & 0xfff : 0;
    }
    counts->repair_state = words[5] & 3;
    return TRN_OK;
}
