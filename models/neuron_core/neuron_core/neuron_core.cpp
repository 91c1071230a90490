// SPDX-License-Identifier: Apache-2.0
#include "models/neuron_core/neuron_core/neuron_core.h"

#include <fmt/format.h>

#include <algorithm>

#include "models/dma/udma/queues/queue_initiator.h"
#include "models/neuron_core/neuron_core/pe_counters_5_regs.h"
#include "models/neuron_core/neuron_core/pe_counters_regs.h"
#include "models/neuron_core/neuron_core/sram_errors_regs.h"
#include "models/neuron_core/sequencer/dma/dma_access.h"
#include "platform/framework/kernel/one_counter.h"
#include "platform/framework/misuse/hardware_failed.h"
#include "platform/framework/misuse/initiator.h"
#include "platform/framework/tlm/grant_watched.h"
#include "platform/framework/tlm/memory.h"
#include "platform/framework/tlm/refuse_pointer.h"
#include "platform/framework/tlm/set_access.h"
#include "platform/framework/tlm/shifted.h"

namespace trn {

using error_reg = sram_errors_regs::reg;

namespace {

const register_table& pe_counters_of(unsigned crossbars) {
    return crossbars == 5 ? pe_counters_5_regs::table : pe_counters_regs::table;
}

bool inside(std::uint64_t address, std::uint64_t base, std::uint64_t size) {
    return address >= base && address - base < size;
}

}  // namespace

neuron_core::neuron_core(sc_core::sc_module_name name, const config& cfg)
    : notifying_module(name, cfg.register_latency),
      reset("reset", 1, [this](unsigned, bool level) { reset_changed(level); }),
      cfg_(cfg),
      sbuf_(cfg.sbuf_size),
      psum_(cfg.psum_size),
      semaphores_(*this, cfg.access_latency),
      pe_counters_(pe_counters_of(cfg.crossbars), {.latency = cfg.register_latency}),
      errors_(sram_errors_regs::table, {.latency = cfg.register_latency}),
      armed_(aperture_size,
             [this](auto part) { aperture->invalidate_direct_mem_ptr(part.first, part.last); }),
      memories_({cfg.bytes_per_second, sc_core::SC_ZERO_TIME}) {
    map_aperture();
    top.map(cfg.notifications_offset, notification_queue::aperture_size,
            notifications_.registers());
    top.map(cfg.pe_counters_offset, pe_counters_regs::size, pe_counters_);
    top.map(cfg.sram_errors_offset, sram_errors_regs::size, errors_);

    errors_.on_write(error_reg::control, [this](register_access& a) {
        if (sram_errors_regs::control::clear_counters.get(a.written) != 0) clear_errors(a.delay);
        errors_.set(error_reg::control, 0);
    });
    show_pe_counters();
}

/// Layout of the PE counters (contract 12): crossbar 4 of a row group counts matmuls and idle
/// cycles; its last crossbar counts stationaries. Fast-loaded stationaries are the sum of the first
/// four crossbars, so the first one has the whole count.
void neuron_core::show_pe_counters() {
    if (cfg_.crossbars == 5)
        show_pe_counters<pe_counters_5_regs::reg>();
    else
        show_pe_counters<pe_counters_regs::reg>();
}

template <typename Reg>
void neuron_core::show_pe_counters() {
    const auto show = [this](Reg low, Reg high, auto value) {
        const auto part = [this, value](unsigned shift) {
            return [this, value, shift](unsigned, unsigned index, const sc_core::sc_time& delay) {
                const std::uint64_t whole =
                    value(index / cfg_.crossbars, index % cfg_.crossbars, delay);
                return whole >> shift & 0xffff'ffff;
            };
        };
        pe_counters_.view(low, part(0));
        pe_counters_.view(high, part(32));
    };
    constexpr unsigned centre = 4;
    const auto group = [this](unsigned row) {
        return engines_ ? engines_->array().group_of(row) : array_activity::group{};
    };
    show(Reg::matmul_lo, Reg::matmul_hi,
         [group](unsigned row, unsigned crossbar, auto&) -> std::uint64_t {
             return crossbar == centre ? group(row).matmul : 0;
         });
    show(Reg::weight_load_lo, Reg::weight_load_hi,
         [this, group](unsigned row, unsigned crossbar, auto&) -> std::uint64_t {
             if (crossbar == 0) return group(row).fast_load;
             return crossbar == cfg_.crossbars - 1 ? group(row).load : 0;
         });
    show(Reg::idle_lo, Reg::idle_hi, [this](unsigned row, unsigned, auto& delay) {
        const auto now = static_cast<std::uint64_t>(
            (sc_core::sc_time_stamp() + delay).to_seconds() * static_cast<double>(cfg_.clock_hz));
        return engines_ ? now - std::min(now, engines_->array().busy(row, now)) : now;
    });
}

void neuron_core::map_aperture() {
    aperture.map<&neuron_core::access_semaphores, &neuron_core::peek_semaphores>(
        semaphores_offset, semaphores::size, *this);
    aperture.map<&neuron_core::access_engines, &neuron_core::peek_engines>(
        engines_offset, core_engines::size, *this);
    aperture.map<&neuron_core::access_sram, &neuron_core::peek_sram>(0, cfg_.sbuf_size, *this);
    aperture.map<&neuron_core::access_sram, &neuron_core::peek_sram>(psum_offset, cfg_.psum_size,
                                                                     *this, psum_offset);
    aperture.grant_pointers<&neuron_core::get_direct_mem_ptr>(*this);
}

void neuron_core::access_semaphores(tlm::tlm_generic_payload& payload, sc_core::sc_time& delay) {
    if (engines_ && payload.is_write()) outside_post(payload);
    semaphores_.access(payload, delay);
}

void neuron_core::access_engines(tlm::tlm_generic_payload& payload, sc_core::sc_time& delay) {
    engines().access(payload, delay);
}

unsigned neuron_core::peek_engines(tlm::tlm_generic_payload& payload) {
    if (!engines_ && payload.is_read())  // has no side effects
        return core_engines::debug_read_idle(payload,
                                             static_cast<isa::generation>(cfg_.generation));
    return engines().debug_access(payload);
}

/// Access to SBUF or PSUM; the address is an offset in the aperture.
void neuron_core::access_sram(tlm::tlm_generic_payload& payload, sc_core::sc_time& delay) {
    const std::uint64_t address = payload.get_address();
    const auto count = [&](auto error, auto offset) { count_error(error, offset, delay); };
    if (!armed_.pass(payload, count)) {
        misuse::hardware_failed();
        return payload.set_response_status(tlm::TLM_GENERIC_ERROR_RESPONSE);
    }
    const unsigned done = copy_sram(payload, copy_payload);
    if (done == 0) return;
    outside_access(payload.get_command(), address, done);
    payload.set_dmi_allowed(true);
    if (timing() == timing_mode::functional) return;
    const auto now = sc_core::sc_time_stamp();
    delay = port_.pass(payload.get_command(), address, payload.get_data_length(), now + delay) -
            now + cfg_.access_latency;
}

unsigned neuron_core::peek_sram(tlm::tlm_generic_payload& payload) {
    const unsigned done = copy_sram(payload, copy_debug);
    if (payload.is_write()) outside_access(tlm::TLM_WRITE_COMMAND, payload.get_address(), done);
    return done;
}

unsigned neuron_core::copy_sram(tlm::tlm_generic_payload& payload,
                                unsigned (&copy)(tlm::tlm_generic_payload&, std::uint8_t*,
                                                 std::uint64_t)) {
    const bool psum = payload.get_address() >= psum_offset;
    backing_store& store = psum ? psum_ : sbuf_;
    const shifted local(payload, psum ? psum_offset : 0);
    return copy(payload, store.data(), store.size());
}

/// Reports an access whose bytes were already moved. `address`: offset in the aperture.
void neuron_core::outside_access(tlm::tlm_command command, std::uint64_t address,
                                 std::uint64_t bytes) {
    const bool psum = address >= psum_offset, writes = command == tlm::TLM_WRITE_COMMAND;
    const std::uint64_t first = address - (psum ? psum_offset : 0);
    if (writes) (psum ? psum_content_ : sbuf_content_).written(first, bytes);
    if (engines_ && initiator::current_kind() == initiator::kind::dma &&
        engines_->checks().finds_races())
        engines_->checks().moved(
            {psum ? isa::space::psum : isa::space::sbuf, first, bytes, writes, own_queue()});
}

/// If the initiator is a queue of the core's own DMA engines: its number among all their queues.
std::optional<unsigned> neuron_core::own_queue() const {
    const auto* const queue = dynamic_cast<const dma_queue_initiator*>(initiator::current());
    if (queue == nullptr) return std::nullopt;
    const auto [module, engine, number] = queue->identify();
    const std::string_view core = name();
    const auto chip = [](std::string_view part) { return part.substr(0, part.rfind('.') + 1); };
    const bool is_own = engine / dma_access::engines == cfg_.number && chip(module) == chip(core);
    if (!is_own) return std::nullopt;
    return engine % dma_access::engines * race_checker::queues_per_engine + number;
}

void neuron_core::has_read(std::uint64_t address, std::span<std::uint8_t> bytes) {
    outside_access(tlm::TLM_READ_COMMAND, address, bytes.size());
}

void neuron_core::has_written(std::uint64_t address, std::span<const std::uint8_t> bytes) {
    outside_access(tlm::TLM_WRITE_COMMAND, address, bytes.size());
}

/// In each window of events and semaphores, a word corresponds to one index.
void neuron_core::outside_post(const tlm::tlm_generic_payload& payload) {
    if (!engines_->checks().finds_races()) return;
    for (std::uint64_t word = 0; word < (payload.get_data_length() + 3) / 4 && word < 256; ++word)
        engines_->checks().posted_from_outside(
            static_cast<unsigned>((payload.get_address() / 4 + word) % semaphores::count),
            own_queue());
}

bool neuron_core::get_direct_mem_ptr(tlm::tlm_generic_payload& payload, tlm::tlm_dmi& dmi) {
    const std::uint64_t address = payload.get_address();
    if (!is_memory(address)) return refuse_pointer(payload, dmi);
    memory_attribute::answer(payload);
    const std::uint64_t base = address >= psum_offset ? psum_offset : 0;
    backing_store& store = base != 0 ? psum_ : sbuf_;
    const auto clean = armed_.clean_around(address, base + store.size());
    if (!clean) return refuse_pointer(payload, dmi);
    const std::uint64_t first = std::max(base, clean->first);
    dmi.set_dmi_ptr(store.data() + (first - base));
    dmi.set_start_address(first);
    dmi.set_end_address(std::min(clean->last, base + store.size() - 1));
    dmi.set_read_latency(cfg_.access_latency);
    dmi.set_write_latency(cfg_.access_latency);
    route::add(payload, port_);
    return grant_watched(payload, dmi, *this);
}

/// Contract 5.3: clears semaphores and events, disables notification queues. SBUF and PSUM keep
/// their content.
void neuron_core::reset_changed(bool level) {
    if (!level) return;
    semaphores_.reset();
    notifications_.reset();
    if (engines_) engines_->reset();
}

core_engines& neuron_core::engines() {
    if (engines_) return *engines_;
    engines_ = std::make_unique<core_engines>(core_engines::parts{
        .owner = *this,
        .id = {.generation = static_cast<isa::generation>(cfg_.generation),
               .core = cfg_.number,
               .chip = cfg_.chip,
               .dma_base = cfg_.dma_base,
               .dma_stride = cfg_.dma_stride,
               .sbuf = cfg_.aperture_base,
               .psum = cfg_.aperture_base + psum_offset,
               .semaphores = cfg_.aperture_base + semaphores_offset},
        .sync = semaphores_,
        .memory = *this,
        .port = memory_port_,
        .notify = [this](unsigned slot, const notification& entry) { return notify(slot, entry); },
        .peek = [this](auto address, auto bytes) { return peek_memory(address, bytes); },
        .contents = {sbuf_content_, psum_content_},
        .register_latency = cfg_.register_latency,
        .act_table_load = cfg_.act_table_load,
        .warm_up = cfg_.warm_up,
        .operand_crc = cfg_.operand_crc,
        .outside_is_nan = cfg_.activation_outside == activation_outside::nan});
    if (throttled_) engines_->set_clock(clock_permille());
    return *engines_;
}

unsigned neuron_core::peek_memory(std::uint64_t address, std::span<std::uint8_t> bytes) {
    tlm::tlm_generic_payload payload;
    set_access(payload, tlm::TLM_READ_COMMAND, address, bytes.data(), bytes.size());
    return memory->transport_dbg(payload);
}

std::optional<std::string> neuron_core::describe_wait() const {
    return engines_ ? engines_->describe_wait() : std::nullopt;
}

std::uint8_t* neuron_core::bytes(isa::space memory) {
    return (memory == isa::space::psum ? psum_ : sbuf_).data();
}

std::uint32_t neuron_core::partition_bytes(isa::space memory) const {
    const std::uint64_t size = memory == isa::space::psum ? cfg_.psum_size : cfg_.sbuf_size;
    return static_cast<std::uint32_t>(size / isa::max_partitions);
}

bool neuron_core::check_read(isa::location first, std::uint32_t length) {
    return pass_errors(tlm::TLM_READ_COMMAND, first, length);
}

void neuron_core::written(isa::location first, std::uint32_t length) {
    const bool psum = first.space == isa::space::psum;
    (psum ? psum_content_ : sbuf_content_)
        .written(std::uint64_t{first.partition} * partition_bytes(first.space) + first.offset,
                 length);
    if (!armed_.empty()) pass_errors(tlm::TLM_WRITE_COMMAND, first, length);
}

/// Treats an access of an engine like one through the aperture.
bool neuron_core::pass_errors(tlm::tlm_command command, isa::location first, std::uint32_t length) {
    tlm::tlm_generic_payload payload;
    const std::uint64_t address = (first.space == isa::space::psum ? psum_offset : 0) +
                                  std::uint64_t{first.partition} * partition_bytes(first.space) +
                                  first.offset;
    set_access(payload, command, address, nullptr, length);
    return armed_.pass(payload, [this](auto error, auto offset) {
        count_error(error, offset, sc_core::SC_ZERO_TIME);
    });
}

bool neuron_core::is_memory(std::uint64_t offset) const {
    return inside(offset, 0, cfg_.sbuf_size) || inside(offset, psum_offset, cfg_.psum_size);
}

void neuron_core::count_error(memory_error error, std::uint64_t offset,
                              const sc_core::sc_time& delay) {
    const auto counter =
        error == memory_error::corrected ? error_reg::corrected : error_reg::uncorrected;
    errors_.set(counter, std::min<std::uint64_t>(errors_.get(counter) + 1, ~0u));
    errors_.set(error_reg::error_address, offset);
    update_error_line(delay);
}

void neuron_core::clear_errors(const sc_core::sc_time& delay) {
    for (const auto counter : {error_reg::corrected, error_reg::uncorrected})
        errors_.set(counter, 0);
    update_error_line(delay);
}

void neuron_core::update_error_line(const sc_core::sc_time& delay) {
    const auto counted = errors_.get(error_reg::corrected) | errors_.get(error_reg::uncorrected);
    error.set(counted != 0, delay);
}

/// Power loss: clears memories with their errors, and everything that a reset clears.
void neuron_core::forget() {
    sbuf_.clear();
    psum_.clear();
    sbuf_content_.clear();
    psum_content_.clear();
    armed_.clear();
    errors_.reset();
    error.cancel();
    update_error_line(sc_core::SC_ZERO_TIME);
    reset_changed(true);
    aperture->invalidate_direct_mem_ptr(0, aperture_size - 1);
}

void neuron_core::set_throttled(bool throttled, bool notify) {
    throttled_ = throttled;
    if (!engines_) return;
    engines_->set_clock(clock_permille());
    if (notify) engines_->report_clock(clock_permille());
}

void neuron_core::publish(statistics& out) const {
    out.count("memory_bytes_moved", memories_.bytes());
    if (one_counter::wanted(out, "sbuf_bytes_resident"))
        out.count("sbuf_bytes_resident", sbuf_.resident());
    out.count("sram_corrected", errors_.get(error_reg::corrected));
    out.count("sram_uncorrected", errors_.get(error_reg::uncorrected));
    if (engines_) engines_->publish(out);
}

std::vector<accepts_faults::fault> neuron_core::faults() {
    const auto offset = fault_argument::size("offset", psum_offset + cfg_.psum_size,
                                             "of a byte of SBUF or PSUM in the aperture");
    const auto arm = [this](memory_error error) {
        return [this, error](const fault_values& given) {
            const auto offset = given.number("offset");
            if (!is_memory(offset))
                throw fault_error(fmt::format("no SBUF or PSUM at offset {:#x}", offset));
            armed_.arm(error, offset);
        };
    };
    return {{"sram_corrected",
             "the next read of the byte is corrected",
             {offset},
             arm(memory_error::corrected)},
            {"sram_parity",
             "reads of the byte fail until it is overwritten",
             {offset},
             arm(memory_error::uncorrected)}};
}

}  // namespace trn
