// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <functional>
#include <nlohmann/json.hpp>
#include <string>

#include "platform/framework/attach/control/control.h"
#include "platform/framework/registers/register_bank.h"

namespace trn {

/// Adds control methods for registers: `list registers`, `registers`, and `peek` and `poke` of a
/// register or a field by name.
void add_register_methods(control& methods);

/// A register or field that was looked up once. Its use counts cover all elements of an array.
struct register_handle {
    std::function<std::uint64_t()> value;
    std::function<register_use()> use;
    std::string module, name;  ///< name: "M2S_Q_STATUS", or "M2S_Q_STATUS.ABORTED"
    unsigned width;            ///< width in bits
    unsigned index, count, instance, instances;
};
/// `named`: parameters of `peek` that name a register. \throws rpc::error
register_handle find_register(const nlohmann::json& named);

/// All registers of the module's banks, as `inspect` shows them; an empty array without banks.
nlohmann::json registers_of(const std::string& module);

}  // namespace trn
