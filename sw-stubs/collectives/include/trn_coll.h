/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TRN_COLL_H
#define TRN_COLL_H

#include "trn_driver.h"
#include "trn_rdma.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Collectives: the part of a runtime above the driver stub. The host builds a program and its DMA
 * rings for each rank, loads them and writes a trigger; the CC-Cores' firmware executes the program
 * (doc/collectives.md). A rank is a chip. Nothing here communicates with other ranks: the caller
 * exchanges the data of the members (trn_coll_member).
 *
 * Life: trn_cc_load once per chip -> trn_coll_create on every rank -> trn_coll_start,
 * trn_coll_wait, any number of times -> trn_coll_destroy. */

/* ---- the cores ---------------------------------------------------------------------------- */

/** Loads an image (packed by firmware/tools/pack_image.py) into the CC-Cores of a map (bit
 * n: TOP_SP n in the driver's numbering) and waits until they run it. Programs of these cores are
 * lost. TRN_REFUSED: the image is damaged or does not fit; the cores keep their present image. */
trn_status trn_cc_load(trn_device* device, uint32_t cores, const void* image, uint64_t size);

#define TRN_CC_SLOTS 4u

/** Loads a program into a slot of a core. TRN_REFUSED: the firmware found an error in it. */
trn_status trn_cc_program(trn_device* device, uint32_t core, uint32_t slot, const void* program,
                          uint32_t size);
/** Stops the program of a slot and unloads it. */
trn_status trn_cc_unload(trn_device* device, uint32_t core, uint32_t slot);
/** Runs the program of a slot once. */
trn_status trn_cc_trigger(trn_device* device, uint32_t core, uint32_t slot);

typedef enum trn_cc_state {
    TRN_CC_EMPTY = 0,
    TRN_CC_LOADED = 1,
    TRN_CC_RUNNING = 2,
    TRN_CC_FAILED = 3
} trn_cc_state;
typedef enum trn_cc_error {
    TRN_CC_NO_ERROR = 0,
    TRN_CC_HANG = 1,      /**< a wait took longer than the program allows */
    TRN_CC_BUS = 2,       /**< bus error on an access of the core */
    TRN_CC_DMA_ABORT = 3, /**< a hang, with a DMA queue of the program stopped on an error */
    TRN_CC_NETWORK = 4    /**< a work request of the network card has failed */
} trn_cc_error;
typedef struct trn_cc_slot {
    trn_cc_state state;
    trn_cc_error error;
    uint32_t runs, step;
    /** of a hang: the wait, and the rank that should post it; of a network failure: the work
     * request, and the address handle of its remote card */
    uint32_t semaphore, peer, wanted;
    int32_t value; /**< of a hang: the semaphore's value; of a network failure: the status */
    uint64_t started, ended; /**< of the last run, simulated ns */
} trn_cc_slot;
trn_status trn_cc_slot_state(trn_device* device, uint32_t core, uint32_t slot, trn_cc_slot* state);

typedef struct trn_cc_statistics {
    uint32_t wakeups, steps, waits, doorbells, posts, hangs, refused;
} trn_cc_statistics;
/** `count`: number of MARK steps of a slot's last run that the core has recorded; `times`: those of
 * the first `room` steps, in ns since the run started. TRN_PROTOCOL_ERROR: the slot has no program.
 */
trn_status trn_cc_marks(trn_device* device, uint32_t core, uint32_t slot, uint32_t* times,
                        uint32_t room, uint32_t* count);
