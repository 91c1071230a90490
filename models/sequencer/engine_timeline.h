// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "models/instructions/instruction.h"
#include "models/semaphores/semaphores.h"
#include "models/sequencer/engine_clock.h"
#include "models/sequencer/program_lines.h"
#include "models/sequencer/timing.h"
#include "platform/framework/kernel/trace.h"

namespace trn {

/// The track of one engine in the trace: its instructions, what it waited for and why
/// (doc/timeline.md). An instruction that posts a semaphore begins an operation, which the wait
/// that it ends belongs to. All functions do nothing while there is no trace.
class engine_timeline {
public:
    using cycles = engine_clock::cycles;

    /// `lines` may be null.
    engine_timeline(std::string_view core, isa::engine which, const engine_clock& clock,
                    const program_lines* lines);

    /// Something happened to the engine now.
    void event(std::string_view what, trace::fields with) const {
        if (trace::on()) trace::event(track_, what, with);
    }
    /// The engine could not go on from `from` until `until`.
    void waited(std::string_view reason, cycles from, cycles until) const {
        if (trace::on() && until > from) draw_wait(reason, from, until);
    }
    /// A wait whose end is not known; `reason` is asked for while there is a trace.
    template <typename Reason>
    void begin_wait(std::uint32_t pc, Reason reason) {
        if (trace::on()) open_wait(pc, reason());
    }
    /// `poster` met it after `waited` cycles; or it was given up.
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
    /// CRCs of what an instruction read and wrote; it began now.
    void operands(std::uint32_t pc, std::uint16_t inputs,
                  std::optional<std::uint16_t> outputs) const {
        event("operands", {{"pc", pc}, {"crc_in", inputs}, {"crc_out", outputs.value_or(0)}});
    }
    void control(const isa::instruction& i, std::uint32_t pc, cycles from, cycles until) const {
        if (trace::on()) draw_control(i, pc, from, until);
    }
    /// The control instruction whose span follows adds this to the counters.
    void counted(cycles busy, const isa::work& done) const {
        if (trace::on()) draw_counted(busy, done);
    }
    /// `count` instructions that touch registers only.
    void registers(std::uint32_t pc, std::uint64_t count, cycles from, cycles until) const;

private:
    void draw_wait(std::string_view reason, cycles from, cycles until) const;
    void open_wait(std::uint32_t pc, const std::string& reason);
    void close_wait(const semaphores::poster& poster, cycles waited);
    void draw_start(std::uint32_t pc, isa::generation generation) const;
    void draw_compute(const isa::instruction& i, std::uint32_t pc, cycles start,
                      const isa::cost& cost, const isa::work& done) const;
    void draw_counted(cycles busy, const isa::work& done) const;
    void draw_control(const isa::instruction& i, std::uint32_t pc, cycles from, cycles until) const;
    void span(std::string_view what, cycles from, cycles until, trace::fields with) const;
    std::string line_of(std::uint32_t pc) const;

    const std::string track_;  // "chip0.nc0.vector"
    const isa::engine engine_;
    const engine_clock& clock_;
    const program_lines* const lines_;
    trace::slice wait_;
};

}  // namespace trn
