// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <tlm_utils/simple_initiator_socket.h>
#include <tlm_utils/simple_target_socket.h>

#include <array>
#include <cstdint>
#include <systemc>
#include <tlm>

#include "platform/kernel/introspection.h"
#include "platform/tlm/bandwidth_resource.h"
#include "platform/tlm/route.h"

namespace trn {

/// A chip's window onto the neighbour that one of its SENGs is linked to (PCIE_B0, contract 3.1):
/// an offset in the window is an AXI address of the neighbour. Only the neighbour's own blocks can
/// be reached, never its host or its neighbours. Without a neighbour an access is an error. Spec:
/// doc/models/neighbour_window.md.
class neighbour_window : public sc_core::sc_module, public publishes_statistics {
public:
    struct config {
        std::uint64_t bytes_per_second = 320'000'000'000;  ///< of each direction
        sc_core::sc_time latency{500, sc_core::SC_NS};     ///< of each crossing
    };
    static constexpr std::uint64_t size = std::uint64_t{1} << 50;

    tlm_utils::simple_target_socket<neighbour_window, 64> in{"in"};
    tlm_utils::simple_initiator_socket_optional<neighbour_window, 64> out{"out"};

    neighbour_window(sc_core::sc_module_name name, const config& cfg);

    void publish(statistics& out) const override;

private:
    /// What reads and writes of this chip occupy: the way back, the way there.
    struct link final : crossing {
        std::array<bandwidth_resource, 2> directions;
        explicit link(std::uint64_t bytes_per_second);
        sc_core::sc_time reserve(tlm::tlm_command command, std::uint64_t address,
                                 std::uint64_t bytes, const sc_core::sc_time& at) override;
    };

    void b_transport(tlm::tlm_generic_payload& payload, sc_core::sc_time& delay);
    unsigned transport_dbg(tlm::tlm_generic_payload& payload);
    bool get_direct_mem_ptr(tlm::tlm_generic_payload& payload, tlm::tlm_dmi& dmi);
    void invalidate_direct_mem_ptr(sc_dt::uint64 first, sc_dt::uint64 last) {
        in->invalidate_direct_mem_ptr(first, last);
    }
    bool leads_somewhere(const tlm::tlm_generic_payload& payload) const;

    const config cfg_;
    link link_;
};

}  // namespace trn
