// SPDX-License-Identifier: Apache-2.0
#include <array>
#include <optional>
#include <string>

#include "models/kind_tables.h"
#include "models/neuron_core/neuron_core.h"
#include "platform/framework/config/document.h"
#include "platform/framework/netlist/kind_table.h"

template <>
struct trn::config::choices<trn::neuron_core::activation_outside> {
    using outside = trn::neuron_core::activation_outside;
    static constexpr std::array list{trn::config::choice<outside>{"ideal", outside::ideal},
                                     trn::config::choice<outside>{"nan", outside::nan}};
};

namespace trn::kind_tables {

kind neuron_core_kind() {
    using c = neuron_core::config;
    return kind_of<neuron_core>(
        "neuron_core", "A NeuronCore: SBUF, PSUM, events, semaphores, engines and registers.",
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
         {"sram_errors_offset", &c::sram_errors_offset, unit::address, "in TPB_TOP"},
         {"generation", &c::generation, "of the engines: 2, 3 or 4"},
         {"number", &c::number, "of the core in its chip"},
         {"chip", &c::chip, "routing id of the chip"},
         {"dma_base", &c::dma_base, unit::address, "registers of the first of its 16 DMA engines"},
         {"dma_stride", &c::dma_stride, unit::bytes, "from one of them to the next"},
         {"aperture_base", &c::aperture_base, unit::address,
          "of its own aperture, for its DMA engines"},
         {"act_table_load", &c::act_table_load,
          "time of loading a set of activation functions into Scalar"},
         {"warm_up", &c::warm_up, "the array computes at half rate for 3 us after 3 us of idling"},
         {"operand_crc", &c::operand_crc,
          "traces have a CRC of what each instruction reads and writes"},
         {"activation_outside", &c::activation_outside,
          "what a function of the Scalar engine gives outside its range: ideal or nan"},
         {"throttled_permille", &c::throttled_permille, "of the engines' clocks, while throttled"}},
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
            if (cfg.throttled_permille == 0 || cfg.throttled_permille > 1000)
                return "throttled_permille is from 1 to 1000";
            if (cfg.generation < 2 || cfg.generation > 4)
                return "engines are known of generations 2, 3 and 4";
            if (cfg.crossbars != 9 && cfg.crossbars != 5)
                return "PE counters are known of 9 and of 5 crossbars";
            if (cfg.sbuf_size <= neuron_core::psum_offset &&
                cfg.psum_size <= neuron_core::semaphores_offset - neuron_core::psum_offset)
                return std::nullopt;
            return "at most 32 MiB of SBUF and 7 MiB of PSUM fit their places in the aperture";
        });
}

}  // namespace trn::kind_tables
