// SPDX-License-Identifier: Apache-2.0
#include "models/cards/nitro_management/nitro_management.h"

#include <algorithm>
#include <cstring>
#include <memory>
#include <utility>

#include "models/cards/nitro_management/nitro_management_regs.h"
#include "platform/framework/kernel/started_work.h"
#include "platform/framework/kernel/trace.h"
#include "platform/framework/tlm/set_access.h"

namespace trn {

using namespace nitro_management_regs;
using nitro::admin_entry;
using sc_core::sc_time;
namespace entry = nitro_admin_regs;

namespace {

constexpr std::uint32_t max_depth = 1024;  // entries of each ring

std::uint64_t wide(const register_bank& regs, reg low, reg high) {
    return regs.get(high) << 32 | regs.get(low);
}

/// The ring that the driver has described; none if the card does not support it.
host_ring ring(std::uint64_t base, std::uint64_t depth, std::uint64_t entry_size) {
    if (depth == 0 || depth > max_depth || entry_size != admin_entry::size) return {};
    return {base, static_cast<std::uint32_t>(depth), admin_entry::size};
}

}  // namespace

nitro_management::nitro_management(sc_core::sc_module_name name, const config& cfg,
                                   tlm::tlm_initiator_socket<64>& bus, nitro::admin_target& card)
    : sc_module(name),
      registers(nitro_management_regs::table),
      cfg_(cfg),
      card_(card),
      memory_(bus),
      writer_("writer", bus) {
    SC_METHOD(run);
    sensitive << work_;
    dont_initialize();
    set_up_registers();
}

void nitro_management::set_up_registers() {
    registers.view(reg::version,
                   [this](unsigned, unsigned) { return std::uint64_t{cfg_.version}; });
    registers.view(reg::controller_version,
                   [this](unsigned, unsigned) { return std::uint64_t{cfg_.controller_version}; });
    registers.view(reg::caps, [this](unsigned, unsigned) {
        return caps::dma_address_width.set(rows[caps::dma_address_width.reg].reset,
                                           cfg_.dma_address_width);
    });
    registers.on_write(reg::mmio_reg_read, [this](register_access& a) {
        answer_register_read(static_cast<std::uint32_t>(a.written));
    });
    registers.on_write(reg::dev_ctl, [this](register_access& a) {
        control_written(static_cast<std::uint32_t>(a.written));
    });
    registers.on_write(reg::acq_caps, [this](register_access&) { completion_queue_written(); });
    registers.on_write(reg::aenq_caps, [this](register_access&) { event_queue_written(); });
    registers.on_write(reg::aenq_base_hi, [this](register_access&) { event_queue_written(); });
    registers.on_write(reg::aq_prod_db, [this](register_access& a) {
        posted_ = static_cast<std::uint16_t>(a.written);
        work_.notify(sc_core::SC_ZERO_TIME);
    });
}

void nitro_management::forget() {
    registers.reset();
    writer_.abandon();
    pending_.abandon();
    completions_ = events_ = {};
    posted_ = fetched_ = 0;
    command_.reset();
}

void nitro_management::invalidate(std::uint64_t first, std::uint64_t last) {
    memory_.invalidate(first, last);
    writer_.invalidate(first, last);
}

// --- registers ---

/// Writes the response before the host's register write completes, because the driver polls for it
/// with a lock held (EFA contract 21).
void nitro_management::answer_register_read(std::uint32_t request) {
    ++counters_.readless_reads;
    // The order of the halves differs between drivers; both are written before the request.
    const auto response_address = wide(registers, reg::mmio_resp_lo, reg::mmio_resp_hi);
    if (response_address == 0) return;
    const std::uint32_t offset = mmio_reg_read::register_offset.get(request) & 0xffff;
    bool known = false;
    const std::uint32_t value = value_at(offset, known);
    admin_entry response;
    response.set(entry::register_response::request_id, mmio_reg_read::request_id.get(request));
    response.set(entry::register_response::register_offset, known ? offset : 0xffff);
    response.set(entry::reg::register_value, value);
    writer_.post(sc_core::sc_time_stamp(), response_address, response.bytes().first(8),
                 [held = started_work::current()](bool) {});
}

std::uint32_t nitro_management::value_at(std::uint32_t offset, bool& known) {
    std::uint32_t value = ~0u;
    tlm::tlm_generic_payload payload;
    set_access(payload, tlm::TLM_READ_COMMAND, offset, &value, sizeof value);
    known = registers.debug_access(payload) == sizeof value;
    return known ? value : ~0u;
}

void nitro_management::control_written(std::uint32_t written) {
    const bool reset = dev_ctl::reset.get(written) != 0;
    if (reset) {
        forget();
        registers[reg::dev_ctl] = written;
        registers.set(dev_sts::ready, 0);
        registers.set(dev_sts::reset_in_progress, 1);
        card_.reset_by_driver();
    } else if (registers.get(dev_sts::reset_in_progress) != 0) {
        registers.set(dev_sts::reset_in_progress, 0);
        registers.set(dev_sts::reset_finished, 1);
        registers.set(dev_sts::ready, 1);
    }
}

void nitro_management::completion_queue_written() {
    completions_ = ring(wide(registers, reg::acq_base_lo, reg::acq_base_hi),
                        registers.get(acq_caps::depth), registers.get(acq_caps::entry_size));
}

/// The order of base and capabilities differs between drivers.
void nitro_management::event_queue_written() {
    events_ = ring(wide(registers, reg::aenq_base_lo, reg::aenq_base_hi),
                   registers.get(aenq_caps::depth), registers.get(aenq_caps::entry_size));
}

// --- events ---

bool nitro_management::has_room_for_event() const {
    if (!events_.exists()) return false;
    const auto count = static_cast<std::uint16_t>(registers.get(aenq_cons_db::count));
    const auto limit =
        static_cast<std::uint16_t>(cfg_.event_count_is_limit ? count : count + events_.depth());
    const auto room = static_cast<std::uint16_t>(limit - events_.produced());
    return room != 0 && room <= events_.depth();
}

bool nitro_management::report(event_group group, std::uint16_t syndrome,
                              std::span<const std::uint32_t> details) {
    if (!has_room_for_event()) {
        ++counters_.lost_events;
        return false;
    }
    const auto slot = events_.next();
    const sc_time now = sc_core::sc_time_stamp();
    admin_entry event;
    event.set(entry::event::group, static_cast<std::uint64_t>(group));
    event.set(entry::event::syndrome, syndrome);
    event.set(entry::event_flags::phase, slot.phase);
    event.set_wide(entry::reg::event_time_lo,
                   static_cast<std::uint64_t>(now / sc_time(1, sc_core::SC_NS)));
    sc_assert(details.size() <= max_event_details);
    std::ranges::copy(details, event.words().end() - max_event_details);
    ++counters_.events;
    writer_.post(now, slot.address, event.bytes(), [this](bool written) {
        // If the host's memory fails, no more events until a driver configures the queue again.
        if (!written) events_ = {};
        interrupt(static_cast<unsigned>(registers.get(aenq_caps::vector)));
    });
    return true;
}

void nitro_management::fail(std::uint16_t syndrome) {
    registers.set(dev_sts::fatal_error, 1);
    report(event_group::fatal_error, syndrome);
}

std::vector<accepts_faults::fault> nitro_management::faults() {
    return {{"lost_command",
             "the next admin commands are not executed",
             {fault_argument::count()},
             [this](const fault_values& given) { lose_commands(given.number("count")); }},
            {"lost_completion",
             "the next admin commands are executed, but not completed",
             {fault_argument::count()},
             [this](const fault_values& given) { lose_completions(given.number("count")); }}};
}

void nitro_management::interrupt(unsigned vector) {
    if (registers.get(intr_mask::enabled) == 0) card_.raise(vector);
}

// --- admin queue ---

/// The state selects each step; events only wake the process.
void nitro_management::run() {
    while (advance()) {
    }
}

bool nitro_management::advance() {
    if (!command_) {
        const auto depth = registers.get(aq_caps::depth);
        const bool ready = registers.get(dev_sts::ready) != 0 && depth != 0 && depth <= max_depth &&
                           registers.get(aq_caps::entry_size) == admin_entry::size &&
                           completions_.exists();
        if (fetched_ == posted_ || !ready) return false;
        // If the driver has posted more than `depth` commands, fetch only the last `depth`.
        if (static_cast<std::uint16_t>(posted_ - fetched_) > depth)
            fetched_ = static_cast<std::uint16_t>(posted_ - depth);
        command_ = command_state();
        command_->address = wide(registers, reg::aq_base_lo, reg::aq_base_hi) +
                            fetched_ % depth * admin_entry::size;
    }
    if (!command_->fetched) return fetch();
    auto& needs = *command_->needs;
    const auto outcome = read(needs.address, command_->bytes.data(), needs.bytes);
    if (outcome == memory_port::outcome::deferred) return false;
    const std::span<const std::uint8_t> bytes(command_->bytes.data(), needs.bytes);
    const bool answered = outcome == memory_port::outcome::done;
    take(card_.resume(answered ? bytes : std::span<const std::uint8_t>{}));
    return true;
}

bool nitro_management::fetch() {
    const auto outcome = read(command_->address, command_->entry.words().data(), admin_entry::size);
    if (outcome == memory_port::outcome::deferred) return false;
    ++fetched_;
    command_->fetched = true;
    if (outcome == memory_port::outcome::failed || lost_commands_ > 0) {
        if (lost_commands_ > 0) --lost_commands_;
        command_.reset();
        return true;
    }
    ++counters_.commands;
    if (trace::on())
        trace::event(name(), "command",
                     {{"opcode", command_->entry.get(entry::command::opcode)},
                      {"id", command_->entry.get(entry::command::id)}});
    take(card_.begin(command_->entry));
    return true;
}

memory_port::outcome nitro_management::read(std::uint64_t address, void* bytes,
                                            std::uint32_t length) {
    sc_time delay;
    return memory_.access(tlm::TLM_READ_COMMAND, address, bytes, length, pending_, delay);
}

void nitro_management::take(const nitro::step& next) {
    if (const auto* done = std::get_if<nitro::answer>(&next)) {
        complete(*done);
        command_.reset();
        return;
    }
    command_->needs = std::get<nitro::memory_request>(next);
    sc_assert(command_->needs->bytes >= 1 &&
              command_->needs->bytes <= nitro::memory_request::max_bytes);
}

void nitro_management::complete(const nitro::answer& answer) {
    counters_.failed_commands += answer.result != nitro::status::ok;
    if (lost_completions_ > 0) {
        --lost_completions_;
        return;
    }
    if (!completions_.exists()) return;  // the driver has removed it since the command was fetched
    const auto slot = completions_.next();
    admin_entry done = answer.entry;
    done.set(entry::reg::completion, 0);
    done.set(entry::completion::id, command_->entry.get(entry::command::id));
    done.set(entry::completion::status, static_cast<std::uint64_t>(answer.result));
    done.set(entry::completion::phase, slot.phase);
    done.set(entry::reg::completion_head, 0);
    done.set(entry::completion_head::head, fetched_);
    const bool timed = timing() == timing_mode::contended;
    writer_.post(sc_core::sc_time_stamp() + (timed ? cfg_.command_time : sc_core::SC_ZERO_TIME),
                 slot.address, done.bytes(), [this](bool) {
                     interrupt(static_cast<unsigned>(registers.get(acq_caps::vector)));
                 });
}

void nitro_management::publish(statistics& out) const {
    out.count("admin_commands", counters_.commands);
    out.count("failed_admin_commands", counters_.failed_commands);
    out.count("events", counters_.events);
    out.count("lost_events", counters_.lost_events);
    out.count("readless_reads", counters_.readless_reads);
}

}  // namespace trn
