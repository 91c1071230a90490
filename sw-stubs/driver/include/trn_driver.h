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

/* The driver stub: the work of a host's kernel driver for a Trainium function, as a C library over
 * any transport. "Contract n" in these comments is section n of doc/spec/device-contract.md.
 *
 * Life of a device: trn_create -> trn_probe -> trn_reset_device -> copies and other operations ->
 * trn_destroy.
 *
 * Addresses of memory inside the chip and of host memory are AXI addresses as DMA descriptors carry
 * them (contract 3.1); trn_hbm_address, trn_sbuf_address and trn_buffer_address compute them. Sizes
 * are in bytes, times in nanoseconds, unless stated otherwise.
 *
 * Every wait is bounded on the transport's clock: nothing here blocks for ever.
 *
 * Threads: one at a time per device, as for its transport. */

/** Result of a call. trn_status_text names it, trn_last_error explains the latest failure. */
typedef enum trn_status {
    TRN_OK = 0,
    TRN_INVALID_ARGUMENT = 1, /**< refused before the device was touched */
    TRN_UNKNOWN_DEVICE = 2,   /**< vendor or device id of no supported Trainium chip */
    TRN_NOT_READY = 3,        /**< not probed or not reset, or its engine aborted earlier */
    TRN_TIMED_OUT = 4,        /**< no response within the time that the contract allows */
    TRN_ABORTED = 5,          /**< a DMA engine stopped with an error: see trn_last_failure */
    TRN_REFUSED = 6,          /**< the firmware refused the command or does not know it */
    TRN_PROTOCOL_ERROR = 7,   /**< a response that the contract does not allow */
    TRN_BUSY = 8,             /**< queue full: wait for a job, then retry */
    TRN_NOT_SUPPORTED = 9,    /**< not a feature of this chip or firmware version */
    TRN_NO_MEMORY = 10,       /**< host memory ran out */
    TRN_TRANSPORT_ERROR = 11, /**< the transport failed to make the access */
    TRN_DEVICE_GONE = 12      /**< the function, or the process that models it, ended */
} trn_status;

/** A few words for a status, never NULL. */
const char* trn_status_text(trn_status status);

typedef struct trn_device trn_device;

/* ---- life -------------------------------------------------------------------------------- */

/** The board's type, which a host reads from SMBIOS (contract 1.5). */
typedef enum trn_host_platform {
    TRN_HOST_STANDARD = 0,
    TRN_HOST_ULTRASERVER = 1, /**< point-to-point pod */
    TRN_HOST_PDS = 2          /**< switched pod: routing ids up to 127 */
} trn_host_platform;

/** The platform of an SMBIOS product name, as release 2.26.5 of the public driver maps it; unknown
 * names are standard platforms. */
trn_host_platform trn_platform_of_product(const char* product);

/** All zero: the public driver's behaviour. */
typedef struct trn_options {
    trn_host_platform platform;
    uint32_t boot_timeout_ms; /**< limit of probe's wait for the routing id; 0: 600,000 */
    bool spoof_neighbours;    /**< reads of neighbours read the own chip (contract 11.4) */
    uint32_t timeout_scale;   /**< replaces the transport's; 0: the transport's */
} trn_options;

/** Creates a device over a transport, without an access. The device owns the transport and closes
 * it in trn_destroy. options may be NULL. Returns NULL when host memory ran out; the transport then
 * stays the caller's. */
trn_device* trn_create(const trn_transport* transport, const trn_options* options);

/** Frees rings and buffers and closes the transport, without a reset. Precondition: no queue still
 * uses host memory (release or reset it first). NULL is allowed. */
void trn_destroy(trn_device* device);

/** Explanation of the latest failed call; "" without one. Valid until the next call on this device.
 */
const char* trn_last_error(const trn_device* device);

/** Identifies the function (contract 1): reads ids and BARs, enables memory and bus mastering, then
 * waits for the routing id, which reads 0xdeadbeef while firmware boots. TRN_UNKNOWN_DEVICE,
 * TRN_TIMED_OUT (firmware never published its id), TRN_PROTOCOL_ERROR (id out of range for the
 * platform, missing BAR). */
trn_status trn_probe(trn_device* device);
/** Whether the function responds but has lost what trn_probe enabled, as after a loss of power. */
bool trn_lost_probe(trn_device* device);

