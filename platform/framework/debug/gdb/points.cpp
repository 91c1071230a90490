// SPDX-License-Identifier: Apache-2.0
#include "platform/framework/debug/gdb/points.h"

#include <algorithm>
#include <array>
#include <nlohmann/json.hpp>
#include <span>
#include <string>

namespace trn::gdb {

template <typename Change>
void points::on_harts_of(unsigned process, const Change& change) const {
    for (const auto& h : harts_)
        if (h.process == process) change(*h.target);
}

const std::set<points::breakpoint>& points::breakpoints_of(const debug_hart& hart) const {
    static const std::set<breakpoint> none;
    const auto known = breakpoints_.find(hart.process);
    return known == breakpoints_.end() ? none : known->second;
}

bool points::set(bool insert, unsigned process, const breakpoint& point) {
    auto& known = breakpoints_[process];
    if (insert) {
        if (known.size() >= max_points) return false;
        if (known.insert(point).second)
            on_harts_of(process, [&](debug_target& t) { t.add_breakpoint(point.first); });
    } else if (known.erase(point) != 0) {
        on_harts_of(process, [&](debug_target& t) { t.remove_breakpoint(point.first); });
    }
    return true;
}

bool points::set(bool insert, unsigned process, const watchpoint& point) {
    auto& known = watchpoints_[process];
    const auto same = [&point](const watchpoint& k) {
        return k.type == point.type && k.watched.address == point.watched.address &&
               k.watched.size == point.watched.size;
    };
    const auto found = std::ranges::find_if(known, same);
    if (insert) {
        if (known.size() >= max_points) return false;
        if (found != known.end()) return true;
        known.push_back(point);
        on_harts_of(process, [&](debug_target& t) { t.add_watchpoint(point.watched); });
    } else if (found != known.end()) {
        known.erase(found);
        on_harts_of(process, [&](debug_target& t) { t.remove_watchpoint(point.watched); });
    }
    return true;
}

void points::remove_all(unsigned process) {
    on_harts_of(process, [&](debug_target& t) {
        for (const auto& [address, type] : breakpoints_[process]) t.remove_breakpoint(address);
        for (const auto& w : watchpoints_[process]) t.remove_watchpoint(w.watched);
    });
    breakpoints_.erase(process);
    watchpoints_.erase(process);
}

bool points::is_at(const debug_hart& hart, char type) const {
    const auto pc = hart.target->read_register(debug_target::pc).value_or(0);
    return breakpoints_of(hart).contains({pc, type});
}

const points::watchpoint* points::hit_by(const debug_hart& hart) const {
    const auto known = watchpoints_.find(hart.process);
    if (known == watchpoints_.end()) return nullptr;
    const auto stop = hart.target->last_stop();
    const auto hit = std::ranges::find_if(known->second, [&](const watchpoint& w) {
        return stop.address - w.watched.address < w.watched.size &&
               (stop.on_store ? w.watched.on_store : w.watched.on_load);
    });
    return hit == known->second.end() ? nullptr : &*hit;
}

bool points::explains_stop(const debug_hart& hart) const {
    const auto stop = hart.target->last_stop();
    if (stop.why == debug_target::stop_kind::breakpoint)
        return is_at(hart, '0') || is_at(hart, '1') || is_at(hart, library);
    return stop.why != debug_target::stop_kind::watchpoint || hit_by(hart) != nullptr;
}

bool points::catches_return(const debug_hart& hart) const {
    const auto& known = breakpoints_of(hart);
    if (known.empty()) return false;
    constexpr unsigned ra = debug_target::x0 + 1, sp = debug_target::x0 + 2;
    auto& target = *hart.target;
    std::array<std::uint64_t, 2048> stack;
    const auto size = target.memory().peek(target.read_register(sp).value_or(0),
                                           std::as_writable_bytes(std::span(stack)));
    const auto returns = std::span(stack).first(size / sizeof stack[0]);
    return std::ranges::any_of(known, [&](const breakpoint& b) {
        return target.read_register(ra) == b.first || std::ranges::count(returns, b.first) > 0;
    });
}

bool points::catches_next(const debug_hart& hart) const {
    return std::ranges::any_of(breakpoints_of(hart),
                               [&](const breakpoint& b) { return hart.target->leads_to(b.first); });
}

nlohmann::json points::hand_over() const {
    using nlohmann::json;
    json breakpoints = json::array(), watchpoints = json::array();
    for (const auto& [process, known] : breakpoints_)
        for (const auto& [address, type] : known)
            breakpoints.push_back(
                {{"process", process}, {"address", address}, {"type", std::string(1, type)}});
    for (const auto& [process, known] : watchpoints_)
        for (const auto& w : known)
            watchpoints.push_back({{"process", process},
                                   {"address", w.watched.address},
                                   {"size", w.watched.size},
                                   {"on_load", w.watched.on_load},
                                   {"on_store", w.watched.on_store},
                                   {"type", std::string(1, w.type)}});
    return {{"breakpoints", breakpoints}, {"watchpoints", watchpoints}};
}

void points::take_over(const nlohmann::json& state) {
    const auto type_of = [](const auto& saved) {
        return saved["type"].template get<std::string>().front();
    };
    for (const auto& saved : state["breakpoints"])
        set(true, saved["process"], breakpoint{saved["address"], type_of(saved)});
    for (const auto& saved : state["watchpoints"])
        set(true, saved["process"],
            watchpoint{{saved["address"], saved["size"], saved["on_load"], saved["on_store"]},
                       type_of(saved)});
}

}  // namespace trn::gdb
