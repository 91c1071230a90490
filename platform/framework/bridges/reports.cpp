// SPDX-License-Identifier: Apache-2.0
#include "platform/framework/bridges/reports.h"

#include <fmt/format.h>

namespace trn::bridge_report {

void initiator_cannot_wait(const std::string& text) {
    SC_REPORT_WARNING(cannot_wait_type, text.c_str());
}

void protocol(const std::string& text) {
    SC_REPORT_WARNING(protocol_type, text.c_str());
}

void wrong_pointer(const sc_core::sc_module& owner, const tlm::tlm_generic_payload& request,
                   const tlm::tlm_dmi& granted) {
    protocol(fmt::format("{}: the target grants a {}pointer to {:#x} - {:#x}, asked for {:#x}",
                         owner.name(), granted.get_dmi_ptr() == nullptr ? "null " : "",
                         granted.get_start_address(), granted.get_end_address(),
                         request.get_address()));
}

void target_error(const std::string& text) {
    SC_REPORT_WARNING(target_error_type, text.c_str());
}

void target_exception(const sc_core::sc_module& owner, const std::string& text,
                      const tlm::tlm_generic_payload& payload) {
    SC_REPORT_ERROR(target_exception_type,
                    fmt::format("{}: the target has thrown an exception: {} ({})", owner.name(),
                                text, describe(payload))
                        .c_str());
}

void binding(const std::string& text) {
    SC_REPORT_ERROR(binding_type, text.c_str());
}

std::string describe(const tlm::tlm_generic_payload& payload) {
    if (!payload.is_read() && !payload.is_write())
        return fmt::format("command without data at {:#x}", payload.get_address());
    return fmt::format("{} of {} bytes at {:#x}", payload.is_read() ? "read" : "write",
                       payload.get_data_length(), payload.get_address());
}

std::string describe(const sc_core::sc_module& owner, const sc_core::sc_report& error,
                     const tlm::tlm_generic_payload& payload) {
    return fmt::format("{}: {}: {} ({})", owner.name(), error.get_msg_type(), error.get_msg(),
                       describe(payload));
}

}  // namespace trn::bridge_report
