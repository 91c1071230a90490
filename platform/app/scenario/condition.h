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
#include "platform/app/scenario/step_table.h"
#include "platform/app/scenario/world.h"
#include "platform/framework/misuse/initiator.h"
#include "platform/framework/misuse/misuse.h"

namespace trn::scenario {

struct range {
    std::uint64_t least = 0, most = ~std::uint64_t{0};
    std::string text() const;
    bool has(std::uint64_t value) const { return value >= least && value <= most; }
};

/// What a text must have in it: these words, or what a regular expression matches.
struct wanted_text {
    std::string text;
    std::optional<trn::scenario::expression> expression = {};
    std::vector<std::string> names = {};  ///< of what its groups match

    /// Where in `in` it ends; keeps what the groups match. Nothing when it is not there.
    std::optional<std::size_t> find(const std::string& in, world& w) const;
};
/// The text of a key: a regular expression when that is `matches`, else plain words. `names` are
/// for its groups. A mistake is reported at the key.
wanted_text wanted_text_of(const reader& r, std::string_view key, std::string text,
                           std::vector<std::string> names);

/// Something of the platform that a scenario looks at or waits for: a register, a counter, writes
/// of a register, a misuse rule, a line of a console, a function of firmware.
struct condition {
    std::string text;  ///< "downs of wire3 to be 1"
    /// What it looks at begins here: firmware reaches a function from now on.
    std::function<std::unique_ptr<watch>(world&)> begin;
    patience how = {};
    std::vector<misuse::rule> provokes = {};  ///< expects that these rules are broken
};

/// A number of the platform: of a register or field, or a counter of a module.
struct number_source {
    std::optional<std::string> register_name = {}, module = {}, counter = {};
    std::uint32_t index = 0, instance = 0;

    /// The register, as find_register() takes it.
    nlohmann::json named(const std::string& name) const;
};
/// The number that is named, looked up once and then asked for.
using look = std::function<std::function<std::uint64_t()>(world&)>;
look number_at(const number_source& source);

/// A condition as a file writes it.
struct condition_spec : number_source {
    std::optional<std::string> written = {}, misuse = {}, printed = {}, matches = {}, reached = {};
    std::optional<initiator::kind> by = {};
    std::vector<std::string> as = {};
    std::string hart = {};
    std::optional<std::uint64_t> equals = {}, at_least = {}, at_most = {};
    nanoseconds within = {}, every{10'000};

    condition made = {};  ///< of all these
    void finish(const reader& r);
};
keys<condition_spec> condition_keys();

/// Reads a mapping that is a condition; `within`: unless it says so itself.
condition read_condition(const reader& r, nanoseconds within);
/// A console prints it. `module`: "" is the first console.
condition text_condition(const std::string& module, const wanted_text& wanted);

/// Waits for it. \throws step_failure when it has not come in time; the log says who waits for what
void await(world& w, const condition& what);

}  // namespace trn::scenario