trn_status trn_cc_get_statistics(trn_device* device, uint32_t core, trn_cc_statistics* statistics);
/** Status codes by which a runtime classifies failures. */
typedef enum trn_cc_code {
    TRN_CC_CODE_NONE = 0,
    TRN_CC_CODE_INVALID = 2,  /**< a command of the host was refused; detail: the error's number in
                                   doc/models/processor/cc_mailbox.md */
    TRN_CC_CODE_HARDWARE = 6, /**< bus error; detail: the step */
    TRN_CC_CODE_STUCK = 1200, /**< a wait took too long; detail: the rank that should have posted */
    TRN_CC_CODE_ABORT = 1203, /**< as STUCK, and a DMA queue has stopped on an error; detail: the
                                   queue's row in the program */
    TRN_CC_CODE_LOST = 1204   /**< entries of the ring were overwritten before they were taken */
} trn_cc_code;
const char* trn_cc_code_text(trn_cc_code code);
typedef struct trn_cc_failure {
    trn_cc_code code;
    uint32_t detail;
    uint64_t time; /**< simulated ns; 0 with TRN_CC_CODE_LOST */
} trn_cc_failure;
/** Sets up the notification ring of a slot, `size` bytes (a power of two, at least 16) in host
 * memory: the core's firmware writes an error entry when a run of the slot fails or a command for
 * it is refused. It is active until trn_notifications_close or a reset of the core. Without it the
 * firmware notifies no host. */
trn_status trn_cc_failures_open(trn_device* device, uint32_t core, uint32_t slot, uint32_t size,
                                trn_notification_ring* ring);
/** Takes the next failure; TRN_CC_CODE_NONE: none. TRN_PROTOCOL_ERROR: the entry is not a failure.
 */
trn_status trn_cc_failures_next(trn_device* device, trn_notification_ring* ring,
                                trn_cc_failure* failure);

/** Copies the end of the core's log, at most size - 1 characters and a NUL. Needs a probed device
 * only, so that another program than the loader can read it. */
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
    /* Blocks of different sizes, including 0: trn_coll_config.counts. */
    TRN_COLL_ALL_GATHER_V = 7,
    TRN_COLL_REDUCE_SCATTER_V = 8,
    TRN_COLL_ALL_TO_ALL_V = 9
} trn_coll_op;
#define TRN_COLL_OPS 10
/** Limit of one count in elements: more than a chip holds, and sums in bytes do not overflow. */
#define TRN_COLL_MAX_COUNT (UINT64_C(1) << 40)

typedef enum trn_coll_operator {
    TRN_COLL_SUM = 0,
    TRN_COLL_MIN = 1,
    TRN_COLL_MAX = 2
} trn_coll_operator;

/** Bytes of an element; 0 for an unsupported type. Supported: FP32, BF16, FP16 and the integers of
 * 8 and 32 bits. */
uint32_t trn_coll_type_bytes(trn_element type);

typedef enum trn_coll_algorithm {
    TRN_COLL_AUTO = 0,
    TRN_COLL_RING = 1,
    TRN_COLL_MESH = 2,     /**< each rank writes directly to every other rank */
    TRN_COLL_DOUBLING = 3, /**< one step per side of a grid; more blocks, or sums, each step */
    TRN_COLL_HALVING = 4,  /**< one step per side of a grid; fewer blocks of a sum each step */
    TRN_COLL_KANGARING = 5 /**< a ring of pairs; one rank of a pair moves the bytes of both */
} trn_coll_algorithm;
#define TRN_COLL_ALGORITHMS 6

/** A row of the table that selects an algorithm. */
typedef struct trn_coll_rule {
    trn_coll_op op;
    uint32_t topologies; /**< bit n: trn_topology_kind n; 0: any kind */
    uint32_t max_ranks;  /**< 0: any number */
    uint64_t max_bytes;  /**< 0: any size */
    trn_coll_algorithm algorithm;
} trn_coll_rule;

/** A rank's data, needed by all ranks. Addresses are AXI addresses of its own chip: each buffer is
 * in an HBM stack or in the SBUF of a core (trn_hbm_address, trn_sbuf_address). */
typedef struct trn_coll_member {
    trn_place place;
    uint64_t send, receive; /**< buffers: see trn_coll_sizes */
    uint64_t scratch;
} trn_coll_member;

#define TRN_COLL_CHANNELS 8u      /* maximum */
#define TRN_COLL_RING_CHANNELS 4u /* maximum with one ring, or several domains */

