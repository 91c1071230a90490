// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <tlm_utils/multi_passthrough_initiator_socket.h>

#include <cstdint>
#include <string>
#include <systemc>
#include <tlm>
#include <vector>

#include "platform/framework/tlm/blocking_transport.h"

namespace trn {

/// Decodes addresses to targets: an interconnect, a set of BAR windows, a local bus. Any number of
/// initiators bind `target`; each target binds `initiator`, and map() assigns ranges to it.
/// Addresses outside all ranges, and bursts across the end of a range, return
/// TLM_ADDRESS_ERROR_RESPONSE. A hop adds `hop_latency`.
class router : public sc_core::sc_module, private blocking_transport {
public:
    struct config {
        sc_core::sc_time hop_latency = sc_core::SC_ZERO_TIME;
    };
    struct range {
        std::uint64_t base;         ///< first address, for initiators
        std::uint64_t size;         ///< bytes
        std::uint64_t target_base;  ///< address at the target that corresponds to `base`
        unsigned port;              ///< index of the binding on `initiator`
    };

    checked_target_socket<64, 0> target{"target"};
    tlm_utils::multi_passthrough_initiator_socket<router, 64> initiator{"initiator"};

    router(sc_core::sc_module_name name, const config& cfg);

    /// Maps [base, base + size) to binding `port` at `target_base`. Returns an overlapping range,
    /// or nullptr if the range was added.
    const range* map(const range& added);
    /// The ranges, ascending by address.
    const std::vector<range>& ranges() const { return ranges_; }

private:
    void end_of_elaboration() override;
    const range* decode(std::uint64_t address, std::uint64_t length) const;
    bool find(std::uint64_t address, std::uint64_t length);
    void b_transport(tlm::tlm_generic_payload& payload, sc_core::sc_time& delay) override;
    unsigned transport_dbg(tlm::tlm_generic_payload& payload) override;
    bool get_direct_mem_ptr(tlm::tlm_generic_payload& payload, tlm::tlm_dmi& dmi) override;
    void invalidate_direct_mem_ptr(int port, sc_dt::uint64 first, sc_dt::uint64 last);

    /// The range of the last access. Accesses cluster, so most need nothing else of a router: one
    /// cache line, which counts where thousands of routers take turns.
    struct alignas(64) recent {
        range mapped{};  // initially contains no address
        tlm::tlm_blocking_transport_if<>* target = nullptr;
        sc_core::sc_time latency = {};
    };

    const config cfg_;
    std::vector<range> ranges_;
    recent last_;
    std::vector<tlm::tlm_blocking_transport_if<>*> targets_;  // by port; found once
};

}  // namespace trn
