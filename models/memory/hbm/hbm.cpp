// SPDX-License-Identifier: Apache-2.0
#include "models/memory/hbm/hbm.h"

#include <fmt/format.h>

#include <algorithm>

#include "models/memory/hbm/hbm_regs.h"
#include "models/misuse_rules.h"
#include "platform/framework/kernel/one_counter.h"
#include "platform/framework/misuse/hardware_failed.h"
#include "platform/framework/misuse/misuse.h"
#include "platform/framework/tlm/grant_watched.h"
#include "platform/framework/tlm/memory.h"
#include "platform/framework/tlm/refuse_pointer.h"

namespace trn {

namespace regs = hbm_regs;
using regs::reg;
using sc_core::sc_time;

namespace {

std::uint64_t sustained(const hbm::config& cfg) {
    return cfg.bytes_per_second / 1000 * cfg.sustained_permille;
}

/// The name of a stack's chip, "chip0" of "chip0.hbm2": the stacks of a chip share a file.
std::string_view chip_of(std::string_view stack) {
    return stack.substr(0, std::min(stack.rfind('.'), stack.size()));
}

}  // namespace

hbm::hbm(sc_core::sc_module_name name, const config& cfg)
    : sc_module(name),
      cfg_(cfg),
      bytes_(cfg.size,
             cfg.shared ? backing_store::sharing::file_descriptor
                        : backing_store::sharing::private_pages,
             chip_of(this->name())),
      written_(cfg.size),
      regs_(regs::table),
      stack_({sustained(cfg), sc_core::SC_ZERO_TIME}),
      channels_(cfg.pseudo_channels,
                bandwidth_resource({sustained(cfg) / cfg.pseudo_channels, sc_core::SC_ZERO_TIME})),
      errors_(cfg.size,
              [this](auto part) { in->invalidate_direct_mem_ptr(part.first, part.last); }) {
    in.register_b_transport(this, &hbm::access_memory);
    in.register_transport_dbg(this, &hbm::peek_memory);
    in.register_get_direct_mem_ptr(this, &hbm::get_direct_mem_ptr);

    regs_.set(reg::size_mib, cfg.size >> 20);
    regs_.view(reg::status,
               [this](unsigned, unsigned, const sc_time& delay) { return status(delay); });
    regs_.on_write(reg::control, [this](register_access& a) { command(a.written, a.delay); });

    SC_HAS_PROCESS(hbm);
    SC_METHOD(advance);
    sensitive << repaired_ << trained_;
    dont_initialize();
}

void hbm::access_memory(tlm::tlm_generic_payload& payload, sc_time& delay) {
    if (!trained(delay)) {
        misuse::report(misuse::hbm_before_training, *this, payload.is_write() ? "write" : "read");
        return payload.set_response_status(tlm::TLM_GENERIC_ERROR_RESPONSE);
    }
    const auto count = [&](auto error, auto offset) { count_error(error, offset, delay); };
    if (!errors_.pass(payload, count)) {
        misuse::hardware_failed();
        return payload.set_response_status(tlm::TLM_GENERIC_ERROR_RESPONSE);
    }
    accessed(payload.get_command(), payload.get_address(), payload.get_data_length());
    if (copy_payload(payload, bytes_.data(), cfg_.size) == 0) return;
    payload.set_dmi_allowed(true);
    if (timing() == timing_mode::functional) return;
    const sc_time now = sc_core::sc_time_stamp();
    delay =
        pass(payload.get_command(), payload.get_address(), payload.get_data_length(), now + delay) -
        now + (payload.is_write() ? cfg_.write_latency : cfg_.read_latency);
}

unsigned hbm::peek_memory(tlm::tlm_generic_payload& payload) {
    const unsigned done = copy_debug(payload, bytes_.data(), cfg_.size);
    if (payload.is_write()) accessed(tlm::TLM_WRITE_COMMAND, payload.get_address(), done);
    return done;
}

/// Tracks whole pages: DMA reads of unwritten bytes in a page with written ones are not detected. A
/// page is reported once.
void hbm::accessed(tlm::tlm_command command, std::uint64_t address, std::uint64_t bytes) {
    if (address >= cfg_.size || bytes > cfg_.size - address) return;
    if (command == tlm::TLM_WRITE_COMMAND) return written_.mark(address, bytes);
    if (initiator::current_kind() != initiator::kind::dma || written_.cover(address, bytes)) return;
    // Writes of another process to its mapping are not tracked, but allocate host memory.
    if (!mapped_ || bytes_.untouched(bytes_.data() + address, bytes))
        misuse::report(misuse::dma_from_unwritten_hbm, *this,
                       fmt::format("{} bytes at offset {:#x}", bytes, address));
    written_.mark(address, bytes);
}

bool hbm::get_direct_mem_ptr(tlm::tlm_generic_payload& payload, tlm::tlm_dmi& dmi) {
    const std::uint64_t address = payload.get_address();
    if (address < cfg_.size && memory_descriptor::asked(payload)) {
        memory_descriptor::answer(payload, bytes_);
        mapped_ = mapped_ || cfg_.shared;
        dmi.set_dmi_ptr(bytes_.data());
        dmi.set_start_address(0);
        dmi.set_end_address(cfg_.size - 1);
        dmi.allow_read_write();
        return true;
    }
    if (address < cfg_.size) memory_attribute::answer(payload);
    const auto clean = errors_.clean_around(address, cfg_.size);
    if (address >= cfg_.size || !trained() || !clean) return refuse_pointer(payload, dmi);
    dmi.set_dmi_ptr(bytes_.data() + clean->first);
    dmi.set_start_address(clean->first);
    dmi.set_end_address(clean->last);
    dmi.set_read_latency(cfg_.read_latency);
    dmi.set_write_latency(cfg_.write_latency);
    route::add(payload, *this);
    return grant_watched(payload, dmi, *this);
}

/// Bursts over several pseudo-channels load all of them equally: the stack is the limit. A smaller
/// burst may queue at its pseudo-channel (a hot word, a ring).
sc_time hbm::reserve(tlm::tlm_command, std::uint64_t address, std::uint64_t bytes,
                     const sc_time& start) {
    const std::uint64_t moved = std::max(bytes, atom);
    const sc_time through = stack_.reserve(moved, start);
    if (bytes > cfg_.interleave) return through;
    return std::max(through, channels_[pseudo_channel(address)].reserve(moved, start));
}

void hbm::crossed(tlm::tlm_command command, std::uint64_t bytes, const sc_time& start,
                  const sc_time& until) {
    report_transfer(name(), command, bytes, start, until, stack_.occupancy(std::max(bytes, atom)));
}

/// The actual interleaving is not published; this one XORs in higher address bits, so that strides
/// of powers of two are distributed too.
unsigned hbm::pseudo_channel(std::uint64_t address) const {
    std::uint64_t granule = address / cfg_.interleave;
    granule ^= granule >> 5 ^ granule >> 11 ^ granule >> 17;
    return static_cast<unsigned>(granule % cfg_.pseudo_channels);
}

void hbm::count_error(memory_error error, std::uint64_t offset, const sc_time& delay) {
    const reg counter = error == memory_error::corrected     ? reg::ecc_corrected
                        : error == memory_error::uncorrected ? reg::ecc_uncorrected
                                                             : reg::ecc_repairable;
    regs_.set(counter, std::min<std::uint64_t>(regs_.get(counter) + 1, ~0u));
    regs_.set(reg::error_address_lo, offset & 0xffff'ffff);
    regs_.set(reg::error_address_hi, offset >> 32);
    if (error == memory_error::repairable && repair_ == repair_state::none)
        repair_ = repair_state::pending;
    update_error_line(delay);
}

void hbm::update_error_line(const sc_time& delay) {
    const auto counted = regs_.get(reg::ecc_corrected) | regs_.get(reg::ecc_uncorrected) |
                         regs_.get(reg::ecc_repairable);
    error.set(counted != 0, delay);
}

bool hbm::trained(const sc_time& delay) const {
    return !cfg_.needs_training ||
           (training_asked_ && sc_core::sc_time_stamp() + delay >= trained_at_);
}

std::uint64_t hbm::status(const sc_time& delay) const {
    std::uint64_t value = static_cast<std::uint64_t>(repair_) << regs::status::repair_state.lsb;
    if (trained(delay)) value |= regs::status::trained.mask();
    if (training_asked_ && sc_core::sc_time_stamp() + delay < trained_at_)
        value |= regs::status::training.mask();
    if (repairing_) value |= regs::status::repairing.mask();
    return value;
}

void hbm::command(std::uint64_t written, const sc_time& delay) {
    const sc_time now = sc_core::sc_time_stamp() + delay;
    regs_.set(reg::control, 0);
    if (regs::control::train.get(written) != 0) {
        training_asked_ = true;
        trained_at_ = now + cfg_.training_time;
        if (cfg_.needs_training) {
            in->invalidate_direct_mem_ptr(0, cfg_.size - 1);
            trained_.cancel();
            trained_.notify(delay + cfg_.training_time);
        }
    }
    if (regs::control::repair.get(written) != 0 && repair_ == repair_state::pending) {
        repairing_ = true;
        repaired_.notify(delay + cfg_.repair_time);  // no effect if it runs already
    }
    if (regs::control::clear_counters.get(written) != 0) {
        for (const reg counter : {reg::ecc_corrected, reg::ecc_uncorrected, reg::ecc_repairable})
            regs_.set(counter, 0);
        update_error_line(delay);
    }
}

void hbm::advance() {
    if (trained_.triggered()) in->invalidate_direct_mem_ptr(0, cfg_.size - 1);  // refusals end
    if (repaired_.triggered()) finish_repair();
}

void hbm::finish_repair() {
    repairing_ = false;
    if (repair_will_fail_) {
        repair_ = repair_state::failed;
        return;
    }
    repair_ = repair_state::none;
    errors_.repair();
}

/// Loss of power: clears bytes, faults, training and counters.
void hbm::forget() {
    bytes_.clear();
    written_ = written_pages(cfg_.size);
    errors_.clear();
    training_asked_ = repairing_ = repair_will_fail_ = false;
    repair_ = repair_state::none;
    repaired_.cancel();
    trained_.cancel();
    regs_.reset();
    regs_.set(reg::size_mib, cfg_.size >> 20);
    error.cancel();
    update_error_line(sc_core::SC_ZERO_TIME);
    in->invalidate_direct_mem_ptr(0, cfg_.size - 1);
}

void hbm::inject_error(memory_error error, std::uint64_t offset) {
    sc_assert(offset < cfg_.size);
    if (power_lost.level()) return;  // it would be lost with all other state
    errors_.arm(error, offset);
}

void hbm::set_temperature(unsigned celsius) {
    regs_.set(reg::temperature, celsius);
}

void hbm::publish(statistics& out) const {
    out.count("bytes_moved", stack_.bytes());
    // Asks the operating system for each page.
    if (one_counter::wanted(out, "bytes_resident")) out.count("bytes_resident", bytes_.resident());
    out.count("ecc_corrected", regs_.get(reg::ecc_corrected));
    out.count("ecc_uncorrected", regs_.get(reg::ecc_uncorrected));
    out.count("ecc_repairable", regs_.get(reg::ecc_repairable));
}

std::vector<accepts_faults::fault> hbm::faults() {
    const auto offset = fault_argument::size("offset", cfg_.size, "of a byte in the stack");
    const auto error = [this](memory_error error) {
        return [this, error](const fault_values& given) {
            inject_error(error, given.number("offset"));
        };
    };
    return {{"hbm_corrected",
             "the next read of the byte is corrected",
             {offset},
             error(memory_error::corrected)},
            {"hbm_uncorrected",
             "reads of the byte fail until it is overwritten",
             {offset},
             error(memory_error::uncorrected)},
            {"hbm_repairable",
             "reads of the byte fail until it is repaired",
             {offset},
             error(memory_error::repairable)},
            {"hbm_repair_fails",
             "the next repair does not succeed",
             {},
             [this](auto&) { fail_next_repair(); }},
            {"hbm_temperature",
             "the hottest die has this temperature",
             {fault_argument::number("celsius", 0, 255, "temperature").in_unit("°C")},
             [this](const fault_values& given) {
                 set_temperature(given.number<unsigned>("celsius"));
             }}};
}

}  // namespace trn
