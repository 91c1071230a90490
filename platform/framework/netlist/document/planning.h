// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <concepts>
#include <cstdint>
#include <optional>
#include <string>
#include <unordered_map>
#include <unordered_set>
#include <vector>

#include "platform/framework/netlist/document/assembly.h"
#include "platform/framework/netlist/plan/plan.h"

namespace trn {

/// A value that depends on the repetition: a list with one item each, or a number with an
/// increment. If another key of the entry defines the increment, that key is `stride`.
struct series {
    config::node value;
    std::vector<config::node> items;  ///< of a list
    config::node stride;

    explicit operator bool() const { return value.exists(); }
    bool is_list() const { return value.is_list(); }
};

/// State shared by both planners: the plan under construction, and the report of errors.
class planning {
public:
    static constexpr std::uint64_t max_modules = 200'000;
    static constexpr std::uint64_t max_bindings = 2'000'000;
    static constexpr std::uint64_t max_values = 5'000'000;  ///< of parameters of all assemblies

    plan result;
    /// A limit was exceeded and reported: nothing more is added.
    bool full = false;
    trn::on_origin on_origin = {};  ///< may be empty
    /// The file's own ports are bound outside of the plan.
    bool open = false;
    /// Errors are not reported: this part has been read before.
    bool quiet = false;

    planning() { result.problems = std::make_unique<diagnostics>(); }

    /// Reports an error once, even if its file is instantiated several times.
    void report(const config::node& node, mistake code, std::string message,
                std::string suggestion = "");
    void report(const config::node& node, const config::refusal& why) {
        report(node, why.code, why.message, why.suggestion);
    }
    /// Calls `suggestion` only if the error is kept: to find the nearest of many names takes time.
    void report(const config::node& node, mistake code, std::string message,
                std::invocable auto suggestion) {
        report(node, code, std::move(message), keeps_reports() ? suggestion() : std::string());
    }
    /// Whether report() may have an effect.
    bool keeps_reports() const { return !quiet && !result.problems->is_full(); }
    /// Number of calls of report().
    std::size_t mistakes() const { return mistakes_; }
    /// Reports the origin of a value that is written at `node`, or in no file, to on_origin.
    void note(std::string_view module, std::string_view parameter, parameter_origin origin,
              const config::node& node = {}) const;
    void too_many(const config::node& node, std::string_view noun, std::uint64_t max);
    /// Counts the values of an assembly's parameters; reports too many.
    bool has_room(const config::node& node, std::size_t values);
    /// Whether the nesting of files (`levels`) is too deep; reports it if so.
    bool is_too_deep(std::size_t levels, const config::node& node);

    /// Scalars with each ${...} replaced; nullopt after an error, which is reported.
    std::optional<std::string> text(const config::node& value, const variables& known);
    std::optional<std::uint64_t> address(const config::node& value, const variables& known);
    std::optional<std::uint64_t> size(const config::node& value, const variables& known);
    std::optional<std::uint64_t> number(const config::node& value, const variables& known,
                                        std::uint64_t min, std::uint64_t max, mistake outside);

    /// A number of instances or repetitions: at least 1, or 0 if a parameter sets it to disable a
    /// part of the board.
    std::optional<std::uint64_t> count(const config::node& value, const variables& known,
                                       std::uint64_t max);

    /// Parses `[a, b, ...]` or `{first: a, stride: b}`; nullopt after an error.
    std::optional<series> read_series(const config::node& value);
    /// The value of a series in repetition `k`.
    std::optional<std::string> nth_text(const series& s, std::uint64_t k, const variables& known);
    /// `base + k * stride`; nullopt if it does not fit into 64 bits.
    std::optional<std::uint64_t> nth(const config::node& stride, std::uint64_t base,
                                     std::uint64_t step, std::uint64_t k);

private:
    template <class T>
    std::optional<std::uint64_t> parse(const config::node& value, const variables& known,
                                       config::parsed<T> (*parser)(std::string_view));

    std::unordered_set<std::string> reported_;
    std::size_t mistakes_ = 0;
    std::uint64_t values_ = 0;
};

/// A file that is being instantiated.
struct scope {
    const assembly* file = nullptr;
    variables values;
    std::uint32_t container = plan::none;                    ///< none: the board itself
    std::unordered_map<std::string, std::uint32_t> modules;  ///< by local name
    /// Declared modules with errors: missing modules or ports of these are not reported.
    std::unordered_set<std::string> broken;

    bool is_broken(std::string_view module) const;
};

/// Adds ${i} to the variables of a file while it exists.
class counter {
public:
    counter(variables& values, std::uint64_t i) : values_(values) {
        values_.emplace_back("i", std::to_string(i));
    }
    ~counter() { values_.pop_back(); }
    counter(const counter&) = delete;
    counter& operator=(const counter&) = delete;

private:
    variables& values_;
};

}  // namespace trn
