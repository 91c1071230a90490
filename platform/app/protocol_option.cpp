// SPDX-License-Identifier: Apache-2.0
#include "platform/app/protocol_option.h"

#include <map>

#include "platform/framework/output.h"
#include "platform/framework/tlm/base_protocol.h"

namespace trn {

void protocol_choice::apply() const {
    using choice = base_protocol::policy;
    static const std::map<std::string, choice> policies{
        {"off", choice::off}, {"log", choice::log}, {"fail", choice::fail}};
    if (!policy.empty()) base_protocol::set_policy(policies.at(policy));
}

void add_protocol_option(cli::command& command, protocol_choice& choice) {
    command
        .add_option("--check-protocol", choice.policy,
                    "check each call between models against TLM-2.0: off, log, or fail (a "
                    "violation fails the run)")
        ->transform(cli::one_of({"off", "log", "fail"}))
        ->envname("TRNVP_CHECK_PROTOCOL");
}

void print_protocol_violations() {
    for (const auto& line : base_protocol::summary()) print_to(stderr, "{}\n", line);
    if (base_protocol::failed())
        print_to(stderr, "a violation of the base protocol failed the run\n");
}

}  // namespace trn
