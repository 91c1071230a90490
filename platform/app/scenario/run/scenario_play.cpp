// SPDX-License-Identifier: Apache-2.0
#include "platform/app/scenario/run/scenario_play.h"

#include <string>
#include <vector>

#include "platform/framework/misuse/misuse.h"

namespace trn::scenario {

void play(const scenario& run, scenario_context& ctx, std::size_t done) {
    for (const auto& check : run.checks) try {
            check.work(ctx);
        } catch (...) {
            ctx.run.state = std::vector<std::string>{};  // nothing has run
            ctx.report.resume(check, trn_now(ctx.device));
            throw;
        }
    ctx.run.checks_misuse = true;
    if (done > 0 && misuse::failed()) {
        ctx.report.resume(run.steps[done - 1], trn_now(ctx.device));
        check_misuse();
    }
    for (ctx.run.next_step = done; ctx.run.next_step < run.steps.size();)
        play(run.steps[ctx.run.next_step++], ctx);
    for (const auto& expectation : run.expectations) play(expectation, ctx);
}

}  // namespace trn::scenario
