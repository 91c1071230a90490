// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <systemc>
#include <tlm>
#include <vector>

#include "platform/framework/kernel/trace.h"
#include "platform/framework/tlm/pending_access.h"
#include "platform/framework/tlm/route.h"

namespace trn {

/// Memory accesses through a block's initiator socket: plain memory through cached DMI windows,
/// otherwise b_transport. One access at a time; not for use inside b_transport.
class memory_port {
public:
    /// The watcher to notify after a copy through a window's pointer.
    struct watch {
        traffic_watcher* watcher = nullptr;
        std::uint64_t address = 0;  ///< in the watcher's address space

        void report_read(std::uint8_t* copied, std::uint64_t length) const {
            if (watcher != nullptr) watcher->has_read(address, {copied, length});
        }
        void report_write(const std::uint8_t* copied, std::uint64_t length) const {
            if (watcher != nullptr) watcher->has_written(address, {copied, length});
        }
    };
    /// Plain memory that the initiator may access through a pointer.
    struct window {
        std::uint64_t first, last;  ///< addresses, inclusive
        std::uint8_t* bytes;        ///< pointer to the byte at `first`
        bool readable, writable;
        sc_core::sc_time read_latency, write_latency;
        std::vector<route::hop> hops;  ///< addresses are those of a request for `first`
        watch watched;                 ///< for the byte at `first`

        bool allows(tlm::tlm_command command) const {
            return command == tlm::TLM_WRITE_COMMAND ? writable : readable;
        }
        /// Number of bytes from `address` to the end of the window, at most `wanted`.
        std::uint64_t room(std::uint64_t address, std::uint64_t wanted) const {
            return last - address < wanted ? last - address + 1 : wanted;
        }
        std::uint8_t* at(std::uint64_t address) const { return bytes + (address - first); }
        const sc_core::sc_time& latency(tlm::tlm_command command) const {
            return command == tlm::TLM_WRITE_COMMAND ? write_latency : read_latency;
        }
        watch watched_at(std::uint64_t address) const {
            return {watched.watcher, watched.address + (address - first)};
        }
        /// Reserves every resource of the route from `start` (absolute); returns when the last byte
        /// has left the slowest one, without latency.
        sc_core::sc_time reserve(tlm::tlm_command command, std::uint64_t address,
                                 std::uint64_t bytes, const sc_core::sc_time& start) const {
            if (!trace::on()) return reserve_hops(command, address, bytes, start, [](auto&&...) {});
            return reserve_and_trace(command, address, bytes, start);
        }

    private:
        /// Reserves the hops in turn from `start`, and calls `left` with each hop's index and the
        /// time at which the last byte has left it. Starts at the data's destination, so that each
        /// hop gets the delay of the later hops: the destination is the memory of a write, the
        /// initiator of a read.
        template <class Left>
        sc_core::sc_time reserve_hops(tlm::tlm_command command, std::uint64_t address,
                                      std::uint64_t bytes, const sc_core::sc_time& start,
                                      Left&& left) const {
            sc_core::sc_time through = start;
            const std::size_t count = hops.size();
            for (std::size_t n = 0; n < count; ++n) {
                const std::size_t index = command == tlm::TLM_WRITE_COMMAND ? count - 1 - n : n;
                const route::hop& hop = hops[index];
                const auto own =
                    hop.resource->reserve(command, hop.address + (address - first), bytes, start);
                left(index, own);
                if (through > own) hop.resource->held_until(command, through);
                through = std::max(through, own);
            }
            return through;
        }
        sc_core::sc_time reserve_and_trace(tlm::tlm_command command, std::uint64_t address,
                                           std::uint64_t bytes,
                                           const sc_core::sc_time& start) const;
    };
    enum class outcome {
        done,
        failed,    ///< an error response
        deferred,  ///< no byte has moved: repeat the access when the pending access wakes the
                   ///< process
    };

    explicit memory_port(tlm::tlm_initiator_socket<64>& socket) : socket_(socket) {}

    /// The window that contains `address`, requested from the target if it is not cached; nullptr
    /// if it is not plain memory. Valid until the next call of this port.
    const window* find(tlm::tlm_command command, std::uint64_t address) {
        const window* hit = known(command, address);
        return hit != nullptr ? hit : request(command, address);
    }
    /// Like find() without a request, for accesses too short for one.
    const window* known(tlm::tlm_command command, std::uint64_t address) const {
        const std::size_t index = latest_[command == tlm::TLM_WRITE_COMMAND ? 1 : 0];
        if (index >= spans_.size() || !spans_[index].holds(address))
            return search(command, address);
        return windows_[index].allows(command) ? &windows_[index] : nullptr;
    }

    /// Transfers `length` bytes from now + `delay` on and adds the access time to `delay`.
    /// Precondition: length <= 4 KiB, or the bytes are in one cached window.
    outcome access(tlm::tlm_command command, std::uint64_t address, void* bytes, unsigned length,
                   pending_access& pending, sc_core::sc_time& delay);
    /// Like access() of a read, but may set `lent` to the bytes in the target's memory instead of
    /// copying them. That pointer is valid until invalidate() for the address.
    outcome borrow(std::uint64_t address, void* bytes, unsigned length, pending_access& pending,
                   sc_core::sc_time& delay, const std::uint8_t*& lent);

    /// To be called by the socket's invalidate_direct_mem_ptr.
    void invalidate(std::uint64_t first, std::uint64_t last);
    std::size_t windows() const { return windows_.size(); }

private:
    outcome transport(tlm::tlm_command command, std::uint64_t address, void* bytes, unsigned length,
                      pending_access& pending, sc_core::sc_time& delay);
    void take_time(const window& through, tlm::tlm_command command, std::uint64_t address,
                   unsigned length, sc_core::sc_time& delay);
    const window* search(tlm::tlm_command command, std::uint64_t address) const;
    const window* request(tlm::tlm_command command, std::uint64_t address);
    /// Index of the first window that begins after `address`.
    std::ptrdiff_t after(std::uint64_t address) const;
    const window& keep(window added);
    void prepare(tlm::tlm_command command, std::uint64_t address, void* bytes, unsigned length);

    tlm::tlm_initiator_socket<64>& socket_;
    tlm::tlm_generic_payload payload_;
    /// The searched part of a window, to use few cache lines.
    struct span {
        std::uint64_t first, last;
        bool holds(std::uint64_t address) const { return first <= address && address <= last; }
    };
    std::vector<span> spans_;      // one per element of windows_
    std::vector<window> windows_;  // sorted by address, without overlaps
    std::size_t next_victim_ = 0;
    // Indices of the windows of the latest read and write: later accesses are often nearby.
    mutable std::array<std::size_t, 2> latest_{};
};

}  // namespace trn
