// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <functional>
#include <systemc>
#include <tlm>

#include "platform/framework/kernel/power_off.h"
#include "platform/framework/tlm/irq.h"
#include "platform/framework/tlm/target_socket.h"

namespace trn {

/// SiFive's test finisher, through which software powers the machine off or resets it. A write of
/// 0x5555 powers off; `code << 16
/// 0x3333` powers off with an exit status; 0x7777 resets. Reads return 0.
class finisher : public sc_core::sc_module, public reports_power_off {
public:
    struct config {};
    static constexpr std::uint64_t size = 0x1000;  ///< bytes
    enum class action : std::uint8_t { power_off, reset };

    target_socket<finisher> in{"in"};
    irq_out power_off{"power_off"};  ///< stays high after power-off
    irq_out reset{"reset"};          ///< a pulse

    explicit finisher(sc_core::sc_module_name name) : finisher(name, config{}) {}
    finisher(sc_core::sc_module_name name, const config&);

    /// Sets a function that is called at the write, before the lines change.
    void on_request(std::function<void(action action, int code)> requested) {
        requested_ = std::move(requested);
    }
    bool is_off() const override { return power_off.level(); }

private:
    void act();
    void b_transport(tlm::tlm_generic_payload& payload, sc_core::sc_time& delay);

    std::function<void(action, int)> requested_;
    action next_ = action::power_off;
    int code_ = 0;
    sc_core::sc_event due_{"due"};  // the lines change later, between two quanta of the hart
};

}  // namespace trn
