// SPDX-License-Identifier: Apache-2.0
#include "models/soc/semaphores/semaphores.h"

#include <limits>
#include <string>

#include "models/misuse_rules.h"
#include "models/soc/semaphores/semaphores_regs.h"
#include "platform/framework/kernel/trace.h"
#include "platform/framework/misuse/misuse.h"

namespace trn {

namespace regs = semaphores_regs;
using regs::reg;

namespace {

std::int32_t as_signed(std::uint64_t word) {
    return static_cast<std::int32_t>(static_cast<std::uint32_t>(word));
}

semaphores::poster current_poster() {
    return {trace::current_operation(), initiator::current_kind()};
}

}  // namespace

std::string_view semaphores::poster::name() const {
    switch (kind) {
    case initiator::kind::host:
        return "host";
    case initiator::kind::firmware:
        return "firmware";
    case initiator::kind::dma:
        return "dma";
    case initiator::kind::tool:
        return "engine";
    }
    return "engine";
}

semaphores::semaphores(const sc_core::sc_object& owner, const sc_core::sc_time& latency)
    : owner_(owner), regs_(regs::table, {.name = owner.name(), .latency = latency}) {
    static_assert(size == regs::size);
    // SEMAPHORE_READ holds the value; the three write windows only modify it.
    regs_.on_write(reg::event, [this](register_access& a) { event_changed(a.index); });
    regs_.on_write(reg::semaphore_set,
                   [this](register_access& a) { set(a.index, as_signed(a.written)); });
    regs_.on_write(reg::semaphore_increment,
                   [this](register_access& a) { add(a.index, as_signed(a.written)); });
    regs_.on_write(reg::semaphore_decrement, [this](register_access& a) {
        add(a.index, -std::int64_t{as_signed(a.written)});
    });
}

void semaphores::access(tlm::tlm_generic_payload& payload, sc_core::sc_time& delay) {
    // Event index 256 and above: the driver only checks the indices of semaphores (contract 10).
    const std::uint64_t address = payload.get_address();
    if (address < regs::offset(reg::event, count - 1) + 4 ||
        address >= regs::offset(reg::semaphore_read))
        return regs_.access(payload, delay);
    misuse::report(misuse::semaphore_out_of_range, owner_, "event " + std::to_string(address / 4));
    payload.set_response_status(tlm::TLM_ADDRESS_ERROR_RESPONSE);
}

std::int32_t semaphores::value(unsigned index) const {
    return as_signed(regs_.get(reg::semaphore_read, index));
}

std::uint32_t semaphores::event(unsigned index) const {
    return static_cast<std::uint32_t>(regs_.get(reg::event, index));
}

void semaphores::set_event(unsigned index, std::uint32_t value) {
    regs_.set(reg::event, value, index);
    event_changed(index);
}

void semaphores::event_changed(unsigned index) {
    note_poster(index);
    changed_.notify(sc_core::SC_ZERO_TIME);
    if (trace::on())
        trace::event(owner_.name(), "event",
                     {{"index", index}, {"value", event(index)}, {"by", current_poster().name()}});
    if (on_change_) on_change_();
}

void semaphores::set(unsigned index, std::int32_t value) {
    regs_.set(reg::semaphore_read, static_cast<std::uint32_t>(value), index);
    note_poster(index);
    changed_.notify(sc_core::SC_ZERO_TIME);
    if (trace::on())
        trace::event(owner_.name(), "semaphore",
                     {{"index", index}, {"value", value}, {"by", current_poster().name()}});
    if (on_change_) on_change_();
}

void semaphores::note_poster(unsigned index) {
    if (!posters_.empty()) posters_[index] = current_poster();
}

void semaphores::add(unsigned index, std::int64_t amount) {
    const std::int64_t sum = value(index) + amount;
    if (sum > std::numeric_limits<std::int32_t>::max() ||
        sum < std::numeric_limits<std::int32_t>::min())
        misuse::report(misuse::semaphore_wrap, owner_,
                       "semaphore " + std::to_string(index) + ": " + std::to_string(value(index)) +
                           (amount < 0 ? " - " : " + ") + std::to_string(std::abs(amount)));
    set(index, as_signed(static_cast<std::uint64_t>(sum)));
}

}  // namespace trn
