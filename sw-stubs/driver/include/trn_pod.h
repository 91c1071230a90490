/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TRN_POD_H
#define TRN_POD_H

#include <stdint.h>

#include "trn_status.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Pod election (contract 11). */

typedef enum trn_pod_link {
    TRN_POD_LEFT_A = 0,
    TRN_POD_LEFT_B = 1,
    TRN_POD_RIGHT_A = 2,
    TRN_POD_RIGHT_B = 3
} trn_pod_link;

/** Sets up the four engines that read the neighbours' misc RAM. TRN_NOT_SUPPORTED: this generation
 * has no neighbours. */
trn_status trn_pod_open(trn_device* device);
/** Reads 1 to 4 words of a neighbour's misc RAM. TRN_ABORTED or TRN_TIMED_OUT (after 4 ms): the
 * link failed; later reads may succeed. */
trn_status trn_pod_read(trn_device* device, trn_pod_link link, uint32_t offset, uint32_t* words,
                        uint32_t count);
trn_status trn_pod_close(trn_device* device);

/** The chip's election words. */
typedef struct trn_pod {
    uint32_t status; /**< 0 none yet, 1 ignored, 2 failed, 3 success */
    uint32_t links;  /**< bit 0 left, bit 1 right */
    uint32_t node, nodes;
    uint64_t serial; /**< serial number of node 0's primary */
} trn_pod;

trn_status trn_pod_status(trn_device* device, trn_pod* pod);
/** This chip's part of the election over the left (1), right (2) or both (3) pairs of links: device
 * 0 as primary, others as secondaries. The neighbours must run their part concurrently: it fails
 * without their words after `limit` nanoseconds. Leaves the result in misc RAM. */
trn_status trn_pod_elect(trn_device* device, uint32_t links, uint64_t limit, trn_pod* pod);
/** A node's part of the election: devices[0] is its primary. Secondaries run first, in order; the
 * primary only after all of them succeeded. Attempts: both pairs of links, then the right pair,
 * then the left pair (contract 11.4), each within `limit`. Precondition: `devices` are reset and in
 * the order of device_index. Returns the status of the last attempt. */
trn_status trn_pod_elect_node(trn_device* const* devices, uint32_t count, uint64_t limit,
                              trn_pod* pod);

#ifdef __cplusplus
}
#endif

#endif
