// SPDX-License-Identifier: Apache-2.0
#include "models/pcie/root_complex/processor_bus.h"

#include "models/pcie/pcie/payload_form.h"
#include "platform/framework/tlm/refuse_pointer.h"
#include "platform/framework/tlm/shifted.h"

namespace trn::pcie {

processor_bus::processor_bus(host_bus& root, bool reports_errors)
    : root_(root), reports_errors_(reports_errors) {
    bus_.register_b_transport(this, &processor_bus::access);
    bus_.register_transport_dbg(this, &processor_bus::debug_access);
    bus_.register_get_direct_mem_ptr(this, &processor_bus::get_pointer);
    memory_.register_invalidate_direct_mem_ptr(this, &processor_bus::memory_revoked);
}

bool processor_bus::is_configuration(const payload& request) {
    return request.get_address() - window < window_size;
}

/// A request of a processor as a TLP, for the length of one call: bits 27:12 of an address in the
/// window are the function, bits 11:0 the register (table 7-1).
class processor_bus::decoded {
public:
    explicit decoded(payload& request)
        : is_configuration_(processor_bus::is_configuration(request)),
          target_(static_cast<function_id>((request.get_address() - window) >> 12)),
          local_(request, is_configuration_ ? request.get_address() & ~std::uint64_t{0xfff} : 0),
          framed_(request, 0) {
        if (!is_configuration_) return;
        framed_.header.destination = tlp::space::config;
        framed_.header.target = target_;
    }
    bool is_configuration() const { return is_configuration_; }
    tlp& header() { return framed_.header; }

private:
    const bool is_configuration_;
    const function_id target_;
    shifted local_;
    framed framed_;
};

void processor_bus::access(payload& request, sc_core::sc_time& delay) {
    decoded access(request);
    // 7.2.2: a processor's access is one request of one register.
    if (access.is_configuration() && complete_by_form(request, tlp::space::config)) return;
    root_.send(request, access.header(), delay);
    const bool lost = request.get_response_status() == tlm::TLM_ADDRESS_ERROR_RESPONSE;
    if (access.is_configuration() || (lost && !reports_errors_))
        request.set_response_status(tlm::TLM_OK_RESPONSE);
}

unsigned processor_bus::debug_access(payload& request) {
    decoded access(request);
    return root_.peek(request, access.header());
}

bool processor_bus::get_pointer(payload& request, tlm::tlm_dmi& dmi) {
    if (is_configuration(request)) return refuse_pointer(request, dmi);
    const decoded access(request);
    return root_.direct_pointer(request, dmi);
}

void processor_bus::memory_revoked(sc_dt::uint64 first, sc_dt::uint64 last) {
    root_.forget_memory(first, last);
}

}  // namespace trn::pcie
