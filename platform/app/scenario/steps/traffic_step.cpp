// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include "platform/app/scenario/context/measure.h"
#include "platform/app/scenario/context/scenario_context.h"
#include "platform/app/scenario/language/bounds.h"
#include "platform/app/scenario/language/step_table.h"
#include "platform/app/scenario/steps/all_chips.h"

namespace trn::scenario {

namespace {

struct traffic_spec : rate_bounds {
    traffic_pattern pattern{};
    std::uint32_t engines = machine::load{}.engines;
    bytes size = {};
    byte_offset wrap = {}, descriptor{machine::load{}.descriptor};
    bool machine_rate = false;

    figure wanted = {};
    void finish(const reader& r) {
        if (engines == 0)
            r.node().find("engines").report(mistake::out_of_range, "at least one engine copies");
        check_parts(r, "size", size.value, descriptor.value);
        wanted = rate_bounds::wanted(
            r, fmt::format("{} traffic of {} engines per chip{}", to_string(pattern), engines,
                           machine_rate ? ", of the machine" : ""));
    }
    void run(scenario_context& ctx) const {
        machine& all = machine_of(ctx);
        const auto chips = machine_rate ? 1 : all.chips().size();
        const machine::load copies{.bytes = size.value,
                                   .engines = engines,
                                   .wrap = wrap.value,
                                   .descriptor = static_cast<std::uint32_t>(descriptor.value)};
        auto found = wanted;
        found.value = all.sustained(pattern, copies) / static_cast<double>(chips);
        measure_rate(ctx, found);
    }
    std::string text() const { return wanted.name; }
};

}  // namespace

std::vector<step_kind> traffic_steps() {
    using t = traffic_spec;
    return {step_of<t>("traffic",
                       "all chips copy at once; bounds are rates per chip, or of the machine",
                       {key("pattern", &t::pattern, "which chip copies to which").required(),
                        key("size", &t::size, "bytes of a copy in the first run")
                            .required()
                            .within({.min = 1, .max = max_held}),
                        key("engines", &t::engines, "that share a copy"),
                        key("wrap", &t::wrap, "bytes that each engine reuses; 0: the whole copy"),
                        key("descriptor", &t::descriptor, "bytes of a descriptor")
                            .within({.min = 1, .max = TRN_DESCRIPTOR_BYTES}),
                        key("machine", &t::machine_rate, "bounds are of the whole machine"),
                        key("at_least", &t::at_least, "bound of the rate"),
                        key("at_most", &t::at_most, "bound of the rate")})};
}

}  // namespace trn::scenario
