// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <systemc>

#include "platform/framework/tlm/bandwidth_resource.h"
#include "platform/framework/tlm/route.h"

namespace trn::pcie {

/// The lanes of a function's link for its own DMA: a write uses the direction to the host, a read
/// the direction from the host.
struct dma_lanes final : crossing {
    const sc_core::sc_object& owner;
    std::array<bandwidth_resource, 2> directions;  ///< [0]: from the host, [1]: to the host

    dma_lanes(const sc_core::sc_object& module, std::uint64_t bytes_per_second)
        : owner(module),
          directions{bandwidth_resource({bytes_per_second, sc_core::SC_ZERO_TIME}),
                     bandwidth_resource({bytes_per_second, sc_core::SC_ZERO_TIME})} {}
    sc_core::sc_time reserve(tlm::tlm_command command, std::uint64_t, std::uint64_t bytes,
                             const sc_core::sc_time& start) override {
        return directions[command == tlm::TLM_WRITE_COMMAND].reserve(bytes, start);
    }
    void crossed(tlm::tlm_command command, std::uint64_t bytes, const sc_core::sc_time& start,
                 const sc_core::sc_time& until) override {
        const bool write = command == tlm::TLM_WRITE_COMMAND;
        report_transfer(owner.name() + std::string(write ? ".to_host" : ".from_host"), command,
                        bytes, start, until, directions[write].occupancy(bytes));
    }
};

/// The same lanes for requests of other devices: a write comes to the chip, a read leaves it.
struct peer_lanes final : crossing {
    dma_lanes& lanes;

    explicit peer_lanes(dma_lanes& function_lanes) : lanes(function_lanes) {}
    sc_core::sc_time reserve(tlm::tlm_command command, std::uint64_t, std::uint64_t bytes,
                             const sc_core::sc_time& start) override {
        return lanes.directions[command != tlm::TLM_WRITE_COMMAND].reserve(bytes, start);
    }
};

}  // namespace trn::pcie
