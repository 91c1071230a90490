/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TRN_COLL_H
#define TRN_COLL_H

#include "trn_driver.h"
#include "trn_rdma.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Collectives: what a runtime does on top of the driver stub. The host builds a program per rank
 * and the DMA rings it works through, loads them and fires a trigger; the CC-Cores' firmware does
 * the rest (doc/collectives.md). A rank is a chip. Nothing here talks to other ranks: who calls it
 * passes on what members have to know of each other.
 *
 * Life: trn_cc_load once per chip -> trn_coll_create on every rank -> trn_coll_start,
 * trn_coll_wait, as often as wanted -> trn_coll_destroy.
 */

/* ---- the cores ---------------------------------------------------------------------------- */

/** Gives the collective cores of a map (bit n is TOP_SP n, as the driver numbers them) an image
 * that firmware/tools/pack_image.py packed, and waits until they run it. What they did before is
 * lost. TRN_REFUSED: the image is damaged or does not fit; the cores go on with what they have. */
trn_status trn_cc_load(trn_device* device, uint32_t cores, const void* image, uint64_t size);

#define TRN_CC_SLOTS 4u

/** Puts a program into a slot of a core. TRN_REFUSED: the firmware found a mistake in it. */
trn_status trn_cc_program(trn_device* device, uint32_t core, uint32_t slot, const void* program,
                          uint32_t size);
/** Stops the program of a slot and forgets it. */
trn_status trn_cc_unload(trn_device* device, uint32_t core, uint32_t slot);
/** Lets it run once. */
trn_status trn_cc_trigger(trn_device* device, uint32_t core, uint32_t slot);

typedef enum trn_cc_state {
    TRN_CC_EMPTY = 0,
    TRN_CC_LOADED = 1,
    TRN_CC_RUNNING = 2,
    TRN_CC_FAILED = 3
} trn_cc_state;
typedef enum trn_cc_error {
    TRN_CC_NO_ERROR = 0,
    TRN_CC_HANG = 1,     /**< a wait took longer than the program allows */
    TRN_CC_BUS = 2,      /**< bus error on an access of the core */
    TRN_CC_DMA_ABORT = 3 /**< as a hang, and a DMA queue of the program has stopped on an error */
} trn_cc_error;
typedef struct trn_cc_slot {
    trn_cc_state state;
    trn_cc_error error;
    uint32_t runs, step;
    uint32_t semaphore, peer, wanted; /**< of a hang: what it waits for, and who should post it */
    int32_t value;                    /**< of a hang: what it saw */
    uint64_t started, ended;          /**< of the last run, simulated ns */
} trn_cc_slot;
trn_status trn_cc_slot_state(trn_device* device, uint32_t core, uint32_t slot, trn_cc_slot* state);

typedef struct trn_cc_statistics {
    uint32_t wakeups, steps, waits, doorbells, posts, hangs, refused;
} trn_cc_statistics;
/** How many MARK steps of the last run of a slot the core has noted, and the times of the first
 * `room` of them: ns since the run started. TRN_PROTOCOL_ERROR: there is no program in the slot. */
trn_status trn_cc_marks(trn_device* device, uint32_t core, uint32_t slot, uint32_t* times,
                        uint32_t room, uint32_t* count);
trn_status trn_cc_get_statistics(trn_device* device, uint32_t core, trn_cc_statistics* statistics);
/** What a failure is to the runtime: its status codes. */
typedef enum trn_cc_code {
    TRN_CC_CODE_NONE = 0,
    TRN_CC_CODE_INVALID = 2,  /**< a command of the host was refused; detail: why, as numbered in
                                   doc/models/cc_mailbox.md */
    TRN_CC_CODE_HARDWARE = 6, /**< bus error; detail: the step */
    TRN_CC_CODE_STUCK = 1200, /**< a wait took too long; detail: the rank that should have posted */
    TRN_CC_CODE_ABORT = 1203, /**< so it did, and a DMA queue has stopped on an error; detail: which
                                   one of the program */
    TRN_CC_CODE_LOST = 1204   /**< entries of the ring were overwritten before they were taken */
} trn_cc_code;
const char* trn_cc_code_text(trn_cc_code code);
typedef struct trn_cc_failure {
    trn_cc_code code;
    uint32_t detail;
    uint64_t time; /**< simulated ns; 0 of what was lost */
} trn_cc_failure;
/** Gives a core a ring of `size` bytes (a power of two from 16 on) in host memory, into which its
 * firmware puts an error entry when a run of the slot fails or a command for it is refused: the
 * notification ring of the slot's number. It stays until trn_notifications_close, or until a reset
 * of the core, which switches it off. Without it the firmware reports to no one. */
trn_status trn_cc_failures_open(trn_device* device, uint32_t core, uint32_t slot, uint32_t size,
                                trn_notification_ring* ring);
