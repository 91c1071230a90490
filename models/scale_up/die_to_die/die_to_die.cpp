// SPDX-License-Identifier: Apache-2.0
#include "models/scale_up/die_to_die/die_to_die.h"

#include <fmt/format.h>

#include <algorithm>

#include "models/misuse_rules.h"
#include "models/scale_up/die_to_die/die_to_die_regs.h"
#include "platform/framework/misuse/misuse.h"
#include "platform/framework/tlm/memory.h"

namespace trn {

namespace regs = die_to_die_regs;
using regs::reg;
using sc_core::sc_time;

die_to_die::die_to_die(sc_core::sc_module_name name, const config& cfg)
    : sc_module(name),
      cfg_(cfg),
      regs_(regs::table),
      direction_{bandwidth_resource({cfg.bytes_per_second, sc_core::SC_ZERO_TIME}),
                 bandwidth_resource({cfg.bytes_per_second, sc_core::SC_ZERO_TIME})} {
    for (const unsigned die : {0u, 1u}) {
        side& way = sides_[die];
        way.link = this;
        way.toward = die;
        auto& socket = die == 0 ? from_die_1 : from_die_0;
        socket.register_b_transport(&way, &side::b_transport);
        socket.register_transport_dbg(&way, &side::transport_dbg);
        socket.register_get_direct_mem_ptr(&way, &side::get_direct_mem_ptr);
        toward(die).register_invalidate_direct_mem_ptr(this, &die_to_die::invalidate_direct_mem_ptr,
                                                       static_cast<int>(die));
    }

    regs_.view(reg::status,
               [this](unsigned, unsigned, const sc_time& delay) { return status(delay); });
    const auto bytes = [this](unsigned die, unsigned shift) {
        return [this, die, shift](unsigned, unsigned) {
            return direction_[die].bytes() >> shift & 0xffff'ffff;
        };
    };
    regs_.view(reg::to_die_0_bytes_lo, bytes(0, 0));
    regs_.view(reg::to_die_0_bytes_hi, bytes(0, 32));
    regs_.view(reg::to_die_1_bytes_lo, bytes(1, 0));
    regs_.view(reg::to_die_1_bytes_hi, bytes(1, 32));
    regs_.on_write(reg::control, [this](register_access& a) { command(a.written, a.delay); });
    for (const reg r : {reg::irq_status, reg::irq_enable})
        regs_.on_write(r, [this](register_access& a) { update_irq(a.delay); });

    SC_HAS_PROCESS(die_to_die);
    SC_METHOD(revoke_pointers);
    sensitive << trained_;
    dont_initialize();
}

sc_time die_to_die::side::reserve(tlm::tlm_command command, std::uint64_t, std::uint64_t bytes,
                                  const sc_time& start) {
    const unsigned arrives_at = command == tlm::TLM_WRITE_COMMAND ? toward : 1 - toward;
    sc_time through = link->direction_[arrives_at].reserve(bytes, start);
    if (link->corrupt_ > 0) {
        --link->corrupt_;
        link->regs_.set(reg::retries, link->regs_.get(reg::retries) + 1);
        if (timing() == timing_mode::contended) through += link->cfg_.retry_time;
    }
    return through;
}

void die_to_die::side::crossed(tlm::tlm_command command, std::uint64_t bytes, const sc_time& start,
                               const sc_time& until) {
    const unsigned arrives = command == tlm::TLM_WRITE_COMMAND ? toward : 1 - toward;
    report_transfer(fmt::format("{}.to_die_{}", link->name(), arrives), command, bytes, start,
                    until, link->direction_[arrives].occupancy(bytes));
}

void die_to_die::side::b_transport(tlm::tlm_generic_payload& payload, sc_time& delay) {
    if (!link->up(delay)) {
        misuse::report(misuse::link_before_training, *link, "to die " + std::to_string(toward));
        payload.set_response_status(tlm::TLM_GENERIC_ERROR_RESPONSE);
        return;
    }
    const sc_time now = sc_core::sc_time_stamp();
    const sc_time through =
        pass(payload.get_command(), payload.get_address(), payload.get_data_length(), now + delay);
    if (timing() == timing_mode::contended) delay = through - now + link->cfg_.latency;
    link->toward(toward)->b_transport(payload, delay);
    // Add the latency of the response last: reservations on the other die begin before it.
    if (payload.is_read() && timing() == timing_mode::contended) delay += link->cfg_.latency;
}

unsigned die_to_die::side::transport_dbg(tlm::tlm_generic_payload& payload) {
    return link->toward(toward)->transport_dbg(payload);
}

bool die_to_die::side::get_direct_mem_ptr(tlm::tlm_generic_payload& payload, tlm::tlm_dmi& dmi) {
    if (!link->up() && !memory_descriptor::asked(payload)) {
        dmi.allow_read_write();
        return false;
    }
    route::add(payload, *this);
    const bool granted = link->toward(toward)->get_direct_mem_ptr(payload, dmi);
    dmi.set_read_latency(dmi.get_read_latency() + link->cfg_.latency * 2);
    dmi.set_write_latency(dmi.get_write_latency() + link->cfg_.latency);
    return granted;
}

void die_to_die::invalidate_direct_mem_ptr(int target, sc_dt::uint64 first, sc_dt::uint64 last) {
    (target == 0 ? from_die_1 : from_die_0)->invalidate_direct_mem_ptr(first, last);
}

bool die_to_die::up(const sc_time& delay) const {
    if (!cfg_.needs_training && !taken_down_) return true;
    return training_asked_ && sc_core::sc_time_stamp() + delay >= trained_at_;
}

std::uint64_t die_to_die::status(const sc_time& delay) const {
    if (up(delay)) return regs::status::up.mask();
    return training_asked_ ? regs::status::training.mask() : 0;
}

void die_to_die::command(std::uint64_t written, const sc_time& delay) {
    regs_.set(reg::control, 0);
    if (regs::control::train.get(written) != 0 && !up(delay) && !training_asked_) {
        training_asked_ = true;
        trained_at_ = sc_core::sc_time_stamp() + delay + cfg_.training_time;
        trained_.notify(delay + cfg_.training_time);
    }
    if (regs::control::clear_counters.get(written) != 0) clear_counters();
}

void die_to_die::clear_counters() {
    for (auto& each : direction_) each.reset_statistics();
    regs_.set(reg::retries, 0);
}

/// Loss of power: training, registers, counters and faults.
void die_to_die::forget() {
    take_down();
    taken_down_ = false;
    corrupt_ = 0;
    clear_counters();
    regs_.reset();
    irq.cancel();
    update_irq(sc_core::SC_ZERO_TIME);
}

void die_to_die::update_irq(const sc_time& delay) {
    irq.set((regs_[reg::irq_status] & regs_[reg::irq_enable]) != 0, delay);
}

void die_to_die::take_down() {
    if (up()) regs_.set(regs::irq_status::down, 1);
    update_irq(sc_core::SC_ZERO_TIME);
    taken_down_ = true;
    training_asked_ = false;
    trained_.cancel();
    revoke_pointers();
}

/// Revokes pointers when the link goes down, and refusals when it is up again.
void die_to_die::revoke_pointers() {
    from_die_0->invalidate_direct_mem_ptr(0, ~0ull);
    from_die_1->invalidate_direct_mem_ptr(0, ~0ull);
}

void die_to_die::publish(statistics& out) const {
    out.count("bytes_to_die_0", direction_[0].bytes());
    out.count("bytes_to_die_1", direction_[1].bytes());
    out.count("retries", regs_.get(reg::retries));
}

std::vector<accepts_faults::fault> die_to_die::faults() {
    return {{"link_down",
             "the link is down until firmware trains it again",
             {},
             [this](auto&) {
                 if (!power_lost.level()) take_down();
             }},
            {"link_crc", "the next transfer has a CRC error and is sent again", {}, [this](auto&) {
                 if (!power_lost.level()) corrupt(corrupt_ + 1);
             }}};
}

}  // namespace trn
