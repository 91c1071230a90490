// SPDX-License-Identifier: Apache-2.0
#include "models/neighbour_window/neighbour_window.h"

#include <fmt/format.h>

#include "platform/misuse/misuse.h"

namespace trn {

using sc_core::sc_time;

namespace {

/// A chip's own blocks: both dies, without the host's window and the neighbours'.
bool of_the_chip(std::uint64_t address, std::uint64_t length) {
    constexpr std::uint64_t host_window = std::uint64_t{1} << 46, end = std::uint64_t{1} << 48;
    return address < end && length <= end - address && (address & host_window) == 0;
}

}  // namespace

neighbour_window::link::link(std::uint64_t bytes_per_second)
    : directions{bandwidth_resource({bytes_per_second, sc_core::SC_ZERO_TIME}),
                 bandwidth_resource({bytes_per_second, sc_core::SC_ZERO_TIME})} {}

sc_time neighbour_window::link::reserve(tlm::tlm_command command, std::uint64_t,
                                        std::uint64_t bytes, const sc_time& at) {
    return directions[command == tlm::TLM_WRITE_COMMAND].reserve(bytes, at);
}

neighbour_window::neighbour_window(sc_core::sc_module_name name, const config& cfg)
    : sc_module(name), cfg_(cfg), link_(cfg.bytes_per_second) {
    in.register_b_transport(this, &neighbour_window::b_transport);
    in.register_transport_dbg(this, &neighbour_window::transport_dbg);
    in.register_get_direct_mem_ptr(this, &neighbour_window::get_direct_mem_ptr);
    out.register_invalidate_direct_mem_ptr(this, &neighbour_window::invalidate_direct_mem_ptr);
}

bool neighbour_window::leads_somewhere(const tlm::tlm_generic_payload& payload) const {
    return out.size() > 0 && of_the_chip(payload.get_address(), payload.get_data_length());
}

void neighbour_window::b_transport(tlm::tlm_generic_payload& payload, sc_time& delay) {
    if (!leads_somewhere(payload)) {
        misuse::report(out.size() == 0 ? misuse::no_neighbour : misuse::not_of_the_neighbour, *this,
                       fmt::format("{:#x}", payload.get_address()));
        payload.set_response_status(tlm::TLM_ADDRESS_ERROR_RESPONSE);
        return;
    }
    const sc_time now = sc_core::sc_time_stamp();
    const sc_time through = link_.reserve(payload.get_command(), payload.get_address(),
                                          payload.get_data_length(), now + delay);
    if (timing() == timing_mode::contended)
        delay = through - now + cfg_.latency * (payload.is_read() ? 2 : 1);
    out->b_transport(payload, delay);
}

unsigned neighbour_window::transport_dbg(tlm::tlm_generic_payload& payload) {
    return leads_somewhere(payload) ? out->transport_dbg(payload) : 0;
}

bool neighbour_window::get_direct_mem_ptr(tlm::tlm_generic_payload& payload, tlm::tlm_dmi& dmi) {
    if (!leads_somewhere(payload)) {
        dmi.allow_none();
        dmi.set_start_address(payload.get_address());
        dmi.set_end_address(payload.get_address());
        return false;
    }
    route::add(payload, link_);
    const bool granted = out->get_direct_mem_ptr(payload, dmi);
    dmi.set_read_latency(dmi.get_read_latency() + cfg_.latency * 2);
    dmi.set_write_latency(dmi.get_write_latency() + cfg_.latency);
    return granted;
}

void neighbour_window::publish(statistics& to) const {
    to.count("bytes_read", link_.directions[0].bytes());
    to.count("bytes_written", link_.directions[1].bytes());
}

}  // namespace trn