/** Takes the next failure; TRN_CC_CODE_NONE: there is none. TRN_PROTOCOL_ERROR: an entry that is no
 * failure. */
trn_status trn_cc_failures_next(trn_device* device, trn_notification_ring* ring,
                                trn_cc_failure* failure);

/** The end of the core's log, at most size - 1 characters and a NUL. */
trn_status trn_cc_log(trn_device* device, uint32_t core, char* text, uint32_t size);

/* ---- collectives --------------------------------------------------------------------------- */

typedef enum trn_coll_op {
    TRN_COLL_ALL_REDUCE = 0,
    TRN_COLL_ALL_GATHER = 1,
    TRN_COLL_REDUCE_SCATTER = 2,
    TRN_COLL_ALL_TO_ALL = 3,
    TRN_COLL_PERMUTE = 4, /**< to the next rank of the ring */
    TRN_COLL_BROADCAST = 5,
    TRN_COLL_BARRIER = 6,
    /* Blocks of different sizes, also of none: trn_coll_config.counts. */
    TRN_COLL_ALL_GATHER_V = 7,
    TRN_COLL_REDUCE_SCATTER_V = 8,
    TRN_COLL_ALL_TO_ALL_V = 9
} trn_coll_op;
#define TRN_COLL_OPS 10
/** Elements of one count: no chip has so many, and no sum of counts in bytes overflows. */
#define TRN_COLL_MAX_COUNT (UINT64_C(1) << 40)

typedef enum trn_coll_operator {
    TRN_COLL_SUM = 0,
    TRN_COLL_MIN = 1,
    TRN_COLL_MAX = 2
} trn_coll_operator;

/** Bytes of an element; 0 of a type that collectives do not take. They take FP32, BF16, FP16 and
 * the integers of 8 and 32 bits. */
uint32_t trn_coll_type_bytes(trn_element type);

typedef enum trn_coll_algorithm {
    TRN_COLL_AUTO = 0,
    TRN_COLL_RING = 1,
    TRN_COLL_MESH = 2,     /**< each rank writes straight to every other */
    TRN_COLL_DOUBLING = 3, /**< a step along each side of a grid, with ever more, or everything */
    TRN_COLL_HALVING = 4,  /**< the same of a reduction, with ever less */
    TRN_COLL_KANGARING = 5 /**< a ring of pairs of ranks; one of a pair moves the bytes of both */
} trn_coll_algorithm;
#define TRN_COLL_ALGORITHMS 6

/** A row of a table that says which algorithm a collective gets. */
typedef struct trn_coll_rule {
    trn_coll_op op;
    uint32_t topologies; /**< bit n: of trn_topology_kind n; 0: of any kind */
    uint32_t max_ranks;  /**< 0: any number */
    uint64_t max_bytes;  /**< 0: any size */
    trn_coll_algorithm algorithm;
} trn_coll_rule;

/** What all ranks know of one. Addresses are AXI of its own chip: each buffer is in a stack of its
 * HBM or in the SBUF of one of its cores (trn_hbm_address, trn_sbuf_address). */
typedef struct trn_coll_member {
    trn_place place;
    uint64_t send, receive; /**< buffers: see trn_coll_sizes */
    uint64_t scratch;
} trn_coll_member;

#define TRN_COLL_CHANNELS 8u      /* at most, */
#define TRN_COLL_RING_CHANNELS 4u /* where there is one ring, or another domain */

/** How a rank is reached from another domain: over the EFA card of its server that it sends by. */
typedef struct trn_coll_nic {
    uint64_t memory, registers; /**< bus addresses of BAR4 and register BAR on the rank's server */
    uint32_t memory_key, register_key;           /**< of the regions that these BARs are */
    uint16_t queue_pair[TRN_COLL_RING_CHANNELS]; /**< numbers, by channel */
} trn_coll_nic;
/** What the own card has for a channel (trn_coll_rings_for): bus addresses on the rank's server. */
typedef struct trn_coll_port {
    uint64_t send_ring, send_doorbell, completion_doorbell, event_doorbell;
    uint16_t event_queue;
} trn_coll_port;

