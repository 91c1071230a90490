// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <vector>

#include "platform/app/scenario/expression.h"
#include "platform/app/scenario/parameters.h"
#include "platform/app/scenario/world.h"
#include "platform/framework/misuse/misuse.h"

namespace trn::scenario {

/// {equals}, or {at_least} and {at_most}.
struct range {
    std::uint64_t least = 0, most = ~std::uint64_t{0};
    std::string text() const;
    bool has(std::uint64_t value) const { return value >= least && value <= most; }
};
range read_range(const reader& r, range otherwise = {});

/// What a text must have in it: these words, or what a regular expression matches.
struct wanted_text {
    std::string text;
    std::optional<trn::scenario::expression> expression = {};
    std::vector<std::string> names = {};  ///< of what its groups match

    /// Where in `in` it ends; keeps what the groups match. Nothing when it is not there.
    std::optional<std::size_t> find(const std::string& in, world& w) const;
};
/// `key`: plain words, or a regular expression; and `as`.
wanted_text read_wanted_text(const reader& r, bool plain, std::string_view key);

/// Something of the platform that a scenario looks at or waits for: a register, a counter, writes
/// of a register, a misuse rule, a line of a console, a function of firmware.
struct condition {
    std::string text;  ///< "downs of wire3 to be 1"
    /// What it looks at begins here: firmware reaches a function from now on.
    std::function<std::unique_ptr<watch>(world&)> begin;
    patience how = {};
    std::vector<misuse::rule> provokes = {};  ///< expects that these rules are broken
};

/// Reads a mapping that is a condition with `within` and `every`.
condition read_condition(const reader& r, std::uint64_t within);
/// The same for `expect_uart`, which calls `printed` `text`.
condition read_text_condition(const reader& r);

/// The register that a mapping names, as find_register() takes it: `key`, `index`, `instance`.
nlohmann::json register_named(const reader& r, std::string_view key);

/// The number that a mapping names, looked up once and then asked for.
using look = std::function<std::function<std::uint64_t()>(world&)>;
look read_number(const reader& r);

/// Waits for it. \throws step_failure when it has not come in time; the log says who waits for what
void await(world& w, const condition& what);

}  // namespace trn::scenario
