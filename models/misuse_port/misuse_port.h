// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <systemc>

#include "platform/framework/registers/register_bank.h"
#include "platform/framework/registers/register_socket.h"

namespace trn {

/// Firmware reports mistakes of software that only it can see, such as a wrong CRC; the report
/// carries the firmware's function and line. Spec: doc/models/misuse_port.md.
class misuse_port : public sc_core::sc_module {
public:
    struct config {};

    register_socket in{"in", regs_};

    misuse_port(sc_core::sc_module_name name, const config& cfg);

private:
    void report(std::uint64_t number);

    register_bank regs_;
};

}  // namespace trn
