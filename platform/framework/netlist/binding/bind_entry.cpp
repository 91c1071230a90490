// SPDX-License-Identifier: Apache-2.0
#include "platform/framework/netlist/binding/bind_entry.h"

#include <fmt/format.h>

#include <algorithm>

namespace trn {

namespace {

constexpr std::uint64_t max_first = 1u << 20;

}  // namespace

bool bind_entry::read(const config::node& node) {
    text_ = node;
    if (!node.is_map()) return true;
    const auto before = all_.result.problems->list().size();
    node.only({"bind", "at", "stride", "size", "to", "to_stride", "line", "count", "first", "with"},
              "a bind entry");
    text_ = node.at("bind");
    size_ = node.find("size");
    const auto read_series = [&](series& s, const char* value, const char* stride) {
        s.value = node.find(value);
        if (s.is_list()) s.items = s.value.items();
        if (*stride != 0) s.stride = node.find(stride);
    };
    read_series(at_, "at", "stride");
    read_series(to_, "to", "to_stride");
    read_series(line_, "line", "");
    const auto first = node.find("first"), definitions = node.find("with");
    if (all_.result.problems->list().size() != before) return false;
    if (first) {
        const auto value = all_.number(first, here_.values, 0, max_first, mistake::bad_count);
        if (!value) return false;
        first_ = *value;
    }
    if (definitions && !read_definitions(definitions)) return false;
    const auto count = read_count(node);
    if (!count || !check_keys(node)) return false;
    count_ = *count;
    repeated_ = node.find("count") || first || definitions || at_.is_list() || to_.is_list() ||
                line_.is_list();
    return true;
}

bool bind_entry::read_port(const config::node& text, const config::node& count) {
    text_ = text;
    repeated_ = true;
    const auto times = read_counters(count);
    count_ = times.value_or(0);
    return times.has_value();
}

bool bind_entry::read_definitions(const config::node& definitions) {
    for (const auto& entry : definitions.entries()) {
        const std::string name = entry.key_node.name();
        if (name.empty()) return false;
        if (name == "i" || name == "j" ||
            std::ranges::count(here_.values, name, &variables::value_type::first) > 0) {
            all_.report(entry.key_node, mistake::bad_name,
                        fmt::format("${{{}}} is already defined here", name));
            return false;
        }
        auto values = all_.read_series(entry.value);
        if (!values) return false;
        definitions_.emplace_back(name, std::move(*values));
    }
    return true;
}

/// `count: 18`, or `count: [18, 4]` for two counters.
std::optional<std::uint64_t> bind_entry::read_counters(const config::node& given) {
    const auto number = [&](const config::node& counter) {
        return all_.number(counter, here_.values, 1, planning::max_bindings, mistake::bad_count);
    };
    if (!given.is_list()) return all_.count(given, here_.values, planning::max_bindings);
    const auto counters = given.items();
    if (counters.size() != 2) {
        all_.report(given, mistake::bad_count,
                    "a list has two counts: [count of ${i}, count of ${j}]");
        return std::nullopt;
    }
    const auto outer = number(counters[0]), inner = number(counters[1]);
    if (!outer || !inner) return std::nullopt;
    if (*outer > planning::max_bindings / *inner) {
        all_.too_many(given, "bindings", planning::max_bindings);
        return std::nullopt;
    }
    inner_ = *inner;
    return *outer * *inner;
}

/// `count`, or the length of the lists in the entry; all must agree.
std::optional<std::uint64_t> bind_entry::read_count(const config::node& node) {
    std::optional<std::uint64_t> count;
    if (const auto given = node.find("count")) {
        count = read_counters(given);
        if (!count) return std::nullopt;
    }
    std::vector<const series*> lists{&at_, &to_, &line_};
    for (const auto& [name, values] : definitions_) lists.push_back(&values);
    for (const auto* list : lists) {
        if (!list->is_list()) continue;
        if (!count) count = list->items.size();
        if (list->items.size() == *count && *count > 0) continue;
        if (inner_ != 0 && list->items.size() == *count / inner_) continue;  // one per ${i}
        all_.report(list->value, mistake::bad_count,
                    fmt::format("{} values for {} repetitions", list->items.size(), *count));
        return std::nullopt;
    }
    return count.value_or(1);
}

bool bind_entry::check_keys(const config::node& node) const {
    const auto needs = [&](const config::node& key_value, std::string_view name,
                           const config::node& other, std::string_view other_name) {
        if (!key_value || other) return true;
        all_.report(node, mistake::missing_key,
                    fmt::format("'{}' has no effect without '{}'", name, other_name));
        return false;
    };
    const auto &base = at_.value, &target_base = to_.value;
    return needs(base, "at", size_, "size") && needs(size_, "size", base, "at") &&
           needs(at_.stride, "stride", base, "at") && needs(target_base, "to", base, "at") &&
           needs(to_.stride, "to_stride", target_base, "to");
}

/// Index of the item for repetition `k`: lists have one item per repetition, or one per ${i} of two
/// counters.
std::uint64_t bind_entry::index_in(const series& s, std::uint64_t k) const {
    return s.is_list() ? k * s.items.size() / count_ : k;
}

/// The variables of repetition `k`.
const variables* bind_entry::known_in(std::uint64_t k) {
    if (!repeated_) return &here_.values;
    const std::uint64_t inner = std::max<std::uint64_t>(inner_, 1);
    if (known_.empty()) known_ = here_.values;
    known_.resize(here_.values.size());
    known_.emplace_back("i", std::to_string(first_ + k / inner));
    if (inner_ != 0) known_.emplace_back("j", std::to_string(k % inner));
    for (const auto& [name, values] : definitions_) {
        auto value = all_.nth_text(values, index_in(values, k), known_);
        if (!value) return nullptr;
        known_.emplace_back(name, std::move(*value));
    }
    return &known_;
}

std::optional<std::string> bind_entry::text(std::uint64_t k) {
    const variables* const known = known_in(k);
    return known != nullptr ? all_.text(text_, *known) : std::nullopt;
}

std::optional<bind_entry::repetition> bind_entry::line(std::uint64_t k) {
    const variables* const known = known_in(k);
    const auto words = known != nullptr ? all_.text(text_, *known) : std::nullopt;
    if (!words) return std::nullopt;
    auto parsed = parse_bind_line(*words);
    if (const auto* why = std::get_if<config::refusal>(&parsed)) {
        all_.report(text_, *why);
        return std::nullopt;
    }
    return repetition{known, std::move(std::get<bind_line>(parsed))};
}

bool bind_entry::place(std::uint64_t k, repetition& repetition) const {
    auto& line = repetition.line;
    const variables& known = *repetition.known;
    if (at_) {
        if (line.window) {
            all_.report(text_, mistake::range_expected,
                        "the range is given twice: here and by 'at'");
            return false;
        }
        const auto base = nth(at_, k, known);
        const auto size = all_.size(size_, known);
        const auto target = to_ ? nth(to_, k, known) : 0;
        if (!base || !size || !target) return false;
        line.window = plan::range{*base, *size, *target};
    }
    if (!line_) return true;
    const auto number = nth(line_, k, known);
    if (!number) return false;
    if (!line.target || line.target->index) {
        all_.report(line_.value, mistake::bad_bind_line,
                    "'line' numbers an interrupt input without [..]");
        return false;
    }
    line.target->index = line_.is_list() ? *number : *number + k;
    return true;
}

std::optional<std::uint64_t> bind_entry::nth(const series& s, std::uint64_t k,
                                             const variables& known) const {
    if (s.is_list()) return all_.address(s.items[index_in(s, k)], known);
    const auto base = all_.address(s.value, known);
    if (!base || !s.stride) return base;
    const auto step = all_.address(s.stride, known);
    return step ? all_.nth(s.stride, *base, *step, k) : std::nullopt;
}

}  // namespace trn
