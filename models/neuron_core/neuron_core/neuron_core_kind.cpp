// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <array>
#include <cstdint>
#include <optional>
#include <string>

#include "models/kind_tables.h"
#include "models/neuron_core/neuron_core/neuron_core.h"
#include "models/neuron_core/neuron_core/pe_counters_regs.h"
#include "models/neuron_core/neuron_core/sram_errors_regs.h"
#include "platform/framework/config/document.h"
#include "platform/framework/netlist/kinds/kind_table.h"

template <>
struct trn::config::choices<trn::neuron_core::activation_outside> {
    using outside = trn::neuron_core::activation_outside;
    static constexpr std::array list{trn::config::choice<outside>{"ideal", outside::ideal},
                                     trn::config::choice<outside>{"nan", outside::nan}};
};

namespace trn::kind_tables {

kind neuron_core_kind() {
    using c = neuron_core::config;
    auto made = kind_of<neuron_core>(
        "neuron_core", "A NeuronCore: SBUF, PSUM, events, semaphores, engines and registers.",
        {{"sbuf_size", &c::sbuf_size, unit::bytes,
          within(64 * KiB, neuron_core::psum_offset).multiples_of(4 * KiB), "state buffer"},
         {"psum_size", &c::psum_size, unit::bytes,
          within(64 * KiB, neuron_core::semaphores_offset - neuron_core::psum_offset)
              .multiples_of(4 * KiB),
          "accumulation buffer"},
         {"bytes_per_second", &c::bytes_per_second, unit::bytes_per_second, any_rate,
          "of SBUF and PSUM"},
         {"access_latency", &c::access_latency, any_time, "of each access to the aperture"},
         {"register_latency", &c::register_latency, any_time, "of each register access"},
         {"clock_hz", &c::clock_hz, unit::hertz, any_frequency, "of the PE counters"},
         {"crossbars", &c::crossbars, one_of(5, 9), "of a row group, in the PE counters"},
         {"top_size", &c::top_size, unit::bytes, within(4 * KiB, GiB), "of TPB_TOP"},
         {"notifications_offset", &c::notifications_offset, unit::address, within(0, GiB),
          "in TPB_TOP"},
         {"pe_counters_offset", &c::pe_counters_offset, unit::address, within(0, GiB),
          "in TPB_TOP"},
         {"sram_errors_offset", &c::sram_errors_offset, unit::address, within(0, GiB),
          "in TPB_TOP"},
         {"generation", &c::generation, within(2, 4), "of the engines"},
         {"number", &c::number, within(0, 255), "of the core in its chip"},
         {"chip", &c::chip, within(0, 65535), "routing id of the chip"},
         {"dma_base", &c::dma_base, unit::address, any_number,
          "registers of the first of its 16 DMA engines"},
         {"dma_stride", &c::dma_stride, unit::bytes, within(4 * KiB, TiB),
          "from one of them to the next"},
         {"aperture_base", &c::aperture_base, unit::address, any_number,
          "of its own aperture, for its DMA engines"},
         {"act_table_load", &c::act_table_load, any_time,
          "time of loading a set of activation functions into Scalar"},
         {"warm_up", &c::warm_up, "the array computes at half rate for 3 us after 3 us of idling"},
         {"operand_crc", &c::operand_crc,
          "traces have a CRC of what each instruction reads and writes"},
         {"activation_outside", &c::activation_outside,
          "what a function of the Scalar engine gives outside its range: ideal or nan"},
         {"throttled_permille", &c::throttled_permille, within(1, 1000),
          "of the engines' clocks, while throttled"}},
        {port::target("aperture", "SBUF, PSUM, events, semaphores")
             .of_size(neuron_core::aperture_size),
         port::target("top", "TPB_TOP registers").of_size(&c::top_size),
         port::initiator("memory",
                         "entries of its notification queues, programs, writes of engines"),
         port::irq_in("reset", "held in reset while high"),
         port::irq_in("power_lost", "high: SBUF and PSUM lose their content"),
         port::provides<compute_activity_interface>("activity", "work done, for the power model"),
         port::irq_out("error", "an error counter is not zero").optional()},
        [](const c& cfg) -> std::optional<std::string> {
            struct {
                std::uint64_t first, size;
            } windows[] = {{cfg.notifications_offset, notification_queue::aperture_size},
                           {cfg.pe_counters_offset, pe_counters_regs::size},
                           {cfg.sram_errors_offset, sram_errors_regs::size}};
            std::ranges::sort(windows, {}, [](const auto& window) { return window.first; });
            std::uint64_t end = 0;
            for (const auto& [first, size] : windows) {
                if (first < end)
                    return "the windows of TPB_TOP overlap (notifications_offset, "
                           "pe_counters_offset, sram_errors_offset)";
                end = first + size;
            }
            if (end <= cfg.top_size) return std::nullopt;
            return "TPB_TOP (top_size) ends before its windows (notifications_offset, "
                   "pe_counters_offset, sram_errors_offset)";
        });
    made.statistics = {
        {"memory_bytes_moved", "bytes", "by accesses from outside to SBUF and PSUM"},
        {"sbuf_bytes_resident", "bytes", "of host memory that SBUF takes"},
        {"sram_corrected", "", "errors of SBUF and PSUM"},
        {"sram_uncorrected", "", "errors of SBUF and PSUM"},
        {"ENGINE_instructions", "",
         "retired; ENGINE is tensor, vector, scalar, gpsimd or sync; counts are since its reset"},
        {"ENGINE_busy_cycles", "cycles", "initiation intervals of instructions"},
        {"ENGINE_utilisation_permille", "‰", "busy part of the time since the start"},
        {"ENGINE_wait_cycles", "cycles", "waited for semaphores"},
        {"ENGINE_wait_dma_cycles", "cycles", "of these, waits that DMA ended"},
        {"ENGINE_wait_semaphore_N_cycles", "cycles", "of these, by semaphore"},
        {"ENGINE_wait_overlap_cycles", "cycles",
         "waited for results and operands of earlier instructions"},
        {"ENGINE_wait_port_cycles", "cycles", "waited for a port that another engine used"},
        {"ENGINE_wait_fetch_cycles", "cycles", "waited for program words"},
        {"ENGINE_instruction_bytes_fetched", "bytes", "of program words"},
        {"ENGINE_semaphore_wraps", "", "increments beyond the largest value"},
        {"ENGINE_bytes_read", "bytes", "of SBUF and PSUM; from here on not of sync"},
        {"ENGINE_bytes_written", "bytes", "of SBUF and PSUM"},
        {"ENGINE_sbuf_bytes_read", "bytes", "of SBUF"},
        {"ENGINE_sbuf_bytes_written", "bytes", "of SBUF"},
        {"ENGINE_psum_bytes_read", "bytes", "of PSUM"},
        {"ENGINE_psum_bytes_written", "bytes", "of PSUM"},
        {"ENGINE_flops", "", "floating-point operations"},
        {"tensor_bf16_flops", "", "of matrix products, as BF16 operations of the same time"},
        {"ENGINE_instructions_Nx", "", "of the data path by mode: 1x, 2x, 4x"},
        {"ENGINE_numerical_errors", "", "results that are NaN or infinite"}};
    made.events = {{"read", "bytes", "bytes of an operation, while they occupy it"},
                   {"write", "bytes", "likewise"},
                   {"semaphore", "index, value, by",
                    "a semaphore has this value; by: engine, dma, host or firmware"},
                   {"event", "index, value, by", "an event has this value"},
                   {"notification", "slot, source, payload", "an entry of a notification ring"},
                   {"started", "pc, generation, clock_hz", "of an engine: it starts"},
                   {"INSTRUCTION", "source, text, mode, cycles, ...",
                    "of an engine: an instruction, for its initiation interval (see timeline.md)"},
                   {"wait ... met/abandoned", "reason, pc",
                    "of an engine: it waits; met has `by`, `cycles`; abandoned: by a reset"},
                   {"counted", "cycles, bytes_read, ...",
                    "of an engine: control instructions that used tiles"}};
    return made;
}

}  // namespace trn::kind_tables
