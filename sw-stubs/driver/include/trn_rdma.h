/* SPDX-License-Identifier: Apache-2.0 */
/** RDMA over EFA cards (doc/spec/efa-contract.md): protection domains, memory regions, address
 * handles, completion and event queues, SRD queue pairs. A card has its own transport, like a chip
 * (trn_transport.h), and is used by one program at a time. Functions return 0 or a negative errno:
 *   -ENODEV     no such card, or no response
 *   -EIO        the card has lost its admin queue (reset, hot removal): trn_rdma_reset
 *   -EINVAL     the card refused the command: illegal parameter
 *   -ENOSPC     the card has no room for another object
 *   -ENOTSUP    the card does not know the command
 * and those of the transport. */
#ifndef TRN_RDMA_H
#define TRN_RDMA_H

#include <stdint.h>

#include "trn_transport.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef struct trn_rdma_card trn_rdma_card;

/** Status of a completed request (EFA contract 12). */
enum {
    TRN_RDMA_OK = 0,
    TRN_RDMA_FLUSHED = 1,
    TRN_RDMA_LOCAL_QP_INTERNAL = 2,
    TRN_RDMA_LOCAL_UNSUPPORTED = 3,
    TRN_RDMA_LOCAL_BAD_AH = 4,
    TRN_RDMA_LOCAL_BAD_LKEY = 5,
    TRN_RDMA_LOCAL_BAD_LENGTH = 6,
    TRN_RDMA_REMOTE_BAD_ADDRESS = 7,
    TRN_RDMA_REMOTE_ABORT = 8,
    TRN_RDMA_REMOTE_BAD_QP = 9,
    TRN_RDMA_REMOTE_NOT_READY = 10,
    TRN_RDMA_REMOTE_BAD_LENGTH = 11,
    TRN_RDMA_REMOTE_BAD_STATUS = 12,
    TRN_RDMA_UNRESPONSIVE = 13,
    TRN_RDMA_UNKNOWN_PEER = 14,
    TRN_RDMA_UNREACHABLE = 15,
    TRN_RDMA_FEATURE_MISMATCH = 18
};

/* ---- the card ---- */

/** Enables the card, resets it and sets up its admin queue, in DMA memory of the transport. The
 * transport stays the caller's. */
int trn_rdma_open(const trn_transport* transport, trn_rdma_card** card);
/** Resets the card. */
void trn_rdma_close(trn_rdma_card* card);
/** Frees `card` without an access, after the loss of its transport. */
void trn_rdma_forget(trn_rdma_card* card);
/** Resets the card to the state after trn_rdma_open, also after hot removal and reinsertion. All
 * objects are lost. */
int trn_rdma_reset(trn_rdma_card* card);
/** Number of trn_rdma_reset calls so far; objects are valid only while it is unchanged. */
uint32_t trn_rdma_resets(const trn_rdma_card* card);

/** State of the card. */
enum {
    TRN_RDMA_WORKS = 0,
    TRN_RDMA_LOST = 1,  /**< it was reset, or removed and reinserted, or a command has timed out:
                           call trn_rdma_reset() */
    TRN_RDMA_ABSENT = 2 /**< no response */
};
int trn_rdma_state(trn_rdma_card* card, uint32_t* state);

typedef struct trn_rdma_gid {
    uint8_t bytes[16];
} trn_rdma_gid;
typedef struct trn_rdma_attributes {
    trn_rdma_gid gid;
    uint32_t gigabits; /**< per second and direction */
    uint32_t mtu;      /**< bytes of the longest datagram */
    uint32_t max_rdma; /**< bytes of the longest RDMA request */
    uint32_t queue_pairs, event_queues;
} trn_rdma_attributes;
int trn_rdma_get_attributes(trn_rdma_card* card, trn_rdma_attributes* attributes);

/* ---- objects ---- */

int trn_rdma_alloc_domain(trn_rdma_card* card, uint16_t* domain);
/** Allocates a page of doorbells. */
int trn_rdma_alloc_uar(trn_rdma_card* card, uint16_t* uar);
int trn_rdma_create_address_handle(trn_rdma_card* card, uint16_t domain, const trn_rdma_gid* peer,
                                   uint16_t* handle);

/** Access rights to a region, besides local reads. */
enum { TRN_RDMA_LOCAL_WRITE = 1, TRN_RDMA_REMOTE_WRITE = 2, TRN_RDMA_REMOTE_READ = 4 };
/** Registers contiguous memory: DMA memory of a transport (iova) or part of a chip's BAR. Requests
 * address it by bus address. Begin and size: multiples of 4096. `key`: for requests of this card
 * (lkey) and of other cards (rkey). */
