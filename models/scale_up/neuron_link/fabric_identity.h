// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <random>
#include <systemc>
#include <tlm>

#include "platform/framework/registers/register_bank.h"

namespace trn {

/// Registers of a chip that partners read by configuration requests, and to which they write
/// notices. Registers: fabric_identity.regs.yaml.
class fabric_identity {
public:
    /// \param own registers of the chip's link: OWN_ID, OWN_SERIAL, OWN_STATE, OWN_DISTANCES \param
    /// raise sets bits of the link's IRQ_STATUS
    fabric_identity(const sc_core::sc_object& owner, unsigned ports, register_bank& own,
                    std::function<void(std::uint64_t)> raise);

    /// Answers a configuration request of the partner at a port.
    void answer(unsigned port, tlm::tlm_generic_payload& payload, sc_core::sc_time& delay);
    /// Answers a read with random data, as a fault.
    void answer_garbage(unsigned port, tlm::tlm_generic_payload& payload, sc_core::sc_time& delay);

private:
    const sc_core::sc_object& owner_;
    register_bank bank_;
    std::unique_ptr<std::mt19937_64> garbage_;
};

}  // namespace trn
