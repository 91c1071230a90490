// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <functional>
#include <nlohmann/json.hpp>
#include <string>

#include "platform/framework/attach/control/control.h"
#include "platform/framework/registers/register_bank.h"

namespace trn {

/// The registers of all modules for tools: `list registers`, the method `registers`, and `peek` and
/// `poke` of a register or a field by its name.
void add_register_methods(control& methods);

/// A register or a field, looked up once. Its use is that of all elements of an array.
struct register_handle {
    std::function<std::uint64_t()> value;
    std::function<register_use()> use;
    std::string module, name;  ///< name: "M2S_Q_STATUS", or "M2S_Q_STATUS.ABORTED"
    unsigned width;            ///< bits
    unsigned index, count, instance, instances;
};
/// `named`: the parameters of `peek` with a register. \throws rpc::error
register_handle find_register(const nlohmann::json& named);

/// Every register of the module's banks, as `inspect` shows them; an empty array when it has none.
nlohmann::json registers_of(const std::string& module);

}  // namespace trn
