// SPDX-License-Identifier: Apache-2.0
// Requests of the host driver. Protocols: contract sections 4.2 (legacy) and 4.3 (new).
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum mailbox_error { MAILBOX_OK = 0, MAILBOX_FAILED = 1, MAILBOX_UNKNOWN_COMMAND = 2 };

enum mailbox_command {
    MAILBOX_READ_REGISTERS = 1,
    MAILBOX_POST_METRIC = 2,
    MAILBOX_SET_POWER_PROFILE = 3,
    MAILBOX_GET_DATA = 4,
    MAILBOX_SET_FEATURE = 5,
    MAILBOX_CC_LOAD = 0x20,  ///< invented; both protocols
};

#define MAILBOX_MAX_REGISTERS 100
#define MAILBOX_DATA_AREA 128  // bytes in misc RAM

struct mailbox_header {
    uint8_t sequence;  ///< never 0
    uint8_t command;
    uint16_t size;  ///< bytes, including this header
    uint32_t crc;   ///< CRC-32C of the header with crc = 0, then the data
};
_Static_assert(sizeof(struct mailbox_header) == 8, "wire format");

struct mailbox_answer {
    uint8_t sequence;
    uint8_t error;
    uint16_t size;  ///< bytes, including this header of 4, or of 8 with a CRC after it
};
_Static_assert(sizeof(struct mailbox_answer) == 4, "wire format");

struct mailbox_counters {
    uint32_t legacy, modern;  ///< requests answered
    uint32_t bad_crc, bad_request;
};
extern struct mailbox_counters mailbox_counters;

/// After a doorbell of another kind, the address words of a legacy request may be stale and that
/// host memory reused: then only a request with a valid header and CRC is answered. A request of
/// the new protocol is announced by its ACK word, and always answered.
enum mailbox_trust { MAILBOX_ANSWER_ALL, MAILBOX_ONLY_VALID };

/// Answers the request that the host has posted, unless it was answered before. True when a request
/// was answered.
bool mailbox_serve(enum mailbox_trust trust);
