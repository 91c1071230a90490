// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <bit>
#include <systemc>
#include <tlm>

#include "platform/framework/bridges/forwarding_module.h"

namespace trn {

/// Joins sockets of different widths. The payload is an array of bytes, and BUSWIDTH changes its
/// order on big-endian hosts only (IEEE 1666-2011, clause 14): nothing is converted, calls of both
/// directions pass. socket_binder inserts it.
template <unsigned InWidth, unsigned OutWidth>
class width_adapter final : public forwarding_module<InWidth, OutWidth, 1> {
    static_assert(std::endian::native == std::endian::little);
    using base = forwarding_module<InWidth, OutWidth, 1>;

public:
    explicit width_adapter(const sc_core::sc_module_name& name)
        : base(name, protocol::any, protocol::any) {}

private:
    using payload = tlm::tlm_generic_payload;

    void end_of_elaboration() override { target_ = base::out.operator->(); }
    void b_transport(payload& request, sc_core::sc_time& delay) override {
        target_->b_transport(request, delay);
    }
    tlm::tlm_sync_enum nb_transport_fw(payload& request, tlm::tlm_phase& phase,
                                       sc_core::sc_time& delay) override {
        return base::out->nb_transport_fw(request, phase, delay);
    }
    tlm::tlm_sync_enum nb_transport_bw(payload& response, tlm::tlm_phase& phase,
                                       sc_core::sc_time& delay) override {
        return base::in->nb_transport_bw(response, phase, delay);
    }

    tlm::tlm_fw_transport_if<>* target_ = nullptr;
};

}  // namespace trn
