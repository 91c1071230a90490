// SPDX-License-Identifier: Apache-2.0
#include "models/dma/udma/udma.h"

#include <fmt/format.h>

#include <algorithm>
#include <limits>

#include "models/dma/udma/dma_generator_regs.h"
#include "models/dma/udma/sdma_misc_regs.h"
#include "models/dma/udma/udma_regs.h"
#include "models/misuse_rules.h"
#include "platform/framework/kernel/random.h"
#include "platform/framework/tlm/shifted.h"

namespace trn {

namespace regs = udma_regs;
using regs::reg;
using sc_core::sc_time;

namespace {

// Limits of one activation in functional timing: about 50 us of host time.
constexpr std::uint64_t bytes_per_activation = 256 << 10;
constexpr unsigned transfers_per_activation = 256;

constexpr std::uint64_t notifications_offset = 0x1000;  // contract 9, in the SDMA block

}  // namespace

udma::udma(sc_core::sc_module_name name, const config& cfg)
    : sc_module(name),
      reset("reset", cfg.reset_lines,
            [this](unsigned line, bool level) { reset_part(line, level); }),
      cfg_(cfg),
      memory_port_(memory),
      regs_(regs::table,
            {.instances = cfg.engines, .stride = cfg.stride, .latency = cfg.register_latency}),
      misc_regs_(
          sdma_misc_regs::table,
          {.instances = cfg.engines, .stride = cfg.misc_stride, .latency = cfg.register_latency}),
      generator_regs_(dma_generator_regs::table, {.instances = cfg.engines,
                                                  .stride = dma_generator_regs::size,
                                                  .latency = cfg.register_latency}),
      notifications_(*this, responded_, cfg.register_latency, cfg.engines, cfg.misc_stride),
      group_{{cfg.bytes_per_second, cfg.start_latency, cfg.descriptor_overhead, cfg.stream_timeout,
              cfg.functional_step, cfg.generation_latency, cfg.outstanding, cfg.outstanding_bytes},
             {cfg.compute_permille,
              cfg.transpose_permille,
              cfg.near_memory_accumulate,
              {cfg.fp8_e4m3fn}},
             cfg.first_engine,
             *this,
             regs_,
             generator_regs_,
             notifications_,
             memory_port_,
             responded_,
             [this] { update_aborted(); }},
      engines_(cfg.engines) {
    registers.register_b_transport(this, &udma::access_slot);
    registers.register_transport_dbg(this, &udma::peek_slot);
    misc.register_b_transport(this, &udma::access_misc);
    misc.register_transport_dbg(this, &udma::peek_misc);
    memory.register_invalidate_direct_mem_ptr(this, &udma::invalidate_windows);
    notifications_.on_posted([this] { wake_.notify(notification_queue::post_latency()); });
    hook_queues();
    hook_states();
    hook_interrupt_groups();
    hook_generator();
    SC_METHOD(run);
    sensitive << wake_ << responded_;
    dont_initialize();
}

// ---- Registers

udma::place udma::find_in_slot(std::uint64_t address) {
    const std::uint64_t engine = address / cfg_.stride, offset = address % cfg_.stride;
    if (engine >= cfg_.engines) return {};
    if (offset < engine_size) return {&regs_, static_cast<unsigned>(engine), address};
    if (cfg_.descriptor_generator && offset >= generator_offset &&
        offset < generator_offset + dma_generator_regs::size)
        return {&generator_regs_, static_cast<unsigned>(engine),
                engine * dma_generator_regs::size + offset - generator_offset};
    if (offset - engine_size >= cfg_.misc_stride) return {};
    return find_in_misc(engine * cfg_.misc_stride + offset - engine_size);
}

udma::place udma::find_in_misc(std::uint64_t address) {
    const std::uint64_t engine = address / cfg_.misc_stride, offset = address % cfg_.misc_stride;
    if (engine >= cfg_.engines || offset >= misc_size) return {};
    const auto number = static_cast<unsigned>(engine);
    if (offset < notifications_offset) return {&misc_regs_, number, address};
    return {&notifications_.registers(), number, address - notifications_offset};
}

void udma::access(tlm::tlm_generic_payload& payload, sc_time& delay, const place& target) {
    if (target.part == nullptr) return payload.set_response_status(tlm::TLM_ADDRESS_ERROR_RESPONSE);
    // In reset, registers have their reset values.
    if (payload.is_write() && in_reset(target.engine))
        return payload.set_response_status(tlm::TLM_OK_RESPONSE);
    const shifted local(payload, payload.get_address() - target.address);
    target.part->access(payload, delay);
}

unsigned udma::peek(tlm::tlm_generic_payload& payload, const place& target) {
    if (target.part == nullptr) return 0;
    const shifted local(payload, payload.get_address() - target.address);
    return target.part->debug_access(payload);
}

void udma::hook_queues() {
    struct names {
        dma_side side;
        reg base_lo, cfg, status, head, tail_increment, tail, current, completion_head, sw_control;
    };
    constexpr names sides[] = {
        {dma_side::m2s, reg::m2s_q_base_lo, reg::m2s_q_cfg, reg::m2s_q_status, reg::m2s_q_head,
         reg::m2s_q_tail_increment, reg::m2s_q_tail, reg::m2s_q_current, reg::m2s_q_completion_head,
         reg::m2s_q_sw_control},
        {dma_side::s2m, reg::s2m_q_base_lo, reg::s2m_q_cfg, reg::s2m_q_status, reg::s2m_q_head,
         reg::s2m_q_tail_increment, reg::s2m_q_tail, reg::s2m_q_current, reg::s2m_q_completion_head,
         reg::s2m_q_sw_control}};
    for (const names& n : sides) {
        const dma_side side = n.side;
        regs_.on_write(n.tail_increment, [this, side](register_access& a) {
            const auto count = regs::m2s_q_tail_increment::count.get(a.written);
            engine(a.instance).doorbell(side, a.index, static_cast<std::uint32_t>(count), a.delay);
            schedule();
        });
        regs_.on_write(n.base_lo, [this](register_access& a) {
            constexpr std::uint64_t alignment = 256;  // contract 7.1
            if (a.written % alignment != 0)
                misuse::report(misuse::ring_base_misaligned, *this,
                               fmt::format("engine {} queue {}: {:#x}",
                                           cfg_.first_engine + a.instance, a.index, a.written));
        });
        regs_.on_write(n.sw_control, [this, n](register_access& a) {
            if (regs::m2s_q_sw_control::reset.get(a.written) == 0) return;
            regs_.set(n.sw_control, a.value & ~regs::m2s_q_sw_control::reset.mask(), a.index,
                      a.instance);
            if (!engines_[a.instance]) return;
            engines_[a.instance]->reset_queue(n.side, a.index);
            schedule();
        });
        regs_.on_write(n.cfg, [this](register_access& a) { enables_changed(a.instance); });
        const auto position = [this, side](const dma_ring::position& (dma_ring::*read)() const) {
            return [this, side, read](unsigned instance, unsigned queue) -> std::uint64_t {
                const auto* e = engines_[instance].get();
                const dma_ring* ring = e != nullptr ? e->ring(side, queue) : nullptr;
                return (ring != nullptr ? (ring->*read)() : dma_ring::position()).value();
            };
        };
        regs_.view(n.head, position(&dma_ring::fetch));
        regs_.view(n.completion_head, position(&dma_ring::head));
        regs_.view(n.tail, position(&dma_ring::tail));
        regs_.view(n.current, position(&dma_ring::head));
        regs_.view(n.status, [this, side](unsigned instance, unsigned queue) -> std::uint64_t {
            const auto* e = engines_[instance].get();
            const dma_ring* ring = e != nullptr ? e->ring(side, queue) : nullptr;
            if (ring == nullptr) return 0;
            const bool stopped = e->queue_aborted(side, queue);
            return ring->pending() | (stopped ? regs::m2s_q_status::aborted.mask() : 0);
        });
    }
}

void udma::hook_states() {
    regs_.on_write(reg::s2m_stream_cfg,
                   [this](register_access& a) { enables_changed(a.instance); });
    const auto hook = [this](dma_side side, reg change, reg shown) {
        regs_.on_write(change, [this, side](register_access& a) {
            engine(a.instance).change_state(side, a.written);
            schedule();
        });
        regs_.view(shown,
                   [this, side](unsigned instance, unsigned) { return state(instance, side); });
    };
    regs_.on_write(reg::abort_event, [this](register_access& a) { update_aborted(a.delay); });
    hook(dma_side::m2s, reg::m2s_change_state, reg::m2s_state);
    hook(dma_side::s2m, reg::s2m_change_state, reg::s2m_state);
}

void udma::enables_changed(unsigned number) {
    if (!engines_[number]) return;
    engines_[number]->enables_changed();
    schedule();
}

std::uint64_t udma::state(unsigned number, dma_side side) const {
    namespace field = regs::m2s_state;
    const dma_engine* e = engines_[number].get();
    if (e == nullptr) return 0;
    const std::uint64_t nibble = e->aborted(side) ? field::completion_abort
                                 : e->busy(side)  ? field::completion_normal
                                                  : field::completion_idle;
    return nibble << field::prefetch.lsb | nibble << field::data.lsb | nibble << field::stream.lsb |
           nibble << field::completion.lsb;
}

void udma::hook_generator() {
    generator_regs_.on_write(dma_generator_regs::reg::start, [this](register_access& a) {
        if (dma_generator_regs::start::go.get(a.written) == 0) return;
        if (!engine(a.instance).generate(a.index, a.delay))
            a.response = tlm::TLM_GENERIC_ERROR_RESPONSE;
        schedule();
    });
}

void udma::hook_interrupt_groups() {
    struct names {
        reg cause, cause_set, mask, mask_clear, status, control;
    };
    constexpr names kinds[] = {
        {reg::primary_cause, reg::primary_cause_set, reg::primary_mask, reg::primary_mask_clear,
         reg::primary_status, reg::primary_control},
        {reg::secondary_cause, reg::secondary_cause_set, reg::secondary_mask,
         reg::secondary_mask_clear, reg::secondary_status, reg::secondary_control},
        {reg::axi_error_cause, reg::axi_error_cause_set, reg::axi_error_mask,
         reg::axi_error_mask_clear, reg::axi_error_status, reg::axi_error_cause_control}};
    for (const names& n : kinds) {
        regs_.on_read(n.cause, [this, n](register_access& a) {
            const auto control = regs_.get(n.control, a.index, a.instance);
            if (regs::primary_control::clear_on_read.get(control) != 0)
                regs_.set(n.cause, 0, a.index, a.instance);
        });
        regs_.on_write(n.cause_set, [this, n](register_access& a) {
            regs_.set(n.cause, regs_.get(n.cause, a.index, a.instance) | a.written, a.index,
                      a.instance);
        });
        regs_.on_write(n.mask_clear, [this, n](register_access& a) {
            regs_.set(n.mask, regs_.get(n.mask, a.index, a.instance) & a.written, a.index,
                      a.instance);
        });
        regs_.view(n.status, [this, n](unsigned instance, unsigned group) {
            return regs_.get(n.cause, group, instance);
        });
    }
}

dma_engine& udma::engine(unsigned number) {
    if (!engines_[number]) {
        engines_[number] = std::make_unique<dma_engine>(group_, number);
        used_.push_back(engines_[number].get());
    }
    return *engines_[number];
}

// ---- Reset and faults

unsigned udma::reset_line_of(unsigned engine) const {
    return engine * cfg_.reset_lines / cfg_.engines;
}

/// Contract 5.3: queues disabled and empty, ring id 1 expected, notification queues off.
void udma::reset_part(unsigned line, bool level) {
    if (!level) return;
    for (unsigned n = 0; n < cfg_.engines; ++n) {
        if (reset_line_of(n) != line) continue;
        regs_.reset(n);
        misc_regs_.reset(n);
        generator_regs_.reset(n);
        notifications_.reset(n);
        if (engines_[n]) reset_engine(n);
    }
    aborted.cancel();
    update_aborted();  // their events have gone with the registers
    schedule();
}

/// Affects all engines of the group, including ones created later.
void udma::slow_down(bool throttled) {
    group_.times.bytes_per_second =
        throttled ? cfg_.bytes_per_second / 1000 * cfg_.throttled_permille : cfg_.bytes_per_second;
    for (auto* each : used_) each->set_rate(group_.times.bytes_per_second);
}

/// A reset is the normal way to stop rings of cores. Interrupting the driver's own copy is reported
/// as misuse; resets by hardware (watchdog, temperature) are not counted.
void udma::reset_engine(unsigned n) {
    const bool by_software = initiator::current() != nullptr;
    if (const auto owned = engines_[n]->owned(); cfg_.host_transfer && by_software && owned > 0)
        misuse::report(misuse::reset_while_owned, *this,
                       fmt::format("engine {}: {} descriptors", cfg_.first_engine + n, owned));
    engines_[n]->reset();
}

void udma::update_aborted(const sc_core::sc_time& delay) {
    const bool any = std::any_of(used_.begin(), used_.end(), [this](const dma_engine* e) {
        return regs_.get(reg::abort_event, 0, e->number()) != 0;
    });
    aborted.set(any, delay);
}

void udma::abort_queue(unsigned number, unsigned queue) {
    if (in_reset(number)) return;
    engine(number).fail(queue);
    schedule();
}

std::vector<accepts_faults::fault> udma::faults() {
    const auto engine =
        fault_argument::number("engine", 0, cfg_.engines - 1, "0 is the first of the group");
    const auto queue = fault_argument::number("queue", 0, dma_engine::queues - 1, "of the engine");
    constexpr unsigned bits = 8 * sizeof(dma_descriptor);
    return {{"dma_abort",
             "the queue stops, unless the engine is in reset",
             {engine, queue},
             [this](const fault_values& given) {
                 abort_queue(given.number<unsigned>("engine"), given.number<unsigned>("queue"));
             }},
            {"descriptor_damaged",
             "a bit of the next fetched descriptor is inverted",
             {engine, queue,
              fault_argument::number("side", 0, 1, "sources (0) or destinations (1)").by_default(0),
              fault_argument::number("bit", 0, bits - 1, "of the descriptor").random_by_default()},
             [this](const fault_values& given) {
                 if (!random_) random_ = std::make_unique<std::mt19937_64>(seed_for(name()));
                 const auto drawn = (*random_)() % bits;
                 const auto bit = given.has("bit") ? given.number("bit") : drawn;
                 const auto index = given.number<unsigned>("engine");
                 if (in_reset(index)) return;
                 this->engine(index).damage_next(
                     given.number("side") == 0 ? dma_side::m2s : dma_side::s2m,
                     given.number<unsigned>("queue"), static_cast<std::uint8_t>(bit));
             }}};
}

// ---- Inspection by tools

dma_engine::counters udma::count(unsigned number) const {
    return engines_[number] ? engines_[number]->count() : dma_engine::counters{};
}

bool udma::busy() const {
    return std::any_of(used_.begin(), used_.end(), [](const dma_engine* e) {
        return e->busy(dma_side::m2s) || e->busy(dma_side::s2m);
    });
}

void udma::publish(statistics& out) const {
    dma_engine::counters sum;
    for (unsigned n = 0; n < cfg_.engines; ++n) {
        const auto counted = count(n);
        sum.bytes += counted.bytes;
        sum.descriptors += counted.descriptors;
        sum.aborts += counted.aborts;
        if (counted.descriptors == 0 && counted.aborts == 0) continue;
        const std::string engine_name = "engine" + std::to_string(cfg_.first_engine + n);
        out.count(engine_name + "_bytes", counted.bytes);
        out.count(engine_name + "_descriptors", counted.descriptors);
        out.count(engine_name + "_aborts", counted.aborts);
    }
    out.count("bytes", sum.bytes);
    out.count("descriptors", sum.descriptors);
    out.count("aborts", sum.aborts);
}

std::optional<std::string> udma::describe_wait() const {
    for (const dma_engine* e : used_) {
        if (auto reason = e->waits_for()) return reason;
    }
    return std::nullopt;
}

void udma::publish_signals(signal_list& out) const {
    for (unsigned n = 0; n < cfg_.engines; ++n) {
        const auto name = "engine" + std::to_string(cfg_.first_engine + n);
        out.transactions(name);
        out.number(name + ".bytes_in_flight", 32,
                   [this, n] { return engines_[n] ? engines_[n]->bytes_in_flight() : 0; });
        for (unsigned queue = 0; queue < dma_engine::queues; ++queue)
            for (const auto side : dma_sides)
                out.number(name + ".queue" + std::to_string(queue) + "." + text(side) + "_pending",
                           32, [this, n, queue, side]() -> std::uint64_t {
                               const auto* ring =
                                   engines_[n] ? engines_[n]->ring(side, queue) : nullptr;
                               return ring != nullptr ? ring->pending() : 0;
                           });
    }
}

// ---- Process

/// Index of the engine with the earliest due time; round robin among equal times. The number of
/// engines: none is due.
std::size_t udma::next_due() const {
    std::size_t best = used_.size();
    sc_time earliest = never();
    std::size_t index = turn_;
    for (std::size_t i = 0; i < used_.size(); ++i) {
        if (group_.turns[index].due < earliest) {
            best = index;
            earliest = group_.turns[index].due;
        }
        if (++index == used_.size()) index = 0;
    }
    return best;
}

void udma::run() {
    const bool functional = timing() == timing_mode::functional;
    constexpr auto unlimited = std::numeric_limits<unsigned>::max();
    dma_activation activation{
        sc_core::sc_time_stamp(),
        functional ? bytes_per_activation : std::numeric_limits<std::uint64_t>::max(),
        functional ? transfers_per_activation : unlimited};
    for (std::size_t index = 0; index < used_.size(); ++index) {
        if (group_.turns[index].waits_for_memory) used_[index]->step(activation);
    }
    std::size_t next = next_due();
    while (is_due(next, activation.now) && !activation.spent()) {
        used_[next]->step(activation);
        if (functional) turn_ = (turn_ + 1) % used_.size();
        next = next_due();
    }
    wake_.cancel();  // doorbells rung by this activation have woken the process for it again
    if (notifications_.has_undelivered()) {
        // A ring may be in the group's own registers: an entry may ring a doorbell, and post
        // another entry, for which the process is woken.
        notifications_.deliver(memory_port_);
        next = next_due();
    }
    if (activation.spent() && is_due(next, activation.now))
        wake_.notify(cfg_.functional_step);  // the work that this activation has left
    else
        wake_for(next, activation.now);
}

/// Wakes the process for the next due engine, and for entries that the current access has posted.
void udma::schedule() {
    wake_for(next_due(), sc_core::sc_time_stamp());
    if (notifications_.has_undelivered()) wake_.notify(notification_queue::post_latency());
}

void udma::wake_for(std::size_t place, const sc_time& now) {
    if (place >= used_.size()) return;
    const sc_time& due = group_.turns[place].due;
    wake_.notify(due > now ? due - now : sc_core::SC_ZERO_TIME);
}

}  // namespace trn
