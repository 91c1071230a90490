// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <stdexcept>
#include <string>
#include <systemc>

namespace trn {

/// Thrown by a model at the start of simulation if its board cannot work, e.g. because of what is
/// bound to the model: an error of the user, which platform reports at the module's place (E54).
class model_refusal : public std::runtime_error {
public:
    model_refusal(const sc_core::sc_object& module, const std::string& why)
        : std::runtime_error(why), module_(module.name()) {}

    const std::string& module() const { return module_; }

private:
    std::string module_;
};

}  // namespace trn
