/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TRN_VFIO_USER_H
#define TRN_VFIO_USER_H

#include <stddef.h>
#include <stdint.h>

#include "trn_driver_abi.h"
#include "trn_transport.h"

#ifdef __cplusplus
extern "C" {
#endif

/* A vfio-user client: one PCIe function in another process, over its Unix socket.
 *
 * Functions that return int return 0 or a negative errno; trn_vfio_user_error() explains it. Calls
 * block up to the timeout: -ENODEV if the server has exited, -ETIMEDOUT without a reply. One
 * thread at a time. */

typedef struct trn_vfio_user trn_vfio_user;

typedef struct trn_vfio_user_options {
    uint32_t timeout_ms;         /**< for one reply; 0: 5000 */
    const char* expected_board;  /**< refuse other boards; NULL: any */
    const char* expected_digest; /**< refuse other configurations; NULL: any */
    int without_descriptors;     /**< access DMA memory by messages only, as without memfd */
    int without_posted_writes; /**< wait for the reply to every write, as QEMU does where it maps a
                                    BAR */
    const uint64_t* bus_addresses; /**< of BARs 0..5, for other functions of the same server
                                      (control method `list functions`); 0: none; NULL: the
                                      addresses in configuration space */
} trn_vfio_user_options;

enum { TRN_VFIO_USER_CONFIG = 7 }; /**< region of the configuration space; 0..5 are the BARs */

typedef struct trn_vfio_user_area {
    uint64_t offset, size; /**< bytes in the region */
} trn_vfio_user_area;

enum { TRN_VFIO_USER_MAX_AREAS = 16 };

typedef struct trn_vfio_user_region {
    uint64_t size;       /**< bytes; 0 = no such region */
    uint32_t area_count; /**< of mappable areas */
    trn_vfio_user_area areas[TRN_VFIO_USER_MAX_AREAS];
} trn_vfio_user_region;

/** Connects and negotiates the version. `options` may be NULL. On failure *client is NULL and `why`
 * (of why_size bytes, may be NULL) has the reason. */
int trn_vfio_user_open(const char* path, const trn_vfio_user_options* options,
                       trn_vfio_user** client, char* why, size_t why_size);
/** Disconnects and frees everything, including DMA memory and mappings. NULL is allowed. */
void trn_vfio_user_close(trn_vfio_user* client);
/** Text of the latest failure. */
const char* trn_vfio_user_error(const trn_vfio_user* client);
/** The socket, for poll(): when readable, call trn_vfio_user_serve(). */
int trn_vfio_user_socket(const trn_vfio_user* client);

int trn_vfio_user_region_info(trn_vfio_user* client, uint32_t index, trn_vfio_user_region* region);
/** Maps page-aligned bytes of a region inside one of its areas; -ENOTSUP elsewhere. */
int trn_vfio_user_region_map(trn_vfio_user* client, uint32_t index, uint64_t offset, uint64_t size,
                             void** host);
void trn_vfio_user_region_unmap(trn_vfio_user* client, void* host, uint64_t size);

/** `count` bytes at any alignment; up to 8 aligned bytes are one access of the device. */
int trn_vfio_user_read(trn_vfio_user* client, uint32_t region, uint64_t offset, void* bytes,
                       uint64_t count);
int trn_vfio_user_write(trn_vfio_user* client, uint32_t region, uint64_t offset, const void* bytes,
                        uint64_t count);
/** As write, without waiting for the reply (but see without_posted_writes); reaches the device
 * before any later access. */
int trn_vfio_user_post(trn_vfio_user* client, uint32_t region, uint64_t offset, const void* bytes,
                       uint64_t count);
int trn_vfio_user_read32(trn_vfio_user* client, uint32_t region, uint64_t offset, uint32_t* value);
int trn_vfio_user_write32(trn_vfio_user* client, uint32_t region, uint64_t offset, uint32_t value);
int trn_vfio_user_read64(trn_vfio_user* client, uint32_t region, uint64_t offset, uint64_t* value);
int trn_vfio_user_write64(trn_vfio_user* client, uint32_t region, uint64_t offset, uint64_t value);

/** Allocates zeroed memory, rounded up to whole pages, at device address `iova` (a multiple of
 * 4096). */
int trn_vfio_user_dma_alloc(trn_vfio_user* client, uint64_t size, uint64_t iova,
                            trn_dma_memory* memory);
int trn_vfio_user_dma_free(trn_vfio_user* client, const trn_dma_memory* memory);

/** Number of the function's MSI-X vectors. */
int trn_vfio_user_interrupt_count(trn_vfio_user* client, uint32_t* count);
/** Subscribes `count` vectors from `first` on: each signals its eventfd in `eventfds`. NULL:
 * unsubscribes. */
int trn_vfio_user_interrupts(trn_vfio_user* client, uint32_t first, uint32_t count,
                             const int* eventfds);

int trn_vfio_user_reset(trn_vfio_user* client);

/** Simulated time in nanoseconds; -ENOTSUP when the server is not trnvp. */
int trn_vfio_user_now(trn_vfio_user* client, uint64_t* nanoseconds);
/** Returns when simulated time has advanced by `nanoseconds`; -ENOTSUP if the server cannot. */
int trn_vfio_user_wait(trn_vfio_user* client, uint64_t nanoseconds, uint64_t* now);

/** Posts what this process holds of the device and did with it: at most 4096 bytes (trn_accounts),
 * which replace those before. The device does not see them, and no time passes. Does nothing if
 * the server does not keep accounts of this size. */
int trn_vfio_user_account(trn_vfio_user* client, const void* bytes, uint32_t count);

/** Serves the device's accesses to memory by messages, until there was one or `timeout_ms` has
 * passed. Other calls serve them too while they wait. Returns their number, or an error. */
int trn_vfio_user_serve(trn_vfio_user* client, uint32_t timeout_ms);

/** The driver stub's transport over this client; trn_transport.close closes it. On failure `why`
 * has the reason. */
int trn_vfio_user_transport(const char* path, const trn_vfio_user_options* options,
                            trn_transport* transport, char* why, size_t why_size);

#ifdef __cplusplus
}
#endif

#endif
