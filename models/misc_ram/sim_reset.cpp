// SPDX-License-Identifier: Apache-2.0
#include "models/misc_ram/sim_reset.h"

#include "models/misc_ram/sim_reset_firmware_regs.h"
#include "models/misc_ram/sim_reset_regs.h"

namespace trn {

using host_reg = sim_reset_regs::reg;
using firmware_reg = sim_reset_firmware_regs::reg;

sim_reset::sim_reset(sc_core::sc_module_name name, const config& cfg)
    : sc_module(name),
      host_(sim_reset_regs::table, {.latency = cfg.access_latency}),
      firmware_(sim_reset_firmware_regs::table, {.latency = cfg.access_latency}) {
    host_.on_write(host_reg::request, [this](register_access& a) {
        firmware_.set(firmware_reg::map, a.written);
        host_.set(host_reg::request, a.written != 0 ? a.written : whole_chip);
        set_pending(true);
    });
    firmware_.on_write(firmware_reg::map, [this](register_access& a) {
        if (a.written == 0) set_pending(false);
    });
}

void sim_reset::set_pending(bool pending) {
    firmware_.set(firmware_reg::pending, pending);
    if (!pending) {
        host_.set(host_reg::request, 0);
        firmware_.set(firmware_reg::map, 0);
    }
    request.set(pending);
}

}  // namespace trn
