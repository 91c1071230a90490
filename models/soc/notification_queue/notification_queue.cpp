// SPDX-License-Identifier: Apache-2.0
#include "models/soc/notification_queue/notification_queue.h"

#include <array>
#include <bit>
#include <iterator>

#include "models/misuse_rules.h"
#include "models/soc/notification_queue/notification_queue_regs.h"
#include "platform/framework/kernel/time_value.h"
#include "platform/framework/misuse/misuse.h"

namespace trn {

namespace regs = notification_queue_regs;
using regs::reg;

namespace {

constexpr std::size_t max_waiting = 64;       // capacity of the block's own buffer, for each ring
constexpr std::size_t max_at_once = 0x10000;  // posted by software before the next delivery

}  // namespace

notification_queue::notification_queue(const sc_core::sc_object& owner, sc_core::sc_event& wake,
                                       const sc_core::sc_time& latency, unsigned instances,
                                       std::uint64_t stride)
    : owner_(owner),
      wake_(wake),
      regs_(regs::table,
            {.name = owner.name(), .instances = instances, .stride = stride, .latency = latency}) {
    regs_.on_write(reg::slot_size, [this](register_access& a) { restart(a); });
    regs_.on_write(reg::post, [this](register_access& a) { post_by_register(a); });
}

void notification_queue::restart(register_access& a) {
    drop(a.instance, a.index);
    regs_.set(reg::slot_head, 0, a.index, a.instance);
    // Memory is zero at the start, so valid entries have phase 1.
    regs_.set(regs::slot_head::phase, 1, a.index, a.instance);
    if (a.value != 0 && (!std::has_single_bit(a.value) || a.value < entry_bytes))
        misuse::report(misuse::notification_ring_shape, owner_,
                       "slot " + std::to_string(a.index) + ": size " + std::to_string(a.value));
}

void notification_queue::post_by_register(register_access& a) {
    const notification entry{
        static_cast<notification::kind>(regs::post::type.get(a.written)),
        static_cast<std::uint8_t>(regs::post::source.get(a.written)),
        static_cast<std::uint32_t>(regs_.get(reg::post_payload, 0, a.instance))};
    const auto slot = static_cast<unsigned>(regs::post::slot.get(a.written));
    if (delivering_) {  // the write is an entry of this block itself
        misuse::report(misuse::notification_ring_shape, owner_,
                       "slot " + std::to_string(slot) + ": the ring lies in its own registers");
        return;
    }
    if (post(slot, entry, a.instance) && posted_) posted_();
}

bool notification_queue::post(unsigned slot, const notification& entry, unsigned instance) {
    const std::uint64_t size = regs_.get(reg::slot_size, slot, instance);
    if (size < entry_bytes || !std::has_single_bit(size)) return false;
    ring& slot_ring = rings_.try_emplace(key(slot, instance), wake_).first->second;
    if (slot_ring.waiting.size() >= (slot_ring.pending.is_deferred() ? max_waiting : max_at_once)) {
        regs_.set(reg::slot_lost, regs_.get(reg::slot_lost, slot, instance) + 1, slot, instance);
        misuse::report(misuse::notification_overflow, owner_, "slot " + std::to_string(slot));
        return true;
    }
    const auto now_ns = in_picoseconds(sc_core::sc_time_stamp()) / 1000;
    slot_ring.waiting.push_back({entry, now_ns, trace::current_operation()});
    return true;
}

void notification_queue::deliver(memory_port& memory) {
    for (auto item = rings_.begin(); item != rings_.end();) {
        const bool is_empty =
            deliver(item->second, item->first % slots, item->first / slots, memory);
        item = is_empty ? rings_.erase(item) : std::next(item);
    }
}

/// Writes the ring's entries; false: memory has deferred one.
bool notification_queue::deliver(ring& slot_ring, unsigned slot, unsigned instance,
                                 memory_port& memory) {
    while (!slot_ring.waiting.empty()) {
        const undelivered u = slot_ring.waiting.front();
        const trace::on_behalf_of it(u.operation);
        const std::uint64_t head = regs_.get(reg::slot_head, slot, instance);
        const std::uint64_t base = regs_.get(reg::slot_base_lo, slot, instance) |
                                   regs_.get(reg::slot_base_hi, slot, instance) << 32;
        std::array<std::uint32_t, 4> words{
            static_cast<std::uint32_t>(u.entry.type) | std::uint32_t{u.entry.source} << 8 |
                static_cast<std::uint32_t>(regs::slot_head::phase.get(head)) << 31,
            u.entry.payload, static_cast<std::uint32_t>(u.time_ns),
            static_cast<std::uint32_t>(u.time_ns >> 32)};
        sc_core::sc_time delay;
        const auto reports = misuse::reports();
        delivering_ = true;
        slot_ring.is_restarted = false;
        const auto result =
            memory.access(tlm::TLM_WRITE_COMMAND, base + regs::slot_head::position.get(head),
                          words.data(), entry_bytes, slot_ring.pending, delay);
        delivering_ = false;
        if (result == memory_port::outcome::deferred) return false;
        if (trace::on() && result == memory_port::outcome::done)
            trace::event(owner_.name(), "notification",
                         {{"slot", slot},
                          {"source", u.entry.source},
                          trace::hex("payload", u.entry.payload)});
        if (slot_ring.is_restarted) continue;  // by this write: the ring is in its own registers
        slot_ring.waiting.pop_front();
        if (result == memory_port::outcome::done)
            advance_head(slot, instance);
        else if (misuse::reports() == reports)  // unless another rule has reported the cause
            misuse::report(misuse::notification_ring_shape, owner_,
                           "slot " + std::to_string(slot) + ": no memory at its base");
    }
    return true;
}

void notification_queue::advance_head(unsigned slot, unsigned instance) {
    const std::uint64_t size = regs_.get(reg::slot_size, slot, instance);
    const std::uint64_t head = regs_.get(reg::slot_head, slot, instance);
    const std::uint64_t next = regs::slot_head::position.get(head) + entry_bytes;
    const bool wraps = next >= size;
    regs_.set(regs::slot_head::position, wraps ? 0 : next, slot, instance);
    if (wraps)
        regs_.set(regs::slot_head::phase, regs::slot_head::phase.get(head) ^ 1, slot, instance);
}

void notification_queue::drop(unsigned instance, unsigned slot) {
    const auto found = rings_.find(key(slot, instance));
    if (found == rings_.end()) return;
    found->second.pending.abandon();
    found->second.waiting.clear();
    found->second.is_restarted = true;
}

void notification_queue::reset() {
    for (unsigned i = 0; i < regs_.instances(); ++i) reset(i);
}

void notification_queue::reset(unsigned instance) {
    for (unsigned slot = 0; slot < slots; ++slot) drop(instance, slot);
    regs_.reset(instance);
}

}  // namespace trn