/** Resets the whole device, then sets up DMA engines and host rings (contract 5, 6.3). Handshake:
 * with firmware on silicon revisions, with the simulator's reset register on revision 255 (with
 * both on Trainium1 and Inferentia2), none on revision 240 of Trainium3. Precondition: trn_probe.
 */
trn_status trn_reset_device(trn_device* device);

/** Resets the cores of a map (bit n: core n) with their DMA engines and sync blocks, then sets the
 * engines up again (contract 5.2, 5.3). Memory keeps its contents. Copies in flight on these cores
 * end with TRN_ABORTED. */
trn_status trn_reset_cores(trn_device* device, uint32_t core_map);
/** Number of resets that trn_reset_device and trn_reset_cores have requested of a core: its
 * collective firmware, queues and semaphores are those from after the last one. */
uint32_t trn_core_resets(const trn_device* device, uint32_t core);

/** Limits the waits for firmware of the following probes and resets, each to `ns` nanoseconds
 * instead of the contract's limit; 0: no longer. */
void trn_limit_firmware(trn_device* device, uint64_t ns);

/** Variant of the chip, by its PCI revision id (contract 2). */
typedef enum trn_mode { TRN_MODE_SILICON = 0, TRN_MODE_QEMU = 1, TRN_MODE_EMULATOR = 2 } trn_mode;
#define TRN_MODES 3

#define TRN_MAX_STACKS 4u

