// SPDX-License-Identifier: Apache-2.0
#include "models/soc/misc_ram/sim_reset.h"

#include <utility>

#include "models/soc/misc_ram/sim_reset_firmware_regs.h"
#include "models/soc/misc_ram/sim_reset_regs.h"

namespace trn {

using host_reg = sim_reset_regs::reg;
using firmware_reg = sim_reset_firmware_regs::reg;

sim_reset::sim_reset(sc_core::sc_module_name name, const config& cfg)
    : sc_module(name),
      host_(sim_reset_regs::table, {.latency = cfg.access_latency}),
      firmware_(sim_reset_firmware_regs::table, {.latency = cfg.access_latency}) {
    host_.on_write(host_reg::request, [this](register_access& a) {
        ask(static_cast<std::uint32_t>(a.written), a.delay);
    });
    firmware_.on_write(firmware_reg::map, [this](register_access& a) {
        if (a.written == 0) finish(a.delay);
    });
}

void sim_reset::ask(std::uint32_t map, const sc_core::sc_time& delay) {
    if (request.next_level()) {  // firmware may already be performing the pending request
        const bool whole = map == 0 || next_ == 0u;
        next_ = whole ? 0 : map | next_.value_or(0);
    } else {
        firmware_.set(firmware_reg::map, map);
        firmware_.set(firmware_reg::pending, 1);
        request.set(true, delay);
    }
    host_.set(host_reg::request, map != 0 ? map : whole_chip);
}

/// Ends the pending request; the next one begins.
void sim_reset::finish(const sc_core::sc_time& delay) {
    const auto next = std::exchange(next_, std::nullopt);
    host_.set(host_reg::request, 0);
    firmware_.set(firmware_reg::map, 0);
    firmware_.set(firmware_reg::pending, 0);
    if (!next) return request.set(false, delay);
    firmware_.set(firmware_reg::map, *next);
    firmware_.set(firmware_reg::pending, 1);
    host_.set(host_reg::request, *next != 0 ? *next : whole_chip);
}

void sim_reset::forget() {
    next_.reset();
    request.cancel();
    finish(sc_core::SC_ZERO_TIME);
}

}  // namespace trn
