// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

/// Messages of the vfio-user protocol (version 0.x), little endian, natural layout. Regions,
/// interrupts and devices are described by the structures of <linux/vfio.h>. doc/attach.md lists
/// pitfalls.
namespace trn::vfio_user {

enum class command : std::uint16_t {
    version = 1,
    dma_map = 2,
    dma_unmap = 3,
    device_get_info = 4,
    device_get_region_info = 5,
    device_get_irq_info = 7,
    device_set_irqs = 8,
    region_read = 9,
    region_write = 10,
    dma_read = 11,   ///< server to client
    dma_write = 12,  ///< server to client
    device_reset = 13,
    // Extensions of trnvp, for clients whose version message has a "trnvp" object.
    trn_now = 0x8001,      ///< simulated time
    trn_wait = 0x8002,     ///< replied to when simulated time has advanced
    trn_account = 0x8003,  ///< what the client holds of the function and did with it
};

struct header {
    std::uint16_t id;
    std::uint16_t command;
    std::uint32_t size;  ///< in bytes, including this header
    std::uint32_t flags;
    std::uint32_t error;  ///< errno in an error reply
};
static_assert(sizeof(header) == 16);

inline constexpr std::uint32_t flag_type_mask = 0xf;
inline constexpr std::uint32_t flag_request = 0;
inline constexpr std::uint32_t flag_reply = 1;
inline constexpr std::uint32_t flag_no_reply = 0x10;
inline constexpr std::uint32_t flag_error = 0x20;

inline constexpr std::uint16_t version_major = 0;
inline constexpr std::uint16_t version_minor = 1;

struct version {
    std::uint16_t major, minor;  // followed by a JSON text, NUL-terminated
};

inline constexpr std::uint32_t dma_map_read = 1, dma_map_write = 2;
struct dma_map {
    std::uint32_t argsz, flags;
    std::uint64_t offset, iova, size;
};
static_assert(sizeof(dma_map) == 32);

inline constexpr std::uint32_t dma_unmap_dirty_pages = 1, dma_unmap_all = 2;
struct dma_unmap {
    std::uint32_t argsz, flags;
    std::uint64_t iova, size;
};
static_assert(sizeof(dma_unmap) == 24);

/// vfio_irq_set without its flexible array member; the data are descriptors.
struct irq_set {
    std::uint32_t argsz, flags, index, start, count;
};
static_assert(sizeof(irq_set) == 20);

/// Header of region reads and writes; data follows.
struct region_access {
    std::uint64_t offset;
    std::uint32_t region, count;
};
static_assert(sizeof(region_access) == 16);

/// Header of DMA_READ and DMA_WRITE as specified; data follows at byte 32 of the message. QEMU 10.1
/// and 10.2 use a 32-bit count and expect data at byte 28, in a message of the same size.
struct dma_access {
    std::uint64_t iova, count;
};
static_assert(sizeof(dma_access) == 16);
inline constexpr std::uint32_t dma_data_offset = 32, dma_data_offset_qemu_10 = 28;

struct trn_time {
    std::uint64_t nanoseconds;  ///< request: time to wait; reply: current simulated time
};

/// Limit in bytes of a read, write or DMA.
inline constexpr std::uint32_t max_data_transfer = 1 << 20;
inline constexpr std::uint32_t max_message = max_data_transfer + 4096;
inline constexpr std::uint32_t max_descriptors = 16;  ///< limit per message
inline constexpr std::uint32_t max_dma_maps = 65535;
inline constexpr std::uint32_t page_size = 4096;
inline constexpr std::uint32_t max_account = 4096;  ///< bytes of a record

}  // namespace trn::vfio_user
