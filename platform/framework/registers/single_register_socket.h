// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <fmt/format.h>

#include <systemc>
#include <tlm>

#include "platform/framework/misuse/misuse.h"
#include "platform/framework/registers/misuse_rules.h"
#include "platform/framework/registers/register_bank.h"
#include "platform/framework/registers/register_socket.h"

namespace trn {

/// A register bank as a TLM target that refuses accesses longer than a register.
class single_register_target final : public bank_target {
public:
    explicit single_register_target(register_bank& bank) : bank_target(bank), bank_(bank) {}

    void b_transport(tlm::tlm_generic_payload& payload, sc_core::sc_time& delay) override {
        if (payload.get_data_length() <= bank_.table().width)
            return bank_target::b_transport(payload, delay);
        misuse::report(
            misuse::wrong_width, bank_.name(),
            fmt::format("{} of {} bytes at {} offset {:#x}", payload.is_write() ? "write" : "read",
                        payload.get_data_length(), bank_.table().block, payload.get_address()));
        payload.set_response_status(tlm::TLM_BURST_ERROR_RESPONSE);
    }

private:
    register_bank& bank_;
};

using single_register_socket = implemented_socket<single_register_target>;

}  // namespace trn
