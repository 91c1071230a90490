// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstdint>
#include <functional>
#include <map>
#include <span>
#include <systemc>
#include <tlm>

#include "platform/framework/kernel/trace.h"
#include "platform/framework/tlm/memory_port.h"
#include "platform/framework/tlm/pending_access.h"

namespace trn {

/// Writes ring entries to memory at given times; at equal times, in the order of posting. The first
/// eight bytes of an entry are written last, in one access: they contain its phase bit, and
/// software may read the entry at any time.
class host_writer : public sc_core::sc_module {
public:
    static constexpr std::size_t max_bytes = 64;
    /// Called after the write; `written`: memory has accepted all bytes.
    using then = std::function<void(bool written)>;

    SC_HAS_PROCESS(host_writer);
    /// `bus` belongs to the module that owns the writer; that module forwards DMI invalidations.
    host_writer(sc_core::sc_module_name name, tlm::tlm_initiator_socket<64>& bus);

    /// Precondition: `bytes` has at most max_bytes bytes.
    void post(const sc_core::sc_time& time, std::uint64_t address,
              std::span<const std::uint8_t> bytes, then done = {});
    /// Drops all pending writes without calling their functions.
    void abandon();
    /// Drops pending writes that begin in a range of addresses (inclusive), as when their ring is
    /// removed.
    void drop(std::uint64_t first, std::uint64_t last);
    bool idle() const { return writes_.empty(); }
    void invalidate(std::uint64_t first, std::uint64_t last) { memory_.invalidate(first, last); }

private:
    struct write {
        std::uint64_t address = 0;
        std::array<std::uint8_t, max_bytes> bytes{};
        std::uint32_t length = 0;
        bool tail_written = false;  // the bytes from offset 8 on are written
        then done;
        trace::operation cause = 0;
    };

    void run();
    memory_port::outcome put(write& request);
    memory_port::outcome put(std::uint64_t address, std::uint8_t* bytes, std::uint32_t length);

    memory_port memory_;
    std::multimap<sc_core::sc_time, write> writes_;
    sc_core::sc_event due_;
    pending_access pending_{due_};
};

}  // namespace trn
