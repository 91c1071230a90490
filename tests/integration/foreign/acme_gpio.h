// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <tlm_utils/simple_target_socket.h>

#include <cstdint>
#include <systemc>
#include <tlm>

#include "platform/framework/registers/register_bank.h"
#include "tests/integration/foreign/acme_gpio_regs.h"

namespace acme {

/// A register block that was generated from a description, with a socket of 32 bits. It never
/// waits. Its interrupt is level-sensitive.
class gpio : public sc_core::sc_module {
public:
    struct config {};

    tlm_utils::simple_target_socket<gpio, 32> in{"in"};
    sc_core::sc_out<bool> irq{"irq"};

    gpio(sc_core::sc_module_name name, const config&)
        : sc_module(name), regs_(trn::acme_gpio_regs::table) {
        using trn::acme_gpio_regs::reg;
        in.register_b_transport(this, &gpio::b_transport);
        in.register_transport_dbg(this, &gpio::transport_dbg);
        regs_.on_write(reg::out, [this](trn::register_access& a) {
            regs_[reg::changed] = regs_[reg::changed] | (a.value ^ a.old);
            regs_[reg::risen] = regs_[reg::risen] | (a.value & ~a.old);
            update();
        });
        regs_.on_write(reg::changed, [this](trn::register_access&) { update(); });
        regs_.on_write(reg::enable, [this](trn::register_access&) { update(); });
        regs_.on_write(reg::count, [this](trn::register_access& a) {
            regs_[reg::count] = (a.old + a.written) & 0xffff'ffff;
        });
    }

private:
    void b_transport(tlm::tlm_generic_payload& request, sc_core::sc_time& delay) {
        regs_.access(request, delay);
    }
    unsigned transport_dbg(tlm::tlm_generic_payload& request) {
        return regs_.debug_access(request);
    }
    void update() {
        using trn::acme_gpio_regs::reg;
        irq.write((regs_[reg::changed] & regs_[reg::enable]) != 0);
    }

    trn::register_bank regs_;
};

}  // namespace acme
