// SPDX-License-Identifier: Apache-2.0
#include "platform/framework/waves/transactions.h"

#include <fmt/format.h>

#include <algorithm>
#include <limits>
#include <utility>

#include "platform/framework/kernel/time_value.h"

namespace trn {

namespace {

constexpr auto never_ends = std::numeric_limits<std::uint64_t>::max();

/// "copy(queue=0,from=0x4000000,bytes=65536,op=2)": one word, for viewers that end a text at white
/// space.
std::string text_of(const trace::record& r) {
    std::string text(r.name);
    char separator = '(';
    const auto add = [&](std::string_view name, const std::string& value) {
        text += separator;
        separator = ',';
        text += fmt::format("{}={}", name, value);
    };
    for (const auto& field : r.values) {
        if (const auto* s = std::get_if<std::string_view>(&field.value))
            add(field.name, std::string(*s));
        else if (const auto* i = std::get_if<std::int64_t>(&field.value))
            add(field.name, std::to_string(*i));
        else if (const auto number = std::get<std::uint64_t>(field.value); field.hex)
            add(field.name, fmt::format("{:#x}", number));
        else
            add(field.name, std::to_string(number));
    }
    if (r.operation != 0) add("op", std::to_string(r.operation));
    if (separator == ',') text += ')';
    std::ranges::replace_if(
        text, [](char c) { return c <= ' ' || c > '~'; }, '_');
    return text;
}

}  // namespace

transactions::transactions(const std::vector<std::string>& modules, unsigned lanes) {
    for (const auto& name : modules) {
        const auto first = modules_.size() * (1 + lanes);
        modules_.emplace(name, module{first, std::vector<std::uint64_t>(lanes)});
    }
    trace::observe(this);
}

transactions::~transactions() {
    trace::observe(nullptr);
}

std::uint32_t transactions::observe(const trace::record& r) {
    using kind = trace::record::kind;
    const auto found = modules_.find(r.module);
    if (found == modules_.end()) return 0;
    auto& m = found->second;
    const auto start = in_picoseconds(r.start);
    switch (r.type) {
    case kind::event:
        put(start, m.first, text_of(r), true);
        return 0;
    case kind::span: {
        const auto end = start + in_picoseconds(r.duration);
        const auto lane = lane_at(m, start, end);
        if (lane == 0 || end == start) return 0;
        put(start, m.first + lane, text_of(r));
        put(end, m.first + lane, {});
        return 0;
    }
    case kind::begin: {
        const auto lane = lane_at(m, start, never_ends);
        if (lane != 0) put(start, m.first + lane, text_of(r));
        return static_cast<std::uint32_t>(lane);
    }
    case kind::end:
        put(start, m.first, text_of(r), true);
        if (r.track == 0) return 0;
        m.free_from[r.track - 1] = start;
        put(start, m.first + r.track, {});
        return 0;
    }
    return 0;
}

/// Number of a lane that is free from `begin` on, counted from 1; 0: none.
std::size_t transactions::lane_at(module& m, std::uint64_t begin, std::uint64_t end) {
    for (std::size_t lane = 0; lane < m.free_from.size(); ++lane) {
        if (m.free_from[lane] > begin) continue;
        m.free_from[lane] = end;
        return lane + 1;
    }
    ++lost_;
    return 0;
}

void transactions::put(std::uint64_t time, std::size_t variable, std::string text, bool is_event) {
    if (waiting_.size() == max_waiting) {
        ++lost_;
        return;
    }
    if (text.size() > max_text) text.replace(max_text - 3, text.npos, "...");
    waiting_.push({time, order_++, variable, std::move(text), is_event});
}

void transactions::take_until(std::uint64_t now, const std::function<void(const change&)>& write) {
    while (!waiting_.empty() && waiting_.top().time <= now) {
        std::map<std::size_t, change> at_once;  // by variable
        const auto time = waiting_.top().time;
        for (; !waiting_.empty() && waiting_.top().time == time; waiting_.pop()) {
            const auto& next = waiting_.top();
            const auto [same, is_first] = at_once.try_emplace(next.variable, next);
            if (is_first) continue;
            if (next.is_event && same->second.text.size() + next.text.size() < max_text)
                same->second.text += ";" + next.text;
            else if (!next.is_event)
                same->second = next;
        }
        for (const auto& [variable, last] : at_once) write(last);
    }
}

}  // namespace trn
