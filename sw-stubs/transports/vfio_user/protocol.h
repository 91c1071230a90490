/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TRN_VFIO_USER_PROTOCOL_H
#define TRN_VFIO_USER_PROTOCOL_H

#include <stdint.h>

/* The client's own definitions of the vfio-user protocol (doc/attach.md); the host side includes no
 * files of the platform. Little endian, natural layout. */

enum {
    VU_VERSION = 1,
    VU_DMA_MAP = 2,
    VU_DMA_UNMAP = 3,
    VU_REGION_INFO = 5,
    VU_IRQ_INFO = 7,
    VU_SET_IRQS = 8,
    VU_REGION_READ = 9,
    VU_REGION_WRITE = 10,
    VU_DMA_READ = 11,  /* from the server */
    VU_DMA_WRITE = 12, /* from the server */
    VU_DEVICE_RESET = 13,
    VU_TRN_NOW = 0x8001,     /* extension of trnvp: simulated time */
    VU_TRN_WAIT = 0x8002,    /* extension of trnvp: replied to after simulated time */
    VU_TRN_ACCOUNT = 0x8003, /* extension of trnvp: what the client holds and did */
};

enum {
    VU_TYPE_MASK = 0xf,
    VU_REQUEST = 0,
    VU_REPLY = 1,
    VU_NO_REPLY = 0x10,
    VU_ERROR = 0x20,
};

enum { VU_MAX_TRANSFER = 1 << 20, VU_MAX_MESSAGE = VU_MAX_TRANSFER + 4096, VU_MAX_FDS = 16 };

struct vu_header {
    uint16_t id, command;
    uint32_t size; /* including this header */
    uint32_t flags, error;
};
struct vu_version {
    uint16_t major, minor; /* then JSON, NUL-terminated */
};
struct vu_dma_map {
    uint32_t argsz, flags; /* 1 the device may read, 2 write */
    uint64_t offset, iova, size;
};
struct vu_dma_unmap {
    uint32_t argsz, flags;
    uint64_t iova, size;
};
struct vu_region_access {
    uint64_t offset;
    uint32_t region, count; /* then data */
};
struct vu_dma_access {
    uint64_t iova, count; /* then data */
};
struct vu_time {
    uint64_t nanoseconds;
};

#endif
