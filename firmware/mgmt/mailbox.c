// SPDX-License-Identifier: Apache-2.0
#include "firmware/mgmt/mailbox.h"

#include <string.h>

#include "firmware/lib/crc32c.h"
#include "firmware/lib/drivers/misuse.h"
#include "firmware/lib/log.h"
#include "firmware/mgmt/cc_cores.h"
#include "firmware/mgmt/generation.h"
#include "firmware/mgmt/metrics.h"
#include "firmware/mgmt/misc_ram.h"
#include "firmware/mgmt/power.h"

#define MAX_REQUEST_DATA (MAILBOX_MAX_REGISTERS * sizeof(uint64_t))
#define MAX_ANSWER_DATA (MAILBOX_MAX_REGISTERS * sizeof(uint32_t))

struct mailbox_counters mailbox_counters;

struct request {
    struct mailbox_header header;
    size_t length;  ///< of data
    union {
        uint8_t bytes[MAX_REQUEST_DATA];
        uint64_t registers[MAILBOX_MAX_REGISTERS];
    } data;
};

struct response {
    size_t length;
    bool has_crc;  ///< the header has 8 bytes
    union {
        uint8_t bytes[MAX_ANSWER_DATA];
        uint32_t words[MAILBOX_MAX_REGISTERS];
    } data;
};

static void read_data_area(uint8_t* destination) {
    for (unsigned n = 0; n < MAILBOX_DATA_AREA / sizeof(uint32_t); ++n) {
        const uint32_t word = misc_ram_read(MISC_RAM_AT(DATA, n));
        memcpy(destination + n * sizeof word, &word, sizeof word);
    }
}

/// First word of the header: sequence, command and size.
static uint32_t header_word(const struct mailbox_header* header) {
    uint32_t word;
    memcpy(&word, header, sizeof word);
    return word;
}

static bool crc_matches(const struct request* request) {
    struct mailbox_header zeroed = request->header;
    zeroed.crc = 0;
    uint32_t crc = crc32c_update(CRC32C_START, &zeroed, sizeof zeroed);
    crc = crc32c_update(crc, request->data.bytes, request->length);
    return crc32c_finish(crc) == request->header.crc;
}

/// CRC-32C of the answer's header of 8 bytes with CRC = 0, then its data (contract section 4.4).
static uint32_t crc_of_answer(uint32_t word, const struct response* response) {
    const uint32_t header[2] = {word, 0};
    const uint32_t crc = crc32c_update(CRC32C_START, header, sizeof header);
    return crc32c_finish(crc32c_update(crc, response->data.bytes, response->length));
}

// --- Commands ---------------------------------------------------------------------------

/// Whether the host may read this register (contract section 3.2).
static bool may_read(uint64_t address) {
    return address % sizeof(uint32_t) == 0 && address >= generation->readable.base &&
           address - generation->readable.base <= generation->readable.size - sizeof(uint32_t);
}

static enum mailbox_error read_registers(const struct request* request, struct response* response) {
    const size_t count = request->length / sizeof(uint64_t);
    if (request->length % sizeof(uint64_t) != 0 || count == 0) return MAILBOX_FAILED;
    for (size_t n = 0; n < count; ++n) {
        const uint64_t address = request->data.registers[n];
        if (!may_read(address) || !axi_read(address, &response->data.words[n], sizeof(uint32_t))) {
            log_warn("mailbox: register %lx cannot be read", (unsigned long)address);
            return MAILBOX_FAILED;
        }
    }
    response->length = count * sizeof(uint32_t);
    return MAILBOX_OK;
}

/// The metric is in the request's data, or, when that is empty, in the data area of misc RAM.
static enum mailbox_error post_metric(const struct request* request, struct response* response) {
    (void)response;
    uint8_t area[MAILBOX_DATA_AREA];
    const uint8_t* tlv = request->data.bytes;
    size_t length = request->length;
    if (length == 0) {
        read_data_area(area);
        tlv = area;
        length = sizeof area;
    }
    return metrics_keep(tlv, length) ? MAILBOX_OK : MAILBOX_FAILED;
}

static enum mailbox_error set_power_profile(const struct request* request,
                                            struct response* response) {
    // {u32 reserved, u8 profile, u8 voltage, u8 frequency, u8 ocw}: the driver sets only profile.
    enum { LENGTH = 8, PROFILE = 4 };
    (void)response;
    if (request->length < LENGTH) return MAILBOX_FAILED;
    return power_set_profile(request->data.bytes[PROFILE]) ? MAILBOX_OK : MAILBOX_FAILED;
}

enum { CURRENT_PROFILE = 1, AVAILABLE_PROFILES = 2 };

/// Length of {u8 type, u16 operation}: the request of driver releases from 2.27 on, which expect an
/// answer of 8 bytes of header and a record (contract section 16). Requests of other lengths get
/// the answer for 2.26.5: 4 bytes of header and one word.
#define GET_DATA_WITH_OPERATION 3u

