/* SPDX-License-Identifier: Apache-2.0 */
/** EFA cards for programs: queue pairs, and memory written to and read from other servers. A card
 * is driven through a transport of its own, like a chip (trn_transport.h). */
#ifndef TRN_EFA_H
#define TRN_EFA_H

#include <stdint.h>

#include "trn_transport.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef struct trn_efa trn_efa;
typedef struct trn_efa_queue trn_efa_queue;

/** What a work request asks for. NOTIFY: a write, also of 0 bytes, behind which the other card
 * writes a word, once, when all of the data is in its memory. */
enum { TRN_EFA_WRITE = 1, TRN_EFA_READ = 2, TRN_EFA_NOTIFY = 3 };
/** What other cards may do with a region. */
enum { TRN_EFA_REMOTE_READ = 1, TRN_EFA_REMOTE_WRITE = 2 };
/** How a request ended. */
enum {
    TRN_EFA_OK = 0,
    TRN_EFA_BAD_REQUEST = 1,
    TRN_EFA_LOCAL_ACCESS = 2,
    TRN_EFA_REMOTE_ACCESS = 3,
    TRN_EFA_UNREACHABLE = 4
};

typedef struct trn_efa_request {
    uint32_t what;   /**< TRN_EFA_WRITE, TRN_EFA_READ, TRN_EFA_NOTIFY */
    uint32_t id;     /**< comes back in the completion */
    uint16_t card;   /**< address of the other card */
    uint16_t region; /**< of the other card */
    uint32_t length; /**< bytes, up to 1 GiB */
    uint64_t local;  /**< bus address here: a transport's iova, or a place in a chip's BAR */
    uint64_t remote; /**< bus address there, in the region */

    /* TRN_EFA_NOTIFY: the word */
    uint64_t notice;        /**< bus address there */
    uint32_t value;         /**< what is written to it */
    uint16_t notice_region; /**< of the other card, where the word is */
} trn_efa_request;

/** A request as it stands in a queue's ring. */
#define TRN_EFA_REQUEST_BYTES 64u
#define TRN_EFA_COMPLETION_BYTES 16u
void trn_efa_encode(const trn_efa_request* request, uint8_t entry[TRN_EFA_REQUEST_BYTES]);

typedef struct trn_efa_completion {
    uint32_t id, status, length;
} trn_efa_completion;

/** Takes the card that the transport leads to: checks what it is, switches it on, resets it.
 * -ENODEV: no such card. The transport stays the caller's. */
int trn_efa_open(const trn_transport* transport, trn_efa** card);
/** The same of a card that others may be using: it is not reset. */
int trn_efa_attach(const trn_transport* transport, trn_efa** card);
/** Resets the card. */
void trn_efa_close(trn_efa* card);
/** Leaves it as it is. */
void trn_efa_detach(trn_efa* card);
/** Switches the card on and resets it, as when it was opened; also one that was pulled and put
 * back. It has no queue pairs and no regions then: close queues and open them again. -ENODEV: no
 * such card, or no response. */
int trn_efa_reset(trn_efa* card);

/** Bus address of its registers: for chips of the same server that ring its doorbells. */
int trn_efa_registers(trn_efa* card, uint64_t* bus_address);
/** Its address in the fabric, for others' requests. */
int trn_efa_address(trn_efa* card, uint16_t* address);
/** Megabits per second and direction. */
int trn_efa_rate(trn_efa* card, uint32_t* megabits);

/** Lets other cards use `size` bytes at bus address `base` by number `region` (0 to 15). size 0:
 * nobody any more. */
int trn_efa_share(trn_efa* card, uint32_t region, uint64_t base, uint64_t size, uint32_t access);

/** A queue pair with room for `entries` requests, a power of two up to 32768. index: 0 to 63. */
int trn_efa_queue_open(trn_efa* card, uint32_t index, uint32_t entries, trn_efa_queue** queue);
void trn_efa_queue_close(trn_efa_queue* queue);

/** A queue pair for another initiator, which writes requests and rings the doorbell, such as a
 * collective core of a chip. Bus addresses: of both rings; of a word that gets a 1 behind every
 * completion of status ok, or 0. entries 0: takes the pair away. */
typedef struct trn_efa_rings {
    uint32_t entries;
    uint64_t requests, completions, notify;
} trn_efa_rings;
int trn_efa_queue_lend(trn_efa* card, uint32_t index, const trn_efa_rings* rings);

/** What became of a queue pair. */
enum {
    TRN_EFA_QUEUE_RUNS = 0,
    TRN_EFA_QUEUE_STOPPED = 1, /**< on an error */
    TRN_EFA_QUEUE_LOST = 2,    /**< the card was reset, or pulled and put back: trn_efa_reset() */
    TRN_EFA_QUEUE_ABSENT = 3   /**< the card does not answer */
};
/** A negative error only when the transport itself has failed. */
int trn_efa_queue_state(trn_efa_queue* queue, uint32_t* state);

/** Posts a request. -EAGAIN: the queue is full, take completions first. */
int trn_efa_post(trn_efa_queue* queue, const trn_efa_request* request);
/** The next completion; they come in the order of the requests. Waits at most so many nanoseconds
 * (0: polls once). -ETIMEDOUT: there is none; -EIO: the queue pair does not run any more. */
int trn_efa_wait(trn_efa_queue* queue, uint64_t nanoseconds, trn_efa_completion* done);

#ifdef __cplusplus
}
#endif

#endif
