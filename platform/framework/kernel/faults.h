// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "platform/framework/kernel/fault_arguments.h"

namespace trn {

/// Interface of a module with injectable faults, listed in a table.
class accepts_faults {
public:
    struct fault {
        std::string name;         ///< "hbm_uncorrected"
        std::string description;  ///< what happens, and until when; the arguments are in their rows
        std::vector<fault_argument> arguments;
        std::function<void(const fault_values&)> action;
    };
    virtual std::vector<fault> faults() = 0;
    /// The row of a fault. \throws fault_error with the nearest name
    fault fault_named(std::string_view name);
    /// \throws fault_error for an unknown name, or arguments that the fault does not have
    void inject(std::string_view name, const fault_arguments& given);
    /// Throws what inject() throws before the fault has any effect.
    void check(std::string_view name, const fault_arguments& given);

protected:
    ~accepts_faults() = default;
};

/// A module with faults, and its name.
struct faulty_module {
    std::string name;
    accepts_faults* module;
};

/// The modules with this fault whose names match `pattern` (matches_name()), in the board's order.
/// \throws fault_error when there is none, with the nearest names
std::vector<faulty_module> modules_with_fault(std::string_view pattern, std::string_view fault);

}  // namespace trn
