// SPDX-License-Identifier: Apache-2.0
#include "models/soc/ram_window/ram_window.h"

#include <algorithm>

#include "platform/framework/tlm/refuse_pointer.h"
#include "platform/framework/tlm/route.h"

namespace trn {

ram_window::ram_window(sc_core::sc_module_name name, const config& cfg)
    : sc_module(name), cfg_(cfg) {
    in.register_b_transport(this, &ram_window::b_transport);
    in.register_transport_dbg(this, &ram_window::transport_dbg);
    in.register_get_direct_mem_ptr(this, &ram_window::get_direct_mem_ptr);
    out.register_invalidate_direct_mem_ptr(this, &ram_window::invalidate);
}

/// Moves the payload to its address behind `out`, if all of it is in the window.
bool ram_window::enter(tlm::tlm_generic_payload& payload) const {
    const std::uint64_t address = payload.get_address();
    if (address >= cfg_.size || payload.get_data_length() > cfg_.size - address) return false;
    payload.set_address(address + cfg_.base);
    return true;
}

void ram_window::b_transport(tlm::tlm_generic_payload& payload, sc_core::sc_time& delay) {
    const std::uint64_t address = payload.get_address();
    if (!enter(payload)) return payload.set_response_status(tlm::TLM_ADDRESS_ERROR_RESPONSE);
    out->b_transport(payload, delay);
    payload.set_address(address);
}

unsigned ram_window::transport_dbg(tlm::tlm_generic_payload& payload) {
    const std::uint64_t address = payload.get_address();
    if (!enter(payload)) return 0;
    const unsigned done = out->transport_dbg(payload);
    payload.set_address(address);
    return done;
}

bool ram_window::get_direct_mem_ptr(tlm::tlm_generic_payload& payload, tlm::tlm_dmi& dmi) {
    const std::uint64_t address = payload.get_address();
    if (address >= cfg_.size || payload.get_extension<route>() != nullptr)
        return refuse_pointer(payload, dmi);
    route way;
    payload.set_address(address + cfg_.base);
    payload.set_extension(&way);
    const bool granted = out->get_direct_mem_ptr(payload, dmi);
    payload.clear_extension(&way);
    payload.set_address(address);

    const std::uint64_t first = std::max<std::uint64_t>(dmi.get_start_address(), cfg_.base);
    const std::uint64_t last =
        std::min<std::uint64_t>(dmi.get_end_address(), cfg_.base + (cfg_.size - 1));
    if (granted) {
        dmi.set_dmi_ptr(dmi.get_dmi_ptr() + (first - dmi.get_start_address()));
        if (way.watcher != nullptr)
            way.watcher->has_written(way.watched_address + first - (address + cfg_.base),
                                     {dmi.get_dmi_ptr(), last - first + 1});
    }
    dmi.set_start_address(first - cfg_.base);
    dmi.set_end_address(last - cfg_.base);
    dmi.set_read_latency(sc_core::SC_ZERO_TIME);
    dmi.set_write_latency(sc_core::SC_ZERO_TIME);
    return granted;
}

void ram_window::invalidate(sc_dt::uint64 first, sc_dt::uint64 last) {
    const std::uint64_t end = cfg_.base + (cfg_.size - 1);
    if (last < cfg_.base || first > end) return;
    in->invalidate_direct_mem_ptr(std::max<std::uint64_t>(first, cfg_.base) - cfg_.base,
                                  std::min<std::uint64_t>(last, end) - cfg_.base);
}

}  // namespace trn
