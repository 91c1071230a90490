// SPDX-License-Identifier: Apache-2.0
#include "sw-stubs/transports/in_process_hosts.h"

#include <utility>

namespace trn {

std::vector<std::string> in_process_hosts::chips() const {
    std::vector<std::string> names;
    for (const auto& one : functions_) names.push_back(one.name);
    return names;
}

in_process_hosts::host& in_process_hosts::host_of(std::size_t chip) {
    auto& at = hosts_.at(chip);
    if (!at) at = std::make_unique<host>(*functions_[chip].port);
    return *at;
}

void in_process_hosts::start(const std::vector<std::size_t>& which, const crew::work& does) {
    for (const auto chip : which) {
        host& at = host_of(chip);
        ++running_;
        at.cpu.run([this, &at, does, chip] {
            try {
                if (!at.chip) at.chip.emplace(at.cpu.transport());
                does(chip, *at.chip);
            } catch (const sc_core::sc_unwind_exception&) {
                throw;  // the kernel ends the process
            } catch (...) {
                if (!failure_) failure_ = std::current_exception();
            }
            --running_;
        });
    }
}

void in_process_hosts::rethrow() {
    if (const auto failure = std::exchange(failure_, nullptr)) std::rethrow_exception(failure);
}

}  // namespace trn
