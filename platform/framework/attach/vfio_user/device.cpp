// SPDX-License-Identifier: Apache-2.0
#include "platform/framework/attach/vfio_user/device.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <linux/pci_regs.h>
#include <linux/vfio.h>
#include <poll.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <memory>
#include <system_error>
#include <utility>

#include "platform/framework/attach/vfio_user/protocol.h"
#include "platform/framework/unique_fd.h"

namespace trn {

using namespace vfio_user;
using sc_core::sc_time;

namespace {

constexpr unsigned regions = VFIO_PCI_NUM_REGIONS;
constexpr unsigned interrupt_kinds = VFIO_PCI_NUM_IRQS;

/// Other descriptors are refused: writing to a pipe or terminal could block the simulator.
bool is_eventfd(int descriptor) {
    char target[64] = {};
    const std::string link = fmt::format("/proc/self/fd/{}", descriptor);
    return readlink(link.c_str(), target, sizeof target - 1) > 0 &&
           std::strcmp(target, "anon_inode:[eventfd]") == 0;
}

/// Lets no write to the eventfd wait for room in its counter, which its client may fill at any
/// time.
bool make_non_blocking(int descriptor) {
    const int flags = fcntl(descriptor, F_GETFL);
    return flags >= 0 && fcntl(descriptor, F_SETFL, flags | O_NONBLOCK) == 0;
}

/// Adds one, unless the counter is full; a client with a full counter wakes up anyway.
void signal_eventfd(int descriptor) {
    pollfd room{.fd = descriptor, .events = POLLOUT, .revents = 0};
    const std::uint64_t increment = 1;
    // Polled too: the client can clear O_NONBLOCK, which belongs to the file that it shares.
    if (poll(&room, 1, 0) == 1 && (room.revents & POLLOUT) != 0) {
        [[maybe_unused]] const auto written = ::write(descriptor, &increment, sizeof increment);
    }
}

}  // namespace

vfio_user_device::vfio_user_device(function_port& function, const vfio_user_config& cfg,
                                   const vfio_user_hooks& hooks, vfio_user::stream& replies,
                                   std::function<void()> access_ended)
    : function_(function),
      cfg_(cfg),
      hooks_(hooks),
      stream_(replies),
      access_ended_(std::move(access_ended)) {
    for (unsigned i = 0; i < function_port::bar_count; ++i) {
        region_sizes_[i] = function_.bar(i).size;
    }
    region_sizes_[VFIO_PCI_CONFIG_REGION_INDEX] = function_port::config_size;
}

int vfio_user_device::answer(message& request) {
    switch (static_cast<command>(request.head.command)) {
    case command::dma_map:
        return map_dma(request);
    case command::dma_unmap:
        return unmap_dma(request);
    case command::device_get_info:
        return send_device_info(request);
    case command::device_get_region_info:
        return send_region_info(request);
    case command::device_get_irq_info:
        return send_interrupt_info(request);
    case command::device_set_irqs:
        return set_interrupts(request);
    case command::region_read:
        return read_region(request);
    case command::region_write:
        return write_region(request);
    case command::device_reset:
        return reset(request);
    default:
        return ENOTSUP;
    }
}

void vfio_user_device::unmap_all() {
    while (!ranges_.empty()) unmap(ranges_.begin()->first, ranges_.begin()->second.size);
}

// --- Host memory

int vfio_user_device::map_dma(message& request) {
    const auto asked = leading<dma_map>(request);
    if (!asked || request.descriptors.size() > 1) return EINVAL;
    if ((asked->flags & ~(dma_map_read | dma_map_write)) != 0)
        return refuse_flags(asked->flags, EINVAL);
    if (ranges_.size() >= max_dma_maps) return ENOSPC;
    const bool writable = (asked->flags & dma_map_write) != 0;
    client_range range{.size = asked->size, .mapping = nullptr};
    if (!request.descriptors.empty()) {
        if (lost_event_.get() < 0) lost_event_ = unique_fd(eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK));
        try {
            range.mapping =
                std::make_unique<host_mapping>(request.descriptors[0].get(), asked->offset,
                                               asked->size, writable, lost_event_.get());
        } catch (const mapping_refused& why) {
            return refuse_file(*asked, why.what(), EINVAL);
        } catch (const std::system_error& failed) {
            return refuse_file(*asked, failed.code().message(), failed.code().value());
        }
    }
    const bool mapped =
        function_.map_host({.iova = asked->iova,
                            .size = asked->size,
                            .bytes = range.mapping == nullptr ? nullptr : range.mapping->bytes(),
                            .readable = (asked->flags & dma_map_read) != 0,
                            .writable = writable,
                            .lost = range.mapping == nullptr ? nullptr : &range.mapping->lost()});
    if (!mapped) {
        why_ = fmt::format("{} bytes at {:#x}: empty, wrapping, or overlapping a mapped range",
                           asked->size, asked->iova);
        return EEXIST;
    }
    ranges_.emplace(asked->iova, std::move(range));
    stream_.reply(request.head, 0);
    return 0;
}

