// SPDX-License-Identifier: Apache-2.0
#include "models/fis/fis.h"
#include "models/kinds/tables.h"
#include "models/misc_ram/misc_ram.h"
#include "models/misc_ram/sim_reset.h"
#include "models/neuron_core/neuron_core.h"
#include "models/top_sp/top_sp.h"
#include "models/udma/udma.h"
#include "platform/netlist/kind_table.h"

namespace trn::kind_tables {

kind neuron_core_kind() {
    using c = neuron_core::config;
    return kind_of<neuron_core>(
        "neuron_core", "SBUF, PSUM, events, semaphores and registers of a NeuronCore.",
        {{"sbuf_size", &c::sbuf_size, unit::bytes, "state buffer"},
         {"psum_size", &c::psum_size, unit::bytes, "accumulation buffer"},
         {"bytes_per_second", &c::bytes_per_second, unit::bytes_per_second, "of SBUF and PSUM"},
         {"access_latency", &c::access_latency, "of each access to the aperture"},
         {"register_latency", &c::register_latency, "of each register access"},
         {"clock_hz", &c::clock_hz, unit::hertz, "of the PE counters"},
         {"crossbars", &c::crossbars, "of a row group, in the PE counters: 9 or 5"},
         {"top_size", &c::top_size, unit::bytes, "of TPB_TOP"},
         {"notifications_offset", &c::notifications_offset, unit::address, "in TPB_TOP"},
         {"pe_counters_offset", &c::pe_counters_offset, unit::address, "in TPB_TOP"},
         {"sram_errors_offset", &c::sram_errors_offset, unit::address, "in TPB_TOP"}},
        {port::target("aperture", "SBUF, PSUM, events, semaphores")
             .of_size(neuron_core::aperture_size),
         port::target("top", "TPB_TOP registers").of_size(&c::top_size),
         port::initiator("memory", "entries of its notification queues"),
         port::irq_in("reset", "held in reset while high"),
         port::irq_in("power_lost", "high: SBUF and PSUM forget"),
         port::irq_out("error", "an error counter is not zero").optional()},
        [](const c& cfg) -> std::optional<std::string> {
            if (cfg.crossbars != 9 && cfg.crossbars != 5)
                return "PE counters are known of 9 and of 5 crossbars";
            if (cfg.sbuf_size <= neuron_core::psum_offset &&
                cfg.psum_size <= neuron_core::semaphores_offset - neuron_core::psum_offset)
                return std::nullopt;
            return "at most 32 MiB of SBUF and 7 MiB of PSUM fit their places in the aperture";
        });
}

kind top_sp_kind() {
    using c = top_sp::config;
    auto made = kind_of<top_sp>(
        "top_sp", "A collective core (CC-Core): hart, memory, events, semaphores and registers.",
        {{"number", &c::number, "of the address map; mhartid"},
         {"clock", &c::clock, "time per instruction"},
         {"access_latency", &c::access_latency, "of each access to the aperture"},
         {"register_latency", &c::register_latency, "of each register access"},
         {"notifications_offset", &c::notifications_offset, unit::address, "in its registers"}},
        {port::target("aperture", "events, semaphores, memory").of_size(top_sp::aperture_size),
         port::target("registers", "its notification queues").of_size(top_sp::registers_size),
         port::initiator("memory", "the hart, and entries of its notification queues"),
         port::irq_in("reset", "held in reset while high")});
    // Cores that run the same firmware share what they decoded.
    made.make = [code = std::make_shared<riscv::code_cache>()](const char* name,
                                                               const std::any& config) {
        return std::make_unique<top_sp>(name, *std::any_cast<c>(&config), code);
    };
    return made;
}

kind udma_kind() {
    using c = udma::config;
    return kind_of<udma>(
        "udma",
        "A group of DMA engines with 16 queues each: a SENG's, or a die's for host transfers.",
        {{"engines", &c::engines, "in this group"},
         {"first_engine", &c::first_engine, "number of engine 0 in the chip"},
         {"host_transfer", &c::host_transfer, "the rings are the driver's own, not a core's"},
         {"stride", &c::stride, unit::bytes, "registers of one engine to those of the next"},
         {"misc_stride", &c::misc_stride, unit::bytes, "one engine's SDMA block to the next's"},
         {"reset_lines", &c::reset_lines, "each holds an equal part of the engines in reset"},
         {"bytes_per_second", &c::bytes_per_second, unit::bytes_per_second, "of one engine"},
         {"throttled_permille", &c::throttled_permille, "of the rate, while throttled"},
         {"start_latency", &c::start_latency, "doorbell to first descriptor fetch"},
         {"descriptor_overhead", &c::descriptor_overhead, "between descriptors"},
         {"register_latency", &c::register_latency, "of each register access"},
         {"stream_timeout", &c::stream_timeout, "for a begun packet without destination"},
         {"functional_step", &c::functional_step, "per descriptor with --timing functional"},
         {"outstanding", &c::outstanding, "transfers in flight per engine"},
         {"outstanding_bytes", &c::outstanding_bytes, unit::bytes,
          "in flight, beyond which no transfer starts"},
         {"compute_permille", &c::compute_permille, "of the rate, for casts and reductions"},
         {"transpose_permille", &c::transpose_permille, "of the rate, for transposes"},
         {"near_memory_accumulate", &c::near_memory_accumulate,
          "accumulation takes as long as a copy"},
         {"fp8_e4m3fn", &c::fp8_e4m3fn, "the engines know this format"},
         {"descriptor_generator", &c::descriptor_generator, "in slots with an SDMA block"},
         {"generation_latency", &c::generation_latency, "of a descriptor generator's command"}},
        {port::target("registers", "a slot per engine, with its SDMA block where there is room")
             .of_size([](const c& cfg) { return cfg.engines * cfg.stride; }),
         port::target("misc", "the SDMA blocks alone, where they stand apart")
             .of_size([](const c& cfg) { return cfg.engines * cfg.misc_stride; })
             .optional(),
         port::initiator("memory", "descriptors and data"),
         port::irq_in("throttle", "high: the engines run at a part of their rate"),
         port::irq_in("reset", "each line holds an equal part of the engines in reset")
             .of_lines(&c::reset_lines),
         port::irq_out("aborted", "some queue is stopped by an error")},
        [](const c& cfg) -> std::optional<std::string> {
            if (cfg.stride >= udma::engine_size && cfg.misc_stride >= udma::misc_size &&
                cfg.reset_lines >= 1 && cfg.reset_lines <= cfg.engines &&
                cfg.compute_permille >= 1 && cfg.transpose_permille >= 1)
                return std::nullopt;
            return "a slot has at least 256 KiB, an SDMA block 8 KiB, a reset line one engine, a "
                   "rate of computing 1 permille";
        });
}

kind fis_kind() {
    using c = fis::config;
    return kind_of<fis>("fis", "The error blocks of a SENG's DMA engines.",
                        {{"engines", &c::engines, "one block each"},
                         {"stride", &c::stride, unit::bytes, "from block to block"},
                         {"register_latency", &c::register_latency, "of each register access"}},
                        {port::target("registers", "the blocks").of_size([](const c& cfg) {
                            return cfg.engines * cfg.stride;
                        })});
}

kind misc_ram_kind() {
    using c = misc_ram::config;
    return kind_of<misc_ram>(
        "misc_ram", "The words that driver and firmware share, and the doorbell between them.",
        {{"access_latency", &c::access_latency, "of each access"}},
        {port::target("in", "as host and DMA engines see it").of_size(0x1000),
         port::target("firmware", "as the management processor sees it").of_size(0x1000),
         port::irq_out("doorbell", "the trigger word is not zero"),
         port::irq_out("watched",
                       "the host has read the power sample or the heartbeat that is there")
             .optional(),
         port::irq_out("booting", "firmware has not published the routing id").optional(),
         port::irq_in("function_reset", "the host has reset the chip's function"),
         port::irq_out("stale", "a word of firmware's was overwritten, or the function was reset")
             .optional()});
}

kind sim_reset_kind() {
    using c = sim_reset::config;
    return kind_of<sim_reset>(
        "sim_reset", "The reset word of the simulator revisions, served by firmware.",
        {{"access_latency", &c::access_latency, "of each access"}},
        {port::target("host", "the word that the host writes and polls").of_size(0x1000),
         port::target("firmware", "what was asked, and where to say that it is done")
             .of_size(0x1000),
         port::irq_out("request", "the host waits")});
}

}  // namespace trn::kind_tables