/// Records: {u8 reserved[4], u8 profile, u8 voltage, u8 frequency, u8 ocw}
/// and {u8 count, u8 bitmap[32]} of the profiles with the feature `operation` (0: all profiles).
static enum mailbox_error get_record(const struct request* request, struct response* response) {
    enum { PROFILE = 4, PROFILE_BYTES = 8, BITMAP = 1, BITMAP_BYTES = 33 };
    uint8_t* record = response->data.bytes;
    uint16_t operation;
    memcpy(&operation, request->data.bytes + 1, sizeof operation);
    response->has_crc = true;
    switch (request->data.bytes[0]) {
    case CURRENT_PROFILE:
        record[PROFILE] = power_profile();
        response->length = PROFILE_BYTES;
        return MAILBOX_OK;
    case AVAILABLE_PROFILES:
        if (operation == 0) {  // no profile has any of the features
            const uint32_t profiles = power_profiles_available();
            memcpy(record + BITMAP, &profiles, sizeof profiles);
            for (uint32_t left = profiles; left != 0; left &= left - 1) ++record[0];
        }
        response->length = BITMAP_BYTES;
        return MAILBOX_OK;
    default:
        return MAILBOX_FAILED;
    }
}

static enum mailbox_error get_data(const struct request* request, struct response* response) {
    if (request->length < 1) return MAILBOX_FAILED;
    if (request->length == GET_DATA_WITH_OPERATION) return get_record(request, response);
    switch (request->data.bytes[0]) {
    case CURRENT_PROFILE:
        response->data.words[0] = power_profile();
        break;
    case AVAILABLE_PROFILES:
        response->data.words[0] = power_profiles_available();
        break;
    default:
        return MAILBOX_FAILED;
    }
    response->length = sizeof(uint32_t);
    return MAILBOX_OK;
}

static enum mailbox_error set_feature(const struct request* request, struct response* response) {
    enum { THROTTLING_NOTIFICATIONS = 1 << 0 };
    (void)response;
    if (request->length < 1) return MAILBOX_FAILED;
    power_notify_throttling(request->data.bytes[0] & THROTTLING_NOTIFICATIONS);
    return MAILBOX_OK;
}

/// {u64 AXI address, u32 bytes, u32 cores} -> {u32 cc_load_result}
static enum mailbox_error cc_load(const struct request* request, struct response* response) {
    struct {
        uint64_t address;
        uint32_t length, cores;
    } asked;
    if (request->length < sizeof asked) return MAILBOX_FAILED;
    memcpy(&asked, request->data.bytes, sizeof asked);
    response->data.words[0] = cc_cores_load(asked.address, asked.length, asked.cores);
    response->length = sizeof(uint32_t);
    return MAILBOX_OK;
}

typedef enum mailbox_error (*command)(const struct request*, struct response*);

static enum mailbox_error execute(const struct request* request, struct response* response,
                                  bool modern) {
    static const command legacy_commands[] = {[MAILBOX_READ_REGISTERS] = read_registers,
                                              [MAILBOX_POST_METRIC] = post_metric,
                                              [MAILBOX_CC_LOAD] = cc_load};
    static const command modern_commands[] = {[MAILBOX_SET_POWER_PROFILE] = set_power_profile,
                                              [MAILBOX_GET_DATA] = get_data,
                                              [MAILBOX_SET_FEATURE] = set_feature,
                                              [MAILBOX_CC_LOAD] = cc_load};
    const command* commands = modern ? modern_commands : legacy_commands;
    const size_t count = modern ? sizeof modern_commands / sizeof modern_commands[0]
                                : sizeof legacy_commands / sizeof legacy_commands[0];
    const uint8_t number = request->header.command;

    memset(response, 0, sizeof *response);
    if (!crc_matches(request)) {
        ++mailbox_counters.bad_crc;
        misuse_report(TRN_MISUSE_PORT_REPORT_RULE_MAILBOX_BAD_CRC, header_word(&request->header));
        log_warn("mailbox: command %u, sequence %u: CRC mismatch", number,
                 request->header.sequence);
        return MAILBOX_FAILED;
    }
    if (number >= count || commands[number] == NULL) {
        misuse_report(TRN_MISUSE_PORT_REPORT_RULE_MAILBOX_UNKNOWN_COMMAND,
                      header_word(&request->header));
        log_warn("mailbox: command %u is unknown", number);
        return MAILBOX_UNKNOWN_COMMAND;
    }
    const enum mailbox_error error = commands[number](request, response);
    if (error != MAILBOX_OK) {
        ++mailbox_counters.bad_request;
        response->length = 0;
        response->has_crc = false;
    }
    log_debug("mailbox: command %u, sequence %u, error %u", number, request->header.sequence,
              error);
    return error;
}

// --- Legacy: request and response in host memory ------------------------------------------------

static void refuse(const struct mailbox_header* header) {
    ++mailbox_counters.bad_request;
    misuse_report(TRN_MISUSE_PORT_REPORT_RULE_MAILBOX_BAD_REQUEST, header_word(header));
}

