// SPDX-License-Identifier: Apache-2.0
#include <optional>
#include <string>

#include "models/dma/udma/udma.h"
#include "models/kind_tables.h"
#include "platform/framework/netlist/kinds/kind_table.h"

namespace trn::kind_tables {

kind udma_kind() {
    using c = udma::config;
    auto made = kind_of<udma>(
        "udma",
        "A group of DMA engines with 16 queues each: a SENG's, or a die's for host transfers.",
        {{"engines", &c::engines, within(1, 4096), "in this group"},
         {"first_engine", &c::first_engine, within(0, 65535), "number of engine 0 in the chip"},
         {"host_transfer", &c::host_transfer, "the rings are the driver's own, not a core's"},
         {"stride", &c::stride, unit::bytes, within(udma::engine_size, GiB).multiples_of(4),
          "registers of one engine to those of the next"},
         {"misc_stride", &c::misc_stride, unit::bytes, within(udma::misc_size, GiB).multiples_of(4),
          "one engine's SDMA block to the next's"},
         {"reset_lines", &c::reset_lines, within(1, 4096),
          "each holds an equal part of the engines in reset"},
         {"bytes_per_second", &c::bytes_per_second, unit::bytes_per_second, any_rate,
          "of one engine"},
         {"throttled_permille", &c::throttled_permille, within(1, 1000),
          "of the rate, while throttled"},
         {"start_latency", &c::start_latency, any_time, "doorbell to first descriptor fetch"},
         {"descriptor_overhead", &c::descriptor_overhead, any_time, "between descriptors"},
         {"register_latency", &c::register_latency, any_time, "of each register access"},
         {"stream_timeout", &c::stream_timeout, any_time, "for a begun packet without destination"},
         {"functional_step", &c::functional_step, positive_time,
          "per descriptor with --timing functional"},
         {"outstanding", &c::outstanding, within(1, 4096), "transfers in flight per engine"},
         {"outstanding_bytes", &c::outstanding_bytes, unit::bytes, within(1, GiB),
          "limit of bytes in flight"},
         {"compute_permille", &c::compute_permille, within(1, 1000),
          "of the rate, for casts and reductions"},
         {"transpose_permille", &c::transpose_permille, within(1, 1000),
          "of the rate, for transposes"},
         {"near_memory_accumulate", &c::near_memory_accumulate,
          "accumulation takes as long as a copy"},
         {"fp8_e4m3fn", &c::fp8_e4m3fn, "the engines support this format"},
         {"descriptor_generator", &c::descriptor_generator, "in slots with an SDMA block"},
         {"generation_latency", &c::generation_latency, any_time,
          "of a descriptor generator's command"}},
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
            if (cfg.reset_lines <= cfg.engines) return std::nullopt;
            return "each reset line (reset_lines) resets at least one engine";
        });
    made.statistics = {{"engineN_bytes", "bytes", "moved by an engine that has worked"},
                       {"engineN_descriptors", "", "completed by it"},
                       {"engineN_aborts", "", "queues of it that an error stopped"},
                       {"bytes", "bytes", "moved by all engines of the group"},
                       {"descriptors", "", "completed by all"},
                       {"aborts", "", "queues that an error stopped"}};
    made.events = {
        {"doorbell", "queue, side, count", "descriptors are posted to a ring"},
        {"descriptors", "queue, side, count, at", "descriptors are fetched from this address"},
        {"copy ... completed/dropped", "queue, from, to, bytes",
         "a transfer; dropped: by a reset or an abort"},
        {"OPERATION ... completed/dropped", "queue, from, to, bytes",
         "likewise of DMA compute: `cast`, `add`, ..."},
        {"abort", "queue, side", "an error stops the queue"},
        {"notification", "slot, source, payload", "an entry of a notification ring"}};
    return made;
}

}  // namespace trn::kind_tables
