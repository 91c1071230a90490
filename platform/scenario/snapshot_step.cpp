// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include "platform/kernel/trace.h"
#include "platform/scenario/action.h"
#include "platform/scenario/scenario.h"

namespace trn::scenario {

action read_snapshot(const reader& r) {
    const auto name = r.word();
    action result{.text = fmt::format("snapshot '{}'", name), .work = [name](world& w) {
                      trace::flush();
                      const auto carry = w.states.keep(name);
                      if (!carry) return;
                      w.next_step = (*carry)["next_step"];
                      // What the other state traced is part of this one's history.
                      if (trace::on())
                          trace::event(
                              "scenario", "restored",
                              {{"snapshot", name}, trace::hex("after", (*carry)["digest"])});
                  }};
    result.keeps = name;
    result.drives = false;
    return result;
}

action read_restore(const reader& r) {
    const auto name = r.word();
    action result{
        .text = fmt::format("restore '{}'", name), .work = [name](world& w) {
            if (!w.states.has(name))
                throw step_failure(fmt::format("there is no snapshot '{}' now", name));
            if (misuse::failed())
                throw step_failure("a rule was broken, which this state would take with it");
            trace::flush();
            w.states.restore(name, {{"next_step", w.next_step}, {"digest", trace::digest()}});
        }};
    result.returns_to = name;
    result.drives = false;
    return result;
}

}  // namespace trn::scenario
