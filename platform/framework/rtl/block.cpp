// SPDX-License-Identifier: Apache-2.0
#include "platform/framework/rtl/block.h"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <span>

#include "platform/framework/kernel/time_value.h"
#include "platform/framework/log.h"
#include "platform/framework/netlist/kinds/model_refusal.h"

namespace trn::rtl {

using sc_core::sc_time;
using sc_core::sc_time_stamp;

namespace {

constexpr std::uint64_t picoseconds = 1'000'000'000'000;
constexpr std::uint64_t first_comparison = 4;         // quiet cycles
constexpr std::uint64_t latest_comparison = 1 << 16;  // interval
constexpr std::uint64_t told_after = 1'000'000;       // quiet cycles

constexpr char stopped_type[] = "/trn/rtl/stopped";
constexpr char hung_type[] = "/trn/rtl/hung";
constexpr char protocol_type[] = "/trn/rtl/protocol";

bool is_same(std::string_view a, std::string_view b) {
    return std::ranges::equal(
        a, b, [](unsigned char x, unsigned char y) { return std::tolower(x) == std::tolower(y); });
}

}  // namespace

block::block(const sc_core::sc_module_name& name, make_design* make, const clocking& settings,
             const wiring& names)
    : sc_module(name), settings_(settings), reset_level_(names.reset_level) {
    require_picoseconds();
    design_ = make({.seed = settings.seed});
    for (const auto& port : design_->ports())
        if (port.is_input) pin(port).set(0);
    clock_ = input(names.clock, 1);
    if (!names.reset.empty()) reset_ = input(names.reset, 1);
    if (!names.busy.empty()) busy_ = output(names.busy, 1);
    SC_HAS_PROCESS(block);
    SC_METHOD(run);
    sensitive << next_edge_;
}

block::~block() = default;

pin block::find(const std::string& name, bool is_input, unsigned bits) {
    const pin found = find_optional(name, is_input);
    if (!found.is_connected()) {
        std::string all;
        for (const auto& port : design_->ports())
            if (port.is_input == is_input) all += (all.empty() ? "" : ", ") + port.name;
        throw model_refusal(*this, fmt::format("the top module has no {} '{}'; it has {}",
                                               is_input ? "input" : "output", name, all));
    }
    if (bits != 0 && found.bits() != bits)
        throw model_refusal(
            *this, fmt::format("the port '{}' of the top module has {} bits instead of {}", name,
                               found.bits(), bits));
    return found;
}

pin block::find_optional(const std::string& name, bool is_input, unsigned most) {
    for (const auto& port : design_->ports()) {
        if (port.is_input != is_input || !is_same(port.name, name)) continue;
        if (most != 0 && port.bits > most)
            throw model_refusal(
                *this, fmt::format("the port '{}' of the top module has {} bits: at most {} are "
                                   "allowed",
                                   name, port.bits, most));
        return pin(port);
    }
    return {};
}

void block::start_of_simulation() {
    end_work();
    reset_.set(reset_level_ ? 1 : 0);
    reset_left_ = std::max<std::uint64_t>(settings_.reset_cycles, 1);
    try {
        evaluate();
    } catch (const design_stopped& why) {
        stop(why.what());
    }
}

void block::change_reset(bool level) {
    if (level) {
        is_reset_asked_ = true;
        if (!is_ticking_) end_work();
    }
    wake(sc_time_stamp());
}

/// At each edge; the first call is that of the initialization phase.
void block::run() {
    if (is_stopped_ || (is_hung_ && !is_reset_asked_)) return;
    is_hung_ = false;
    if (!is_running_) {
        const std::uint64_t next = edge_after(sc_time_stamp());
        if (next == 0 || time_of(next - 1) != sc_time_stamp()) return schedule(next);
        edge_ = next - 1;
    }
    is_running_ = is_ticking_ = true;
    try {
        tick();
    } catch (const design_stopped& why) {
        stop(why.what());
    }
    is_ticking_ = false;
    if (is_reset_asked_) end_work();  // by what an adapter has done
}

void block::tick() {
    ++cycles_;
    const bool is_compared = !busy_.is_connected() && quiet_ >= comparison_;
    if (is_compared) design_->save(before_);
    if ((is_reset_asked_ || reset.level()) && reset_left_ == 0) {
        reset_left_ = std::max<std::uint64_t>(settings_.reset_cycles, 1);
        reset_.set(reset_level_ ? 1 : 0);
    }
    is_reset_asked_ = false;
    const bool is_in_reset = reset_left_ > 0;
    if (!is_in_reset)
        for (adapter* each : adapters_) {
            each->sample();
            if (is_hung()) return;
        }
    clock_.set(1);
    evaluate();
    if (is_in_reset) {
        if (!reset.level() && --reset_left_ == 0) reset_.set(reset_level_ ? 0 : 1);
    } else {
        for (adapter* each : adapters_) each->drive();
    }
    clock_.set(0);
    evaluate();
    for (adapter* each : adapters_) each->settled();
    if (is_hung()) return;
    if (needs_clock(is_compared))
        schedule(edge_ + 1);
    else
        sleep();
}

/// The next edge, unless nothing would change at it.
bool block::needs_clock(bool was_compared) {
    if (!is_quiet()) {
        quiet_ = 0;
        comparison_ = first_comparison;
        return true;
    }
    ++quiet_;
    if (busy_.is_connected()) return quiet_ < 2 || busy_.is_high();
    if (!was_compared) return true;
    design_->save(after_);
    if (before_ == after_) return false;
    comparison_ = quiet_ + std::min(quiet_, latest_comparison);
    if (quiet_ > told_after && !has_told_) {
        has_told_ = true;
        log::info(name(),
                  "the clock has run for {} cycles without an access, and the design's state "
                  "still changes: a busy pin would let it stop (doc/rtl.md)",
                  quiet_);
    }
    return true;
}

bool block::is_quiet() const {
    if (is_reset_asked_ || (reset_left_ > 0 && !reset.level())) return false;
    return std::ranges::all_of(adapters_, [](const adapter* each) { return each->is_idle(); });
}

void block::schedule(std::uint64_t edge) {
    edge_ = edge;
    next_edge_.notify(time_of(edge) - sc_time_stamp());
}

void block::sleep() {
    is_running_ = false;
    quiet_ = 0;
    comparison_ = first_comparison;
    std::optional<sc_time> first;
    for (const adapter* each : adapters_)
        if (const auto due = each->due(); due && (!first || *due < *first)) first = due;
    if (first) wake(*first);
}

void block::wake(const sc_time& time) {
    if (is_running_ || is_stopped_ || !sc_core::sc_is_running()) return;
    schedule(edge_after(std::max(time, sc_time_stamp())));
}

/// Rounded down to picoseconds: edges do not drift.
sc_time block::time_of(std::uint64_t edge) const {
    __extension__ using wide = unsigned __int128;
    return time_of_value(static_cast<std::uint64_t>(wide{edge} * picoseconds / settings_.clock_hz));
}

std::uint64_t block::edge_after(const sc_time& time) const {
    __extension__ using wide = unsigned __int128;
    auto edge =
        static_cast<std::uint64_t>(wide{in_picoseconds(time)} * settings_.clock_hz / picoseconds);
    while (time_of(edge) <= time) ++edge;
    return edge;
}

void block::evaluate() {
    const display_scope texts(
        [](void* owner, std::string_view line) { static_cast<block*>(owner)->show(line); }, this);
    if (!is_trial_) design_->set_time(in_picoseconds(sc_time_stamp()));
    design_->evaluate();
}

void block::show(std::string_view line) const {
    if (!is_trial_) log::info(name(), "{}", line);
}

void block::end_work() {
    for (adapter* each : adapters_) each->reset();
}

bool block::try_out(const std::function<void()>& work) {
    if (is_stopped_) return false;
    design_->save(trial_);
    is_trial_ = true;
    bool is_done = true;
    try {
        if (reset_left_ > 0) {
            for (std::uint64_t n = 0; n < reset_left_; ++n) cycle();
            reset_.set(reset_level_ ? 0 : 1);
        }
        work();
    } catch (const design_stopped&) {
        is_done = false;
    }
    design_->restore(trial_);
    is_trial_ = false;
    return is_done;
}

void block::cycle() {
    clock_.set(1);
    evaluate();
    clock_.set(0);
    evaluate();
}

void block::hang(const std::string& why) {
    is_hung_ = true;
    is_running_ = false;
    end_work();
    SC_REPORT_WARNING(
        hung_type,
        fmt::format("{}: {}: the clock stops, and accesses fail until a reset", name(), why)
            .c_str());
}

void block::stop(const std::string& why) {
    is_stopped_ = true;
    is_running_ = false;
    end_work();
    SC_REPORT_WARNING(
        stopped_type,
        fmt::format("{}: the RTL has stopped: {}: accesses fail from now on", name(), why).c_str());
}

void block::report_protocol(const std::string& text) const {
    SC_REPORT_WARNING(protocol_type, fmt::format("{}: {}", name(), text).c_str());
}

std::optional<std::string> block::describe_wait() const {
    for (const adapter* each : adapters_)
        if (auto text = each->describe_wait()) return text;
    return std::nullopt;
}

void block::publish(statistics& out) const {
    out.count("clock_cycles", cycles_);
}

void block::publish_signals(signal_list& out) const {
    for (const auto& port : design_->ports()) {
        if (port.bits <= 64) {
            out.number("pins." + port.name, port.bits, [port] { return pin(port).get(); });
        } else if (port.bits <= watched_signal::max_width) {
            out.words("pins." + port.name, port.bits, [port](std::span<std::uint32_t> words) {
                pin(port).read({reinterpret_cast<std::uint8_t*>(words.data()), words.size_bytes()});
            });
        }
    }
}

}  // namespace trn::rtl
