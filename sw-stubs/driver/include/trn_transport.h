/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TRN_TRANSPORT_H
#define TRN_TRANSPORT_H

#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/* How the driver stub reaches one PCIe function. A provider of these functions (a socket, a model
 * of the host CPU, PCI sysfs in a guest) can carry the stub; the stub knows nothing else of the
 * machine that it runs on.
 *
 * Threads: the stub calls from one thread at a time (in a simulation: from one SystemC process) and
 * never while another call of the same transport is under way. A transport needs no locks and calls
 * nothing back.
 *
 * Errors: functions that return int answer 0, or a negative errno value:
 *   -EINVAL     bar, offset or width that the function does not have
 *   -EIO        the access failed on the bus (the device answered with an error)
 *   -ENODEV     the function, or the process that models it, is gone; every later call says so too
 *   -ETIMEDOUT  the other side did not answer in the transport's own time limit
 *   -ENOMEM     no host memory left (dma_alloc)
 *   -ENOTSUP    optional function that this transport does not offer
 */

/** Host memory that both the CPU and the device can reach. */
typedef struct trn_dma_memory {
    void* host;    /**< where the stub reads and writes it */
    uint64_t iova; /**< where the device finds it: the address on PCIe, without the host-window bit;
                        below 2^46 (contract 3.1), a multiple of 4096 */
    uint64_t size; /**< bytes, the size asked for rounded up to whole pages of 4096 */
} trn_dma_memory;

/** A range of a BAR that the CPU reaches without the transport's help. */
typedef struct trn_bar_mapping {
    void* host;      /**< first byte; ordinary loads and stores of any width */
    uint64_t offset; /**< in the BAR, bytes */
    uint64_t size;   /**< bytes */
} trn_bar_mapping;

/** Rings of a queue of a DMA engine: descriptors of 16 bytes at AXI addresses. */
typedef struct trn_kernel_ring {
    uint32_t core, engine, queue;
    uint64_t m2s_base, s2m_base;
    uint32_t m2s_length, s2m_length; /**< descriptors */
} trn_kernel_ring;

/** What a kernel driver that is bound to the function does in the stub's place, because it lets no
 * one else: first argument is the transport's context, results are as described above, addresses
 * are AXI. */
typedef struct trn_kernel_driver {
    /** Resets the cores of a map, or with ~0 the device, and waits until it is over. */
    int (*reset)(void* context, uint32_t core_map);
    /** Memory of a stack of the chip for a core; `alignment`: a power of two. */
    int (*memory_alloc)(void* context, uint32_t core, uint32_t stack, uint64_t size,
                        uint64_t alignment, uint64_t* address);
    void (*memory_free)(void* context, uint64_t address);
    /** Between ordinary memory and the chip. -ENOTSUP: the driver does not reach the address. */
    int (*write)(void* context, uint32_t core, uint64_t address, const void* bytes, uint64_t size);
    int (*read)(void* context, uint32_t core, uint64_t address, void* bytes, uint64_t size);
    /** Gives a queue rings with the descriptors that stand at these bases, in memory of
     * memory_alloc. The queue's own rings may lie elsewhere: its registers say where. */
    int (*ring_init)(void* context, const trn_kernel_ring* ring);
    /** A ring of `size` bytes for a notification slot of a core, or of a TOP_SP: zeroed, switched
     * on, until dma_free of the memory. */
    int (*notifications)(void* context, int is_top_sp, uint32_t number, uint32_t slot,
                         uint32_t size, trn_dma_memory* ring);
} trn_kernel_driver;

typedef enum trn_log_level {
    TRN_LOG_DEBUG = 0,
    TRN_LOG_INFO = 1,
    TRN_LOG_WARNING = 2,
    TRN_LOG_ERROR = 3
} trn_log_level;

