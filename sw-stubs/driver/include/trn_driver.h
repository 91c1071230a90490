/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TRN_DRIVER_H
#define TRN_DRIVER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "trn_transport.h"

#ifdef __cplusplus
extern "C" {
#endif

/* The driver stub: what a host's kernel driver does with a Trainium function, as a C library over
 * any transport. "Contract n" in these comments is section n of doc/spec/device-contract.md.
 *
 * Life of a device: trn_create -> trn_probe -> trn_reset_device -> copies and the rest ->
 * trn_destroy.
 *
 * Addresses of memory inside the chip and of host memory are AXI addresses as DMA descriptors carry
 * them (contract 3.1); trn_hbm_address, trn_sbuf_address and trn_buffer_address make them. Sizes
 * are bytes, times nanoseconds, unless said otherwise.
 *
 * Every wait is bounded on the transport's clock: nothing here blocks for ever.
 *
 * Threads: one at a time per device, as for its transport.
 */

/** What a call came to. trn_status_text has the words, trn_last_error the whole sentence. */
typedef enum trn_status {
    TRN_OK = 0,
    TRN_INVALID_ARGUMENT = 1, /**< refused before the device was touched */
    TRN_UNKNOWN_DEVICE = 2,   /**< vendor or device id is not a Trainium this library knows */
    TRN_NOT_READY = 3,        /**< not probed or not reset yet, or its engine was aborted before */
    TRN_TIMED_OUT = 4,        /**< the device did not answer in the time the contract gives it */
    TRN_ABORTED = 5,          /**< a DMA engine stopped with an error: see trn_last_failure */
    TRN_REFUSED = 6, /**< the firmware understood and said no, or does not know the command */
    TRN_PROTOCOL_ERROR = 7,   /**< an answer that the contract does not allow */
    TRN_BUSY = 8,             /**< no room now (queue full): wait for a job and try again */
    TRN_NOT_SUPPORTED = 9,    /**< this chip or its firmware's version does not have it */
    TRN_NO_MEMORY = 10,       /**< host memory ran out */
    TRN_TRANSPORT_ERROR = 11, /**< the access itself failed */
    TRN_DEVICE_GONE = 12      /**< the function, or the process that models it, ended */
} trn_status;

/** A few words for a status, never NULL. */
const char* trn_status_text(trn_status status);

typedef struct trn_device trn_device;

/* ---- life -------------------------------------------------------------------------------- */

/** What a host knows about its board from SMBIOS (contract 1.5). */
typedef enum trn_host_platform {
    TRN_HOST_STANDARD = 0,
    TRN_HOST_ULTRASERVER = 1, /**< point-to-point pod */
    TRN_HOST_PDS = 2          /**< switched pod: routing ids up to 127 */
} trn_host_platform;

/** What release 2.26.5 of the public driver makes of an SMBIOS product name; a name that it does
 * not know is a standard platform. */
trn_host_platform trn_platform_of_product(const char* product);

/** Zero-filled means the public driver's behaviour. */
typedef struct trn_options {
    trn_host_platform platform;
    uint32_t boot_timeout_ms; /**< how long probe waits for the routing id; 0 = 600,000 */
    bool spoof_neighbours;    /**< reads of neighbours hit the own chip (contract 11.4) */
    uint32_t timeout_scale;   /**< replaces the transport's; 0 = keep that */
} trn_options;

/** Makes a device over a transport; touches nothing. The device owns the transport from now on
 * and closes it in trn_destroy. options may be NULL. NULL when host memory ran out (the transport
 * then stays the caller's). */
trn_device* trn_create(const trn_transport* transport, const trn_options* options);

/** Frees rings and buffers and closes the transport. NULL is allowed. The device is left as it
 * is: queues that still run must be released or reset before. */
void trn_destroy(trn_device* device);

/** The sentence behind the last call that did not return TRN_OK; "" when there was none. Valid
 * until the next call on this device. */
const char* trn_last_error(const trn_device* device);

/** Finds out what the function is (contract 1): ids and BARs, memory and bus-master enable, then
 * the routing id, which reads 0xdeadbeef while firmware boots.
 * TRN_UNKNOWN_DEVICE, TRN_TIMED_OUT (firmware never published its id), TRN_PROTOCOL_ERROR (id out
 * of range for the platform, missing BAR). */
trn_status trn_probe(trn_device* device);

/** Whole-device reset, then DMA engines and host rings set up (contract 5, 6.3). The handshake is
 * with firmware on silicon revisions, with the simulator's reset register on revision 255 (on
 * Trainium1 and Inferentia2 with both), and left out on revision 240 of Trainium3. Needs trn_probe.
 */
trn_status trn_reset_device(trn_device* device);

/** Resets the cores whose bits are set (bit 0 is core 0) with their DMA engines and sync blocks,
 * then sets the engines up again (contract 5.2, 5.3). Memory keeps its content. Copies in flight on
 * these cores are lost: their jobs end with TRN_ABORTED. */
trn_status trn_reset_cores(trn_device* device, uint32_t core_map);

/** How the chip differs by its PCI revision id (contract 2). */
typedef enum trn_mode { TRN_MODE_SILICON = 0, TRN_MODE_QEMU = 1, TRN_MODE_EMULATOR = 2 } trn_mode;
#define TRN_MODES 3

#define TRN_MAX_STACKS 4u

typedef struct trn_device_info {
    uint16_t vendor_id, device_id;
    uint8_t revision;
    trn_mode mode;
    uint32_t architecture; /**< as the public driver numbers them: 4 = Trainium3, 3 = Trainium2,
                                2 = Trainium1 and Inferentia2 */
    const char* name;      /**< "Trainium3" */
    uint32_t routing_id;   /**< as firmware published it */
    uint32_t device_index; /**< n of /dev/neuron<n> (contract 1.3) */
    uint32_t cores, dma_engines, queues_per_engine, sync_blocks, stacks, dies;
    uint64_t stack_size;        /**< usable bytes of each HBM stack */
    uint64_t state_buffer_size; /**< of each core */
    uint32_t register_bar;      /**< 0, or 2 on revision 255 of Trainium1 and Inferentia2 */
    uint64_t register_bar_size, bar4_size;
} trn_device_info;

trn_status trn_get_info(const trn_device* device, trn_device_info* info);

/** Serial number of the chip (contract 4.1); never 0 on a healthy chip. */
trn_status trn_get_serial(trn_device* device, uint64_t* serial);

/* ---- addresses and host memory ------------------------------------------------------------ */

/** First bytes of each stack that belong to firmware (contract 3.4): 16 MiB. */
#define TRN_HBM_RESERVED_BYTES (UINT64_C(16) << 20)

/** Whether `size` bytes at `begin` pass the end of 64 bits. Every sum of an address or an offset
 * and a size that the library is given is checked by this. */
static inline bool trn_range_wraps(uint64_t begin, uint64_t size) {
    return size != 0 && begin > UINT64_MAX - (size - 1);
}

/** AXI address of a byte in an HBM stack or in a core's state buffer; 0 with no such stack or core.
 * No check that the offset is inside. */
uint64_t trn_hbm_address(const trn_device* device, uint32_t stack, uint64_t offset);
uint64_t trn_sbuf_address(const trn_device* device, uint32_t core, uint64_t offset);

/** Host memory that DMA can reach. */
typedef struct trn_buffer {
    trn_dma_memory memory;
} trn_buffer;

trn_status trn_buffer_alloc(trn_device* device, uint64_t size, trn_buffer* buffer);
void trn_buffer_free(trn_device* device, trn_buffer* buffer);
/** AXI address of a byte of the buffer, with the host-window bit (contract 3.1). */
uint64_t trn_buffer_address(const trn_device* device, const trn_buffer* buffer, uint64_t offset);

/* ---- copies ------------------------------------------------------------------------------- */

/** Longest copy of one descriptor: 64 KiB. */
#define TRN_DESCRIPTOR_BYTES UINT64_C(65536)
/** Most data descriptors between two completion markers (contract 7.5). */
#define TRN_BATCH_DESCRIPTORS 2031u
/** Longest copy of one job. */
#define TRN_JOB_BYTES (TRN_BATCH_DESCRIPTORS * TRN_DESCRIPTOR_BYTES)

/** Copies by DMA between any two AXI addresses, host or device, on the host-transfer queue of a
 * core (contract 8, 15.2), and waits. Any size and alignment; 0 bytes is done at
 * once. TRN_ABORTED, TRN_TIMED_OUT: how much arrived is unknown, and the queue answers
 * TRN_NOT_READY until it is reset (trn_reset_device, trn_reset_cores, trn_restart_queue). */
trn_status trn_copy(trn_device* device, uint32_t core, uint64_t destination, uint64_t source,
                    uint64_t size);

/** Copies ordinary memory of the caller to or from an AXI address, through bounce buffers. */
trn_status trn_write(trn_device* device, uint32_t core, uint64_t destination, const void* bytes,
                     uint64_t size);
trn_status trn_read(trn_device* device, uint32_t core, void* bytes, uint64_t source, uint64_t size);

/** Fills with one byte value by DMA: a 64 KiB pattern from the host, then device to device
 * (contract 8). destination: device memory. */
trn_status trn_memset(trn_device* device, uint32_t core, uint64_t destination, uint8_t value,
                      uint64_t size);

/** As trn_write, but only to where programs may be: cores, TOP_SPs, stacks, PREPROC (contract 10);
 * TRN_INVALID_ARGUMENT elsewhere. */
trn_status trn_program_engine(trn_device* device, uint32_t core, uint64_t destination,
                              const void* bytes, uint64_t size);

/** A queue of the host-transfer engine of a core for zero-copies of one's own, beside those of the
 * cores (contract 13.2, ioctl 125). TRN_BUSY: all are taken. A reset of the core closes it. */
trn_status trn_host_queue_open(trn_device* device, uint32_t core, uint32_t* queue);
trn_status trn_host_queue_close(trn_device* device, uint32_t core, uint32_t queue);

#define TRN_DEFAULT_QUEUE UINT32_MAX
typedef enum trn_direction { TRN_TO_DEVICE = 0, TRN_FROM_DEVICE = 1 } trn_direction;

/** Copies between the chip and a buffer without a bounce buffer: runs of contiguous pages, 64 pages
 * between two markers, two batches in flight (contract 7.5). Writes of up to 8 KiB into HBM go
 * through BAR4, but not on revision 255 (contract 2). queue: from trn_host_queue_open, or
 * TRN_DEFAULT_QUEUE. */
trn_status trn_zero_copy(trn_device* device, uint32_t core, uint32_t queue, uint64_t inside,
                         const trn_buffer* buffer, uint64_t offset, uint64_t size,
                         trn_direction direction);

/** Names one asynchronous copy; 0 is none. */
typedef uint64_t trn_job;

/** Starts a copy of 1..TRN_JOB_BYTES bytes and returns. TRN_BUSY: the queue has no room until an
 * earlier job is waited for. Jobs of one core end in the order of submission. */
trn_status trn_submit(trn_device* device, uint32_t core, uint64_t destination, uint64_t source,
                      uint64_t size, trn_job* job);
/** Whether a job is over: *done and TRN_OK, or the job's failure. Lets no time pass by itself. A
 * job that ended keeps its answer until trn_wait. */
trn_status trn_poll(trn_device* device, trn_job job, bool* done);
/** Waits for a job and forgets it. TRN_INVALID_ARGUMENT for a job that was waited for before. */
trn_status trn_wait(trn_device* device, trn_job job);

/** Fills part of a stack over 16 engines of its core group at once, each a chain of 64 KiB stripes
 * 1 MiB apart, last stripe read back and checked (contract 8). offset and size: whole MiB.
 * TRN_PROTOCOL_ERROR: what came back is not what was written. Leaves queue 0 of the engines on an
 * idle ring. */
trn_status trn_scrub(trn_device* device, uint32_t stack, uint64_t offset, uint64_t size,
                     uint32_t value);

/** The same in two halves, up to TRN_SCRUB_BYTES: other work can be done meanwhile. trn_scrub_wait
 * frees what trn_scrub_start gave. */
#define TRN_SCRUB_BYTES (UINT64_C(8000) << 20)
typedef struct trn_scrubbing trn_scrubbing;
trn_status trn_scrub_start(trn_device* device, uint32_t stack, uint64_t offset, uint64_t size,
                           uint32_t value, trn_scrubbing** scrubbing);
trn_status trn_scrub_wait(trn_device* device, trn_scrubbing* scrubbing);

/** What stopped the last copy. */
typedef struct trn_failure {
    uint32_t engine, queue;
    uint32_t m2s_state, s2m_state; /**< state registers as read (contract 6.1) */
    uint32_t cause_m2s, cause_s2m; /**< secondary interrupt causes A and B (contract 6.4) */
    uint32_t m2s_head, s2m_head;   /**< ring index of the descriptor that did not finish */
} trn_failure;

/** Details of the last TRN_ABORTED or TRN_TIMED_OUT of a copy; false when there was none. */
bool trn_last_failure(const trn_device* device, trn_failure* failure);

/** Sets the host-transfer queue of a core up again after it was aborted: engine back to normal,
 * queue reset, jobs dropped. Lighter than a reset; other cores do not notice. */
trn_status trn_restart_queue(trn_device* device, uint32_t core);

/* ---- engines and user rings (contract 6, 7, 13.2) ------------------------------------------- */

typedef enum trn_engine_mode {
    TRN_ENGINE_IDLE = 0,
    TRN_ENGINE_NORMAL = 1,
    TRN_ENGINE_ABORT = 2
} trn_engine_mode;

typedef struct trn_engine_state {
    trn_engine_mode mode;
    uint32_t m2s_state, s2m_state; /**< as read */
    bool streams_enabled;          /**< some write-side queue may run */
} trn_engine_state;

typedef enum trn_engine_command {
    TRN_ENGINE_SET_NORMAL = 1,
    TRN_ENGINE_SET_DISABLE = 2,
    TRN_ENGINE_SET_ABORT = 4
} trn_engine_command;

trn_status trn_engine_init(trn_device* device, uint32_t engine);
trn_status trn_engine_get_state(trn_device* device, uint32_t engine, trn_engine_state* state);
trn_status trn_engine_set_state(trn_device* device, uint32_t engine, trn_engine_command command);

typedef struct trn_ring_side {
    uint64_t base;   /**< AXI address, a multiple of 256 */
    uint32_t length; /**< descriptors */
    uint32_t head;   /**< next to fetch */
    uint32_t head_ring_id;
    uint32_t tail; /**< sum of doorbells */
    uint32_t tail_ring_id;
    uint32_t status; /**< status register as read */
} trn_ring_side;

typedef struct trn_queue_state {
    trn_ring_side m2s, s2m;
} trn_queue_state;

/** Gives a queue of the cores' engines the caller's rings: lengths 32..2^24-16, multiples of 16,
 * bases multiples of 256. The first pass uses ring id 1. Drops work that was pending. */
trn_status trn_ring_init(trn_device* device, uint32_t engine, uint32_t queue, uint64_t m2s_base,
                         uint32_t m2s_length, uint64_t s2m_base, uint32_t s2m_length);
typedef struct trn_ring_request {
    uint32_t engine, queue;
    uint64_t m2s_base;
    uint32_t m2s_length;
    uint64_t s2m_base;
    uint32_t s2m_length;
} trn_ring_request;
/** Most rings of one batch (contract 13.2, ioctl 133). */
#define TRN_MAX_RING_BATCH 255u
/** The same for many queues; a wrong one is refused before the first is touched. */
trn_status trn_ring_init_batch(trn_device* device, const trn_ring_request* requests,
                               uint32_t count);
/** Rings the doorbells, write side first (contract 7.4); a count of 0 leaves its doorbell alone. */
trn_status trn_ring_start(trn_device* device, uint32_t engine, uint32_t queue, uint32_t m2s_count,
                          uint32_t s2m_count);
/** Takes the rings away: the queue idles on a ring of the library's own. */
trn_status trn_ring_release(trn_device* device, uint32_t engine, uint32_t queue);
trn_status trn_queue_get_state(trn_device* device, uint32_t engine, uint32_t queue,
                               trn_queue_state* state);

/** What the kernel does when the process that owns the rings dies (contract 8): its queues idle on
 * a ring of the library's own, then 10 ms pass. Rings of the cores' own processors (queue 14 of
 * some engines) stay. */
trn_status trn_process_exit(trn_device* device);

/** One entry of a ring, little endian, as the device fetches it. */
typedef struct trn_descriptor {
    uint32_t words[4];
} trn_descriptor;

/** Flags for the two functions below. */
enum {
    TRN_WRITE_BARRIER = 1, /**< m2s: earlier writes visible first */
    TRN_DMB = 2,           /**< m2s: nothing after it starts before it is complete */
    TRN_STRONG_ORDER = 4   /**< s2m: written after every earlier write */
};
/** A plain copy's source and destination entries: 1..65536 bytes, ring id 0..3. */
trn_descriptor trn_m2s_descriptor(uint64_t source, uint32_t size, uint32_t ring_id, uint32_t flags);
trn_descriptor trn_s2m_descriptor(uint64_t destination, uint32_t size, uint32_t ring_id,
                                  uint32_t flags);

typedef enum trn_ring_kind { TRN_RING_M2S = 0, TRN_RING_S2M = 1 } trn_ring_kind;
/** Copies descriptors into a ring by DMA, from entry `first` of the ring at AXI address `ring` on
 * (contract 13.2, ioctl 38). TRN_INVALID_ARGUMENT: one names host memory that this device was not
 * given. */
trn_status trn_descriptors_write(trn_device* device, uint32_t core, uint64_t ring, uint32_t first,
                                 const trn_descriptor* descriptors, uint32_t count);
/** Copies descriptors out of the ring that a queue has now (ioctl 39). */
trn_status trn_descriptors_read(trn_device* device, uint32_t core, uint32_t engine, uint32_t queue,
                                trn_ring_kind kind, uint32_t first, trn_descriptor* descriptors,
                                uint32_t count);

/* ---- DMA compute (doc/dma_compute.md; the encoding is this platform's own) --------------------
 */

/** Element types, as descriptors carry them. */
typedef enum trn_element {
    TRN_FP32 = 0,
    TRN_TF32 = 1,
    TRN_BF16 = 2,
    TRN_FP16 = 3,
    TRN_FP8_E3M4 = 4,
    TRN_FP8_E4M3 = 5,
    TRN_FP8_E4M3FN = 6,
    TRN_FP8_E5M2 = 7,
    TRN_INT8 = 8,
    TRN_UINT8 = 9,
    TRN_INT16 = 10,
    TRN_UINT16 = 11,
    TRN_INT32 = 12,
    TRN_UINT32 = 13
} trn_element;

typedef enum trn_compute_operation {
    TRN_COMPUTE_COPY = 0,
    TRN_COMPUTE_CAST = 1,
    TRN_COMPUTE_ADD = 2,
    TRN_COMPUTE_MIN = 3,
    TRN_COMPUTE_MAX = 4,
    TRN_COMPUTE_SCALED_ADD = 5,
    TRN_COMPUTE_TRANSPOSE = 6,
    TRN_COMPUTE_GATHER = 7,
    TRN_COMPUTE_SCATTER = 8
} trn_compute_operation;

#define TRN_COMPUTE_ACCUMULATE 1u /**< the destination is the operand before the first */
#define TRN_COMPUTE_DUPLICATE 2u  /**< two results; destinations are both, one after the other */
#define TRN_COMPUTE_STOCHASTIC 4u /**< rounding; parameter is the seed */
#define TRN_COMPUTE_SATURATE 8u
#define TRN_COMPUTE_SKIP 16u /**< gather, scatter: indices out of range move nothing */

#define TRN_COMPUTE_OPERANDS 16u
#define TRN_COMPUTE_PIECES 64u /**< of sources, of destinations */
/** Most source descriptors that a packet is built of: operation, scales, sources. */
#define TRN_COMPUTE_M2S (1u + TRN_COMPUTE_OPERANDS / 2u + TRN_COMPUTE_PIECES)

typedef struct trn_dma_piece {
    uint64_t address; /**< AXI */
    uint32_t size;    /**< 1 to 65536 bytes */
} trn_dma_piece;

typedef struct trn_compute_packet {
    trn_compute_operation operation;
    trn_element from, to; /**< 0 where bytes are moved as they are */
    uint32_t operands;    /**< the sources are so many equal parts */
    uint32_t flags;
    uint32_t parameter;  /**< seed; rows | columns << 16; elements of the table */
    const float* scales; /**< scaled add: one for each operand */
    const trn_dma_piece* sources;
    uint32_t source_count;
    const trn_dma_piece* destinations;
    uint32_t destination_count;
} trn_compute_packet;

/** The descriptors of one packet with ring id 0, for rings of the caller's own. m2s has room for
 * TRN_COMPUTE_M2S, s2m for TRN_COMPUTE_PIECES. False: more operands or pieces than that, or no
 * scales. Everything else is the engine's to judge. */
bool trn_compute_build(const trn_compute_packet* packet, trn_descriptor* m2s, uint32_t* m2s_count,
                       trn_descriptor* s2m, uint32_t* s2m_count);
trn_descriptor trn_descriptor_with_ring_id(trn_descriptor descriptor, uint32_t ring_id);

/** Carries out one packet on a queue of a core's engine and waits. TRN_BUSY: the queue has a user
 * ring. TRN_ABORTED: the engine refused it; the sentence says why. Afterwards the queue idles. */
trn_status trn_compute(trn_device* device, uint32_t engine, uint32_t queue,
                       const trn_compute_packet* packet);
/** Combines `count` buffers of `size` bytes into one, in packets of 64 KiB. */
trn_status trn_dma_reduce(trn_device* device, uint32_t engine, uint32_t queue,
                          trn_compute_operation operation, trn_element element,
                          const uint64_t* sources, uint32_t count, uint64_t destination,
                          uint64_t size);

/* ---- semaphores and events (contract 3.3, 10) ----------------------------------------------- */

typedef enum trn_sync_block {
    TRN_SYNC_CORE = 0,  /**< a NeuronCore */
    TRN_SYNC_TOP_SP = 1 /**< a collective-core block, as the driver numbers them */
} trn_sync_block;

#define TRN_SEMAPHORES 256u
#define TRN_EVENTS 256u

trn_status trn_semaphore_read(trn_device* device, trn_sync_block block, uint32_t number,
                              uint32_t index, int32_t* value);
trn_status trn_semaphore_set(trn_device* device, trn_sync_block block, uint32_t number,
                             uint32_t index, int32_t value);
trn_status trn_semaphore_increment(trn_device* device, trn_sync_block block, uint32_t number,
                                   uint32_t index, uint32_t by);
trn_status trn_semaphore_decrement(trn_device* device, trn_sync_block block, uint32_t number,
                                   uint32_t index, uint32_t by);
/** AXI address of the increment window of a NeuronCore's semaphore, for DMA, firmware and engines
 * of the same chip; 0 with no such core or semaphore. */
uint64_t trn_semaphore_address(const trn_device* device, uint32_t core, uint32_t index);
trn_status trn_event_get(trn_device* device, trn_sync_block block, uint32_t number, uint32_t index,
                         uint32_t* value);
trn_status trn_event_set(trn_device* device, trn_sync_block block, uint32_t number, uint32_t index,
                         uint32_t value);

/* ---- firmware (contract 4, 12) --------------------------------------------------------------- */

/** Most registers of one trn_read_counters. */
#define TRN_MAX_COUNTERS 100u
/** Most bytes of one metric post. */
#define TRN_MAX_METRIC_BYTES 128u
/** Most bytes of data in a new-style request or response. */
#define TRN_MAX_MAILBOX_BYTES 128u

/** Asks firmware for registers by AXI address (legacy command 1). TRN_REFUSED: firmware may not or
 * cannot read one of them. */
trn_status trn_read_counters(trn_device* device, const uint64_t* addresses, uint32_t* values,
                             uint32_t count);
/** Posts one metric record (legacy command 2). */
trn_status trn_post_metric(trn_device* device, const void* bytes, uint32_t size);
/** New mailbox; TRN_NOT_SUPPORTED when the firmware's API version is below 7. */
trn_status trn_set_power_profile(trn_device* device, uint8_t profile);
trn_status trn_set_throttling_notifications(trn_device* device, bool on);
/** Command 4. type: 1 current profile, 2 profiles that exist (contract 16). *size: room in, bytes
 * out. */
trn_status trn_get_data(trn_device* device, uint32_t type, void* bytes, uint32_t* size);
/** Any new-style request, for tests of firmware. *response_size: room in, bytes out. */
trn_status trn_mailbox_request(trn_device* device, uint8_t command, const void* request,
                               uint32_t request_size, void* response, uint32_t* response_size);

typedef struct trn_power_sample {
    uint32_t basis_points; /**< 0..10000 */
    uint32_t counter;      /**< changes with each new sample */
} trn_power_sample;

/** Power use of a die, as firmware last published it. */
trn_status trn_get_power(trn_device* device, uint32_t die, trn_power_sample* sample);

typedef struct trn_ecc_counts {
    uint32_t sram_corrected, sram_uncorrected;
    uint32_t hbm_uncorrectable[TRN_MAX_STACKS], hbm_repairable[TRN_MAX_STACKS];
    uint32_t repair_state; /**< 0 none, 1 pending, 2 failed */
} trn_ecc_counts;

trn_status trn_get_ecc(trn_device* device, trn_ecc_counts* counts);
trn_status trn_get_api_version(trn_device* device, uint32_t* version);

/* ---- notification queues (contract 9) ----------------------------------------------------------
 */

typedef enum trn_notifier {
    TRN_NOTIFY_CORE = 0,
    TRN_NOTIFY_TOP_SP = 1,
    TRN_NOTIFY_DMA = 2
} trn_notifier;

/** Gives slot 0..15 of a block a ring: base an AXI address aligned to size, size a power of two.
 * Size 0 turns the slot off. */
trn_status trn_notification_set(trn_device* device, trn_notifier block, uint32_t number,
                                uint32_t slot, uint64_t base, uint32_t size);
/** Where the device will write next, as its register reads. */
trn_status trn_notification_head(trn_device* device, trn_notifier block, uint32_t number,
                                 uint32_t slot, uint32_t* head);

/** One entry as the device writes it. The format is this platform's (doc/models/
 * notification_queue.md): the public driver passes entries through unseen. */
#define TRN_NOTIFICATION_BYTES 16u
typedef struct trn_notification {
    uint32_t type;   /**< 0 trace, 1 notify, 2 event, 3 error, 4 DMA trace, 5 throttle */
    uint32_t source; /**< engine or queue inside the block */
    uint32_t payload;
    uint64_t time; /**< simulated, nanoseconds */
} trn_notification;

/** A slot's ring with its reader. */
typedef struct trn_notification_ring {
    trn_notifier block;
    uint32_t number, slot;
    uint64_t base;
    uint32_t size, next, phase;
    trn_dma_memory memory;  /**< in host memory: its own */
    const uint8_t* entries; /**< NULL: in the chip, read by DMA */
} trn_notification_ring;

/** Rings in host memory of the library's own, and in the chip's memory at an AXI address that is a
 * multiple of the size. The memory starts as zeroes. */
trn_status trn_notifications_open(trn_device* device, trn_notifier block, uint32_t number,
                                  uint32_t slot, uint32_t size, trn_notification_ring* ring);
trn_status trn_notifications_open_at(trn_device* device, trn_notifier block, uint32_t number,
                                     uint32_t slot, uint64_t base, uint32_t size,
                                     trn_notification_ring* ring);
/** Takes the next entry, if there is one. */
trn_status trn_notifications_next(trn_device* device, trn_notification_ring* ring,
                                  trn_notification* entry, bool* there);
/** Whether the device has overwritten entries before they were taken: it does not know how far
 * software has read, and a ring says nothing of it. Reading continues after the present entries. */
trn_status trn_notifications_lost(trn_device* device, trn_notification_ring* ring, bool* lost);
trn_status trn_notifications_close(trn_device* device, trn_notification_ring* ring);

/* ---- pod election (contract 11) ---------------------------------------------------------------
 */

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
 * link is bad; the next read may work. */
trn_status trn_pod_read(trn_device* device, trn_pod_link link, uint32_t offset, uint32_t* words,
                        uint32_t count);
trn_status trn_pod_close(trn_device* device);

/** The chip's election words. */
typedef struct trn_pod {
    uint32_t status; /**< 0 none yet, 1 ignored, 2 failed, 3 success */
    uint32_t links;  /**< bit 0 left, bit 1 right */
    uint32_t node, nodes;
    uint64_t serial; /**< of node 0's primary */
} trn_pod;

trn_status trn_pod_status(trn_device* device, trn_pod* pod);
/** This chip's part of the election over the left (1), right (2) or both (3) pairs of links:
 * device 0 as primary, others as secondaries. The neighbours do the same at the same time; what
 * they do not do within `limit` nanoseconds is a failure. Leaves the outcome in misc RAM. */
trn_status trn_pod_elect(trn_device* device, uint32_t links, uint64_t limit, trn_pod* pod);
/** A node's part of the election: devices[0] is its primary. Secondaries go first, in order, and
 * the primary only when all of them are good. Over both pairs of links; when that fails over the
 * right ones, then over the left ones (contract 11.4), each within `limit`. `devices` must have
 * been reset, and stand in the order of their device_index. The status is that of the last attempt.
 */
trn_status trn_pod_elect_node(trn_device* const* devices, uint32_t count, uint64_t limit,
                              trn_pod* pod);

/* ---- topology (doc/topology.md; this platform's own) ------------------------------------------
 */

#define TRN_MAX_PORTS 8u

typedef enum trn_topology_kind {
    TRN_TOPOLOGY_NONE = 0, /**< a chip alone */
    TRN_TOPOLOGY_RING = 1,
    TRN_TOPOLOGY_TORUS = 2,
    TRN_TOPOLOGY_SWITCHED = 3
} trn_topology_kind;

typedef struct trn_place {
    uint32_t rack, server, chip; /**< server in the rack, chip in the server */
} trn_place;

typedef enum trn_partner_kind {
    TRN_PARTNER_NOBODY = 0,
    TRN_PARTNER_CHIP = 1,
    TRN_PARTNER_SLED_SWITCH = 2, /**< its place has no chip */
    TRN_PARTNER_RACK_SWITCH = 3  /**< its place has only a rack */
} trn_partner_kind;

typedef struct trn_partner {
    trn_partner_kind kind;
    trn_place place;
} trn_partner;

typedef enum trn_link_fault {
    TRN_LINK_OK = 0,
    TRN_LINK_NOT_CONNECTED = 1,
    TRN_LINK_DOWN = 2,
    TRN_LINK_SILENT = 3,
    TRN_LINK_GARBAGE = 4,
    TRN_LINK_WRONG_PARTNER = 5,
    TRN_LINK_WRONG_PORT = 6,
    TRN_LINK_UNEXPECTED = 7,
    TRN_LINK_DEGRADED = 8,
    TRN_LINK_DUPLICATE = 9 /**< the switch there knows another chip of this place */
} trn_link_fault;
/** A few words, never NULL. */
const char* trn_link_fault_text(trn_link_fault fault);

/** What firmware knows of a port of the chip. */
typedef struct trn_link {
    bool connected, up;
    uint32_t generation;        /**< PCI Express generation of its speed; 0 while down */
    uint32_t lanes, lanes_full; /**< in use, and of the port */
    uint32_t downs;             /**< how often it went down; 255 is many */
    trn_link_fault fault;
    bool identified;     /**< the partner has said who it is */
    trn_partner partner; /**< who is there */
    uint32_t partner_port;
    uint64_t serial;
    trn_partner expected; /**< who should be; none: no cable belongs here */
} trn_link;

typedef struct trn_topology {
    trn_topology_kind kind;
    uint32_t x, y, z; /**< shape of the machine: doc/topology.md */
    trn_place own;
    /** Other chips that can be reached: of the own server, of the rest of the rack, of other racks
     */
    uint32_t reachable_server, reachable_rack, reachable_other;
    trn_link ports[TRN_MAX_PORTS];
} trn_topology;

/** What firmware found at the ends of the chip's links. A chip without neighbours is
 * TRN_TOPOLOGY_NONE. TRN_TIMED_OUT: firmware never got done writing it. */
trn_status trn_get_topology(trn_device* device, trn_topology* topology);

/** AXI address of `address` (below 2^48, no host memory) of the chip at `at`, as engines of this
 * chip reach it through neighbour window `window`, a SENG's (doc/decisions/0009): any chip of the
 * machine that the fabric has a route to. */
uint64_t trn_remote_address(const trn_place* at, uint32_t window, uint64_t address);

/** The table as it stands in misc RAM, for readers who get there without a device: words from this
 * offset on. False: firmware is writing, read again. */
#define TRN_TOPOLOGY_OFFSET 0x400u
#define TRN_TOPOLOGY_WORDS 80u
bool trn_topology_decode(const uint32_t* words, trn_topology* topology);

/* ---- BARs
 * ---------------------------------------------------------------------------------------- */

/** One 32-bit register of the register BAR (BAR0, but see register_bar); offset aligned. */
trn_status trn_bar_read(trn_device* device, uint64_t offset, uint32_t* value);
/** As user space may write it: mailbox words and ring registers are refused with
 * TRN_INVALID_ARGUMENT (contract 13.2, BAR_WRITE). */
trn_status trn_bar_write(trn_device* device, uint64_t offset, uint32_t value);
/** The same without the refusals, as the driver itself writes. */
trn_status trn_bar_write_raw(trn_device* device, uint64_t offset, uint32_t value);
/** Where other functions of the same server reach a BAR (peer to peer), and its bytes. The register
 * BAR is trn_device_info.register_bar. TRN_NOT_SUPPORTED: the function has no such BAR. */
trn_status trn_bar_address(trn_device* device, uint32_t bar, uint64_t* bus_address, uint64_t* size);
/** Memory of a stack through BAR4, without DMA. TRN_NOT_SUPPORTED without BAR4. */
trn_status trn_window_read(trn_device* device, uint32_t stack, uint64_t offset, void* bytes,
                           uint64_t size);
trn_status trn_window_write(trn_device* device, uint32_t stack, uint64_t offset, const void* bytes,
                            uint64_t size);

/** Lets time pass on the transport's clock. */
trn_status trn_sleep(trn_device* device, uint64_t nanoseconds);
/** The transport's clock, and simulated time where the transport knows it (else the same). */
uint64_t trn_now(const trn_device* device);
uint64_t trn_simulated_now(const trn_device* device);

#ifdef __cplusplus
}
#endif

#endif
