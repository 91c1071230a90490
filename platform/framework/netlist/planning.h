// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <unordered_map>
#include <unordered_set>
#include <vector>

#include "platform/framework/netlist/assembly.h"
#include "platform/framework/netlist/plan.h"

namespace trn {

/// A value that changes with each repetition: a list with one item for each, or a number that
/// grows. Where a key beside it says the stride, that key is `stride`.
struct series {
    config::node value;
    std::vector<config::node> items;  ///< of a list
    config::node stride;

    explicit operator bool() const { return value.exists(); }
    bool is_list() const { return value.is_list(); }
};

/// What both halves of planning share: the plan that grows, and the report of mistakes.
class planning {
public:
    static constexpr std::uint64_t max_modules = 200'000;
    static constexpr std::uint64_t max_bindings = 2'000'000;

    plan result;
    /// A bound was reached and reported: nothing more is added.
    bool full = false;
    /// Mistakes are not reported: this part was read before, and reported them.
    bool quiet = false;

    planning() { result.problems = std::make_unique<diagnostics>(); }

    /// Reports a mistake once, however often the file it stands in is instantiated.
    void report(const config::node& where, mistake code, std::string message,
                std::string suggestion = "");
    void report(const config::node& where, const config::refusal& why) {
        report(where, why.code, why.message, why.suggestion);
    }
    /// How often report() was called.
    std::size_t mistakes() const { return mistakes_; }
    void too_many(const config::node& where, std::string_view what, std::uint64_t most);
    /// Whether `levels` of files in each other are too many, which is then reported.
    bool is_too_deep(std::size_t levels, const config::node& where);

    /// Scalars with their ${...} replaced; nothing after a mistake, which is then reported.
    std::optional<std::string> text(const config::node& value, const variables& known);
    std::optional<std::uint64_t> address(const config::node& value, const variables& known);
    std::optional<std::uint64_t> size(const config::node& value, const variables& known);
    std::optional<std::uint64_t> number(const config::node& value, const variables& known,
                                        std::uint64_t least, std::uint64_t most, mistake outside);

    /// Of instances or repetitions: at least 1, or 0 where a parameter says it, which so switches a
    /// part of the board off.
    std::optional<std::uint64_t> count(const config::node& value, const variables& known,
                                       std::uint64_t most);

    /// `[a, b, ...]` or `{first: a, stride: b}`; nothing after a mistake.
    std::optional<series> read_series(const config::node& value);
    /// What a series of read_series() says the `k`th time.
    std::optional<std::string> nth_text(const series& s, std::uint64_t k, const variables& known);
    /// `base + k * stride`, when it fits 64 bits.
    std::optional<std::uint64_t> nth(const config::node& stride, std::uint64_t base,
                                     std::uint64_t step, std::uint64_t k);

private:
    template <class T>
    std::optional<std::uint64_t> parse(const config::node& value, const variables& known,
                                       config::parsed<T> (*how)(std::string_view));

    std::unordered_set<std::string> reported_;
    std::size_t mistakes_ = 0;
};

/// One file being instantiated.
struct scope {
    const assembly* file = nullptr;
    variables values;
    std::uint32_t container = plan::none;                    ///< none: the board itself
    std::unordered_map<std::string, std::uint32_t> modules;  ///< by local name
    /// Declared modules that have mistakes: that some of them, or their ports, are missing is no
    /// news.
    std::vector<std::string> broken;

    bool is_broken(std::string_view module) const;
};

/// The names to suggest when none of the list fits.
template <class Named>
std::vector<std::string> names_of(const std::vector<Named>& list) {
    std::vector<std::string> names;
    for (const auto& one : list) names.push_back(one.name);
    return names;
}

/// The values that hold inside the `i`th repetition.
variables with_i(const variables& values, bool repeated, std::uint64_t i);

}  // namespace trn