/** What is the same on every rank, but for `rank`. */
typedef struct trn_coll_config {
    trn_coll_op op;
    trn_coll_algorithm algorithm;
    const trn_coll_rule* rules; /**< TRN_COLL_AUTO: read before the library's own */
    uint32_t rule_count;
    trn_topology_kind topology;
    uint64_t bytes; /**< the size in tables of results: of the whole buffer, the larger one where
                         input and output differ; 0 for a barrier only */
    const uint64_t* counts; /**< of all-gather-v and reduce-scatter-v: elements of each rank's
                                 block; of all-to-all-v: of the block from each rank to each,
                                 [from * ranks + to]. `bytes` is then trn_coll_counted_bytes */
    uint32_t root;          /**< broadcast */
    trn_element type;
    trn_coll_operator with; /**< all-reduce, reduce-scatter */

    uint32_t rank, ranks;
    const trn_coll_member* members; /**< by rank */
    const uint32_t* ring;           /**< ranks in the order of the ring: trn_coll_rings */
    uint32_t rings;                 /**< how many orders `ring` has, one after the other; 0: one */
    /** Domains: chips that links join. 0 and 1: all ranks are in one. Else the ranks of each are as
     * many as of any other, and follow each other, and so they are in the ring; a collective then
     * goes from domain to domain by EFA, between ranks of the same position. */
    uint32_t domains;
    /** Where there are several domains: */
    const trn_coll_nic* nics;  /**< by rank */
    const uint16_t* handles;   /**< by rank: address handles of their cards, on the own one */
    const trn_coll_port* port; /**< of the own card, by channel */
    uint32_t qkey;             /**< of all queue pairs */

    uint32_t core;     /**< first collective core; each channel has one */
    uint32_t channels; /**< 0: chosen by the size */
    uint32_t lanes;    /**< DMA engines of a channel; 0: chosen by the size */
    uint32_t slot;     /**< of the cores: collectives in different slots run side by side */
    uint64_t workspace, workspace_bytes; /**< offset in HBM stack 0: rings */
    uint64_t queues; /**< offset in HBM stack 0: TRN_COLL_RING_CHANNELS * TRN_COLL_QUEUE_BYTES for
                          the rings of the card, where there are several domains */
    uint64_t limit;  /**< ns of simulated time that a rank waits for another; 0: for ever */
    bool steps;      /**< each core shall note when its steps end: trn_coll_steps */
    bool notify;     /**< the firmware shall notify of failures: trn_coll_failure */
    /** AXI address of the rank's chip to which each channel writes 1 when its part of a run has
     * ended (trn_semaphore_address); 0: none. A waiter sees trn_coll_channels more per run. */
    uint64_t done_semaphore;
    /** Optional: where the ranks of one process keep the number of the operation that a run of the
     * collective is in a recording; 0 before the first of them starts. */
    uint64_t* operation;
} trn_coll_config;

/** Whether the buffer is divided equally among the ranks. */
bool trn_coll_has_blocks(trn_coll_op op);
/** Whether blocks have sizes of their own. */
bool trn_coll_has_counts(trn_coll_op op);
/** How many counts that takes: one per rank, for all-to-all-v one per pair of ranks; else 0. */
uint64_t trn_coll_count_entries(trn_coll_op op, uint32_t ranks);
/** The size of a collective with counts: of all blocks, or for all-to-all-v of the largest buffer
 * of any rank. */
uint64_t trn_coll_counted_bytes(const trn_coll_config* config);
/** Bytes of the buffers that a collective needs on its rank. Of members their places have to be
 * known. */
typedef struct trn_coll_sizes {
    uint64_t send, receive, scratch;
} trn_coll_sizes;
trn_status trn_coll_get_sizes(const trn_coll_config* config, trn_coll_sizes* sizes);

#define TRN_COLL_RANKS 1024u /* at most */
#define TRN_COLL_SIDES 10u
/** The grid that doubling and halving work on. Ranks are its points; in a step each works with all
 * that differ from it only in the digit of one side. A point's number has a digit for each side,
 * the first one's is the most significant. Where there are fewer points than ranks, the first
 * points are two ranks each, which follow each other. Channel n begins with side n, modulo `sides`.
 */
typedef struct trn_coll_grid {
    uint32_t points, sides;
    uint32_t length[TRN_COLL_SIDES];
    uint16_t point[TRN_COLL_RANKS]; /**< by rank; of several domains by position in each */
} trn_coll_grid;
/** By the places of the members, of the first domain where there are several, and the size. */
void trn_coll_get_grid(const trn_coll_config* config, trn_coll_grid* grid);

#define TRN_COLL_RINGS 8u /* at most */
/** Orders ranks so that neighbours are near each other: along rows, columns and planes of a torus
 * and back; through a server, then to the next, then to the other rack. Where links allow it, it
 * gives several orders for rings that work at the same time, each over links, or directions of
 * links, of its own: of ranks that fill a torus four, of those that are neighbours all around, one
 * each way. `orders` has room for TRN_COLL_RINGS * ranks; returns how many there are. */
uint32_t trn_coll_rings(const trn_place* places, const trn_topology* topology, uint32_t ranks,
                        uint32_t* orders);
/** The algorithm of a collective: the one that it asks for, or that of the first row that holds for
 * it, of its own rules and then of the library's. */
trn_coll_algorithm trn_coll_choose(const trn_coll_config* config);
/** Whether an operation can be asked to use an algorithm. */
bool trn_coll_has_algorithm(trn_coll_op op, trn_coll_algorithm algorithm);
const char* trn_coll_op_text(trn_coll_op op);
const char* trn_coll_algorithm_text(trn_coll_algorithm algorithm);

