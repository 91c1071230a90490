/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TRN_TRANSPORT_H
#define TRN_TRANSPORT_H

#include <stdint.h>

#include "trn_accounts.h"

#ifdef __cplusplus
extern "C" {
#endif

/* The driver stub's access to one PCIe function. Providers: a socket, a model of the host CPU, PCI
 * sysfs in a guest. The stub depends on nothing else of the machine that it runs on.
 *
 * Threads: the stub calls from one thread at a time (in a simulation: from one SystemC process) and
 * never during another call of the same transport. A transport needs no locks and makes no
 * callbacks.
 *
 * Errors: functions that return int return 0 or a negative errno:
 *   -EINVAL     unknown BAR, or invalid offset or width
 *   -EIO        the access failed on the bus (error response of the device)
 *   -ENODEV     the function, or the process that models it, is gone; later calls return it too
 *   -ETIMEDOUT  no response within the transport's own timeout
 *   -ENOMEM     no host memory left (dma_alloc)
 *   -ENOTSUP    optional function that this transport does not have
 */

/** Host memory that both the CPU and the device can reach. */
typedef struct trn_dma_memory {
    void* host;    /**< address in this process */
    uint64_t iova; /**< the device's address: the address on PCIe, without the host-window
                        bit; below 2^46 (contract 3.1), a multiple of 4096 */
    uint64_t size; /**< bytes, rounded up to whole pages of 4096 */
} trn_dma_memory;

/** A range of a BAR that is mapped into this process. */
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

/** What device memory is for: a kernel driver accounts for each purpose. */
typedef enum trn_memory_purpose {
    TRN_MEMORY_CODE = 0,   /**< instructions, constants, descriptors */
    TRN_MEMORY_TENSORS = 1 /**< tensors of a program */
} trn_memory_purpose;

/** Memory of an HBM stack for a core. */
typedef struct trn_kernel_memory {
    uint32_t core, stack;
    uint64_t size, alignment; /**< bytes; alignment: a power of two */
    trn_memory_purpose purpose;
} trn_kernel_memory;

/** Operations of a kernel driver that is bound to the function; it replaces the stub's own, because
 * it excludes other drivers. First argument: the transport's context; results as described above;
 * addresses are AXI. */
typedef struct trn_kernel_driver {
    /** Resets the cores of a map, or with ~0 the device, and waits for completion. */
    int (*reset)(void* context, uint32_t core_map);
    int (*memory_alloc)(void* context, const trn_kernel_memory* wanted, uint64_t* address);
    void (*memory_free)(void* context, uint64_t address);
    /** Copy between ordinary memory and the chip. -ENOTSUP: the driver cannot access the address.
     */
    int (*write)(void* context, uint32_t core, uint64_t address, const void* bytes, uint64_t size);
    int (*read)(void* context, uint32_t core, uint64_t address, void* bytes, uint64_t size);
    /** Assigns rings to a queue, with the descriptors at these bases (memory of memory_alloc). The
     * driver may place the rings elsewhere: see the queue's registers. */
    int (*ring_init)(void* context, const trn_kernel_ring* ring);
    /** Sets up a zeroed ring of `size` bytes for a notification slot of a core or TOP_SP. It is
     * active until dma_free of its memory. */
    int (*notifications)(void* context, int is_top_sp, uint32_t number, uint32_t slot,
                         uint32_t size, trn_dma_memory* ring);
} trn_kernel_driver;

typedef enum trn_log_level {
    TRN_LOG_DEBUG = 0,
    TRN_LOG_INFO = 1,
    TRN_LOG_WARNING = 2,
    TRN_LOG_ERROR = 3
} trn_log_level;

/** Access functions of one PCIe function. Every pointer is set unless marked optional. */
typedef struct trn_transport {
    void* context;    /**< first argument of every call; belongs to the transport */
    const char* name; /**< for messages: "in-process", "vfio-user /run/x/chip0.sock", ... */

    /** Factor of the stub's timeouts relative to the public driver's: 1 when now() is the device's
     * (simulated) time; more when now() is wall time, since the simulator may be slower than
     * silicon. 0: 1. */
    uint32_t timeout_scale;

    /** Size of a BAR in bytes; 0 when the function has no such BAR. bar: 0..5. */
    uint64_t (*bar_size)(void* context, uint32_t bar);

    /** One aligned 32-bit access to a BAR, not combined or repeated. A write may be posted, but
     * reaches the device before any later access of this transport. */
    int (*bar_read32)(void* context, uint32_t bar, uint64_t offset, uint32_t* value);
    int (*bar_write32)(void* context, uint32_t bar, uint64_t offset, uint32_t value);

    /** `count` consecutive bytes at any alignment, in accesses of the transport's choice: for
     * memory in a BAR (HBM, SBUF), not for registers. */
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

    /** Waits at least `nanoseconds` of now()'s clock while the device runs. Must be called between
     * two polls: otherwise simulated time may not advance. 0 yields once. -ENODEV: the connection
     * is lost. */
    int (*wait)(void* context, uint64_t nanoseconds);

    /** Clock of all timeouts: nanoseconds since a fixed point, monotonic. */
    uint64_t (*now)(void* context);

    /** Optional (NULL if only wall time is known): simulated time of the device in
     * nanoseconds, for reports of throughput. */
    uint64_t (*simulated_now)(void* context);

    /** Optional (NULL): maps a range of a BAR for plain loads and stores. -ENOTSUP: a range with
     * side effects, or not memory. Unmap before close. */
    int (*bar_map)(void* context, uint32_t bar, uint64_t offset, uint64_t size,
                   trn_bar_mapping* mapping);
    void (*bar_unmap)(void* context, const trn_bar_mapping* mapping);

    /** Optional (NULL: the address in configuration space): bus address of a BAR for other
     * functions of the same server, if it differs from the one in configuration space. */
    int (*bar_bus_address)(void* context, uint32_t bar, uint64_t* bus_address);

    /** Optional (NULL): PCIe function-level reset. */
    int (*function_reset)(void* context);

    /** Optional (NULL): logs one line of text, without a newline. */
    void (*log)(void* context, trn_log_level level, const char* text);

    /** Optional (NULL), for recordings: begins an operation; the accesses up to operation_posted
     * belong to it. `joins`: number of the operation that it is a part of, or 0. Returns its
     * number; 0 without a recording. */
    uint64_t (*operation_begins)(void* context, const char* operation, uint64_t joins);
    void (*operation_posted)(void* context);
    /** The operation is complete. Set if operation_begins is. */
    void (*operation_complete)(void* context, uint64_t operation);

    /** Optional (NULL: the stub is the driver). */
    const trn_kernel_driver* kernel;

    /** Optional (NULL): takes the accounts of the handle, each time that a program was loaded or
     * unloaded, or a run has ended. It cannot fail, and takes no time of now()'s clock. */
    void (*account)(void* context, const trn_accounts* accounts);

    /** Closes the transport and frees its resources, including DMA memory. Called once, last. */
    void (*close)(void* context);
} trn_transport;

#ifdef __cplusplus
}
#endif

#endif
