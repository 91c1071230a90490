// SPDX-License-Identifier: Apache-2.0
#include "models/soc/watchdog/watchdog.h"

#include <algorithm>

#include "models/misuse_rules.h"
#include "models/soc/watchdog/watchdog_regs.h"
#include "platform/framework/misuse/misuse.h"

namespace trn {

using namespace watchdog_regs;
using sc_core::sc_time;
using sc_core::sc_time_stamp;

watchdog::watchdog(sc_core::sc_module_name name, const config& cfg)
    : sc_module(name), cfg_(cfg), regs_(watchdog_regs::table, {.latency = cfg.access_latency}) {
    define_registers();

    SC_HAS_PROCESS(watchdog);
    SC_METHOD(expire);
    sensitive << expired_;
    dont_initialize();
}

void watchdog::define_registers() {
    regs_.on_write(reg::control, [this](register_access& a) { control(a); });
    for (const reg r : {reg::bark_time, reg::bite_time})
        regs_.on_write(r, [this, r](register_access& a) {
            regs_.set(r, a.old);
            if (locked()) return;
            advance(a.delay);
            regs_.set(r, a.value);
            barked_ = barked_ && bark_at() <= paused_at_.value_or(sc_time_stamp() + a.delay);
            schedule();
        });
    regs_.on_write(reg::service, [this](register_access& a) {
        if (a.written == watchdog_regs::service::key_value) service(a.delay);
        if (a.written == watchdog_regs::service::key_sleep) {
            advance(a.delay);
            announced_ = true;
            pause(sc_time_stamp() + a.delay);
        }
    });
    regs_.view(reg::remaining, [this](unsigned, unsigned, const sc_time& delay) {
        return remaining(sc_time_stamp() + delay);
    });
    regs_.on_write(reg::status, [this](register_access& a) {
        advance(a.delay);
        if (status::barked.get(a.written) != 0) regs_.set(status::barked, 0);
        update_bark(a.delay);
    });
}

void watchdog::clear() {
    regs_.reset();
    announced_ = armed_ = barked_ = false;
    paused_at_.reset();
    expired_.cancel();
    bark.cancel();
    bite.cancel();
    update_bark(sc_core::SC_ZERO_TIME);
    bite.set(false);
}

void watchdog::control(register_access& a) {
    using namespace watchdog_regs::control;
    regs_[reg::control] = a.old;
    if (lock.get(a.old) != 0) return;
    advance(a.delay);
    regs_[reg::control] = a.value & (enable.mask() | lock.mask());
    if (enable.get(a.value) != 0 && enable.get(a.old) == 0) {
        served_ = sc_time_stamp() + a.delay;
        barked_ = false;
        bite.set(false, a.delay);
    }
    schedule();
}

void watchdog::service(const sc_time& delay) {
    advance(delay);
    const sc_time now = sc_time_stamp() + delay;
    announced_ = barked_ = false;
    pause(now);
    served_ = now;  // the pending event checks it when it fires
    regs_.set(status::barked, 0);
    update_bark(delay);
    bite.set(false, delay);
    if (!armed_) schedule();
}

/// Begins or ends a pause if needed.
void watchdog::pause(const sc_time& now) {
    const bool wanted = announced_ && !needed.level();
    if (wanted == paused_at_.has_value()) return;
    if (wanted) {
        paused_at_ = now;  // the pending event checks it when it fires
        return;
    }
    if (now > *paused_at_) served_ += now - *paused_at_;
    paused_at_.reset();
    if (!armed_) schedule();
}

sc_time watchdog::after(std::uint64_t microseconds) const {
    return served_ + sc_time(static_cast<double>(microseconds), sc_core::SC_US);
}

sc_time watchdog::bark_at() const {
    return after(regs_[reg::bark_time]);
}

sc_time watchdog::bite_at() const {
    return after(regs_[reg::bite_time]);
}

bool watchdog::enabled() const {
    return watchdog_regs::control::enable.get(regs_[reg::control]) != 0;
}

bool watchdog::locked() const {
    return watchdog_regs::control::lock.get(regs_[reg::control]) != 0;
}

std::uint64_t watchdog::remaining(const sc_time& read_at) const {
    if (!enabled()) return ~0u;
    const sc_time now = paused_at_.value_or(read_at);
    if (now >= bite_at()) return 0;
    return static_cast<std::uint64_t>((bite_at() - now) / sc_time(1, sc_core::SC_US));
}

/// Schedules the bark or the bite, whichever is next; after a bite nothing until a new period.
void watchdog::schedule() {
    expired_.cancel();
    armed_ = enabled() && !paused_at_ && !bite.next_level();
    if (!armed_) return;
    const sc_time now = sc_time_stamp();
    const sc_time next = !barked_ && bark_at() < bite_at() ? bark_at() : bite_at();
    expired_.notify(next > now ? next - now : sc_core::SC_ZERO_TIME);
}

/// Barks and bites as is due before an access at the present plus `delay`, whose initiator may be
/// ahead of the kernel's time.
void watchdog::advance(const sc_time& delay) {
    if (!enabled() || paused_at_ || bite.next_level()) return;
    const sc_time now = sc_time_stamp(), local = now + delay;
    const sc_time bark_time = std::max(bark_at(), now), bite_time = std::max(bite_at(), now);
    if (!barked_ && bark_time < bite_time && bark_time <= local) {
        barked_ = true;
        regs_.set(status::barked, 1);
        update_bark(bark_time - now);
    }
    if (bite_time > local) return;
    misuse::report(misuse::firmware_watchdog_bite, *this, "");
    bite.set(true, bite_time - now);
}

void watchdog::expire() {
    armed_ = false;
    advance(sc_core::SC_ZERO_TIME);
    schedule();
}

void watchdog::update_bark(const sc_time& delay) {
    bark.set(status::barked.get(regs_[reg::status]) != 0, delay);
}

}  // namespace trn
