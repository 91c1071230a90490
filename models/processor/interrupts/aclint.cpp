// SPDX-License-Identifier: Apache-2.0
#include "models/processor/interrupts/aclint.h"

#include <algorithm>
#include <iterator>

#include "models/processor/interrupts/aclint_regs.h"

namespace trn {

using aclint_regs::reg;

namespace {

constexpr std::uint64_t low_half = 0xffff'ffff;

}  // namespace

aclint::aclint(sc_core::sc_module_name name, const config& cfg)
    : sc_module(name),
      software("software", cfg.harts),
      timer("timer", cfg.harts),
      cfg_(cfg),
      regs_(aclint_regs::table, {.latency = cfg.access_latency}) {
    sc_assert(cfg_.harts <= aclint_regs::table.rows[0].count);

    regs_.on_write(reg::msip, [this](register_access& a) {
        if (a.index < cfg_.harts) software[a.index].set((a.value & 1) != 0, a.delay);
    });
    for (const reg half : {reg::mtimecmp_lo, reg::mtimecmp_hi})
        regs_.on_write(half, [this](register_access& a) {
            if (a.index < cfg_.harts) compare(a.index, a.delay);
            schedule();
        });

    const auto now = [this](const sc_core::sc_time& delay) {
        return mtime(sc_core::sc_time_stamp() + delay);
    };
    regs_.view(reg::mtime_lo, [now](unsigned, unsigned, const sc_core::sc_time& delay) {
        return now(delay) & low_half;
    });
    regs_.view(reg::mtime_hi, [now](unsigned, unsigned, const sc_core::sc_time& delay) {
        return now(delay) >> 32;
    });
    regs_.on_write(reg::mtime_lo, [=, this](register_access& a) {
        set_mtime((now(a.delay) & ~low_half) | (a.written & low_half), a.delay);
    });
    regs_.on_write(reg::mtime_hi, [=, this](register_access& a) {
        set_mtime((now(a.delay) & low_half) | a.written << 32, a.delay);
    });

    SC_HAS_PROCESS(aclint);
    SC_METHOD(expire);
    sensitive << expiry_;
    dont_initialize();
}

std::uint64_t aclint::mtime(sc_core::sc_time time) const {
    auto valid = std::prev(offsets_.end());
    while (valid != offsets_.begin() && valid->since > time) --valid;
    return time.value() / cfg_.tick.value() + valid->value;
}

void aclint::clear() {
    regs_.reset();
    const sc_core::sc_time now = sc_core::sc_time_stamp();
    std::erase_if(offsets_, [&](const offset& each) { return each.since > now; });
    for (auto* lines : {&software, &timer})
        for (irq_out& each : *lines) each.cancel();
    for (irq_out& each : software) each.set(false);
    compare_all(sc_core::SC_ZERO_TIME);
}

/// The value counts from the time of the write on: other harts, and the kernel, may be behind the
/// hart that has made it.
void aclint::set_mtime(std::uint64_t value, const sc_core::sc_time& delay) {
    const sc_core::sc_time now = sc_core::sc_time_stamp(), time = now + delay;
    while (offsets_.size() > 1 && offsets_[1].since <= now) offsets_.erase(offsets_.begin());
    if (offsets_.size() == max_offsets) offsets_.erase(offsets_.begin() + 1);
    const auto place =
        std::ranges::upper_bound(offsets_, time, {}, [](const offset& each) { return each.since; });
    offsets_.insert(place, {time, value - time.value() / cfg_.tick.value()});
    // A line that would rise before that time does so when it is due.
    for (unsigned hart = 0; hart < cfg_.harts; ++hart)
        if (timer[hart].next_level() || time_of(mtimecmp(hart)) >= time) compare(hart, delay);
    schedule();
    for (const auto& written : written_) written();
}

std::uint64_t aclint::mtimecmp(unsigned hart) const {
    return regs_.get(reg::mtimecmp_hi, hart) << 32 | regs_.get(reg::mtimecmp_lo, hart);
}

void aclint::expire() {
    compare_all(sc_core::SC_ZERO_TIME);
    if (std::ranges::find(offsets_, sc_core::sc_time_stamp(), &offset::since) != offsets_.end())
        for (const auto& written : written_) written();
}

/// Computes a hart's output level from registers and time, for an access at the present plus
/// `delay`.
void aclint::compare(unsigned hart, const sc_core::sc_time& delay) {
    timer[hart].set(mtime(sc_core::sc_time_stamp() + delay) >= mtimecmp(hart), delay);
}

void aclint::compare_all(const sc_core::sc_time& delay) {
    for (unsigned hart = 0; hart < cfg_.harts; ++hart) compare(hart, delay);
    schedule();
}

/// Schedules the next rise, or the next write of mtime by a hart that is ahead. A hart's access may
/// be later than that of another hart's line.
void aclint::schedule() {
    const sc_core::sc_time now = sc_core::sc_time_stamp();
    const std::uint64_t counter = mtime(now);
    sc_core::sc_time next = sc_core::sc_max_time();
    for (const offset& each : offsets_)
        if (each.since > now) next = std::min(next, each.since);
    for (unsigned hart = 0; hart < cfg_.harts; ++hart) {
        const std::uint64_t value = mtimecmp(hart);
        if (!timer[hart].next_level() && counter < value) next = std::min(next, time_of(value));
    }
    expiry_.cancel();
    if (next != sc_core::sc_max_time()) expiry_.notify(next - now);
}

/// The time at which mtime reaches `value`; sc_max_time() if it has, or if that is later than the
/// end of simulated time.
sc_core::sc_time aclint::time_of(std::uint64_t value) const {
    const sc_core::sc_time now = sc_core::sc_time_stamp();
    const std::uint64_t tick = cfg_.tick.value();
    for (auto each = offsets_.begin(); each != offsets_.end(); ++each) {
        const auto next = std::next(each);
        const bool is_last = next == offsets_.end();
        if (!is_last && next->since <= now) continue;
        const sc_core::sc_time begin = std::max(each->since, now);
        const std::uint64_t ticks = begin.value() / tick;
        if (ticks + each->value >= value) {
            if (begin > now) return begin;
            continue;
        }
        const std::uint64_t left = value - each->value - ticks;
        if (left >= (sc_core::sc_max_time() - begin).value() / tick) continue;
        const auto reached = sc_core::sc_time::from_value((ticks + left) * tick);
        if (is_last || reached < next->since) return reached;
    }
    return sc_core::sc_max_time();
}

}  // namespace trn
