// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstdint>
#include <functional>
#include <optional>
#include <systemc>

#include "platform/framework/registers/register_bank.h"
#include "platform/framework/tlm/plug.h"

namespace trn {

/// Configuration requests of firmware to partners, sent by CONFIG_COMMAND to read and write their
/// fabric identity. One at a time per port. Spec: doc/models/scale_up/neuron_link.md.
class configuration_requests {
public:
    static constexpr unsigned ports = 8;

    /// \param regs registers of the link: CONFIG_ADDRESS, CONFIG_DATA, CONFIG_COMMAND \param
    /// timeout time after which a request without an answer fails \param raise sets bits of
    /// IRQ_STATUS
    configuration_requests(register_bank& regs, sc_core::sc_vector<plug>& port,
                           sc_core::sc_time timeout, std::function<void(std::uint64_t)> raise)
        : regs_(regs), port_(port), timeout_(timeout), raise_(std::move(raise)) {}

    /// Handles a write of CONFIG_COMMAND of a port.
    void start(unsigned port, const register_access& access);
    /// Call at each notification of answered().
    void finish();
    void forget() { pending_ = {}; }

    const sc_core::sc_event& answered() const { return answered_; }
    std::uint64_t timeouts() const { return timeouts_; }

private:
    /// A request in progress: when it ends, and its result.
    struct pending {
        sc_core::sc_time end;
        std::uint32_t data;
        std::uint8_t error;
    };

    pending send(unsigned port, std::uint64_t command);
    void schedule();

    register_bank& regs_;
    sc_core::sc_vector<plug>& port_;
    const sc_core::sc_time timeout_;
    const std::function<void(std::uint64_t)> raise_;
    std::array<std::optional<pending>, ports> pending_;
    sc_core::sc_event answered_;
    std::uint64_t timeouts_ = 0;
};

}  // namespace trn
