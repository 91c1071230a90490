// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <functional>
#include <span>
#include <systemc>
#include <vector>

#include "platform/framework/tlm/server_memory.h"
#include "platform/framework/tlm/traffic_watcher.h"

namespace trn {

/// Sends messages for host memory that a client shares only by messages.
class host_messages {
public:
    /// Receives the bytes read; empty if the client refused or disconnected.
    using answer = std::function<void(std::span<const std::uint8_t>)>;

    virtual ~host_messages() = default;
    /// Requests `size` bytes at `iova`; does not call `answered` before it returns. False: too many
    /// requests are outstanding; retry after function_port::host_messages_ready().
    virtual bool read(std::uint64_t iova, std::uint32_t size, answer answered) = 0;
    /// Posts a write. False as for read().
    virtual bool write(std::uint64_t iova, std::span<const std::uint8_t> bytes) = 0;
};

/// Waits for an access to a BAR that its target defers (pending_access.h).
class access_waiter {
public:
    /// Called inside bar_read() or bar_write(), which then returns true: the access has not ended.
    virtual void deferred() = 0;
    /// The access has ended, with `delay` of its simulated time left. Called inside a process,
    /// reset(), detach() or await_accesses().
    virtual void ended(const sc_core::sc_time& delay) = 0;

protected:
    ~access_waiter() = default;
};

/// Access of a host to one PCIe function, used by transports (vfio-user, the in-process host).
/// Synchronous, except for accesses to BARs that their targets defer; call only from the
/// simulation's thread, between slices or inside a process.
class function_port {
public:
    static constexpr unsigned bar_count = 6;
    static constexpr std::uint32_t config_size = 4096;  ///< bytes

    /// A part of a BAR that is plain memory with a file descriptor.
    struct mappable {
        std::uint64_t offset, size;  ///< in the BAR, bytes, whole pages
    };
    struct bar_info {
        std::uint64_t size = 0;  ///< bytes; 0 = no such BAR
        bool prefetchable = false;
        std::uint64_t bus_address = 0;        ///< for peers in the same server
        int descriptor = -1;                  ///< owned by the function; -1: nothing can be mapped
        std::uint64_t descriptor_offset = 0;  ///< offset in the descriptor of byte 0 of the BAR
        std::vector<mappable> areas = {};     ///< ascending
    };
    /// A range of host memory that the function may access. `bytes` stays valid until unmapped; if
    /// empty, the range is accessed by messages.
    struct host_range {
        std::uint64_t iova, size;  ///< bytes
        std::uint8_t* bytes;
        bool readable, writable;  ///< by the function
        /// Becomes true, also during an access, when the bytes are no longer the host's: accesses
        /// fail. nullptr: never.
        const volatile bool* lost = nullptr;

        bool is_lost() const { return lost != nullptr && *lost; }
    };

    virtual ~function_port() = default;

    /// Sets the number of the function's host until detach(); 0: unknown. Requests to addresses
    /// that the host has not shared are routed to the BAR that the host has placed there, of
    /// another function of the same host; not if the host is unknown.
    virtual void join(std::uint64_t /*host*/) {}
    virtual bar_info bar(unsigned index) = 0;
    /// Configuration space as seen by the guest: BAR registers contain the guest's values, while
    /// addresses on the simulated bus do not change. Offsets beyond the space read zero.
    virtual void config_read(std::uint32_t offset, std::span<std::uint8_t> bytes) = 0;
    virtual void config_write(std::uint32_t offset, std::span<const std::uint8_t> bytes) = 0;
    /// Accesses of any width and length. Adds the access's simulated time to `delay`. False: no
    /// such BAR, or out of range. A function that does not respond (memory space off) reads
    /// all-ones. If the access is deferred, the bytes of a read must stay until it has ended.
    virtual bool bar_read(unsigned index, std::uint64_t offset, std::span<std::uint8_t> bytes,
                          sc_core::sc_time& delay) = 0;
    virtual bool bar_write(unsigned index, std::uint64_t offset,
                           std::span<const std::uint8_t> bytes, sc_core::sc_time& delay) = 0;
    /// Sets what waits for deferred accesses; nullptr: nothing, and they fail. Until a deferred
    /// access has ended, the host's next accesses to the function must stay behind it: call neither
    /// bar_read() nor bar_write(), nor those of configuration space. It ends at the latest after
    /// the completion timeout. reset(), detach() and this function end it at once. A read without
    /// completion returns all ones.
    virtual void await_accesses(access_waiter* /*waiter*/) {}

    /// False: the range is empty, wraps around or overlaps a mapped one.
    virtual bool map_host(const host_range& range) = 0;
    /// Unmaps all ranges inside [iova, iova + size) and calls `forgotten` for each. False, without
    /// effect, if a range is only partly inside.
    virtual bool unmap_host(std::uint64_t iova, std::uint64_t size,
                            const std::function<void(const host_range&)>& forgotten) = 0;
    /// Sets the watcher of the function's accesses to ranges with bytes; nullptr: none.
    virtual void watch_host_memory(traffic_watcher* watcher) = 0;
    /// Sets the carrier of messages; nullptr fails the outstanding requests.
    virtual void carry_host_messages(host_messages* carrier) = 0;
    /// The RAM of this function's server, which all its functions can share; nullptr: none. It is
    /// not mapped by this call.
    virtual server_memory* memory_of_server() { return nullptr; }
    /// Called when the carrier accepts requests again after a refusal.
    virtual void host_messages_ready() = 0;

    virtual unsigned interrupt_vectors() const = 0;
    /// Sets the handler of an MSI-X vector; an empty function disables the vector.
    virtual void on_interrupt(unsigned vector, std::function<void()> raised) = 0;

    /// Function-level reset; the host's mappings and interrupts are kept.
    virtual void reset() = 0;
    /// The host disconnects: memory space, bus mastering and interrupts are disabled, BARs
    /// unassigned.
    virtual void detach() = 0;
};

/// A server's host, with the functions found by its enumeration at the start of simulation.
class serves_functions {
public:
    struct served {
        const sc_core::sc_object* device;  ///< module of the function
        function_port* port;
        std::uint32_t class_code;  ///< 24 bits: base class, subclass, interface
        std::uint16_t id = 0;      ///< on the host's buses: bus << 8 | device << 3 | function
        std::vector<std::uint16_t> bridges = {};  ///< ids of the ports above, the root port first
        std::uint32_t pci_id = 0;                 ///< 31:16 device, 15:0 vendor
    };
    /// Functions in the order of bus numbers.
    virtual std::vector<served> functions() = 0;
    /// Number of processors of the server: the maximum for a guest.
    virtual unsigned cores() const = 0;

protected:
    ~serves_functions() = default;
};

}  // namespace trn
