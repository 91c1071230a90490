// SPDX-License-Identifier: Apache-2.0
#include "models/misc_ram/misc_ram.h"

#include "models/misc_ram/misc_ram_regs.h"
#include "platform/kernel/trace.h"

namespace trn {

using misc_ram_regs::reg;

misc_ram::misc_ram(sc_core::sc_module_name name, const config& cfg)
    : sc_module(name), regs_(misc_ram_regs::table, {.latency = cfg.access_latency}) {
    for (auto* face : {&in, &firmware}) {
        face->register_b_transport(this, &misc_ram::b_transport);
        face->register_transport_dbg(this, &misc_ram::transport_dbg);
    }
    regs_.on_write(reg::trigger, [this](register_access& a) {
        if (trace::on()) trace::event(this->name(), "trigger", {{"value", a.value}}, a.delay);
        doorbell.set(a.value != 0);
    });
}

void misc_ram::power_on() {
    regs_.reset();
    doorbell.set(false);
}

bool misc_ram::ready() const {
    constexpr std::uint32_t booting = 0xdeadbeef;  // the reset value
    return regs_.get(reg::routing_id) != booting;
}

}  // namespace trn
