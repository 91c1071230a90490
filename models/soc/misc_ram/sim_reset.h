// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>
#include <systemc>

#include "platform/framework/registers/register_bank.h"
#include "platform/framework/registers/register_socket.h"
#include "platform/framework/tlm/irq.h"

namespace trn {

/// The reset word of the simulator revisions (contract 2): the host writes a reset map and polls
/// for zero; firmware executes the reset and reports its end (decision 5). A map of 0 resets the
/// whole chip; the host then reads `whole_chip` until the end. Maps written during a reset are
/// requested together after it. Spec: doc/models/soc/misc_ram.md.
class sim_reset : public sc_core::sc_module {
public:
    struct config {
        sc_core::sc_time access_latency{50, sc_core::SC_NS};
    };
    static constexpr std::uint32_t whole_chip =
        0x8000'0000;  ///< must not be all ones (contract 18, pitfall 16)

    register_socket host{"host", host_};
    register_socket firmware{"firmware", firmware_};
    irq_out request{"request"};  ///< high while the host waits for the end
    irq_in power_lost{"power_lost", 1, [this](unsigned, bool level) {
                          if (level) forget();
                      }};

    sim_reset(sc_core::sc_module_name name, const config& cfg);

private:
    void ask(std::uint32_t map, const sc_core::sc_time& delay);
    void finish(const sc_core::sc_time& delay);
    void forget();

    register_bank host_, firmware_;
    std::optional<std::uint32_t> next_;  // map of the requests during the pending one
};

}  // namespace trn