/** Work requests of a channel: of a run, and of its send ring. */
#define TRN_COLL_QUEUE_ENTRIES 256u
/** All requests of the peers of seven domains, and the own ones. */
#define TRN_COLL_COMPLETIONS 2048u
#define TRN_COLL_EVENTS 16u
#define TRN_COLL_QUEUE_BYTES ((TRN_COLL_COMPLETIONS + TRN_COLL_EVENTS) * TRN_RDMA_COMPLETION_BYTES)
/** What the rank's card needs for a channel: bus addresses of the completion ring and of the event
 * ring, and where the message of the event queue writes 1. completions 0: the chip has no core for
 * the channel. */
typedef struct trn_coll_rings_of_card {
    uint64_t completions, events, message;
} trn_coll_rings_of_card;
/** Clears the rings of a channel: before its queues are created, and before trn_coll_create.
 * `device` is the rank's; of `config` its rank, nics' BARs, queues, core and slot are used. */
trn_status trn_coll_rings_for(trn_device* device, const trn_coll_config* config, uint32_t channel,
                              trn_coll_rings_of_card* rings);

typedef struct trn_coll trn_coll;
/** Builds this rank's programs and rings and loads them. TRN_INVALID_ARGUMENT says in
 * trn_last_error what cannot be; TRN_REFUSED is the firmware's. */
trn_status trn_coll_create(trn_device* device, const trn_coll_config* config, trn_coll** made);
/** Takes programs and rings away, also running ones. NULL is allowed. */
trn_status trn_coll_destroy(trn_coll* collective);
/** Frees a collective without an access to the device: after a reset of its chip, or when the
 * device is gone. Its host memory stays with the device. NULL is allowed. */
void trn_coll_free(trn_coll* collective);
/** How many channels it has. */
uint32_t trn_coll_channels(const trn_coll* collective);
/** How many of the orders of `ring` it uses, the first ones: one where it does not go round. Ring n
 * of them carries of each block (of a broadcast: of the buffer) part n of as many: all parts have
 * equally many bytes, a multiple of TRN_COLL_PART, but for the last ones, which have what is left.
 */
uint32_t trn_coll_rings_used(const trn_coll* collective);
#define TRN_COLL_PART 64u
/** Fires the trigger. */
trn_status trn_coll_start(trn_coll* collective);
/** A write of 4 bytes to an AXI address of the rank's chip. */
typedef struct trn_coll_trigger {
    uint64_t address;
    uint32_t value;
} trn_coll_trigger;
/** The writes that start a run without the host, one per channel, in any order: for WRITE
 * instructions of an engine, or a DMA descriptor. A write while the previous run is under way asks
 * for one more. `triggers` has room for TRN_COLL_CHANNELS; returns how many there are. */
uint32_t trn_coll_triggers(const trn_coll* collective, trn_coll_trigger* triggers);
/** In place of trn_coll_start: so many runs are started by these writes. trn_coll_wait then waits
 * for the last of them. */
trn_status trn_coll_expect(trn_coll* collective, uint32_t runs);
/** Waits for the run: TRN_TIMED_OUT after `limit` ns, TRN_ABORTED when the firmware gave up
 * (trn_last_error says which rank waits for whom). */
trn_status trn_coll_wait(trn_coll* collective, uint64_t limit);
/** TRN_ABORTED when the firmware gave up a run, with the sentence of trn_coll_wait; does not wait.
 */
trn_status trn_coll_check(trn_coll* collective);
/** What the firmware has notified of the failure that trn_coll_wait has found: its class for the
 * runtime. TRN_CC_CODE_NONE: nothing failed, or the collective was made without `notify`. */
trn_cc_failure trn_coll_failure(const trn_coll* collective);
/** Simulated ns between start and end of the last run: the first channel's start, the last one's
 * end. */
trn_status trn_coll_times(trn_coll* collective, uint64_t* started, uint64_t* ended);

/** When the steps of the last run ended, of a collective made with `steps` that was waited for:
 * simulated ns since `started` of trn_coll_times, ascending; a step begins where the one before
 * ended. It ends when the last of the rank's cores has given its engines all work of the step, or,
 * where the algorithm waits for a step's bytes, when they are there. *count: in, how many `ends`
 * has room for; out, how many steps there were (those that every core had room to note). */
trn_status trn_coll_steps(trn_coll* collective, uint64_t* ends, uint32_t* count);

/** Data sent by all ranks together per byte of the size, and what divides by it: the factor between
 * algorithm and bus bandwidth, as nccom-test and nccl-tests define it. */
double trn_coll_bus_factor(trn_coll_op op, uint32_t ranks);

#ifdef __cplusplus
}
#endif

#endif
