// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <systemc>

#include "platform/framework/registers/register_bank.h"
#include "platform/framework/registers/register_socket.h"

namespace trn {

/// Through this port, firmware reports misuse that only it can detect, such as a wrong CRC; the
/// report contains the firmware's function and line. Spec: doc/models/soc/misuse_port.md.
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