/** How other domains reach a rank: the EFA card of its server that it uses. */
typedef struct trn_coll_nic {
    uint64_t memory, registers; /**< bus addresses of BAR4 and register BAR on the rank's server */
    uint32_t memory_key, register_key;           /**< memory regions of these BARs */
    uint16_t queue_pair[TRN_COLL_RING_CHANNELS]; /**< numbers, by channel */
} trn_coll_nic;
/** Queues of the own card for a channel (trn_coll_rings_for): bus addresses on the rank's server.
 */
typedef struct trn_coll_port {
    uint64_t send_ring, send_doorbell, completion_doorbell, event_doorbell;
    uint16_t event_queue;
} trn_coll_port;

/** Configuration of a collective. Equal on every rank, except `rank` and the fields of its own
 * card. */
typedef struct trn_coll_config {
    trn_coll_op op;
    trn_coll_algorithm algorithm;
    const trn_coll_rule* rules; /**< for TRN_COLL_AUTO: take precedence over the library's rules */
    uint32_t rule_count;
    trn_topology_kind topology;
    uint64_t bytes; /**< size of the whole buffer, the larger one where input and output
                         differ; of an all-to-all the input; whole elements, also 0 */
    uint64_t block; /**< 0; the library sets it to divide a part of a buffer like the whole */
    const uint64_t* counts; /**< all-gather-v and reduce-scatter-v: elements of each rank's
                                 block; all-to-all-v: elements of the block between two ranks,
                                 [from * ranks + to]. `bytes` is then trn_coll_counted_bytes */
    /** permute: the receiving rank of each rank, TRN_COLL_NO_RANK for one that sends nothing. Ranks
     * that are in no row receive nothing, and their receive buffer keeps its contents. NULL: the
     * next rank of the ring */
    const uint32_t* targets;
    /** The input is in the memory of the output: both buffers have one address, except that an
     * all-gather's input is the own block of its output, and a reduce-scatter's output the own
     * block of its input (trn_coll_in_place_offsets). */
    bool in_place;
    uint32_t root; /**< broadcast */
    trn_element type;
    trn_coll_operator with; /**< all-reduce, reduce-scatter */

    uint32_t rank, ranks;
    const trn_coll_member* members; /**< by rank */
    const uint32_t* ring;           /**< ranks in the order of the ring: trn_coll_rings */
    uint32_t rings;                 /**< number of orders in `ring`; 0: one */
    /** Number of domains (groups of chips joined by links). 0 and 1: all ranks are in one domain.
     * With more, each domain has equally many, consecutive ranks, also within the ring, and EFA
     * carries the collective from domain to domain, between ranks of equal position. */
    uint32_t domains;
    /** Only with several domains: */
    const trn_coll_nic* nics;  /**< by rank */
    const uint16_t* handles;   /**< by rank: address handles of the ranks' cards, on the own card */
    const trn_coll_port* port; /**< queues of the own card, by channel */
    uint32_t qkey;             /**< of all queue pairs */

    uint32_t core;     /**< CC-Core of channel 0; each channel has its own */
    uint32_t channels; /**< 0: chosen by the size */
    uint32_t lanes;    /**< DMA engines of a channel; 0: chosen by the size */
    uint32_t slot;     /**< of the cores: collectives in different slots run concurrently */
    uint64_t workspace, workspace_bytes; /**< offset in HBM stack 0: rings */
    uint64_t queues; /**< offset in HBM stack 0: TRN_COLL_RING_CHANNELS * TRN_COLL_QUEUE_BYTES for
                          the rings of the card, with several domains */
    uint64_t limit;  /**< timeout of a wait for another rank, simulated ns; 0: none */
    bool steps;      /**< cores record the end times of steps: trn_coll_steps */
    bool notify;     /**< the firmware notifies failures: trn_coll_failure */
    /** AXI address on the rank's chip to which each channel writes 1 at the end of a run
     * (trn_semaphore_address), i.e. trn_coll_channels increments per run; 0: none. */
    uint64_t done_semaphore;
    /** Optional, shared by the ranks of one process: number of the run's operation in a recording;
     * 0 before the first rank starts. */
    uint64_t* operation;
} trn_coll_config;

