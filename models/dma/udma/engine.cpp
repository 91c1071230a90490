// SPDX-License-Identifier: Apache-2.0
#include "models/dma/udma/engine.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "models/dma/udma/udma_regs.h"

namespace trn {

namespace regs = udma_regs;
using sc_core::sc_time;

const std::string& dma_engine_context::trace_row() {
    if (row.empty())
        row = fmt::format("{}.engine{}", group.owner.name(), group.first_engine + number);
    return row;
}

dma_engine::dma_engine(dma_group& group, unsigned number)
    : context_{.group = group,
               .number = number,
               .abort = [this](dma_side side, unsigned queue) { abort(side, queue); }},
      place_(group.turns.size()),
      mover_(context_),
      generator_(context_) {
    group.turns.emplace_back();
}

dma_queue& dma_engine::queue(unsigned number) {
    if (queues_[number] == nullptr) {
        queues_[number] = std::make_unique<dma_queue>(context_, number);
        used_queues_.insert(first_used(number), queues_[number].get());
    }
    return *queues_[number];
}

// ---- Register accesses

void dma_engine::doorbell(dma_side side, unsigned number, std::uint32_t count,
                          const sc_time& delay) {
    if (count > 0 && queue(number).post(side, count, delay)) decide_due();
}

bool dma_engine::generate(unsigned number, const sc_time& delay) {
    const bool accepted = generator_.start(queue(number), delay);
    if (accepted) decide_due();
    return accepted;
}

void dma_engine::reset_queue(dma_side side, unsigned number) {
    if (queues_[number] == nullptr) return;
    drop(*queues_[number]);
    queues_[number]->reset(side);
    end_abort_event();
    decide_due();
}

void dma_engine::change_state(dma_side side, std::uint64_t written) {
    if (regs::m2s_change_state::abort.get(written) != 0) {
        halted_[side] = true;
        set_abort_event(true);
        for (auto& q : queues_)
            if (q) drop(*q);
    } else if (regs::m2s_change_state::disable.get(written) != 0) {
        disabled_[side] = true;
    } else if (regs::m2s_change_state::normal.get(written) != 0) {
        disabled_[side] = halted_[side] = false;
        for (auto& q : queues_)
            if (q) q->set_aborted(side, false);
    }
    end_abort_event();
    decide_due();
}

void dma_engine::reset() {
    for (auto& q : queues_) {
        if (q == nullptr) continue;
        drop(*q);
        for (const dma_side side : dma_sides) {
            q->reset(side);
            q->damage_next(side, std::nullopt);
        }
    }
    disabled_ = halted_ = {};
    next_queue_ = 0;
    end_abort_event();
    decide_due();
}

void dma_engine::abort(dma_side side, unsigned number) {
    if (trace::on())
        trace::event(context_.trace_row(), "abort", {{"queue", number}, {"side", text(side)}});
    queue(number).set_aborted(side, true);
    drop(queue(number));
    ++aborts_;
    set_abort_event(true);
    decide_due();
}

void dma_engine::set_abort_event(bool begun) {
    context_.group.regs.set(regs::reg::abort_event, begun ? 1 : 0, 0, context_.number);
    context_.group.abort_events_changed();
}

/// The end of all aborts acknowledges them.
void dma_engine::end_abort_event() {
    if (context_.group.regs.get(regs::reg::abort_event, 0, context_.number) == 0) return;
    if (!aborted(dma_side::m2s) && !aborted(dma_side::s2m)) set_abort_event(false);
}

/// Drops work in flight; incomplete descriptors return to their rings.
void dma_engine::drop(dma_queue& q) {
    mover_.drop(q);
    generator_.drop(q);
    if (fetching_ == &q) fetching_ = nullptr;
    q.drop();
}

const dma_ring* dma_engine::ring(dma_side side, unsigned number) const {
    return queues_[number] ? &queues_[number]->ring(side) : nullptr;
}

bool dma_engine::queue_aborted(dma_side side, unsigned number) const {
    return queues_[number] && queues_[number]->is_aborted(side);
}

bool dma_engine::aborted(dma_side side) const {
    return halted_[side] ||
           std::ranges::any_of(queues_, [side](const auto& q) { return q && q->is_aborted(side); });
}

bool dma_engine::busy(dma_side side) const {
    return !generator_.is_idle() || std::ranges::any_of(queues_, [side](const auto& q) {
        return q && q->ring(side).pending() > 0;
    });
}

std::uint64_t dma_engine::owned() const {
    std::uint64_t sum = 0;
    for (const auto& q : queues_)
        if (q && !q->is_aborted())
            for (const dma_side side : dma_sides) sum += q->ring(side).pending();
    return sum;
}

std::optional<std::string> dma_engine::waits_for() const {
    if (auto reason = generator_.waits_for()) return reason;
    for (const auto& q : queues_) {
        if (q == nullptr) continue;
        if (q.get() == fetching_)
            return fmt::format("{}: no response of {} ring memory", q->describe(),
                               text(*q->fetching()));
        if (auto reason = mover_.waits_for(*q)) return reason;
        const auto m2s = q->ring(dma_side::m2s).pending(), s2m = q->ring(dma_side::s2m).pending();
        if (q->is_aborted())
            return fmt::format("{}: aborted with {} m2s and {} s2m descriptors left", q->describe(),
                               m2s, s2m);
        if ((m2s > 0 || s2m > 0) && q->is_idle() && !is_runnable(*q))
            return fmt::format("{}: {} m2s and {} s2m descriptors posted", q->describe(), m2s, s2m);
    }
    return std::nullopt;
}

// ---- Scheduling

void dma_engine::step(dma_activation& activation) {
    for (dma_queue* q : used_queues_) q->expire_starvation();
    if (!generator_.is_idle()) post_generated(activation);
    do mover_.complete_due(activation);
    while (!activation.spent() && start_next(activation.now));
    decide_due();
}

void dma_engine::decide_due() {
    sc_time due = std::min(mover_.due(), generator_.due());
    const bool waits_for_memory =
        mover_.waits_for_memory() || fetching_ != nullptr || generator_.waits_for_memory();
    const bool may_start = fetching_ == nullptr && !mover_.is_full(), stopped = is_stopped();
    for (dma_queue* q : used_queues_) {
        const bool runnable = !stopped && q->is_runnable();
        if (may_start && runnable)
            due = std::min(due, std::max(q->ready_at(), mover_.next_start()));
        if (const auto timeout = q->update_starvation(stopped)) due = std::min(due, *timeout);
        // The host's doorbell write completes when its work has finished or cannot continue by
        // itself: the other side's ring is empty, or a memory access needs a message to the host.
        if (waits_for_memory || (q->is_idle() && !runnable)) q->release_host();
    }
    turn().due = due;
    turn().waits_for_memory = waits_for_memory;
    if (waits_for_memory || generator_.lacks_room()) generator_.release_hosts();
}

bool dma_engine::is_stopped() const {
    return disabled_[dma_side::m2s] || disabled_[dma_side::s2m] || halted_[dma_side::m2s] ||
           halted_[dma_side::s2m];
}

/// The next queue, round robin, whose start latency has passed.
dma_queue* dma_engine::choose(const sc_time& now) const {
    const std::size_t count = used_queues_.size();
    std::size_t index = 0;
    while (index < count && used_queues_[index]->number() < next_queue_) ++index;
    for (std::size_t n = 0; n < count; ++n, ++index) {
        if (index == count) index = 0;
        dma_queue* q = used_queues_[index];
        if (q->ready_at() <= now && is_runnable(*q)) return q;
    }
    return nullptr;
}

/// The first existing queue with this number or a higher one.
std::vector<dma_queue*>::const_iterator dma_engine::first_used(unsigned number) const {
    return std::ranges::lower_bound(used_queues_, number, {}, &dma_queue::number);
}

/// Starts the next fetch, check or transfer; false: nothing can start now.
bool dma_engine::start_next(const sc_time& now) {
    if (dma_queue* q = fetching_) {
        if (q->resume_fetch() == dma_progress::blocked) return false;
        fetching_ = nullptr;
        return true;
    }
    if (mover_.next_start() > now || mover_.is_full()) return false;
    dma_queue* q = choose(now);
    if (q == nullptr) return false;
    next_queue_ = q->number();
    dma_transfer transfer;
    const bool starts = q->next_transfer(transfer);
    if (q->fetching()) {
        fetching_ = q;
        return false;
    }
    if (starts) {
        if (transfer.ends_packet) next_queue_ = (q->number() + 1) % queues;
        mover_.start(std::move(transfer), now);
    }
    return true;
}

void dma_engine::post_generated(dma_activation& activation) {
    while (auto finished = generator_.step(activation)) {
        const trace::on_behalf_of operation(finished->operation);
        dma_queue& q = finished->queue;
        for (const dma_side side : {dma_side::s2m, dma_side::m2s})
            doorbell(side, q.number(), finished->descriptors[side], sc_core::SC_ZERO_TIME);
        if (finished->started) q.hold_host(std::move(finished->started));
    }
}

}  // namespace trn
