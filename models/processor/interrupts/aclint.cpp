// SPDX-License-Identifier: Apache-2.0
#include "models/processor/interrupts/aclint.h"

#include <algorithm>

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

/// Until the time of a write, the counter has the written value: the kernel and other harts are
/// behind the hart that has written it.
std::uint64_t aclint::mtime(sc_core::sc_time time) const {
    return std::max(time, written_at_).value() / cfg_.tick.value() + offset_;
}

void aclint::clear() {
    regs_.reset();
    for (auto* lines : {&software, &timer})
        for (irq_out& each : *lines) each.cancel();
    for (irq_out& each : software) each.set(false);
    compare_all(sc_core::SC_ZERO_TIME);
}

void aclint::set_mtime(std::uint64_t value, const sc_core::sc_time& delay) {
    written_at_ = std::max(sc_core::sc_time_stamp() + delay, written_at_);
    offset_ += value - mtime(written_at_);
    compare_all(delay);
    for (const auto& written : written_) written();
}

std::uint64_t aclint::mtimecmp(unsigned hart) const {
    return regs_.get(reg::mtimecmp_hi, hart) << 32 | regs_.get(reg::mtimecmp_lo, hart);
}

void aclint::expire() {
    compare_all(sc_core::SC_ZERO_TIME);
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

/// Schedules the next rise. A hart's access may be later than that of another hart's line.
void aclint::schedule() {
    const sc_core::sc_time now = sc_core::sc_time_stamp();
    const std::uint64_t counter = mtime(now);
    std::uint64_t next = ~std::uint64_t{0};
    for (unsigned hart = 0; hart < cfg_.harts; ++hart) {
        const std::uint64_t value = mtimecmp(hart);
        if (!timer[hart].next_level() && counter < value) next = std::min(next, value);
    }
    expiry_.cancel();
    if (next == ~std::uint64_t{0}) return;
    if (const sc_core::sc_time deadline = time_of(next); deadline != sc_core::sc_max_time())
        expiry_.notify(deadline - now);
}

/// The time at which mtime reaches `value`; sc_max_time() if that is later than the end of
/// simulated time.
sc_core::sc_time aclint::time_of(std::uint64_t value) const {
    const sc_core::sc_time now = sc_core::sc_time_stamp();
    const std::uint64_t tick = cfg_.tick.value(), elapsed = value - offset_;
    const std::uint64_t last = (sc_core::sc_max_time() - now).value() / tick;
    if (elapsed - now.value() / tick >= last) return sc_core::sc_max_time();
    return sc_core::sc_time::from_value(elapsed * tick);
}

}  // namespace trn
