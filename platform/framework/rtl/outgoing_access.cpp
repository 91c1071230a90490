// SPDX-License-Identifier: Apache-2.0
#include "platform/framework/rtl/outgoing_access.h"

#include "platform/framework/rtl/block.h"
#include "platform/framework/tlm/set_access.h"

namespace trn::rtl {

void outgoing_access::send(tlm::tlm_initiator_socket<64>& socket, tlm::tlm_command command,
                           std::uint64_t address, unsigned streaming_width) {
    set_access(payload_, command, address, bytes.data(), bytes.size());
    payload_.set_streaming_width(streaming_width);
    payload_.set_byte_enable_ptr(enables.empty() ? nullptr : enables.data());
    payload_.set_byte_enable_length(static_cast<unsigned>(enables.size()));
    repeat(socket);
}

void outgoing_access::repeat(tlm::tlm_initiator_socket<64>& socket) {
    payload_.set_response_status(tlm::TLM_INCOMPLETE_RESPONSE);
    payload_.set_dmi_allowed(false);
    payload_.set_extension(&pending_);
    pending_.attempt(payload_);
    sc_core::sc_time delay;
    socket->b_transport(payload_, delay);
    payload_.clear_extension(&pending_);
    is_deferred_ = pending_.is_deferred();
    end_ = sc_core::sc_time_stamp() + delay;
}

memory_answers::memory_answers(block& owner) {
    const auto start_clock = [this, &owner] {
        are_waiting_ = true;
        owner.wake(sc_core::sc_time_stamp());
    };
    sc_core::sc_spawn_options options;
    options.spawn_method();
    options.dont_initialize();
    options.set_sensitivity(&event_);
    sc_core::sc_spawn(start_clock, sc_core::sc_gen_unique_name("memory_answers"), &options);
}

}  // namespace trn::rtl
