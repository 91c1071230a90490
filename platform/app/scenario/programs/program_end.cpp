// SPDX-License-Identifier: Apache-2.0
#include "platform/app/scenario/programs/program_end.h"

#include <fmt/format.h>

#include "platform/app/scenario/context/measure.h"
#include "platform/app/scenario/context/scenario_context.h"
#include "platform/framework/config/file.h"

namespace trn::scenario {

tensor_texts texts_in(const reader& r, std::string_view key) {
    tensor_texts texts;
    if (!r.has(key)) return texts;
    const auto map = r.map(key);
    for (const auto& [name, _node, _value] : map.node().entries())
        texts.emplace_back(name, map.text(name));
    if (texts.empty() && map.node().is_map())
        map.node().report(mistake::bad_count, "at least one name");
    return texts;
}

void note_inputs(const std::filesystem::path& folder, const tensor_texts& texts) {
    for (const auto& [name, text] : texts)
        for (const auto end : {text.size(), text.rfind(':')})
            note_input(folder / text.substr(0, end));
}

void program_end::read_end(const reader& r) {
    outcome.limit_ns = limit.value;
    outcome.clock_permille = clock_permille;
    if (error) outcome.error = static_cast<std::uint32_t>(*error);
    if (within && at_least && at_least->value > within->value)
        r.node().at("at_least").report(mistake::out_of_range, "'at_least' is more than 'within'");
}

void program_end::finish_run(scenario_context& ctx, running_programs& all,
                             const std::string& text) const {
    run_guarded(ctx, all, [&] {
        all.wait(outcome);
        if (!error) all.check(outcome);
    });
    figure took{text, static_cast<double>(all.ns()) * 1e-3, "us"};
    if (within) took.max = static_cast<double>(within->value) * 1e-3;
    if (at_least) took.min = static_cast<double>(at_least->value) * 1e-3;
    all.unload();
    if (!capture.empty()) ctx.captured[capture] = fmt::format("{:.3f}", took.value);
    if (!error) measure(ctx, took);
}

}  // namespace trn::scenario
