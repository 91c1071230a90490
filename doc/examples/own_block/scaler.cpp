// SPDX-License-Identifier: Apache-2.0
#include "scaler.h"

#include <algorithm>

namespace example {

namespace regs = trn::scaler_regs;
using regs::reg;
using sc_core::sc_time;

scaler::scaler(sc_core::sc_module_name name, const config& cfg)
    : sc_module(name), cfg_(cfg), regs_(regs::table, {.latency = cfg.access_latency}) {
    memory.bind(*this);
    regs_.on_write(reg::control, [this](trn::register_access& a) {
        if ((a.value & 1) != 0) start(a.delay);
    });
    regs_.on_write(reg::status, [this](trn::register_access&) { update_irq(); });
    SC_HAS_PROCESS(scaler);
    SC_METHOD(work);
    sensitive << next_;
    dont_initialize();
}

void scaler::start(const sc_time& delay) {
    if (regs_.get(regs::status::busy) != 0) return;
    regs_.set(regs::status::busy, 1);
    done_ = 0;
    is_read_ = false;
    next_.notify(delay);
}

void scaler::work() {
    const auto left = static_cast<std::uint32_t>(regs_[reg::words]) - done_;
    if (left == 0) return end(true);
    const std::uint32_t count = std::min(left, words_at_a_time);
    sc_time delay = sc_core::SC_ZERO_TIME;
    if (!is_read_) {
        if (!finished(port_.access(tlm::TLM_READ_COMMAND, address(reg::source_lo, reg::source_hi),
                                   words_.data(), 4 * count, pending_, delay)))
            return;
        const auto factor = static_cast<std::uint32_t>(regs_[reg::factor]);
        for (auto& word : words_) word *= factor;
        is_read_ = true;
        return next_.notify(delay + cfg_.time_per_word * count);
    }
    if (!finished(port_.access(tlm::TLM_WRITE_COMMAND, address(reg::target_lo, reg::target_hi),
                               words_.data(), 4 * count, pending_, delay)))
        return;
    done_ += count;
    is_read_ = false;
    next_.notify(delay);
}

/// Of the next words.
std::uint64_t scaler::address(trn::scaler_regs::reg low, trn::scaler_regs::reg high) const {
    return (std::uint64_t{regs_[high]} << 32 | regs_[low]) + 4 * std::uint64_t{done_};
}

/// False: memory has deferred the access, and wakes work() to repeat it; or it has refused it.
bool scaler::finished(trn::memory_port::outcome outcome) {
    if (outcome == trn::memory_port::outcome::failed) end(false);
    return outcome == trn::memory_port::outcome::done;
}

void scaler::end(bool done) {
    regs_.set(regs::status::busy, 0);
    regs_.set(done ? regs::status::done : regs::status::failed, 1);
    update_irq();
}

void scaler::update_irq() {
    irq.set((regs_[reg::status] & 3) != 0);
}

tlm::tlm_sync_enum scaler::nb_transport_bw(tlm::tlm_generic_payload&, tlm::tlm_phase&, sc_time&) {
    return tlm::TLM_COMPLETED;
}

void scaler::invalidate_direct_mem_ptr(sc_dt::uint64 first, sc_dt::uint64 last) {
    port_.invalidate(first, last);
}

}  // namespace example
