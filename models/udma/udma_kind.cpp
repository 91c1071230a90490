// SPDX-License-Identifier: Apache-2.0
#include <optional>
#include <string>

#include "models/kind_tables.h"
#include "models/udma/udma.h"
#include "platform/framework/netlist/kind_table.h"

namespace trn::kind_tables {

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
         {"outstanding_bytes", &c::outstanding_bytes, unit::bytes, "limit of bytes in flight"},
         {"compute_permille", &c::compute_permille, "of the rate, for casts and reductions"},
         {"transpose_permille", &c::transpose_permille, "of the rate, for transposes"},
         {"near_memory_accumulate", &c::near_memory_accumulate,
          "accumulation takes as long as a copy"},
         {"fp8_e4m3fn", &c::fp8_e4m3fn, "the engines support this format"},
         {"descriptor_generator", &c::descriptor_generator, "in slots with an SDMA block"},
         {"generation_latency", &c::generation_latency, "of a descriptor generator's command"}},
        {port::target("registers",
                      "a slot per engine, with its SDMA block if the slot is large enough")
             .of_size([](const c& cfg) { return cfg.engines * cfg.stride; }),
         port::target("misc", "the SDMA blocks, if they are separate from the slots")
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

}  // namespace trn::kind_tables
