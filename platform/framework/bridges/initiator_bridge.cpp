// SPDX-License-Identifier: Apache-2.0
#include "platform/framework/bridges/initiator_bridge.h"

#include <fmt/format.h>

#include "platform/framework/bridges/reports.h"

namespace trn {

initiator_bridge::initiator_bridge(const sc_core::sc_module_name& name, initiator::kind kind)
    : forwarding_module(name, protocol::base, protocol::restricted), caller_(kind) {
    SC_HAS_PROCESS(initiator_bridge);
    SC_METHOD(serve);
    sensitive << work_;
    dont_initialize();
}

void initiator_bridge::end_of_elaboration() {
    target_ = out.operator->();
    if (in.size() != 0) initiator_ = in.operator->();
}

void initiator_bridge::b_transport(tlm::tlm_generic_payload& payload, sc_core::sc_time& delay) {
    if (!has_data(payload)) return payload.set_response_status(tlm::TLM_GENERIC_ERROR_RESPONSE);
    if (!caller_.has_name()) name_caller();
    threads_.transport(*target_, payload, delay, caller_);
}

tlm::tlm_sync_enum initiator_bridge::nb_transport_fw(tlm::tlm_generic_payload& payload,
                                                     tlm::tlm_phase& phase,
                                                     sc_core::sc_time& delay) {
    if (phase == tlm::BEGIN_REQ && !has_data(payload)) {
        payload.set_response_status(tlm::TLM_GENERIC_ERROR_RESPONSE);
        return tlm::TLM_COMPLETED;
    }
    if (!caller_.has_name()) name_caller();
    return requests_.receive(payload, phase, delay);
}

tlm::tlm_sync_enum initiator_bridge::nb_transport_bw(tlm::tlm_generic_payload& payload,
                                                     tlm::tlm_phase&, sc_core::sc_time&) {
    bridge_report::protocol(
        fmt::format("{}: the target answers a {} by nb_transport_bw, but was called by b_transport",
                    name(), bridge_report::describe(payload)));
    return tlm::TLM_ACCEPTED;
}

unsigned initiator_bridge::transport_dbg(tlm::tlm_generic_payload& payload) {
    return has_data(payload) ? forwarding_module::transport_dbg(payload) : 0;
}

/// Reports a null pointer where there should be data: false.
bool initiator_bridge::has_data(const tlm::tlm_generic_payload& payload) const {
    if (payload.get_data_ptr() != nullptr || payload.get_data_length() == 0 ||
        (!payload.is_read() && !payload.is_write()))
        return true;
    bridge_report::protocol(fmt::format("{}: the initiator sends a {} with a null data pointer",
                                        name(), bridge_report::describe(payload)));
    return false;
}

void initiator_bridge::serve() {
    requests_.serve(*target_, *initiator_, caller_);
}

/// Sockets of the kit do not say to which module they belong, but the process of a call does.
void initiator_bridge::name_caller() {
    const sc_core::sc_process_handle process = sc_core::sc_get_current_process_handle();
    const sc_core::sc_object* const module =
        process.valid() ? process.get_parent_object() : nullptr;
    caller_.set_name(module != nullptr ? module->name() : std::string("an initiator of ") + name());
}

}  // namespace trn