int vfio_user_device::refuse_flags(std::uint32_t flags, int error) {
    why_ = fmt::format("flags {:#x}: {}", flags,
                       error == ENOTSUP ? "dirty pages are not recorded" : "unknown");
    return error;
}

int vfio_user_device::refuse_file(const dma_map& asked, std::string_view why, int error) {
    why_ = fmt::format("{} bytes at {:#x} of the file it sent: {}", asked.size, asked.offset, why);
    return error;
}

int vfio_user_device::unmap_dma(const message& request) {
    const auto asked = leading<vfio_user::dma_unmap>(request);
    if (!asked) return EINVAL;
    if ((asked->flags & ~(dma_unmap_all | dma_unmap_dirty_pages)) != 0)
        return refuse_flags(asked->flags, EINVAL);
    if ((asked->flags & dma_unmap_dirty_pages) != 0) return refuse_flags(asked->flags, ENOTSUP);
    if ((asked->flags & dma_unmap_all) != 0) {
        unmap_all();
    } else if (!unmap(asked->iova, asked->size)) {
        why_ = fmt::format("{} bytes at {:#x} would cut a range that is mapped", asked->size,
                           asked->iova);
        return EINVAL;
    }
    put(stream_.reply(request.head, sizeof *asked), *asked);
    return 0;
}

bool vfio_user_device::unmap(std::uint64_t iova, std::uint64_t size) {
    return function_.unmap_host(
        iova, size, [this](const function_port::host_range& gone) { ranges_.erase(gone.iova); });
}

std::vector<std::string> vfio_user_device::unmap_lost() {
    std::uint64_t count = 0;
    [[maybe_unused]] const auto got = read(lost_event_.get(), &count, sizeof count);
    std::vector<std::string> lines;
    for (auto next = ranges_.begin(); next != ranges_.end();) {
        const auto& [iova, range] = *next++;
        if (range.mapping == nullptr || !range.mapping->lost()) continue;
        lines.push_back(fmt::format(
            "unmapped {} bytes at {:#x}: the client's file no longer has them", range.size, iova));
        unmap(iova, range.size);
    }
    return lines;
}

// --- Device description

int vfio_user_device::send_device_info(const message& request) {
    constexpr std::uint32_t size = 16;  // structure without capabilities
    const std::array<std::uint32_t, 4> info{size, VFIO_DEVICE_FLAGS_RESET | VFIO_DEVICE_FLAGS_PCI,
                                            regions, interrupt_kinds};
    put(stream_.reply(request.head, sizeof info), info);
    return 0;
}

