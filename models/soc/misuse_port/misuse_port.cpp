// SPDX-License-Identifier: Apache-2.0
#include "models/soc/misuse_port/misuse_port.h"

#include <fmt/format.h>

#include "models/misuse_rules.h"
#include "models/soc/misuse_port/misuse_port_regs.h"
#include "platform/framework/misuse/misuse.h"

namespace trn {

using misuse_port_regs::reg;
namespace rule_field = misuse_port_regs::report;

misuse_port::misuse_port(sc_core::sc_module_name name, const config&)
    : sc_module(name), regs_(misuse_port_regs::table) {
    regs_.on_write(reg::report,
                   [this](register_access& a) { report(rule_field::rule.get(a.written)); });
}

void misuse_port::report(std::uint64_t number) {
    const auto detail = fmt::format("{:#010x}", regs_[reg::detail].operator std::uint64_t());
    switch (number) {
    case rule_field::rule_mailbox_bad_crc:
        return misuse::report(misuse::mailbox_bad_crc, *this, detail);
    case rule_field::rule_mailbox_bad_request:
        return misuse::report(misuse::mailbox_bad_request, *this, detail);
    case rule_field::rule_mailbox_unknown_command:
        return misuse::report(misuse::mailbox_unknown_command, *this, detail);
    case rule_field::rule_reset_unknown_request:
        return misuse::report(misuse::reset_unknown_request, *this, detail);
    default:
        break;
    }
}

}  // namespace trn
