// SPDX-License-Identifier: Apache-2.0
#include "platform/framework/netlist/document/planning.h"

#include <fmt/format.h>

#include <algorithm>
#include <limits>

#include "platform/framework/netlist/document/bind_line.h"

namespace trn {

void planning::report(const config::node& node, mistake code, std::string message,
                      std::string suggestion) {
    if (quiet) return;
    if (result.problems->is_full()) {
        ++mistakes_;
        return;
    }
    const auto place = node.place();
    ++mistakes_;
    const auto once = fmt::format("{}:{}:{}:{}:{}", node.file(), place.line, place.column,
                                  static_cast<unsigned>(code), message);
    if (reported_.insert(once).second) node.report(code, std::move(message), std::move(suggestion));
}

void planning::note(std::string_view module, std::string_view parameter, parameter_origin origin,
                    const config::node& node) const {
    if (!on_origin) return;
    if (node) {
        origin.file = node.file();
        origin.line = node.place().line;
        origin.column = node.place().column;
    }
    on_origin(fmt::format("{}{}{}", module, module.empty() ? "" : ".", parameter),
              std::move(origin));
}

void planning::too_many(const config::node& node, std::string_view noun, std::uint64_t max) {
    full = true;
    report(node, mistake::too_many_modules, fmt::format("more than {} {}", max, noun));
}

bool planning::has_room(const config::node& node, std::size_t values) {
    values_ += values;
    if (values_ > max_values) too_many(node, "values of parameters", max_values);
    return values_ <= max_values;
}

/// Names, and planning time, grow with each level: a few thousand levels would take a minute.
bool planning::is_too_deep(std::size_t levels, const config::node& node) {
    constexpr std::size_t deepest = 32;
    if (levels <= deepest) return false;
    report(node, mistake::nested_too_deep,
           fmt::format("files nested deeper than {} levels", deepest));
    return true;
}

std::optional<std::string> planning::text(const config::node& value, const variables& known) {
    if (!value.is_scalar()) {
        report(value, mistake::wrong_shape, "a single value was expected");
        return std::nullopt;
    }
    const auto written_out = substitute(value.raw(), known, keeps_reports());
    if (const auto* why = std::get_if<config::refusal>(&written_out)) {
        report(value, *why);
        return std::nullopt;
    }
    return std::get<std::string>(written_out);
}

template <class T>
std::optional<std::uint64_t> planning::parse(const config::node& value, const variables& known,
                                             config::parsed<T> (*parser)(std::string_view)) {
    const auto written = text(value, known);
    if (!written) return std::nullopt;
    const auto parsed = parser(*written);
    if (const auto* why = std::get_if<config::refusal>(&parsed)) {
        report(value, *why);
        return std::nullopt;
    }
    if constexpr (std::is_same_v<T, bytes>)
        return std::get<T>(parsed).value;
    else
        return std::get<T>(parsed);
}

std::optional<std::uint64_t> planning::address(const config::node& value, const variables& known) {
    return parse(value, known, parse_address);
}

std::optional<std::uint64_t> planning::size(const config::node& value, const variables& known) {
    return parse(value, known, config::parse_bytes);
}

std::optional<std::uint64_t> planning::number(const config::node& value, const variables& known,
                                              std::uint64_t min, std::uint64_t max,
                                              mistake outside) {
    const auto number = parse(value, known, config::parse_unsigned);
    if (!number || (*number >= min && *number <= max)) return number;
    report(value, outside, fmt::format("{} is not within {} to {}", *number, min, max));
    return std::nullopt;
}

std::optional<std::uint64_t> planning::count(const config::node& value, const variables& known,
                                             std::uint64_t max) {
    const bool is_parameter = value.raw().find("${") != std::string_view::npos;
    return number(value, known, is_parameter ? 0 : 1, max, mistake::bad_count);
}

std::optional<series> planning::read_series(const config::node& value) {
    if (value.is_list()) return series{value, value.items(), {}};
    if (!value.is_map()) {
        report(value, mistake::wrong_shape,
               "a list, or {first: number, stride: number}, was expected");
        return std::nullopt;
    }
    const auto before = result.problems->list().size();
    value.only({"first", "stride"}, "a series");
    const series grown{value.at("first"), {}, value.at("stride")};
    if (result.problems->list().size() != before) return std::nullopt;
    return grown;
}

std::optional<std::string> planning::nth_text(const series& s, std::uint64_t k,
                                              const variables& known) {
    if (s.is_list()) return text(s.items[k], known);
    const auto base = parse(s.value, known, config::parse_unsigned);
    const auto step = parse(s.stride, known, config::parse_unsigned);
    if (!base || !step) return std::nullopt;
    const auto value = nth(s.stride, *base, *step, k);
    if (!value) return std::nullopt;
    return std::to_string(*value);
}

std::optional<std::uint64_t> planning::nth(const config::node& stride, std::uint64_t base,
                                           std::uint64_t step, std::uint64_t k) {
    if (k == 0 || step <= (std::numeric_limits<std::uint64_t>::max() - base) / k)
        return base + k * step;
    report(stride, mistake::out_of_range, "the repeated value leaves 64 bits");
    return std::nullopt;
}

bool scope::is_broken(std::string_view module) const {
    if (broken.empty()) return false;
    std::string name(module);
    while (!broken.contains(name)) {  // of an instance: without its number
        if (name.empty() || name.back() < '0' || name.back() > '9') return false;
        name.pop_back();
    }
    return true;
}

}  // namespace trn
