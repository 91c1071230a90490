// SPDX-License-Identifier: Apache-2.0
#include "models/neuron_core/sequencer/shared/engine_timeline.h"

#include <fmt/format.h>

#include <algorithm>
#include <variant>

#include "models/neuron_isa/assembler/assembler.h"

namespace trn {

namespace {

/// 4 gives "4x".
std::string_view name_of_rate(unsigned rate) {
    return rate == 4 ? "4x" : rate == 2 ? "2x" : "1x";
}

bool posts(const isa::instruction& i) {
    if (i.update.mode != 0) return true;
    if (const auto* list = std::get_if<isa::sync_list>(&i.control))
        return std::ranges::any_of(
            *list, [](const auto& e) { return (e.mode & isa::sync_entry::update) != 0; });
    return i.opcode == isa::opcode::write || i.opcode == isa::opcode::reg_store ||
           (i.opcode >= isa::opcode::dma_start && i.opcode <= isa::opcode::dma_gather_transpose);
}

}  // namespace

engine_timeline::engine_timeline(std::string_view core, isa::engine engine,
                                 const engine_clock& clock, const program_lines* lines)
    : track_(fmt::format("{}.{}", core, name_of(engine))),
      engine_(engine),
      clock_(clock),
      lines_(lines) {}

std::string engine_timeline::line_of(std::uint32_t pc) const {
    return lines_ != nullptr ? lines_->text_of(engine_, pc) : std::string();
}

trace::operation engine_timeline::begin_operation(const isa::instruction& i) const {
    return trace::on() && posts(i) ? trace::new_operation() : 0;
}

void engine_timeline::span(std::string_view name, cycles begin, cycles until,
                           trace::fields fields) const {
    const auto start = clock_.time_of(begin);
    trace::span(track_, name, start, clock_.time_of(std::max(begin, until)) - start, fields);
}

void engine_timeline::draw_wait(std::string_view reason, cycles begin, cycles until) const {
    const trace::on_behalf_of no_operation(0);
    span("wait", begin, until, {{"reason", reason}, {"cycles", until - begin}});
}

void engine_timeline::open_wait(std::uint32_t pc, const std::string& reason) {
    const trace::on_behalf_of no_operation(0);
    wait_ = trace::begin(track_, "wait", {{"reason", reason}, {"pc", pc}});
}

void engine_timeline::close_wait(const semaphores::poster& poster, cycles waited) {
    wait_.operation = poster.operation;
    trace::end(wait_, track_, "met", {{"by", poster.name()}, {"cycles", waited}});
}

void engine_timeline::draw_start(std::uint32_t pc, isa::generation generation) const {
    trace::event(track_, "started",
                 {{"pc", pc},
                  {"generation", static_cast<unsigned>(generation)},
                  {"clock_hz", clock_.nominal_hertz()}});
}

void engine_timeline::draw_compute(const isa::instruction& i, std::uint32_t pc, cycles start,
                                   const isa::cost& cost, const isa::work& done) const {
    span(find(i.opcode)->mnemonic, start, start + cost.interval,
         {{"pc", pc},
          {"source", line_of(pc)},
          {"text", isa::text_of(i)},
          {"mode", name_of_rate(cost.rate)},
          {"cycles", cost.interval},
          {"latency_cycles", cost.latency},
          {"flops", done.flops},
          {"bf16_flops", done.bf16_flops},
          {"bytes_read", done.bytes_read},
          {"bytes_written", done.bytes_written},
          {"psum_bytes_read", done.psum_bytes_read},
          {"psum_bytes_written", done.psum_bytes_written}});
}

void engine_timeline::draw_counted(cycles busy, const isa::work& done) const {
    trace::event(track_, "counted",
                 {{"cycles", busy},
                  {"bytes_read", done.bytes_read},
                  {"bytes_written", done.bytes_written},
                  {"psum_bytes_read", done.psum_bytes_read},
                  {"psum_bytes_written", done.psum_bytes_written}});
}

void engine_timeline::draw_control(const isa::instruction& i, std::uint32_t pc, cycles begin,
                                   cycles until) const {
    span(find(i.opcode)->mnemonic, begin, until,
         {{"pc", pc}, {"source", line_of(pc)}, {"text", isa::text_of(i)}});
}

void engine_timeline::registers(std::uint32_t pc, std::uint64_t count, cycles begin,
                                cycles until) const {
    if (trace::on() && count != 0)
        span("registers", begin, until, {{"pc", pc}, {"instructions", count}});
}

}  // namespace trn