int vfio_user_device::send_region_info(const message& request) {
    const auto asked = leading<vfio_region_info>(request);
    if (!asked || asked->index >= regions) return EINVAL;
    vfio_region_info info{};
    info.argsz = sizeof info;
    info.index = asked->index;
    info.size = region_sizes_[asked->index];
    if (info.size != 0) info.flags = VFIO_REGION_INFO_FLAG_READ | VFIO_REGION_INFO_FLAG_WRITE;

    function_port::bar_info bar;
    if (cfg_.offer_mapping) bar = function_.bar(asked->index);
    if (bar.areas.empty()) {
        put(stream_.reply(request.head, sizeof info), info);
        return 0;
    }
    const std::size_t areas_at = sizeof info + sizeof(vfio_region_info_cap_sparse_mmap);
    info.argsz = static_cast<std::uint32_t>(areas_at + bar.areas.size() *
                                                           sizeof(vfio_region_sparse_mmap_area));
    info.flags |= VFIO_REGION_INFO_FLAG_MMAP | VFIO_REGION_INFO_FLAG_CAPS;
    info.offset = bar.descriptor_offset;
    info.cap_offset = sizeof info;    // set even if the capabilities do not fit: QEMU refuses 0
    if (asked->argsz < info.argsz) {  // the client repeats the request with more room
        put(stream_.reply(request.head, sizeof info), info);
        return 0;
    }
    vfio_region_info_cap_sparse_mmap sparse{};
    sparse.header.id = VFIO_REGION_INFO_CAP_SPARSE_MMAP;
    sparse.header.version = 1;
    sparse.nr_areas = static_cast<std::uint32_t>(bar.areas.size());
    const auto room = stream_.reply(request.head, info.argsz);
    put(room, info);
    put(room, sparse, sizeof info);
    for (std::size_t i = 0; i < bar.areas.size(); ++i) {
        put(room, vfio_region_sparse_mmap_area{bar.areas[i].offset, bar.areas[i].size},
            areas_at + i * sizeof(vfio_region_sparse_mmap_area));
    }
    stream_.attach(bar.descriptor);
    return 0;
}

int vfio_user_device::send_interrupt_info(const message& request) {
    const auto asked = leading<vfio_irq_info>(request);
    if (!asked || asked->index >= interrupt_kinds) return EINVAL;
    vfio_irq_info info{.argsz = sizeof info, .flags = 0, .index = asked->index, .count = 0};
    info.count = vectors(asked->index);
    if (info.count != 0) info.flags = VFIO_IRQ_INFO_EVENTFD | VFIO_IRQ_INFO_NORESIZE;
    put(stream_.reply(request.head, sizeof info), info);
    return 0;
}

// --- Interrupts

/// MSI-X, and the interrupt for fatal bus errors, which QEMU requires of functions with AER. The
/// platform does not raise the interrupt for errors yet.
std::uint32_t vfio_user_device::vectors(std::uint32_t kind) const {
    if (kind == VFIO_PCI_MSIX_IRQ_INDEX) return function_.interrupt_vectors();
    return kind == VFIO_PCI_ERR_IRQ_INDEX ? 1 : 0;
}

int vfio_user_device::set_interrupts(message& request) {
    const auto asked = leading<irq_set>(request);
    if (!asked || asked->index >= interrupt_kinds) return EINVAL;
    const bool msix = asked->index == VFIO_PCI_MSIX_IRQ_INDEX;
    const std::uint32_t known = vectors(asked->index);
    // Masking is not supported.
    if ((asked->flags & VFIO_IRQ_SET_ACTION_TRIGGER) == 0) return ENOTSUP;
    if (asked->start > known || asked->count > known - asked->start) return EINVAL;
    auto& fds = request.descriptors;

    switch (asked->flags & VFIO_IRQ_SET_DATA_TYPE_MASK) {
    case VFIO_IRQ_SET_DATA_NONE:
        if (asked->count != 0) return ENOTSUP;  // loopback tests are not supported
        for (std::uint32_t i = 0; msix && i < known; ++i) function_.on_interrupt(i, {});
        break;
    case VFIO_IRQ_SET_DATA_EVENTFD:
        // All descriptors; or none, which disables (QEMU shortens its list accordingly).
        if (!fds.empty() && fds.size() != asked->count) return EINVAL;
        for (const auto& fd : fds) {
            if (!is_eventfd(fd.get()) || !make_non_blocking(fd.get())) return EINVAL;
        }
        for (std::uint32_t i = 0; msix && i < asked->count; ++i) {
            if (fds.empty()) {
                function_.on_interrupt(asked->start + i, {});
                continue;
            }
            const auto fd = std::make_shared<unique_fd>(std::move(fds[i]));
            function_.on_interrupt(asked->start + i, [fd] { signal_eventfd(fd->get()); });
        }
        break;
    default:
        return ENOTSUP;
    }
    stream_.reply(request.head, 0);
    return 0;
}