static bool header_is_sane(const struct mailbox_header* header, size_t max_data) {
    return header->sequence != 0 && header->size >= sizeof *header &&
           header->size - sizeof *header <= max_data;
}

static uint64_t address_at(uintptr_t high, uintptr_t low) {
    return (uint64_t)misc_ram_read(high) << 32 | misc_ram_read(low);
}

static bool in_host_memory(uint64_t address) {
    return (address & generation->host_window) != 0 && address < 2 * generation->host_window;
}

/// Writes the sequence byte last: it marks the answer as complete. TRIGGER is cleared before it,
/// because the host may post its next request at once.
static bool write_legacy_answer(uint64_t address, const struct mailbox_answer* answer,
                                const struct response* response) {
    const size_t after_sequence = offsetof(struct mailbox_answer, error);
    if (!axi_write(address + sizeof *answer, response->data.bytes, response->length) ||
        !axi_write(address + after_sequence, (const uint8_t*)answer + after_sequence,
                   sizeof *answer - after_sequence))
        return false;
    misc_ram_write(MISC_RAM(TRIGGER), 0);
    mmio_fence();
    return axi_write(address, &answer->sequence, sizeof answer->sequence);
}

static bool serve_legacy(enum mailbox_trust trust) {
    const uint64_t request_address = address_at(MISC_RAM(REQUEST_0), MISC_RAM(REQUEST_1));
    const uint64_t response_address = address_at(MISC_RAM(RESPONSE_HI), MISC_RAM(RESPONSE_LO));
    if (!in_host_memory(request_address) || !in_host_memory(response_address)) return false;

    static struct request request;
    static struct response response;
    uint8_t answered;
    if (!axi_read(request_address, &request.header, sizeof request.header) ||
        !axi_read(response_address, &answered, sizeof answered)) {
        log_warn("mailbox: request at %lx cannot be read", (unsigned long)request_address);
        return false;
    }
    // The host clears the response's sequence before it posts a request.
    if (request.header.sequence == 0 || answered == request.header.sequence) return false;

    struct mailbox_answer answer = {.sequence = request.header.sequence, .error = MAILBOX_FAILED};
    response.length = 0;
    request.length = request.header.size - sizeof request.header;
    const bool whole =
        header_is_sane(&request.header, sizeof request.data) &&
        axi_read(request_address + sizeof request.header, request.data.bytes, request.length);
    if (trust == MAILBOX_ONLY_VALID && !(whole && crc_matches(&request))) return false;
    if (whole)
        answer.error = (uint8_t)execute(&request, &response, false);
    else
        refuse(&request.header);
    answer.size = (uint16_t)(sizeof answer + response.length);
    if (!write_legacy_answer(response_address, &answer, &response)) {
        log_warn("mailbox: response at %lx cannot be written", (unsigned long)response_address);
        return false;
    }
    ++mailbox_counters.legacy;
    return true;
}

// --- New: header and data in misc RAM -----------------------------------------------------------

static bool serve_modern(void) {
    static struct request request;
    static struct response response;
    uint32_t words[2] = {misc_ram_read(MISC_RAM(REQUEST_0)), misc_ram_read(MISC_RAM(REQUEST_1))};
    memcpy(&request.header, words, sizeof request.header);

    struct mailbox_answer answer = {.sequence = request.header.sequence, .error = MAILBOX_FAILED};
    memset(&response, 0, sizeof response);
    if (header_is_sane(&request.header, MAILBOX_DATA_AREA)) {
        request.length = request.header.size - sizeof request.header;
        read_data_area(request.data.bytes);
        answer.error = (uint8_t)execute(&request, &response, true);
    } else {
        refuse(&request.header);
    }
    const size_t header = response.has_crc ? sizeof request.header : sizeof answer;
    answer.size = (uint16_t)(header + response.length);

    // The host reads the answer (+0x1f0) as soon as TRIGGER is 0, so the answer is written before
    // that.
    for (size_t n = 0; n * sizeof(uint32_t) < response.length; ++n)
        misc_ram_write(MISC_RAM_AT(DATA, n), response.data.words[n]);
    memcpy(words, &answer, sizeof answer);
    if (response.has_crc) misc_ram_write(MISC_RAM(REQUEST_1), crc_of_answer(words[0], &response));
    misc_ram_write(MISC_RAM(ACK), 0);
    misc_ram_write(MISC_RAM(REQUEST_0), words[0]);
    mmio_fence();
    ++mailbox_counters.modern;
    return true;
}

bool mailbox_serve(enum mailbox_trust trust) {
    // A request of the new protocol sets ACK to 1 and its response address to 0.
    if (generation->api_version >= MISC_RAM_API_NEW_MAILBOX && misc_ram_read(MISC_RAM(ACK)) == 1 &&
        misc_ram_read(MISC_RAM(RESPONSE_HI)) == 0 && misc_ram_read(MISC_RAM(RESPONSE_LO)) == 0)
        return serve_modern();
    return serve_legacy(trust);
}
