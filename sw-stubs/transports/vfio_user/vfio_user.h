/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TRN_VFIO_USER_H
#define TRN_VFIO_USER_H

#include <stddef.h>
#include <stdint.h>

#include "trn_transport.h"

#ifdef __cplusplus
extern "C" {
#endif

/* A vfio-user client: one PCIe function in another process, over its Unix socket.
 *
 * Functions that return int answer 0 or a negative errno value; trn_vfio_user_error() then has a
 * sentence for people. Nothing blocks longer than the time-out: a server that died gives -ENODEV,
 * one that does not answer -ETIMEDOUT. One thread at a time. */

typedef struct trn_vfio_user trn_vfio_user;

typedef struct trn_vfio_user_options {
    uint32_t timeout_ms;         /**< for one answer; 0 = 5000 */
    const char* expected_board;  /**< refuse another board; NULL = any */
    const char* expected_digest; /**< refuse another configuration; NULL = any */
    int without_descriptors;     /**< share DMA memory by messages only, as a peer without memfd */
    int without_posted_writes; /**< wait for the answer of every write, as QEMU does where it maps a
                                    BAR */
    const uint64_t* bus_addresses; /**< of the transport's BARs 0..5, where its server's other
                                        functions reach them (control method `list functions`); 0:
                                        none; NULL: what configuration space says holds */
} trn_vfio_user_options;

enum { TRN_VFIO_USER_CONFIG = 7 }; /**< region of the configuration space; 0..5 are the BARs */

typedef struct trn_vfio_user_area {
    uint64_t offset, size; /**< bytes in the region */
} trn_vfio_user_area;

enum { TRN_VFIO_USER_MAX_AREAS = 16 };

typedef struct trn_vfio_user_region {
    uint64_t size;       /**< bytes; 0 = no such region */
    uint32_t area_count; /**< of what can be mapped */
    trn_vfio_user_area areas[TRN_VFIO_USER_MAX_AREAS];
} trn_vfio_user_region;

/** Connects and agrees on a version. `options` may be NULL. On failure *client is NULL and `why`
 * (of why_size bytes, may be NULL) holds the reason. */
int trn_vfio_user_open(const char* path, const trn_vfio_user_options* options,
                       trn_vfio_user** client, char* why, size_t why_size);
/** Disconnects and frees everything, DMA memory and mappings too. NULL is allowed. */
void trn_vfio_user_close(trn_vfio_user* client);
/** The last failure in words. */
const char* trn_vfio_user_error(const trn_vfio_user* client);
/** The socket, for poll(); readable means trn_vfio_user_serve() has something to do. */
int trn_vfio_user_socket(const trn_vfio_user* client);

int trn_vfio_user_region_info(trn_vfio_user* client, uint32_t index, trn_vfio_user_region* region);
/** Maps bytes of a region that lie inside one of its areas; -ENOTSUP elsewhere. Page-aligned. */
int trn_vfio_user_region_map(trn_vfio_user* client, uint32_t index, uint64_t offset, uint64_t size,
                             void** host);
void trn_vfio_user_region_unmap(trn_vfio_user* client, void* host, uint64_t size);

/** `count` bytes of any alignment; what the device sees as one access up to 8 aligned bytes. */
int trn_vfio_user_read(trn_vfio_user* client, uint32_t region, uint64_t offset, void* bytes,
                       uint64_t count);
int trn_vfio_user_write(trn_vfio_user* client, uint32_t region, uint64_t offset, const void* bytes,
                        uint64_t count);
/** As write, without waiting for an answer (but see without_posted_writes); seen by the device
 * before any later access. */
int trn_vfio_user_post(trn_vfio_user* client, uint32_t region, uint64_t offset, const void* bytes,
                       uint64_t count);
int trn_vfio_user_read32(trn_vfio_user* client, uint32_t region, uint64_t offset, uint32_t* value);
int trn_vfio_user_write32(trn_vfio_user* client, uint32_t region, uint64_t offset, uint32_t value);
int trn_vfio_user_read64(trn_vfio_user* client, uint32_t region, uint64_t offset, uint64_t* value);
int trn_vfio_user_write64(trn_vfio_user* client, uint32_t region, uint64_t offset, uint64_t value);

/** Zeroed memory that the device finds at `iova` (a multiple of 4096), rounded up to whole pages.
 */
int trn_vfio_user_dma_alloc(trn_vfio_user* client, uint64_t size, uint64_t iova,
                            trn_dma_memory* memory);
int trn_vfio_user_dma_free(trn_vfio_user* client, const trn_dma_memory* memory);

/** Vectors that the function has. */
int trn_vfio_user_interrupt_count(trn_vfio_user* client, uint32_t* count);
/** Asks for `count` vectors from `first` on, each signalling the eventfd of its place in
 * `eventfds`; NULL: no longer. */
int trn_vfio_user_interrupts(trn_vfio_user* client, uint32_t first, uint32_t count,
                             const int* eventfds);

int trn_vfio_user_reset(trn_vfio_user* client);

/** Simulated time in nanoseconds; -ENOTSUP when the server is not trnvp. */
int trn_vfio_user_now(trn_vfio_user* client, uint64_t* nanoseconds);
/** Comes back when simulated time has advanced; -ENOTSUP when the server cannot do that. */
int trn_vfio_user_wait(trn_vfio_user* client, uint64_t nanoseconds, uint64_t* now);

/** Answers the device's accesses to memory shared by messages for `timeout_ms`, or until there has
 * been one. Every other call answers them too while it waits. Returns how many, or an error. */
int trn_vfio_user_serve(trn_vfio_user* client, uint32_t timeout_ms);

/** The driver stub's transport over this client; trn_transport.close closes it. On failure `why`
 * holds the reason. */
int trn_vfio_user_transport(const char* path, const trn_vfio_user_options* options,
                            trn_transport* transport, char* why, size_t why_size);

#ifdef __cplusplus
}
#endif

#endif
