// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>

#include "platform/framework/misuse/rule.h"

namespace trn::misuse {

/// An exception to a rule: violations that are expected at a place, for a reason. They are counted
/// apart and have no other effect.
struct allowance {
    static constexpr std::uint64_t any = ~std::uint64_t{0};

    rule broken{};
    /// Modules, with all modules inside them; `*` matches any part of a name between two dots. "":
    /// all modules.
    std::string modules = {};
    std::string function = {}, file = {};  ///< of the software; "": any
    std::uint64_t line = any;              ///< in `file`
    std::uint64_t from_ps = 0, until_ps = any;
    std::uint64_t count = any;
    std::string reason = {};
    std::string place = {};  ///< where the user wrote it: "board.yaml:12:5"

    bool covers(std::string_view module, std::uint64_t now_ps) const;
    bool needs_place() const { return !function.empty() || !file.empty(); }
    /// `software`: "function (path:line)"; `file` may be the end of the path, after a '/'.
    bool covers_place(std::string_view software) const;

    /// "TRN-DMA-004 first-bit-error at chip*.udma*"
    std::string subject() const;
    /// The form of the command line: "rule=TRN-DMA-004,at=chip*.udma*,reason=...".
    std::string text() const;
};

/// Whether `pattern` names the module or a module that contains it.
bool is_at(std::string_view pattern, std::string_view module);

/// Adds an exception for this run. A violation uses the first allowance that covers it and has not
/// reached its count; it is neither logged nor counted by misuse::count() and summary().
void allow(allowance added);
struct used_allowance {
    misuse::allowance allowance;
    std::uint64_t count = 0;  ///< violations that it has allowed
};
/// In the order of allow().
std::span<const used_allowance> allowances();

/// For a report: uses an allowance, if one covers the violation. `place` finds out where the
/// software is, as source_lookup does; it is called at most once, if an allowance needs it.
bool use_allowance(const rule& broken, std::string_view module, std::string (*place)());
void clear_allowed_counts();

}  // namespace trn::misuse
