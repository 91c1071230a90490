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

/// Carries the messages for host memory that a client shares only by messages.
class host_messages {
public:
    /// Receives the bytes read, or nothing when the client refused or disconnected.
    using answer = std::function<void(std::span<const std::uint8_t>)>;

    virtual ~host_messages() = default;
    /// Requests `size` bytes at `iova`; never calls `answered` before it returns. False: too many
    /// requests are outstanding; retry after function_port::host_messages_ready().
    virtual bool read(std::uint64_t iova, std::uint32_t size, answer answered) = 0;
    /// Posts a write. False as for read().
    virtual bool write(std::uint64_t iova, std::span<const std::uint8_t> bytes) = 0;
};

/// The host's view of one PCIe function, used by transports (vfio-user, the in-process host).
/// Synchronous, for the simulation's one thread, between slices or inside a process.
class function_port {
public:
    static constexpr unsigned bar_count = 6;
    static constexpr std::uint32_t config_size = 4096;  ///< bytes

    /// A part of a BAR that is plain memory of a file descriptor.
    struct mappable {
        std::uint64_t offset, size;  ///< in the BAR, bytes, whole pages
    };
    struct bar_info {
        std::uint64_t size = 0;  ///< bytes; 0 = no such BAR
        bool prefetchable = false;
        std::uint64_t bus_address = 0;        ///< for peers of the same server
        int descriptor = -1;                  ///< owned by the function; -1 = nothing can be mapped
        std::uint64_t descriptor_offset = 0;  ///< offset of byte 0 of the BAR in it
        std::vector<mappable> areas = {};     ///< ascending
    };
    /// A range of host memory that the function may reach. `bytes` stays valid until it is
    /// unmapped; without bytes the range is reached by messages.
    struct host_range {
        std::uint64_t iova, size;  ///< bytes
        std::uint8_t* bytes;
        bool readable, writable;  ///< by the function
    };

    virtual ~function_port() = default;

    /// The number of the host that has the function until detach(); 0: not known. A request of a
    /// function to an address that its host has not shared is one to the BAR which the host has
    /// placed there, of another function that it has; not of a host that is not known.
    virtual void join(std::uint64_t /*host*/) {}
    virtual bar_info bar(unsigned index) = 0;
    /// Configuration space as the guest sees it: BAR registers hold what the guest wrote, while
    /// the addresses on our own bus stay. Offsets beyond the space read zero.
    virtual void config_read(std::uint32_t offset, std::span<std::uint8_t> bytes) = 0;
    virtual void config_write(std::uint32_t offset, std::span<const std::uint8_t> bytes) = 0;
    /// Any width and length. `delay` grows by the simulated time of the access. False: no such BAR
    /// or outside it. A function that does not respond (memory space off) reads all-ones.
    virtual bool bar_read(unsigned index, std::uint64_t offset, std::span<std::uint8_t> bytes,
                          sc_core::sc_time& delay) = 0;
    virtual bool bar_write(unsigned index, std::uint64_t offset,
                           std::span<const std::uint8_t> bytes, sc_core::sc_time& delay) = 0;

    /// False when the range is empty, wraps around or overlaps one that is mapped.
    virtual bool map_host(const host_range& range) = 0;
    /// Unmaps every range inside [iova, iova + size) and calls `forgotten` for each. False, without
    /// effect, when a range lies only partly inside.
    virtual bool unmap_host(std::uint64_t iova, std::uint64_t size,
                            const std::function<void(const host_range&)>& forgotten) = 0;
    /// The watcher of the function's reads and writes in ranges that have bytes; nullptr: none.
    virtual void watch_host_memory(traffic_watcher* by) = 0;
    /// The carrier of messages; nullptr fails the outstanding requests.
    virtual void carry_host_messages(host_messages* carrier) = 0;
    /// The RAM of the server that this function is in, which all of its functions can share;
    /// nullptr: none. It is not mapped yet.
    virtual server_memory* memory_of_server() { return nullptr; }
    /// The carrier accepts requests again after a refusal.
    virtual void host_messages_ready() = 0;

    virtual unsigned interrupt_vectors() const = 0;
    /// The handler of an MSI-X vector; an empty function disables the vector.
    virtual void on_interrupt(unsigned vector, std::function<void()> raised) = 0;

    /// Function-level reset; the host's mappings and interrupts stay.
    virtual void reset() = 0;
    /// The host has disconnected: no memory space, bus mastering or interrupts, BARs unassigned.
    virtual void detach() = 0;
};

/// A server's host, with the functions that it found on its buses at the start of simulation.
class serves_functions {
public:
    struct served {
        const sc_core::sc_object* device;  ///< the module of the function
        function_port* port;
        std::uint32_t class_code;  ///< 24 bits: base class, subclass, interface
        std::uint16_t id = 0;      ///< on the host's buses: bus << 8 | device << 3 | function
        std::vector<std::uint16_t> bridges = {};  ///< ids of the ports above, the root port first
        std::uint32_t pci_id = 0;                 ///< 31:16 device, 15:0 vendor
    };
    /// In the order of bus numbers.
    virtual std::vector<served> functions() = 0;
    /// Processors of the server: the limit of a guest's.
    virtual unsigned cores() const = 0;

protected:
    ~serves_functions() = default;
};

}  // namespace trn
