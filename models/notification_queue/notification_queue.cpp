// SPDX-License-Identifier: Apache-2.0
#include "models/notification_queue/notification_queue.h"

#include <array>
#include <bit>

#include "models/misuse_rules.h"
#include "models/notification_queue/notification_queue_regs.h"
#include "platform/framework/misuse/misuse.h"

namespace trn {

namespace regs = notification_queue_regs;
using regs::reg;

namespace {

constexpr std::size_t max_waiting = 64;  // capacity of the block's own buffer

}  // namespace

notification_queue::notification_queue(const sc_core::sc_object& owner, sc_core::sc_event& wake,
                                       const sc_core::sc_time& latency, unsigned instances,
                                       std::uint64_t stride)
    : owner_(owner),
      regs_(regs::table,
            {.name = owner.name(), .instances = instances, .stride = stride, .latency = latency}),
      pending_(wake) {
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
    if (post(slot, entry, a.instance) && wake_) wake_();
}

bool notification_queue::post(unsigned slot, const notification& entry, unsigned instance) {
    const std::uint64_t size = regs_.get(reg::slot_size, slot, instance);
    if (size < entry_bytes || !std::has_single_bit(size)) return false;
    if (waiting_.size() >= max_waiting) {
        regs_.set(reg::slot_lost, regs_.get(reg::slot_lost, slot, instance) + 1, slot, instance);
        misuse::report(misuse::notification_overflow, owner_, "slot " + std::to_string(slot));
        return true;
    }
    const auto now_ns = sc_core::sc_time_stamp().value() / 1000;
    waiting_.push_back({instance, slot, entry, now_ns, trace::current_operation()});
    return true;
}

void notification_queue::deliver(memory_port& memory) {
    while (!waiting_.empty()) {
        const undelivered u = waiting_.front();
        const trace::on_behalf_of it(u.of);
        const std::uint64_t head = regs_.get(reg::slot_head, u.slot, u.instance);
        const std::uint64_t base = regs_.get(reg::slot_base_lo, u.slot, u.instance) |
                                   regs_.get(reg::slot_base_hi, u.slot, u.instance) << 32;
        std::array<std::uint32_t, 4> words{
            static_cast<std::uint32_t>(u.entry.type) | std::uint32_t{u.entry.source} << 8 |
                static_cast<std::uint32_t>(regs::slot_head::phase.get(head)) << 31,
            u.entry.payload, static_cast<std::uint32_t>(u.time_ns),
            static_cast<std::uint32_t>(u.time_ns >> 32)};
        sc_core::sc_time delay;
        const auto reports = misuse::reports();
        delivering_ = true;
        const auto result =
            memory.access(tlm::TLM_WRITE_COMMAND, base + regs::slot_head::position.get(head),
                          words.data(), entry_bytes, pending_, delay);
        delivering_ = false;
        if (result == memory_port::outcome::deferred) return;
        if (trace::on() && result == memory_port::outcome::done)
            trace::event(owner_.name(), "notification",
                         {{"slot", u.slot},
                          {"source", u.entry.source},
                          trace::hex("payload", u.entry.payload)});
        // The write may have changed the registers of this very slot, and so emptied the buffer.
        if (waiting_.empty()) break;
        waiting_.pop_front();
        if (result == memory_port::outcome::done)
            advance_head(u);
        else if (misuse::reports() == reports)  // unless another rule has reported the cause
            misuse::report(misuse::notification_ring_shape, owner_,
                           "slot " + std::to_string(u.slot) + ": no memory at its base");
    }
}

void notification_queue::advance_head(const undelivered& u) {
    const std::uint64_t size = regs_.get(reg::slot_size, u.slot, u.instance);
    const std::uint64_t head = regs_.get(reg::slot_head, u.slot, u.instance);
    const std::uint64_t next = regs::slot_head::position.get(head) + entry_bytes;
    const bool wraps = next >= size;
    regs_.set(regs::slot_head::position, wraps ? 0 : next, u.slot, u.instance);
    if (wraps)
        regs_.set(regs::slot_head::phase, regs::slot_head::phase.get(head) ^ 1, u.slot, u.instance);
}

void notification_queue::drop(unsigned instance, unsigned slot) {
    if (waiting_.empty()) return;
    if (waiting_.front().instance == instance && waiting_.front().slot == slot) pending_.abandon();
    std::erase_if(waiting_,
                  [&](const undelivered& u) { return u.instance == instance && u.slot == slot; });
}

void notification_queue::reset() {
    for (unsigned i = 0; i < regs_.instances(); ++i) reset(i);
}

void notification_queue::reset(unsigned instance) {
    for (unsigned slot = 0; slot < slots; ++slot) drop(instance, slot);
    regs_.reset(instance);
}

}  // namespace trn
