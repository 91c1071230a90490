// SPDX-License-Identifier: Apache-2.0
#include "models/neuron_core/sequencer/units/compute_unit.h"

#include <algorithm>
#include <iterator>
#include <optional>

#include "models/neuron_core/sequencer/units/operand_crc.h"
#include "platform/framework/kernel/trace.h"

namespace trn {

using isa::instruction;
using isa::opcode;

namespace {

/// Sets of activation functions (spec 3.6), a bit per function code.
constexpr std::uint32_t bits(unsigned first, unsigned last) {
    return ((2u << last) - 1) & ~((1u << first) - 1);
}
constexpr std::uint32_t activation_sets[] = {
    bits(0, 8), bits(9, 13), bits(14, 19), bits(20, 20) | 1u << 8, bits(21, 22), bits(23, 25)};

}  // namespace

void compute_unit::reset() {
    window_.reset();
    path_.reset();
    activation_set_ = 0;
    array_used_ = false;
}

void compute_unit::load_table(unsigned set) {
    clock_.spend(set != activation_set_ ? clock_.after(0, core_.act_table_load)
                                        : isa::control_cycles);
    activation_set_ = set;
}

/// Loads the next set that has `function`; false if the loaded one has it. Precondition:
/// isa::check() has made sure that some set has it.
bool compute_unit::load_set_of(std::uint8_t function) {
    const unsigned loaded = activation_set_;
    while ((activation_sets[activation_set_] >> function & 1) == 0)
        activation_set_ = static_cast<unsigned>((activation_set_ + 1) % std::size(activation_sets));
    return activation_set_ != loaded;
}

progress compute_unit::prepare(const instruction& i) {
    if (!path_) path_ = core_.make_data_path(traits_.engine);
    if (!path_) return isa::fault_of(isa::error::illegal_instruction, isa::reason::opcode);
    cost_ = isa::cost_of(i, traits_.engine, traits_.generation);
    if ((i.opcode == opcode::activate || i.opcode == opcode::activate2) && load_set_of(i.op0))
        clock_.spend(clock_.after(0, core_.act_table_load));
    use_ = isa::memory_ports::use_of(i, cost_, core_.partitions);
    const cycles begin = std::max(clock_.local(), clock_.now());
    const cycles free = window_.free(i, begin);
    clock_.reach(window_.earliest(i, begin));
    counters_.overlap_cycles += clock_.local() - free;
    timeline_.waited("overlap", free, clock_.local());
    const sc_core::sc_time port = core_.ports.free_at(traits_.engine, traits_.generation, use_);
    if (port > sc_core::sc_time_stamp()) {
        const cycles independent = clock_.local();
        clock_.reach(clock_.cycle_at(port));
        counters_.port_cycles += clock_.local() - independent;
        timeline_.waited("port", independent, clock_.local());
    }
    if (clock_.is_ahead()) return sleeping{clock_.local()};
    return finished{};
}

progress compute_unit::execute(const instruction& i, std::uint32_t pc,
                               const isa::number_settings& numbers) {
    const cycles start = clock_.local();
    if (core_.warm_up && traits_.engine == isa::engine::tensor) warm_up();
    completed_ = start + cost_.latency;
    if (core_.observer != nullptr &&
        core_.observer->issues(traits_.engine, pc, i, clock_.time_of(completed_)))
        signals_.send(notification::kind::error,
                      static_cast<std::uint32_t>(isa::error::psum_collision) | pc << 8);
    const bool shows_crc = core_.operand_crc && trace::on();
    const auto inputs =
        shows_crc ? crc_of_inputs(core_.memory, traits_.engine, i) : std::optional<std::uint16_t>();
    const isa::outcome result = path_->execute(i, numbers);
    if (result.fault) return *result.fault;
    if (inputs) timeline_.operands(pc, *inputs, crc_of_outputs(core_.memory, traits_.engine, i));
    if (core_.observer != nullptr) core_.observer->computed(traits_.engine, pc, i, result.mistakes);
    if (result.numerical) {
        ++counters_.numerical;
        signals_.send(notification::kind::error,
                      static_cast<std::uint32_t>(isa::error::numerical) | pc << 8);
    }
    window_.issued(i, cost_, start);
    use_.until = clock_.time_of(start + cost_.interval);
    core_.ports.take(traits_.engine, use_);
    const isa::work done = isa::work_of(i, traits_.engine, traits_.generation);
    count(i, done);
    timeline_.compute(i, pc, start, cost_, done);
    return finished{};
}

/// Doubles the interval of an instruction that starts while the array is cold.
void compute_unit::warm_up() {
    const cycles start = clock_.local();
    if (!array_used_ || start > array_busy_ + clock_.of_ns(isa::array_idle_ns)) cold_start_ = start;
    array_used_ = true;
    if (start < cold_start_ + clock_.of_ns(isa::array_warm_up_ns)) {
        cost_.latency += cost_.interval;
        cost_.interval *= 2;
    }
    array_busy_ = std::max(array_busy_, start + cost_.interval);
}

void compute_unit::count(const instruction& i, const isa::work& done) {
    counters_.busy_cycles += cost_.interval;
    counters_.bytes_read += done.bytes_read;
    counters_.bytes_written += done.bytes_written;
    counters_.psum_bytes_read += done.psum_bytes_read;
    counters_.psum_bytes_written += done.psum_bytes_written;
    counters_.flops += done.flops;
    counters_.bf16_flops += done.bf16_flops;
    ++counters_.instructions_by_rate[cost_.rate / 2];
    core_.bf16_flops +=
        std::max(done.bf16_flops, traits_.engine == isa::engine::tensor ? 0 : done.flops);
    core_.sram_bytes += done.bytes_read + done.bytes_written;
    if (traits_.engine == isa::engine::tensor)
        core_.array.occupy(i, clock_.local(), cost_.interval);
}

}  // namespace trn
