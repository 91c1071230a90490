// SPDX-License-Identifier: Apache-2.0
#include "models/soc/finisher/finisher.h"

#include <array>
#include <cstring>

#include "platform/framework/log.h"
#include "platform/framework/tlm/memory.h"

namespace trn {

finisher::finisher(sc_core::sc_module_name name, const config&) : sc_module(name) {
    in.register_b_transport(this, &finisher::b_transport);
    SC_HAS_PROCESS(finisher);
    SC_METHOD(act);
    sensitive << due_;
    dont_initialize();
}

void finisher::b_transport(tlm::tlm_generic_payload& payload, sc_core::sc_time& delay) {
    constexpr std::uint32_t pass = 0x5555, restart = 0x7777, fail = 0x3333, request_mask = 0xffff;
    std::array<std::uint8_t, size> page{};
    copy_payload(payload, page.data(), page.size());
    if (!payload.is_write() || payload.get_address() != 0) return;
    std::uint32_t written = 0;
    std::memcpy(&written, page.data(), sizeof written);
    const std::uint32_t request = written & request_mask;
    if (request != pass && request != fail && request != restart) return;
    next_ = request == restart ? action::reset : action::power_off;
    code_ = request == fail ? static_cast<int>(written >> 16) : 0;
    if (requested_) requested_(next_, code_);
    due_.notify(delay);
}

void finisher::act() {
    if (next_ == action::reset) {
        reset.set(true);
        reset.set(false);
        return;
    }
    if (power_off.bound() && !is_off())
        log::info(name(), "software powered the machine off, code {}", code_);
    power_off.set(true);
}

}  // namespace trn
