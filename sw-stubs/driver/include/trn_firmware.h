/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TRN_FIRMWARE_H
#define TRN_FIRMWARE_H

#include <stdbool.h>
#include <stdint.h>

#include "trn_device.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Requests to firmware, and what it publishes (contract 4, 12). */

/** Limit of registers per trn_read_counters. */
#define TRN_MAX_COUNTERS 100u
/** Limit of bytes per trn_post_metric. */
#define TRN_MAX_METRIC_BYTES 128u
/** Limit of data bytes in a request or response of the new mailbox. */
#define TRN_MAX_MAILBOX_BYTES 128u

/** Reads registers by AXI address through firmware (legacy command 1). TRN_REFUSED: a register is
 * outside the readable range or has no response. */
trn_status trn_read_counters(trn_device* device, const uint64_t* addresses, uint32_t* values,
                             uint32_t count);
/** Posts one metric record (legacy command 2). */
trn_status trn_post_metric(trn_device* device, const void* bytes, uint32_t size);
/** New mailbox. TRN_NOT_SUPPORTED: the firmware's API version is below 7. */
trn_status trn_set_power_profile(trn_device* device, uint8_t profile);
trn_status trn_set_throttling_notifications(trn_device* device, bool on);
/** Command 4. type: 1 current profile, 2 available profiles (contract 16). *size: in, room; out,
 * bytes. */
trn_status trn_get_data(trn_device* device, uint32_t type, void* bytes, uint32_t* size);
/** Any request of the new mailbox, for tests of firmware. *response_size: in, room; out, bytes. */
trn_status trn_mailbox_request(trn_device* device, uint8_t command, const void* request,
                               uint32_t request_size, void* response, uint32_t* response_size);

typedef struct trn_power_sample {
    uint32_t basis_points; /**< 0..10000 */
    uint32_t counter;      /**< changes with each new sample */
} trn_power_sample;

/** Latest published power sample of a die. */
trn_status trn_get_power(trn_device* device, uint32_t die, trn_power_sample* sample);

typedef struct trn_ecc_counts {
    uint32_t sram_corrected, sram_uncorrected;
    uint32_t hbm_uncorrectable[TRN_MAX_STACKS], hbm_repairable[TRN_MAX_STACKS];
    uint32_t repair_state; /**< 0 none, 1 pending, 2 failed */
} trn_ecc_counts;

trn_status trn_get_ecc(trn_device* device, trn_ecc_counts* counts);
/** TRN_DEVICE_GONE: the version reads as ones, which no firmware publishes. */
trn_status trn_get_api_version(trn_device* device, uint32_t* version);

#ifdef __cplusplus
}
#endif

#endif
