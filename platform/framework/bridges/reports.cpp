// SPDX-License-Identifier: Apache-2.0
#include "platform/framework/bridges/reports.h"

#include <fmt/format.h>

#include <systemc>

namespace trn::bridge_report {

void initiator_cannot_wait(const std::string& text) {
    SC_REPORT_WARNING(cannot_wait_type, text.c_str());
}

void protocol(const std::string& text) {
    SC_REPORT_WARNING(protocol_type, text.c_str());
}

void binding(const std::string& text) {
    SC_REPORT_ERROR(binding_type, text.c_str());
}

std::string describe(const tlm::tlm_generic_payload& payload) {
    const char* const command = payload.is_read()    ? "read"
                                : payload.is_write() ? "write"
                                                     : "access without data";
    return fmt::format("{} of {} bytes at {:#x}", command, payload.get_data_length(),
                       payload.get_address());
}

}  // namespace trn::bridge_report