// --- Accesses

template <typename Make>
int vfio_user_device::access(const region_access& asked, std::string_view kind, const Make& make) {
    const std::uint64_t region_size = region_sizes_[asked.region];
    if (asked.count > max_data_transfer || asked.offset > region_size ||
        asked.count > region_size - asked.offset) {
        return EINVAL;
    }
    if (hooks_.before_access) hooks_.before_access();
    sc_time delay = sc_core::SC_ZERO_TIME;
    make(delay);
    if (std::exchange(deferred_, false))
        waits_for_ = fmt::format("the answer to a {} of {} bytes at BAR{} {:#x}", kind, asked.count,
                                 asked.region, asked.offset);
    else if (hooks_.after_access)
        hooks_.after_access(delay);
    return 0;
}

void vfio_user_device::ended(const sc_time& delay) {
    waits_for_.clear();
    rest_ = delay;
    access_ended_();
}

void vfio_user_device::finish_access() {
    if (hooks_.after_access) hooks_.after_access(rest_);
}

int vfio_user_device::read_region(const message& request) {
    const auto asked = leading<region_access>(request);
    if (!asked || asked->region >= regions) return EINVAL;
    return access(*asked, "read", [&](sc_time& delay) {
        const auto room = stream_.reply(request.head, sizeof *asked + asked->count);
        put(room, *asked);
        const auto data = room.subspan(sizeof *asked);
        if (asked->region == VFIO_PCI_CONFIG_REGION_INDEX) {
            function_.config_read(static_cast<std::uint32_t>(asked->offset), data);
            if (cfg_.behind_bridge) show_large_bars(asked->offset, data);
        } else {
            function_.bar_read(asked->region, asked->offset, data, delay);
        }
    });
}

/// A bridge forwards addresses above 4 GiB only through its prefetchable window, and 1 GiB does not
/// fit below. On a path that is entirely PCI Express, such a BAR may be marked as prefetchable (PCI
/// Express 7.5.1.2.1).
void vfio_user_device::show_large_bars(std::uint64_t offset, std::span<std::uint8_t> data) const {
    constexpr std::uint64_t large = std::uint64_t{256} << 20;
    for (unsigned bar = 0; bar < function_port::bar_count; ++bar) {
        const std::uint64_t position = PCI_BASE_ADDRESS_0 + 4 * bar;
        if (region_sizes_[VFIO_PCI_BAR0_REGION_INDEX + bar] < large) continue;
        if (position >= offset && position - offset < data.size())
            data[position - offset] |= PCI_BASE_ADDRESS_MEM_PREFETCH;
    }
}

int vfio_user_device::write_region(const message& request) {
    const auto asked = leading<region_access>(request);
    if (!asked || asked->region >= regions || request.payload.size() - sizeof *asked < asked->count)
        return EINVAL;
    const auto data = request.payload.subspan(sizeof *asked, asked->count);
    return access(*asked, "write", [&](sc_time& delay) {
        started_work::collector started;
        if (asked->region == VFIO_PCI_CONFIG_REGION_INDEX) {
            function_.config_write(static_cast<std::uint32_t>(asked->offset), data);
        } else {
            function_.bar_write(asked->region, asked->offset, data, delay);
        }
        started_ = started.collected();
        put(stream_.reply(request.head, sizeof *asked), *asked);
    });
}

int vfio_user_device::reset(const message& request) {
    function_.reset();
    stream_.reply(request.head, 0);
    return 0;
}

}  // namespace trn