/** Whether the buffer is divided equally among the ranks, except that the last blocks are smaller
 * or empty if the elements are no multiple of the ranks. */
bool trn_coll_has_blocks(trn_coll_op op);
/** Whether blocks differ in size (`counts`). */
bool trn_coll_has_counts(trn_coll_op op);
/** Number of counts: one per rank, for all-to-all-v one per pair of ranks, else 0. */
uint64_t trn_coll_count_entries(trn_coll_op op, uint32_t ranks);
/** Bytes of a collective with counts: the sum of all blocks; for all-to-all-v the largest buffer of
 * any rank. */
uint64_t trn_coll_counted_bytes(const trn_coll_config* config);
/** Bytes of the buffers that a collective needs on its rank. Needs only the places of `members`. */
typedef struct trn_coll_sizes {
    uint64_t send, receive, scratch;
} trn_coll_sizes;
trn_status trn_coll_get_sizes(const trn_coll_config* config, trn_coll_sizes* sizes);
/** Offsets of a rank's send and receive buffers in the memory that they share if the collective is
 * in place; one of them is 0. */
void trn_coll_in_place_offsets(const trn_coll_config* config, uint64_t* send, uint64_t* receive);

#define TRN_COLL_RANKS 1024u /* at most */
#define TRN_COLL_NO_RANK UINT32_MAX
#define TRN_COLL_SIDES 10u
/** The grid of the doubling and halving algorithms. Its points are ranks. A point's number has one
 * digit per side, the first side's is the most significant. In a step a rank exchanges data with
 * all ranks that differ only in the digit of one side. With fewer points than ranks, each of the
 * first points is a pair of consecutive ranks. Channel n begins with side n modulo `sides`. */
typedef struct trn_coll_grid {
    uint32_t points, sides;
    uint32_t length[TRN_COLL_SIDES];
    uint16_t point[TRN_COLL_RANKS]; /**< by rank; with several domains by position in the domain */
} trn_coll_grid;
/** Computes the grid from the places of the members (of the first domain) and the size. */
void trn_coll_get_grid(const trn_coll_config* config, trn_coll_grid* grid);

#define TRN_COLL_RINGS 8u /* at most */
/** Orders the ranks so that neighbours in the ring are near each other: along rows, columns and
 * planes of a torus and back; behind switches through a server, then the next, then the other rack.
 * Returns the number of orders. Several orders use disjoint links or link directions, so their
 * rings can work at the same time: four for ranks that fill a torus, two (one per direction) if all
 * neighbours in the ring are linked. `orders` must have room for TRN_COLL_RINGS * ranks. */
uint32_t trn_coll_rings(const trn_place* places, const trn_topology* topology, uint32_t ranks,
                        uint32_t* orders);
/** The algorithm of a collective: the configured one, or for TRN_COLL_AUTO that of the first
 * matching row of its rules, then of the library's. */
trn_coll_algorithm trn_coll_choose(const trn_coll_config* config);
/** Whether an operation supports an algorithm. */
bool trn_coll_has_algorithm(trn_coll_op op, trn_coll_algorithm algorithm);
const char* trn_coll_op_text(trn_coll_op op);
const char* trn_coll_algorithm_text(trn_coll_algorithm algorithm);

/** Limit of a channel's work requests per run, and entries of its send ring. */
#define TRN_COLL_QUEUE_ENTRIES 256u
/** Completion ring: all requests of the peers in seven domains, and the own ones. */
#define TRN_COLL_COMPLETIONS 2048u
#define TRN_COLL_EVENTS 16u
#define TRN_COLL_QUEUE_BYTES ((TRN_COLL_COMPLETIONS + TRN_COLL_EVENTS) * TRN_RDMA_COMPLETION_BYTES)
/** Bus addresses for the card's queues of a channel: completion ring, event ring, and the semaphore
 * register to which the event queue's MSI-X message writes 1. completions 0: the chip has no core
 * for the channel. */