/** One function's endpoints. Every pointer is set unless it is called optional. */
typedef struct trn_transport {
    void* context;    /**< first argument of every call; belongs to the transport */
    const char* name; /**< for messages: "in-process", "vfio-user /run/x/chip0.sock", ... */

    /** How many times longer than the public driver the stub waits before it calls a thing lost.
     * 1 when now() is the device's own (simulated) time; more when now() is wall-clock time and the
     * simulator may be slower than silicon. 0 counts as 1. */
    uint32_t timeout_scale;

    /** Size of a BAR in bytes; 0 when the function has no such BAR. bar: 0..5. */
    uint64_t (*bar_size)(void* context, uint32_t bar);

    /** One aligned 32-bit access to a BAR, not combined or repeated. A write may be posted, but is
     * seen by the device before any later access of this transport. */
    int (*bar_read32)(void* context, uint32_t bar, uint64_t offset, uint32_t* value);
    int (*bar_write32)(void* context, uint32_t bar, uint64_t offset, uint32_t value);

    /** `count` consecutive bytes, any alignment, cut into accesses as the transport likes:
     * for memory in a BAR (HBM, SBUF), not for registers. */
    int (*bar_read_block)(void* context, uint32_t bar, uint64_t offset, void* bytes,
                          uint64_t count);
    int (*bar_write_block)(void* context, uint32_t bar, uint64_t offset, const void* bytes,
                           uint64_t count);

    /** Configuration space: width 1, 2 or 4 bytes, naturally aligned, offset below 4096. */
    int (*config_read)(void* context, uint32_t offset, uint32_t width, uint32_t* value);
    int (*config_write)(void* context, uint32_t offset, uint32_t width, uint32_t value);

    /** Zeroed memory that the device may read and write until dma_free. */
    int (*dma_alloc)(void* context, uint64_t size, trn_dma_memory* memory);
    void (*dma_free)(void* context, const trn_dma_memory* memory);

    /** Lets at least `nanoseconds` pass on the clock of now() and the device run meanwhile. A host
     * that polls calls this between two polls: without it simulated time may stand still.
     * 0 yields once. -ENODEV: the other end has gone. */
    int (*wait)(void* context, uint64_t nanoseconds);

    /** The clock of every time-out, nanoseconds since some fixed point; never runs backwards. */
    uint64_t (*now)(void* context);

    /** Simulated time of the device in nanoseconds, for reports of throughput; optional (NULL where
     * only wall-clock time is known). */
    uint64_t (*simulated_now)(void* context);

    /** Optional (NULL): a window of a BAR by plain loads and stores. -ENOTSUP for a range that has
     * side effects or is no memory. Unmap before close. */
    int (*bar_map)(void* context, uint32_t bar, uint64_t offset, uint64_t size,
                   trn_bar_mapping* mapping);
    void (*bar_unmap)(void* context, const trn_bar_mapping* mapping);

    /** Optional (NULL: what configuration space says holds): where other functions of the same
     * server reach a BAR, where that is not what the guest wrote into configuration space. */
    int (*bar_bus_address)(void* context, uint32_t bar, uint64_t* bus_address);

    /** Optional (NULL): resets the function as the bus would (PCIe function-level reset). */
    int (*function_reset)(void* context);

    /** Optional (NULL): one line of text, no newline at its end. */
    void (*log)(void* context, trn_log_level level, const char* text);

    /** Optional (NULL), for a recording: an operation begins, and the accesses
     * that follow are its, until operation_posted. `joins`: the number of one that it is a part of,
     * or 0. Returns its number; 0 without a recording. */
    uint64_t (*operation_begins)(void* context, const char* what, uint64_t joins);
    void (*operation_posted)(void* context);
    /** The caller has seen that the operation is complete. Set when operation_begins is. */
    void (*operation_complete)(void* context, uint64_t operation);

    /** Optional (NULL: the stub itself is the driver). */
    const trn_kernel_driver* kernel;

    /** Ends the transport and frees what it owns, the DMA memory too. Called once, last. */
    void (*close)(void* context);
} trn_transport;

#ifdef __cplusplus
}
#endif

#endif
