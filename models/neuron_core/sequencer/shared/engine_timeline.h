// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "models/neuron_core/sequencer/shared/program_lines.h"
#include "models/neuron_core/sequencer/timing/engine_clock.h"
#include "models/neuron_core/sequencer/timing/timing.h"
#include "models/neuron_isa/instructions/instruction.h"
#include "models/soc/semaphores/semaphores.h"
#include "platform/framework/kernel/trace.h"

namespace trn {

/// The track of one engine in the trace: its instructions and its waits with their reasons
/// (doc/timeline.md). An instruction that posts a semaphore begins an operation; the wait that the
/// post ends belongs to it. Without a trace, all functions return at once.
class engine_timeline {
public:
    using cycles = engine_clock::cycles;

    /// `lines` may be null.
    engine_timeline(std::string_view core, isa::engine engine, const engine_clock& clock,
                    const program_lines* lines);

    /// Records an event of the engine at the present time.
    void event(std::string_view name, trace::fields fields) const {
        if (trace::on()) trace::event(track_, name, fields);
    }
    /// Records that the engine was stalled from `from` until `until`.
    void waited(std::string_view reason, cycles begin, cycles until) const {
        if (trace::on() && until > begin) draw_wait(reason, begin, until);
    }
    /// Begins a wait of unknown length; calls `reason` only while there is a trace.
    template <typename Reason>
    void begin_wait(std::uint32_t pc, Reason reason) {
        if (trace::on()) open_wait(pc, reason());
    }
    /// `poster` ended the wait after `waited` cycles.
    void end_wait(const semaphores::poster& poster, cycles waited) {
        if (wait_.track != 0) close_wait(poster, waited);
    }
    void abandon_wait() {
        if (wait_.track != 0) trace::end(wait_, track_, "abandoned");
    }

    /// The engine starts at `pc`.
    void started(std::uint32_t pc, isa::generation generation) const {
        if (trace::on()) draw_start(pc, generation);
    }

    /// The operation that `i` begins; 0 when it posts nothing.
    trace::operation begin_operation(const isa::instruction& i) const;
    /// A data-path instruction occupies the engine from `start` on.
    void compute(const isa::instruction& i, std::uint32_t pc, cycles start, const isa::cost& cost,
                 const isa::work& done) const {
        if (trace::on()) draw_compute(i, pc, start, cost, done);
    }
    /// Records CRCs of the operands of the instruction that began now.
    void operands(std::uint32_t pc, std::uint16_t inputs,
                  std::optional<std::uint16_t> outputs) const {
        event("operands", {{"pc", pc}, {"crc_in", inputs}, {"crc_out", outputs.value_or(0)}});
    }
    void control(const isa::instruction& i, std::uint32_t pc, cycles begin, cycles until) const {
        if (trace::on()) draw_control(i, pc, begin, until);
    }
    /// Adds the work of the next control instruction's span to the counters.
    void counted(cycles busy, const isa::work& done) const {
        if (trace::on()) draw_counted(busy, done);
    }
    /// Records `count` instructions that use registers only.
    void registers(std::uint32_t pc, std::uint64_t count, cycles begin, cycles until) const;

private:
    void draw_wait(std::string_view reason, cycles begin, cycles until) const;
    void open_wait(std::uint32_t pc, const std::string& reason);
    void close_wait(const semaphores::poster& poster, cycles waited);
    void draw_start(std::uint32_t pc, isa::generation generation) const;
    void draw_compute(const isa::instruction& i, std::uint32_t pc, cycles start,
                      const isa::cost& cost, const isa::work& done) const;
    void draw_counted(cycles busy, const isa::work& done) const;
    void draw_control(const isa::instruction& i, std::uint32_t pc, cycles begin,
                      cycles until) const;
    void span(std::string_view name, cycles begin, cycles until, trace::fields fields) const;
    std::string line_of(std::uint32_t pc) const;

    const std::string track_;  // "chip0.nc0.vector"
    const isa::engine engine_;
    const engine_clock& clock_;
    const program_lines* const lines_;
    trace::slice wait_;
};

}  // namespace trn
