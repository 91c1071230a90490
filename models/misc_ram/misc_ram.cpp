// SPDX-License-Identifier: Apache-2.0
#include "models/misc_ram/misc_ram.h"

#include <utility>

#include "models/misc_ram/misc_ram_regs.h"
#include "platform/kernel/trace.h"
#include "platform/misuse/misuse.h"

namespace trn {

using misc_ram_regs::reg;

misc_ram::misc_ram(sc_core::sc_module_name name, const config& cfg)
    : sc_module(name), regs_(misc_ram_regs::table, {.latency = cfg.access_latency}) {
    in.register_b_transport(this, &misc_ram::host_transport);
    in.register_transport_dbg(this, &misc_ram::transport_dbg);
    firmware.register_b_transport(this, &misc_ram::firmware_transport);
    firmware.register_transport_dbg(this, &misc_ram::transport_dbg);
    define_registers();
}

void misc_ram::define_registers() {
    regs_.on_write(reg::trigger, [this](register_access& a) {
        // Now, not when the access is over: the line has no time of its own.
        const trace::on_behalf_of it(a.value != 0 ? trace::current_or_new_operation()
                                                  : trace::current_operation());
        if (trace::on()) trace::event(this->name(), "trigger", {{"value", a.value}});
        note_trigger(a.value);
        doorbell.set(a.value != 0);
    });
    for (const reg r : {reg::request_0, reg::request_1})
        regs_.on_write(r, [this](register_access&) { note_request(); });
    for (const reg r : {reg::power, reg::health_sequence}) {
        regs_.on_read(r, [this](register_access&) {
            if (!from_firmware_) watched.set(true);
        });
        regs_.on_write(r, [this](register_access&) {
            if (from_firmware_) watched.set(false);
        });
    }
    regs_.on_write(reg::routing_id, [this](register_access&) { booting.set(!ready()); });
}

/// A request is open from the bell after it was written until firmware silences the bell. The bell
/// alone is no request: a reset rings it too.
void misc_ram::note_request() {
    if (from_firmware_) return;
    request_written_ = true;
    if (std::exchange(request_open_, false))
        misuse::report(misuse::mailbox_overrun, *this, "REQUEST_0 or REQUEST_1");
}

void misc_ram::note_trigger(std::uint64_t value) {
    if (value == 0) {
        request_open_ = request_open_ && !from_firmware_;
    } else if (!from_firmware_ && std::exchange(request_written_, false)) {
        request_open_ = true;
    }
}

void misc_ram::power_on() {
    regs_.reset();
    doorbell.set(false);
    watched.set(false);
    booting.set(true);
    request_written_ = request_open_ = false;
}

bool misc_ram::ready() const {
    constexpr std::uint32_t booting = 0xdeadbeef;  // the reset value
    return regs_.get(reg::routing_id) != booting;
}

}  // namespace trn
