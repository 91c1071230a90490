// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include "platform/app/scenario/action.h"
#include "platform/app/scenario/scenario.h"
#include "platform/framework/kernel/trace.h"

namespace trn::scenario {

action read_snapshot(const reader& r) {
    const auto name = r.word();
    return {.text = fmt::format("snapshot '{}'", name),
            .work =
                [name](world& w) {
                    const auto carry = w.states.keep(name);
                    if (!carry) return;
                    w.next_step = carry->what["next_step"];
                    if (trace::on())
                        trace::event(
                            "scenario", "restored",
                            {{"snapshot", name}, trace::hex("after", carry->behind.digest)});
                },
            .keeps = name,
            .drives = false};
}

action read_restore(const reader& r) {
    const auto name = r.word();
    return {
        .text = fmt::format("restore '{}'", name),
        .work =
            [name](world& w) {
                if (misuse::failed())
                    throw step_failure("a rule was broken, which this state would take with it");
                w.states.restore(name, {.what = {{"next_step", w.next_step}}});
            },
        .returns_to = name,
        .drives = false};
}

}  // namespace trn::scenario