typedef struct trn_coll_rings_of_card {
    uint64_t completions, events, message;
} trn_coll_rings_of_card;
/** Clears the rings of a channel. Call it before the channel's queues are created and before
 * trn_coll_create. `device`: the rank's. Uses rank, queues, core, slot and the BARs in nics of
 * `config`. */
trn_status trn_coll_rings_for(trn_device* device, const trn_coll_config* config, uint32_t channel,
                              trn_coll_rings_of_card* rings);

typedef struct trn_coll trn_coll;
/** Builds and loads this rank's programs and rings. TRN_INVALID_ARGUMENT: trn_last_error names the
 * invalid value; TRN_REFUSED: the firmware refused a program. */
trn_status trn_coll_create(trn_device* device, const trn_coll_config* config, trn_coll** made);
/** Unloads programs and releases rings, even during a run. NULL is allowed. */
trn_status trn_coll_destroy(trn_coll* collective);
/** Frees a collective without access to the device: after a reset or the loss of its chip. DMA
 * memory stays allocated by the device. NULL is allowed. */
void trn_coll_free(trn_coll* collective);
/** Number of channels. */
uint32_t trn_coll_channels(const trn_coll* collective);
/** Number of orders of `ring` in use, from the first on; 1 for algorithms without rings. Each block
 * (of a broadcast: the buffer) is divided into as many parts, and ring n carries part n. Parts are
 * of equal size, a multiple of TRN_COLL_PART; the last ones are smaller or empty. */
uint32_t trn_coll_rings_used(const trn_coll* collective);
#define TRN_COLL_PART 64u
/** Starts a run. */
trn_status trn_coll_start(trn_coll* collective);
/** A write of 4 bytes to an AXI address of the rank's chip. */
typedef struct trn_coll_trigger {
    uint64_t address;
    uint32_t value;
} trn_coll_trigger;
/** The writes that start a run without the host, one per channel, in any order: for WRITE
 * instructions of an engine, or for DMA descriptors. A write during a run starts one more run after
 * it. Returns the number of writes; `triggers` must have room for TRN_COLL_CHANNELS. */
uint32_t trn_coll_triggers(const trn_coll* collective, trn_coll_trigger* triggers);
/** Replaces trn_coll_start when trigger writes start the runs: trn_coll_wait then waits for `runs`
 * more runs. */
trn_status trn_coll_expect(trn_coll* collective, uint32_t runs);
/** Waits for the run's end. TRN_TIMED_OUT: after `limit` ns. TRN_ABORTED: the run failed;
 * trn_last_error names the waiting rank and the rank that it waits for. */
trn_status trn_coll_wait(trn_coll* collective, uint64_t limit);
/** As trn_coll_wait for a failed run (TRN_ABORTED), without waiting. */
trn_status trn_coll_check(trn_coll* collective);
/** The firmware's notification of the failure that trn_coll_wait found. TRN_CC_CODE_NONE: no
 * failure, or a collective without `notify`. */
trn_cc_failure trn_coll_failure(const trn_coll* collective);
/** Start and end of the last run in simulated ns: the earliest start and the latest end of all
 * channels. */
trn_status trn_coll_times(trn_coll* collective, uint64_t* started, uint64_t* ended);

/** End times of the last run's steps: simulated ns since `started` of trn_coll_times, ascending; a
 * step begins at the end of the previous one. Precondition: config.steps, and the run was waited
 * for. A step ends when the last of the rank's cores has posted all its work, or, where the
 * algorithm waits for the step's bytes, when they have arrived. *count: in, room of `ends`; out,
 * number of steps that every core has recorded. */
trn_status trn_coll_steps(trn_coll* collective, uint64_t* ends, uint32_t* count);

/** Bus bandwidth divided by algorithm bandwidth, as nccom-test and nccl-tests define it. */
double trn_coll_bus_factor(trn_coll_op op, uint32_t ranks);

#ifdef __cplusplus
}
#endif

#endif
