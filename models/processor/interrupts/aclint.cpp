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
        if (a.index < cfg_.harts) software[a.index].set((a.value & 1) != 0);
    });
    for (const reg half : {reg::mtimecmp_lo, reg::mtimecmp_hi})
        regs_.on_write(half, [this](register_access&) { update(); });

    const auto now = [this](const register_access& a) {
        return sc_core::sc_time_stamp() + a.delay;
    };
    regs_.view(reg::mtime_lo,
               [this](auto, auto) { return mtime(sc_core::sc_time_stamp()) & low_half; });
    regs_.view(reg::mtime_hi, [this](auto, auto) { return mtime(sc_core::sc_time_stamp()) >> 32; });
    regs_.on_read(reg::mtime_lo,
                  [=, this](register_access& a) { a.value = mtime(now(a)) & low_half; });
    regs_.on_read(reg::mtime_hi, [=, this](register_access& a) { a.value = mtime(now(a)) >> 32; });
    regs_.on_write(reg::mtime_lo, [=, this](register_access& a) {
        set_mtime((mtime(now(a)) & ~low_half) | (a.written & low_half), now(a));
    });
    regs_.on_write(reg::mtime_hi, [=, this](register_access& a) {
        set_mtime((mtime(now(a)) & low_half) | a.written << 32, now(a));
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
    for (auto& each : software) each.set(false);
    update();
}

void aclint::set_mtime(std::uint64_t value, sc_core::sc_time time) {
    written_at_ = std::max(time, written_at_);
    offset_ += value - mtime(written_at_);
    update();
    for (const auto& written : written_) written();
}

std::uint64_t aclint::mtimecmp(unsigned hart) const {
    return regs_.get(reg::mtimecmp_hi, hart) << 32 | regs_.get(reg::mtimecmp_lo, hart);
}

void aclint::expire() {
    update();
}

/// Computes the output levels from registers and time, and schedules the next change.
void aclint::update() {
    const sc_core::sc_time now = sc_core::sc_time_stamp();
    const std::uint64_t counter = mtime(now);
    std::uint64_t next = ~std::uint64_t{0};
    for (unsigned hart = 0; hart < cfg_.harts; ++hart) {
        const std::uint64_t compare = mtimecmp(hart);
        timer[hart].set(counter >= compare);
        if (counter < compare) next = std::min(next, compare);
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
