// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstdint>
#include <string_view>
#include <systemc>
#include <tlm>

#include "platform/framework/kernel/trace.h"
#include "platform/framework/tlm/bandwidth_resource.h"
#include "platform/framework/tlm/traffic_watcher.h"

namespace trn {

/// A resource on the path to a memory: a link direction, a memory stack.
class crossing {
public:
    /// Reserves the resource for `bytes` at `address` (in this hop's address space) from `start`
    /// (absolute). Returns when the last byte has left, without latency.
    virtual sc_core::sc_time reserve(tlm::tlm_command command, std::uint64_t address,
                                     std::uint64_t bytes, const sc_core::sc_time& start) = 0;
    /// The next hop accepts the last of the reserved bytes at `taken` (absolute). A hop with a
    /// bounded buffer stays occupied until the rest fits into it.
    virtual void held_until(tlm::tlm_command, const sc_core::sc_time& /*taken*/) {}
    /// Calls reserve() and, while tracing, crossed().
    sc_core::sc_time pass(tlm::tlm_command command, std::uint64_t address, std::uint64_t bytes,
                          const sc_core::sc_time& start) {
        const auto through = reserve(command, address, bytes, start);
        if (trace::on()) crossed(command, bytes, start, through);
        return through;
    }
    /// Traces that an operation's bytes were reserved from `start` and have left at `until`
    /// (absolute). Called only while tracing.
    virtual void crossed(tlm::tlm_command, std::uint64_t /*bytes*/,
                         const sc_core::sc_time& /*start*/, const sc_core::sc_time& /*until*/) {}

protected:
    ~crossing() = default;
    /// Implements crossed(): the bytes occupied `module` for the last `occupancy` before `until`.
    static void report_transfer(std::string_view module, std::string_view name, std::uint64_t bytes,
                                const sc_core::sc_time& start, const sc_core::sc_time& until,
                                const sc_core::sc_time& occupancy) {
        if (trace::current_operation() == 0) return;
        const auto begin = until > start + occupancy ? until - occupancy : start;
        trace::span(module, name, begin, until - begin, {{"bytes", bytes}});
    }
    static void report_transfer(std::string_view module, tlm::tlm_command command,
                                std::uint64_t bytes, const sc_core::sc_time& start,
                                const sc_core::sc_time& until, const sc_core::sc_time& occupancy) {
        report_transfer(module, command == tlm::TLM_WRITE_COMMAND ? "write" : "read", bytes, start,
                        until, occupancy);
    }
};

/// Extension of a DMI request that collects the hops between initiator and memory, so that an
/// initiator that copies through the pointer reserves the same resources as a transaction. A hop
/// with a bandwidth calls add() when it forwards a DMI request; latencies are in the tlm_dmi. A
/// watched memory grants pointers only to initiators that request the route and report their copies
/// to `watcher`.
struct route : tlm::tlm_extension<route> {
    struct hop {
        crossing* resource;
        std::uint64_t address;  ///< of the request, in this hop's address space
    };
    static constexpr unsigned capacity = 24;  // enough for a path across a fabric

    std::array<hop, capacity> hops{};
    unsigned count = 0;
    traffic_watcher* watcher = nullptr;
    std::uint64_t watched_address = 0;  ///< of the request, in the watcher's address space

    /// Called by targets and interconnects: adds `resource` if the initiator requested the route.
    static void add(tlm::tlm_generic_payload& request, crossing& resource) {
        if (auto* mine = request.get_extension<route>(); mine != nullptr && mine->count < capacity)
            mine->hops[mine->count++] = {&resource, request.get_address()};
    }
    tlm::tlm_extension_base* clone() const override { return new route(*this); }
    void copy_from(const tlm::tlm_extension_base& other) override {
        *this = static_cast<const route&>(other);
    }
};

/// The crossing of a bandwidth resource without a buffer.
class bandwidth_crossing final : public crossing {
public:
    /// The trace names `owner`.
    bandwidth_crossing(const sc_core::sc_object& owner, bandwidth_resource& resource)
        : owner_(owner), resource_(resource) {}
    sc_core::sc_time reserve(tlm::tlm_command, std::uint64_t, std::uint64_t bytes,
                             const sc_core::sc_time& start) override {
        return resource_.reserve(bytes, start);
    }
    void crossed(tlm::tlm_command command, std::uint64_t bytes, const sc_core::sc_time& start,
                 const sc_core::sc_time& until) override {
        report_transfer(owner_.name(), command, bytes, start, until, resource_.occupancy(bytes));
    }

private:
    const sc_core::sc_object& owner_;
    bandwidth_resource& resource_;
};

}  // namespace trn
