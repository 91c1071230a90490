// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <vector>

#include "platform/app/scenario/context/scenario_context.h"
#include "platform/app/scenario/context/watch.h"
#include "platform/app/scenario/language/expression.h"
#include "platform/app/scenario/language/parameters.h"
#include "platform/app/scenario/language/step.h"
#include "platform/app/scenario/language/step_table.h"
#include "platform/framework/misuse/initiator.h"

namespace trn::scenario {

/// A text to find: plain text, or a regular expression.
struct wanted_text {
    std::string text;
    std::optional<trn::scenario::expression> expression = {};
    std::vector<std::string> names = {};  ///< of variables that receive the groups' matches

    /// Position after the match in `output`; captures the groups. Nothing without a match.
    std::optional<std::size_t> find(const std::string& output, scenario_context& ctx) const;
};
/// Reads the text of a key: a regular expression for the key `matches`, else plain text. `names`:
/// variables for its groups. Errors are reported at the key.
wanted_text wanted_text_of(const reader& r, std::string_view key, std::string text,
                           std::vector<std::string> names);

/// A condition that a scenario checks or waits for: on a register, a counter, writes of a register,
/// a misuse rule, output of a console, or calls of a firmware function.
struct condition {
    std::string text;  ///< "downs of wire3 to be 1"
    /// Starts the observation: for example, counts calls of a function from now on.
    std::function<std::unique_ptr<watch>(scenario_context&)> begin;
    timeout limit = {};
    std::vector<checked_rule> rules = {};
    /// See action::check; null: nothing to check.
    std::function<void(scenario_context&)> check = {};
};

/// Names a number of the platform: a register or field, or a counter of a module.
struct number_source {
    std::optional<std::string> register_name = {}, module = {}, counter = {};
    std::uint32_t index = 0, instance = 0;

    /// The register in the form that find_register() takes.
    nlohmann::json named(const std::string& name) const;
};
/// Looks up a number of the platform, and returns a function that reads it.
using number_finder = std::function<std::function<std::uint64_t()>(scenario_context&)>;
number_finder number_at(const number_source& source);

/// The keys of a condition in a scenario file.
struct condition_spec : number_source {
    std::optional<std::string> written = {}, misuse = {}, printed = {}, matches = {}, reached = {};
    std::optional<initiator::kind> writer = {};
    std::vector<std::string> captures = {};
    std::string hart = {};
    std::optional<std::uint64_t> equals = {}, at_least = {}, at_most = {};
    nanoseconds within = {}, every{10'000};

    condition made = {};  ///< the condition made from these keys
    void finish(const reader& r);
};
keys<condition_spec> condition_keys();

/// Reads a mapping that is a condition; `within` is the default time limit.
condition read_condition(const reader& r, nanoseconds within);
/// Met when the console `module` prints the text; "": the first console.
condition text_condition(const std::string& module, const wanted_text& wanted);

/// Waits for the condition. \throws step_failure at the time limit
void await(scenario_context& ctx, const condition& awaited);

}  // namespace trn::scenario
