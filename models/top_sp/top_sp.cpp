// SPDX-License-Identifier: Apache-2.0
#include "models/top_sp/top_sp.h"

#include "platform/tlm/bandwidth_resource.h"
#include "platform/tlm/memory.h"

namespace trn {

top_sp::top_sp(sc_core::sc_module_name name, const config& cfg)
    : notifying_module(name, cfg.register_latency),
      reset("reset", 1, [this](unsigned, bool level) { reset_changed(level); }),
      cfg_(cfg),
      bytes_(aperture_size),
      semaphores_(*this, cfg.access_latency) {
    aperture.register_b_transport(this, &top_sp::access_aperture);
    aperture.register_transport_dbg(this, &top_sp::peek_aperture);
    aperture.register_get_direct_mem_ptr(this, &top_sp::get_direct_mem_ptr);
    registers.register_b_transport(this, &top_sp::access_registers);
    registers.register_transport_dbg(this, &top_sp::peek_registers);
}

void top_sp::access_aperture(tlm::tlm_generic_payload& payload, sc_core::sc_time& delay) {
    if (payload.get_address() < memory_offset) return semaphores_.access(payload, delay);
    if (copy_payload(payload, bytes_.data(), bytes_.size()) == 0) return;
    payload.set_dmi_allowed(true);
    if (timing() == timing_mode::contended) delay += cfg_.access_latency;
}

unsigned top_sp::peek_aperture(tlm::tlm_generic_payload& payload) {
    return payload.get_address() < memory_offset
               ? semaphores_.debug_access(payload)
               : copy_payload(payload, bytes_.data(), bytes_.size());
}

bool top_sp::get_direct_mem_ptr(tlm::tlm_generic_payload& payload, tlm::tlm_dmi& dmi) {
    if (payload.get_address() < memory_offset) {
        dmi.allow_none();
        dmi.set_start_address(0);
        dmi.set_end_address(memory_offset - 1);
        return false;
    }
    dmi.set_dmi_ptr(bytes_.data() + memory_offset);
    dmi.set_start_address(memory_offset);
    dmi.set_end_address(aperture_size - 1);
    dmi.allow_read_write();
    dmi.set_read_latency(cfg_.access_latency);
    dmi.set_write_latency(cfg_.access_latency);
    return true;
}

void top_sp::access_registers(tlm::tlm_generic_payload& payload, sc_core::sc_time& delay) {
    const std::uint64_t address = payload.get_address();
    if (address < cfg_.notifications_offset) {
        payload.set_response_status(tlm::TLM_ADDRESS_ERROR_RESPONSE);
        return;
    }
    payload.set_address(address - cfg_.notifications_offset);
    notifications_.access(payload, delay);
    payload.set_address(address);
}

unsigned top_sp::peek_registers(tlm::tlm_generic_payload& payload) {
    const std::uint64_t address = payload.get_address();
    if (address < cfg_.notifications_offset) return 0;
    payload.set_address(address - cfg_.notifications_offset);
    const unsigned done = notifications_.debug_access(payload);
    payload.set_address(address);
    return done;
}

/// Contract 5.3: semaphores and events 0, notification queues off. Memory keeps its bytes.
void top_sp::reset_changed(bool level) {
    if (!level) return;
    semaphores_.reset();
    notifications_.reset();
}

}  // namespace trn