typedef struct trn_device_info {
    uint16_t vendor_id, device_id;
    uint8_t revision;
    trn_mode mode;
    uint32_t architecture; /**< the public driver's number: 4 = Trainium3, 3 = Trainium2,
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

/** Bytes at the start of each stack that are reserved for firmware (contract 3.4): 16 MiB. */
#define TRN_HBM_RESERVED_BYTES (UINT64_C(16) << 20)

/** Whether `size` bytes at `begin` exceed 64-bit addresses. All addresses and offsets with sizes
 * that the caller passes are checked with it. */
static inline bool trn_range_wraps(uint64_t begin, uint64_t size) {
    return size != 0 && begin > UINT64_MAX - (size - 1);
}

/** AXI address of a byte in an HBM stack or in a core's state buffer; 0 for an unknown stack or
 * core. The offset is not checked. */
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
/** Limit of data descriptors between two completion markers (contract 7.5). */
#define TRN_BATCH_DESCRIPTORS 2031u
/** Longest copy of one job. */
#define TRN_JOB_BYTES (TRN_BATCH_DESCRIPTORS * TRN_DESCRIPTOR_BYTES)

/** Copies by DMA between any two AXI addresses, host or device, on the host-transfer queue of a
 * core (contract 8, 15.2), and waits. Any size (0 included) and alignment. TRN_ABORTED,
 * TRN_TIMED_OUT: an unknown part was copied, and the queue returns TRN_NOT_READY until it is reset
 * (trn_reset_device, trn_reset_cores, trn_restart_queue). */
trn_status trn_copy(trn_device* device, uint32_t core, uint64_t destination, uint64_t source,
                    uint64_t size);

/** Copy ordinary memory of the caller to or from an AXI address, through bounce buffers. */
trn_status trn_write(trn_device* device, uint32_t core, uint64_t destination, const void* bytes,
                     uint64_t size);
trn_status trn_read(trn_device* device, uint32_t core, void* bytes, uint64_t source, uint64_t size);

/** Fills with one byte value by DMA: a 64 KiB pattern from the host, then device to device
 * (contract 8). destination: device memory. */
trn_status trn_memset(trn_device* device, uint32_t core, uint64_t destination, uint8_t value,
                      uint64_t size);

/** As trn_write, limited to addresses where programs may be: cores, TOP_SPs, stacks, PREPROC
 * (contract 10); TRN_INVALID_ARGUMENT elsewhere. */
trn_status trn_program_engine(trn_device* device, uint32_t core, uint64_t destination,
                              const void* bytes, uint64_t size);

/** Opens another queue of a core's host-transfer engine for zero-copies (contract 13.2, ioctl 125).
 * TRN_BUSY: no free queue. A reset of the core closes it. */
trn_status trn_host_queue_open(trn_device* device, uint32_t core, uint32_t* queue);
trn_status trn_host_queue_close(trn_device* device, uint32_t core, uint32_t queue);

#define TRN_DEFAULT_QUEUE UINT32_MAX
typedef enum trn_direction { TRN_TO_DEVICE = 0, TRN_FROM_DEVICE = 1 } trn_direction;

/** Copies between the chip and a buffer without a bounce buffer: runs of contiguous pages, 64 pages
 * between two markers, two batches in flight (contract 7.5). Writes of up to 8 KiB into HBM go
 * through BAR4, except on revision 255 (contract 2). queue: from trn_host_queue_open, or
 * TRN_DEFAULT_QUEUE. */
trn_status trn_zero_copy(trn_device* device, uint32_t core, uint32_t queue, uint64_t inside,
                         const trn_buffer* buffer, uint64_t offset, uint64_t size,
                         trn_direction direction);

/** Number of an asynchronous copy; 0: none. */
typedef uint64_t trn_job;

/** Starts a copy of 1..TRN_JOB_BYTES bytes and returns. TRN_BUSY: the queue is full until an
 * earlier job is waited for. Jobs of one core end in the order of submission. */
trn_status trn_submit(trn_device* device, uint32_t core, uint64_t destination, uint64_t source,
                      uint64_t size, trn_job* job);
/** Polls a job: *done with TRN_OK or the job's failure. Does not wait. The result stays available
 * until trn_wait. */
trn_status trn_poll(trn_device* device, trn_job job, bool* done);
/** Waits for a job and discards it. TRN_INVALID_ARGUMENT: the job was waited for before. */
trn_status trn_wait(trn_device* device, trn_job job);

/** Fills part of a stack by 16 engines of its core group in parallel, each with a chain of 64 KiB
 * stripes 1 MiB apart; the last stripe is read back and compared (contract 8). offset and size:
 * whole MiB. TRN_PROTOCOL_ERROR: data mismatch. Afterwards queue 0 of the engines is on an idle
 * ring. */
trn_status trn_scrub(trn_device* device, uint32_t stack, uint64_t offset, uint64_t size,
                     uint32_t value);

/** As trn_scrub, asynchronous, up to TRN_SCRUB_BYTES. trn_scrub_wait waits and frees `scrubbing`.
 */
#define TRN_SCRUB_BYTES (UINT64_C(8000) << 20)
typedef struct trn_scrubbing trn_scrubbing;
trn_status trn_scrub_start(trn_device* device, uint32_t stack, uint64_t offset, uint64_t size,
                           uint32_t value, trn_scrubbing** scrubbing);
trn_status trn_scrub_wait(trn_device* device, trn_scrubbing* scrubbing);

/** Registers of the engine that stopped the last copy. */
typedef struct trn_failure {
    uint32_t engine, queue;
    uint32_t m2s_state, s2m_state; /**< state registers as read (contract 6.1) */
    uint32_t cause_m2s, cause_s2m; /**< secondary interrupt causes A and B (contract 6.4) */
    uint32_t m2s_head, s2m_head;   /**< ring index of the descriptor that did not finish */
} trn_failure;

/** Details of the last TRN_ABORTED or TRN_TIMED_OUT of a copy; false when there was none. */
bool trn_last_failure(const trn_device* device, trn_failure* failure);

/** Sets up a core's host-transfer queue again after an abort: engine to normal, queue reset, jobs
 * dropped. Unlike a reset it does not affect other cores. */
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
    bool streams_enabled;          /**< at least one write-side queue is enabled */
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

/** Assigns the caller's rings to a queue of a core's engine: lengths 32..2^24-16, multiples of 16;
 * bases multiples of 256. The first pass uses ring id 1. Pending descriptors are dropped. */
trn_status trn_ring_init(trn_device* device, uint32_t engine, uint32_t queue, uint64_t m2s_base,
                         uint32_t m2s_length, uint64_t s2m_base, uint32_t s2m_length);
typedef struct trn_ring_request {
    uint32_t engine, queue;
    uint64_t m2s_base;
    uint32_t m2s_length;
    uint64_t s2m_base;
    uint32_t s2m_length;
} trn_ring_request;
/** Limit of rings per batch (contract 13.2, ioctl 133). */
#define TRN_MAX_RING_BATCH 255u
/** As trn_ring_init for several queues. All requests are checked before the first is executed. */
trn_status trn_ring_init_batch(trn_device* device, const trn_ring_request* requests,
                               uint32_t count);
/** Writes the doorbells, write side (s2m) first (contract 7.4); none for a count of 0. */
trn_status trn_ring_start(trn_device* device, uint32_t engine, uint32_t queue, uint32_t m2s_count,
                          uint32_t s2m_count);
/** Releases the rings: the queue idles on a ring of the library. */
trn_status trn_ring_release(trn_device* device, uint32_t engine, uint32_t queue);
trn_status trn_queue_get_state(trn_device* device, uint32_t engine, uint32_t queue,
                               trn_queue_state* state);

/** The kernel driver's clean-up after the process that owns the rings (contract 8): its queues idle
 * on a ring of the library, then 10 ms pass. Rings of the cores' own processors (queue 14 of some
 * engines) stay. */
trn_status trn_process_exit(trn_device* device);

/** One entry of a ring, little endian, as the device fetches it. */
typedef struct trn_descriptor {
    uint32_t words[4];
} trn_descriptor;

/** Flags for the two functions below. */
enum {
    TRN_WRITE_BARRIER = 1, /**< m2s: earlier writes become visible first */
    TRN_DMB = 2,           /**< m2s: later descriptors start after its completion */
    TRN_STRONG_ORDER = 4   /**< s2m: written after every earlier write */
};
/** A plain copy's source and destination entries: 1..65536 bytes, ring id 0..3. */
trn_descriptor trn_m2s_descriptor(uint64_t source, uint32_t size, uint32_t ring_id, uint32_t flags);
trn_descriptor trn_s2m_descriptor(uint64_t destination, uint32_t size, uint32_t ring_id,
                                  uint32_t flags);

typedef enum trn_ring_kind { TRN_RING_M2S = 0, TRN_RING_S2M = 1 } trn_ring_kind;
/** Copies descriptors into a ring by DMA, from entry `first` of the ring at AXI address `ring` on
 * (contract 13.2, ioctl 38). TRN_INVALID_ARGUMENT: a descriptor's host address is not DMA memory of
 * this device. */
trn_status trn_descriptors_write(trn_device* device, uint32_t core, uint64_t ring, uint32_t first,
                                 const trn_descriptor* descriptors, uint32_t count);
/** Copies descriptors out of a queue's present ring (ioctl 39). */
trn_status trn_descriptors_read(trn_device* device, uint32_t core, uint32_t engine, uint32_t queue,
                                trn_ring_kind kind, uint32_t first, trn_descriptor* descriptors,
                                uint32_t count);

/* ---- DMA compute (doc/dma_compute.md; the encoding is this platform's own) --------------------
 */

/** Element types; values as in descriptors. */
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

#define TRN_COMPUTE_ACCUMULATE 1u /**< the destination's contents are the first operand */
#define TRN_COMPUTE_DUPLICATE 2u  /**< writes the result twice; destinations: both, in order */
#define TRN_COMPUTE_STOCHASTIC 4u /**< rounding; parameter is the seed */
#define TRN_COMPUTE_SATURATE 8u
#define TRN_COMPUTE_SKIP 16u /**< gather, scatter: ignores indices out of range */

#define TRN_COMPUTE_OPERANDS 16u
#define TRN_COMPUTE_PIECES 64u /**< of sources, of destinations */
/** Limit of a packet's source descriptors: operation, scales, sources. */
#define TRN_COMPUTE_M2S (1u + TRN_COMPUTE_OPERANDS / 2u + TRN_COMPUTE_PIECES)

typedef struct trn_dma_piece {
    uint64_t address; /**< AXI */
    uint32_t size;    /**< 1 to 65536 bytes */
} trn_dma_piece;

typedef struct trn_compute_packet {
    trn_compute_operation operation;
    trn_element from, to; /**< 0 for operations on untyped bytes */
    uint32_t operands;    /**< number of equal parts of the sources */
    uint32_t flags;
    uint32_t parameter;  /**< seed; rows | columns << 16; elements of the table */
    const float* scales; /**< scaled add: one per operand */
    const trn_dma_piece* sources;
    uint32_t source_count;
    const trn_dma_piece* destinations;
    uint32_t destination_count;
} trn_compute_packet;

/** Builds the descriptors of one packet, with ring id 0, for rings of the caller. m2s must have
 * room for TRN_COMPUTE_M2S, s2m for TRN_COMPUTE_PIECES. False: too many operands or pieces, or no
 * scales. All other errors are detected by the engine. */
bool trn_compute_build(const trn_compute_packet* packet, trn_descriptor* m2s, uint32_t* m2s_count,
                       trn_descriptor* s2m, uint32_t* s2m_count);
trn_descriptor trn_descriptor_with_ring_id(trn_descriptor descriptor, uint32_t ring_id);

/** Executes one packet on a queue of a core's engine and waits. TRN_BUSY: the queue has a user
 * ring. TRN_ABORTED: the engine refused the packet; see trn_last_error. Afterwards the queue idles.
 */
trn_status trn_compute(trn_device* device, uint32_t engine, uint32_t queue,
                       const trn_compute_packet* packet);
/** Reduces `count` buffers of `size` bytes to one, in packets of 64 KiB. */
trn_status trn_dma_reduce(trn_device* device, uint32_t engine, uint32_t queue,
                          trn_compute_operation operation, trn_element element,
                          const uint64_t* sources, uint32_t count, uint64_t destination,
                          uint64_t size);

/* ---- semaphores and events (contract 3.3, 10) ----------------------------------------------- */

typedef enum trn_sync_block {
    TRN_SYNC_CORE = 0,  /**< a NeuronCore */
    TRN_SYNC_TOP_SP = 1 /**< a collective-core block, in the driver's numbering */
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
/** AXI address of a NeuronCore semaphore's increment register, for DMA, firmware and engines of the
 * same chip; 0 for an unknown core or semaphore. */
uint64_t trn_semaphore_address(const trn_device* device, uint32_t core, uint32_t index);
trn_status trn_event_get(trn_device* device, trn_sync_block block, uint32_t number, uint32_t index,
                         uint32_t* value);
trn_status trn_event_set(trn_device* device, trn_sync_block block, uint32_t number, uint32_t index,
                         uint32_t value);

/* ---- firmware (contract 4, 12) --------------------------------------------------------------- */

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
trn_status trn_get_api_version(trn_device* device, uint32_t* version);

/* ---- notification queues (contract 9) ----------------------------------------------------------
 */

typedef enum trn_notifier {
    TRN_NOTIFY_CORE = 0,
    TRN_NOTIFY_TOP_SP = 1,
    TRN_NOTIFY_DMA = 2
} trn_notifier;

/** Assigns a ring to slot 0..15 of a block: `base` an AXI address aligned to `size`, `size` a power
 * of two. Size 0 disables the slot. */
trn_status trn_notification_set(trn_device* device, trn_notifier block, uint32_t number,
                                uint32_t slot, uint64_t base, uint32_t size);
/** Reads the slot's head register: place of the device's next entry. */
trn_status trn_notification_head(trn_device* device, trn_notifier block, uint32_t number,
                                 uint32_t slot, uint32_t* head);

/** One entry. The format is invented (doc/models/soc/notification_queue.md): the public driver does
 * not interpret entries. */
#define TRN_NOTIFICATION_BYTES 16u
typedef struct trn_notification {
    uint32_t type;   /**< 0 trace, 1 notify, 2 event, 3 error, 4 DMA trace, 5 throttle */
    uint32_t source; /**< engine or queue inside the block */
    uint32_t payload;
    uint64_t time; /**< simulated, nanoseconds */
} trn_notification;

/** A slot's ring and the reader's position. */
typedef struct trn_notification_ring {
    trn_notifier block;
    uint32_t number, slot;
    uint64_t base;
    uint32_t size, next, phase;
    trn_dma_memory memory;  /**< ring in host memory: its memory */
    const uint8_t* entries; /**< NULL: the ring is in the chip, read by DMA */
} trn_notification_ring;

/** Open a ring in host memory that the library allocates, or in the chip's memory at an AXI address
 * that is a multiple of `size`. The ring is zeroed. */
trn_status trn_notifications_open(trn_device* device, trn_notifier block, uint32_t number,
                                  uint32_t slot, uint32_t size, trn_notification_ring* ring);
trn_status trn_notifications_open_at(trn_device* device, trn_notifier block, uint32_t number,
                                     uint32_t slot, uint64_t base, uint32_t size,
                                     trn_notification_ring* ring);
/** Takes the next entry, if any (*there). */
trn_status trn_notifications_next(trn_device* device, trn_notification_ring* ring,
                                  trn_notification* entry, bool* there);
/** Whether the device has overwritten unread entries; it does not know the reader's position and
 * does not report this itself. Afterwards reading continues after the present entries. */
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
    TRN_LINK_DUPLICATE = 9 /**< the switch has another chip with this chip's place */
} trn_link_fault;
/** Name of the fault, never NULL. */
const char* trn_link_fault_text(trn_link_fault fault);

/** State of a port, as firmware publishes it. */
typedef struct trn_link {
    bool connected, up;
    uint32_t generation;        /**< PCI Express generation of the speed; 0 while down */
    uint32_t lanes, lanes_full; /**< lanes in use, and lanes of the port */
    uint32_t downs;             /**< number of link downs; saturates at 255 */
    trn_link_fault fault;
    bool identified;     /**< the partner has published its identity */
    trn_partner partner; /**< identified partner */
    uint32_t partner_port;
    uint64_t serial;
    trn_partner expected; /**< expected partner; none: the shape has no cable here */
} trn_link;

typedef struct trn_topology {
    trn_topology_kind kind;
    uint32_t x, y, z; /**< shape of the machine: doc/topology.md */
    trn_place own;
    /** Numbers of reachable other chips: of the own server, of the rest of the rack, of other racks
     */
    uint32_t reachable_server, reachable_rack, reachable_other;
    trn_link ports[TRN_MAX_PORTS];
} trn_topology;

/** Reads the topology that firmware has published. A chip without neighbours: TRN_TOPOLOGY_NONE.
 * TRN_TIMED_OUT: firmware did not finish writing the table. */
trn_status trn_get_topology(trn_device* device, trn_topology* topology);

/** Fabric address of `address` (below 2^48, no host memory) on the chip at `at`, for engines of
 * this chip through neighbour window `window`, a SENG's (doc/decisions/0009). Reaches any chip of
 * the machine to which the fabric has a route. */
uint64_t trn_remote_address(const trn_place* at, uint32_t window, uint64_t address);

/** Decodes the table of misc RAM (words from TRN_TOPOLOGY_OFFSET on), for readers without a device.
 * False: firmware is writing it; read it again. */
#define TRN_TOPOLOGY_OFFSET 0x400u
#define TRN_TOPOLOGY_WORDS 80u
bool trn_topology_decode(const uint32_t* words, trn_topology* topology);

/* ---- BARs
 * ---------------------------------------------------------------------------------------- */

/** One 32-bit register of the register BAR (BAR0, but see register_bar); offset aligned. */
trn_status trn_bar_read(trn_device* device, uint64_t offset, uint32_t* value);
/** Write with the checks for user space: TRN_INVALID_ARGUMENT for mailbox words and ring registers
 * (contract 13.2, BAR_WRITE). */
trn_status trn_bar_write(trn_device* device, uint64_t offset, uint32_t value);
/** Write without these checks, for the driver's own writes. */
trn_status trn_bar_write_raw(trn_device* device, uint64_t offset, uint32_t value);
/** Bus address of a BAR for other functions of the same server (peer to peer), and its size. The
 * register BAR is trn_device_info.register_bar. TRN_NOT_SUPPORTED: the function has no such BAR. */
trn_status trn_bar_address(trn_device* device, uint32_t bar, uint64_t* bus_address, uint64_t* size);
/** Memory of a stack through BAR4, without DMA. TRN_NOT_SUPPORTED without BAR4. */
trn_status trn_window_read(trn_device* device, uint32_t stack, uint64_t offset, void* bytes,
                           uint64_t size);
trn_status trn_window_write(trn_device* device, uint32_t stack, uint64_t offset, const void* bytes,
                            uint64_t size);

/** Waits on the transport's clock. */
trn_status trn_sleep(trn_device* device, uint64_t nanoseconds);
/** Time of the transport's clock; simulated time if the transport has it (else the same clock). */
uint64_t trn_now(const trn_device* device);
uint64_t trn_simulated_now(const trn_device* device);

#ifdef __cplusplus
}
#endif

#endif