int trn_rdma_register(trn_rdma_card* card, uint16_t domain, uint64_t bus_address, uint64_t size,
                      uint32_t access, uint32_t* key);
int trn_rdma_deregister(trn_rdma_card* card, uint32_t key);

/** Creates an event queue: a ring of 16-byte entries at a bus address, zeroed by the caller;
 * `entries`: a power of two. Events raise the MSI-X vector (from 1 on). */
int trn_rdma_create_eq(trn_rdma_card* card, uint32_t vector, uint64_t base, uint32_t entries,
                       uint16_t* eq);
int trn_rdma_destroy_eq(trn_rdma_card* card, uint16_t eq);

#define TRN_RDMA_COMPLETION_BYTES 16u
typedef struct trn_rdma_cq {
    uint16_t number;
    uint32_t doorbell; /**< offset in the card's BAR0 */
} trn_rdma_cq;
/** Creates a completion queue; ring as for trn_rdma_create_eq. `eq` NULL: polled, without events.
 */
int trn_rdma_create_cq(trn_rdma_card* card, uint16_t uar, uint64_t base, uint32_t entries,
                       const uint16_t* eq, trn_rdma_cq* cq);
int trn_rdma_destroy_cq(trn_rdma_card* card, uint16_t cq);

typedef struct trn_rdma_qp {
    uint32_t handle;
    uint16_t number;
    uint32_t send_ring;     /**< offset in the card's BAR2 */
    uint32_t send_doorbell; /**< offset in the card's BAR0 */
} trn_rdma_qp;
/** Creates an SRD queue pair with `entries` work requests, ready to send. It accepts RDMA requests
 * of other cards and has no receive ring: their writes with immediate consume no receive. */
int trn_rdma_create_qp(trn_rdma_card* card, uint16_t domain, uint16_t uar, uint16_t cq,
                       uint32_t entries, uint32_t qkey, trn_rdma_qp* qp);
int trn_rdma_destroy_qp(trn_rdma_card* card, const trn_rdma_qp* qp);

/** Sets the message of an MSI-X vector: `data` written to a bus address, such as a chip's register;
 * address 0 masks the vector. -ENOTSUP: the function has no MSI-X. */
int trn_rdma_point_vector(trn_rdma_card* card, uint32_t vector, uint64_t bus_address,
                          uint32_t data);
/** Bus address of a byte of BAR0 or BAR2, for chips of the same server. */
int trn_rdma_bus_address(trn_rdma_card* card, uint32_t bar, uint64_t offset, uint64_t* address);

/** Offset of the doorbell of event queues in BAR0: 15:0 event queue, 31 arm. */
#define TRN_RDMA_EVENT_DOORBELL 0x68u

/* ---- work requests ---- */

enum { TRN_RDMA_READ = 1, TRN_RDMA_WRITE = 2 };
typedef struct trn_rdma_request {
    uint32_t operation;                  /**< TRN_RDMA_READ, TRN_RDMA_WRITE */
    uint16_t id;                         /**< repeated in the completion */
    uint16_t address_handle, queue_pair; /**< of the receiver */
    uint32_t qkey;
    uint32_t length;                   /**< bytes, 0 to max_rdma */
    uint64_t local, remote;            /**< addresses in regions */
    uint32_t local_key, remote_key;    /**< their keys */
    uint32_t has_immediate, immediate; /**< of a write */
} trn_rdma_request;
#define TRN_RDMA_REQUEST_BYTES 64u
/** Encodes a request for the send ring, with the phase of its first pass. */
void trn_rdma_encode(const trn_rdma_request* request, uint8_t entry[TRN_RDMA_REQUEST_BYTES]);

typedef struct trn_rdma_completion {
    uint16_t id;
    uint32_t status; /**< TRN_RDMA_OK, or the failure */
} trn_rdma_completion;

/** A queue pair with a completion queue in host memory. */
typedef struct trn_rdma_queue trn_rdma_queue;
/** `entries`: a power of two up to 4096. */
int trn_rdma_queue_open(trn_rdma_card* card, uint16_t domain, uint32_t entries, uint32_t qkey,
                        trn_rdma_queue** queue);
void trn_rdma_queue_close(trn_rdma_queue* queue);
uint16_t trn_rdma_queue_number(const trn_rdma_queue* queue);
/** -EAGAIN: the queue is full, take completions first. */
int trn_rdma_post(trn_rdma_queue* queue, const trn_rdma_request* request);
/** Takes the next completion; completions arrive in any order, matched by id. Waits at most
 * `nanoseconds` (0: polls once). -ETIMEDOUT: no completion; -EIO, -ENODEV: the card was lost. */
int trn_rdma_wait(trn_rdma_queue* queue, uint64_t nanoseconds, trn_rdma_completion* done);

#ifdef __cplusplus
}
#endif

#endif
