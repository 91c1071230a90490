// SPDX-License-Identifier: Apache-2.0
#include "models/neuron_core/neuron_core/engines.h"

#include <fmt/format.h>

#include <string_view>
#include <utility>

#include "models/neuron_core/engines/gpsimd_engine.h"
#include "models/neuron_core/engines/scalar_engine.h"
#include "models/neuron_core/engines/tensor_engine.h"
#include "models/neuron_core/engines/vector_engine.h"
#include "models/neuron_core/sequencer/sequencer_regs.h"
#include "models/neuron_core/sequencer/shared/engine_settings.h"

namespace trn {

namespace regs = sequencer_regs;
using regs::reg;

namespace {

std::unique_ptr<isa::data_path> make_data_path(isa::engine e, isa::core_memory& memory,
                                               isa::generation g, bool outside_is_nan) {
    switch (e) {
    case isa::engine::tensor:
        return std::make_unique<tensor_engine>(memory, g);
    case isa::engine::scalar:
        return std::make_unique<scalar_engine>(memory, g, outside_is_nan);
    case isa::engine::gpsimd:
        return std::make_unique<gpsimd_engine>(memory, g);
    case isa::engine::vector:
        return std::make_unique<vector_engine>(memory, g);
    case isa::engine::sync:
        break;
    }
    return nullptr;
}

}  // namespace

core_engines::core_engines(const parts& p)
    : control_(regs::table, {.name = p.owner.name(),
                             .instances = isa::engine_count,
                             .stride = stride,
                             .latency = p.register_latency}),
      lines_(control_, p.peek),
      posters_(p.peek, p.id.semaphores, &lines_),
      checks_(
          p.owner,
          {p.memory.partition_bytes(isa::space::sbuf), p.memory.partition_bytes(isa::space::psum)},
          p.contents, &lines_),
      environment_{
          p.owner,
          p.id,
          {p.memory.partition_bytes(isa::space::sbuf), p.memory.partition_bytes(isa::space::psum)},
          p.sync,
          p.memory,
          p.port,
          control_,
          p.notify,
          [&memory = p.memory, g = p.id.generation, nan = p.outside_is_nan](isa::engine e) {
              return make_data_path(e, memory, g, nan);
          }} {
    environment_.lines = &lines_;
    environment_.act_table_load = p.act_table_load;
    environment_.warm_up = p.warm_up;
    environment_.operand_crc = p.operand_crc;
    for (unsigned e = 0; e < isa::engine_count; ++e)
        engines_[e] = std::make_unique<sequencer>(environment_, static_cast<isa::engine>(e));
    control_.on_write(reg::control, [this](register_access& a) {
        engines_[a.instance]->command(static_cast<std::uint32_t>(a.written));
    });
    control_.on_write(reg::r, [this](register_access& a) {
        if (engines_[a.instance]->current() == sequencer::state::running)
            a.response = tlm::TLM_COMMAND_ERROR_RESPONSE;
        else
            engines_[a.instance]->set_reg(a.index, static_cast<std::uint32_t>(a.written));
    });
    environment_.observer = &checks_;
    p.sync.note_posters();
    show_states();
    set_reset_values(control_, p.id.generation);
}

void core_engines::show_states() {
    const auto show = [this](reg shown, auto value) {
        control_.view(shown, [this, value](unsigned instance, unsigned index) -> std::uint64_t {
            return value(*engines_[instance], index);
        });
    };
    const auto halves = [&](reg low, reg high, std::uint64_t sequencer::counters::*counter) {
        show(low, [counter](const sequencer& s, unsigned) {
            return s.counted().*counter & 0xffff'ffff;
        });
        show(high, [counter](const sequencer& s, unsigned) { return s.counted().*counter >> 32; });
    };
    show(reg::status, [](const sequencer& s, unsigned) { return s.status(); });
    show(reg::pc, [](const sequencer& s, unsigned) { return s.pc(); });
    show(reg::retired, [](const sequencer& s, unsigned) { return s.retired(); });
    show(reg::error_pc, [](const sequencer& s, unsigned) { return s.error_pc(); });
    show(reg::error_detail, [](const sequencer& s, unsigned) { return s.error_detail(); });
    show(reg::wait_value,
         [](const sequencer& s, unsigned) { return static_cast<std::uint32_t>(s.wait_value()); });
    show(reg::r, [](const sequencer& s, unsigned index) { return s.reg(index); });
    show(reg::block, [](const sequencer& s, unsigned index) { return s.block_word(index); });
    halves(reg::busy_lo, reg::busy_hi, &sequencer::counters::busy_cycles);
    halves(reg::wait_lo, reg::wait_hi, &sequencer::counters::wait_cycles);
    halves(reg::bytes_read_lo, reg::bytes_read_hi, &sequencer::counters::bytes_read);
    halves(reg::bytes_written_lo, reg::bytes_written_hi, &sequencer::counters::bytes_written);
}

/// Notification slots of engine e: errors e, notifications 5 + e, traces 10 + e; events and
/// throttling 15. All are enabled except traces.
void core_engines::set_reset_values(register_bank& control, isa::generation generation) {
    for (unsigned e = 0; e < isa::engine_count; ++e) {
        const std::uint64_t slots = e | (5 + e) << 4 | (10 + e) << 8 | 15 << 12;
        control.set(reg::notify_config,
                    slots | regs::notify_config::errors.mask() |
                        regs::notify_config::notifications.mask() |
                        regs::notify_config::events.mask(),
                    0, e);
        control.set(reg::version, static_cast<unsigned>(generation) | e << 8 | 1 << 16, 0, e);
    }
}

unsigned core_engines::debug_read_idle(tlm::tlm_generic_payload& payload,
                                       isa::generation generation) {
    register_bank idle(regs::table,
                       {.name = "idle", .instances = isa::engine_count, .stride = stride});
    set_reset_values(idle, generation);
    return idle.debug_access(payload);
}

void core_engines::reset() {
    control_.reset();
    set_reset_values(control_, environment_.id.generation);
    environment_.ports.reset();
    checks_.reset();
    for (auto& engine : engines_) engine->reset();
}

void core_engines::publish(statistics& out) const {
    for (unsigned e = 0; e < isa::engine_count; ++e) publish(out, static_cast<isa::engine>(e));
}

void core_engines::publish(statistics& out, isa::engine e) const {
    const sequencer& engine = sequencer_of(e);
    const engine_counters& c = engine.counted();
    const auto count = [&](std::string_view counter, std::uint64_t value) {
        out.count(fmt::format("{}_{}", name_of(e), counter), value);
    };
    const std::uint64_t elapsed = engine.elapsed();
    count("instructions", engine.retired());
    count("busy_cycles", c.busy_cycles);
    count("utilisation_permille", elapsed == 0 ? 0 : c.busy_cycles * 1000 / elapsed);
    count("wait_cycles", c.wait_cycles);
    count("wait_dma_cycles", c.dma_wait_cycles);
    for (const auto& [index, cycles] : c.wait_cycles_by_index)
        count(fmt::format("wait_semaphore_{}_cycles", index), cycles);
    count("wait_overlap_cycles", c.overlap_cycles);
    count("wait_port_cycles", c.port_cycles);
    count("wait_fetch_cycles", c.fetch_cycles);
    count("instruction_bytes_fetched", c.fetched_bytes);
    count("semaphore_wraps", c.semaphore_wraps);
    if (e == isa::engine::sync) return;
    count("bytes_read", c.bytes_read);
    count("bytes_written", c.bytes_written);
    count("sbuf_bytes_read", c.bytes_read - c.psum_bytes_read);
    count("sbuf_bytes_written", c.bytes_written - c.psum_bytes_written);
    count("psum_bytes_read", c.psum_bytes_read);
    count("psum_bytes_written", c.psum_bytes_written);
    count("flops", c.flops);
    if (e == isa::engine::tensor) count("bf16_flops", c.bf16_flops);
    for (std::size_t rate = 0; rate < c.instructions_by_rate.size(); ++rate)
        count(fmt::format("instructions_{}x", 1u << rate), c.instructions_by_rate[rate]);
    count("numerical_errors", c.numerical);
}

void core_engines::set_clock(unsigned permille) {
    for (auto& engine : engines_) engine->set_clock(permille);
}

void core_engines::report_clock(unsigned permille) {
    constexpr auto tensor = isa::engine::tensor;
    environment_.notify(
        engine_settings(control_, tensor).throttle_slot(),
        {notification::kind::throttle, static_cast<std::uint8_t>(tensor), permille | 1000u << 16});
}

std::optional<std::string> core_engines::describe_wait() const {
    std::string all;
    for (const auto& engine : engines_)
        if (const auto wait = engine->describe_wait())
            all += fmt::format("{}{}, {}", all.empty() ? "" : "; ", *wait,
                               posters_.describe(engine->awaited(), programs()));
    return all.empty() ? std::nullopt : std::optional(all);
}

/// Programs of the engines that were started.
std::vector<semaphore_posters::program> core_engines::programs() const {
    std::vector<semaphore_posters::program> programs;
    for (unsigned e = 0; e < isa::engine_count; ++e) {
        const sequencer& engine = *engines_[e];
        const engine_settings settings(control_, static_cast<isa::engine>(e));
        programs.push_back(
            {static_cast<isa::engine>(e), settings.program_base(), settings.program_words(),
             fmt::format("{} at {}", name_of(engine.current()),
                         describe_pc(&lines_, static_cast<isa::engine>(e), engine.pc()))});
    }
    return programs;
}

}  // namespace trn
