// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <string>
#include <vector>

#include "platform/app/scenario/conditions/condition.h"
#include "platform/app/scenario/context/scenario_context.h"
#include "platform/app/scenario/language/step_table.h"

namespace trn::scenario {

namespace {

/// The action of `wait` and `expect`, which differ in the default time limit.
action look_for(std::string_view verb, const condition& awaited) {
    return {.text = fmt::format("{} {}", verb, awaited.text),
            .work = [awaited](scenario_context& ctx) { await(ctx, awaited); },
            .rules = awaited.rules,
            .drives = false,
            .check = awaited.check};
}

action pass_time(nanoseconds time) {
    return {.text = "wait " + to_string(time),
            .work = [time](scenario_context& ctx) { ctx.waits.sleep(time.value); },
            .drives = false};
}

struct expect_uart_step {
    std::string module;
    std::optional<std::string> text;
    std::string matches;
    std::vector<std::string> captures;
    nanoseconds within;

    condition wanted = {};
    void finish(const reader& r) {
        wanted = text_condition(module, text ? wanted_text_of(r, "text", *text, captures)
                                             : wanted_text_of(r, "matches", matches, captures));
        wanted.limit.within = within.value;
    }
    action plan() const { return look_for("expect", wanted); }
};

}  // namespace

std::vector<step_kind> condition_steps() {
    using uart = expect_uart_step;
    static constexpr nanoseconds one_second{1'000'000'000};
    step_kind wait{"wait",
                   "waits for simulated time, or until the condition is true (`within`: 1 s)",
                   step_kind::form::time_or_condition};
    wait.read = [](const reader& r) {
        return r.node().is_map() ? look_for("wait for", read_condition(r, one_second))
                                 : pass_time({reader::positive_time_of(r.node(), r.point())});
    };
    step_kind expect{"expect", "as `wait`; without `within` the condition must be true at once",
                     step_kind::form::condition};
    expect.read = [](const reader& r) { return look_for("expect", read_condition(r, {})); };
    return {
        wait,
        step_of<uart>(
            "expect_uart", "each search begins after the previous match",
            keys<uart>{
                key("text", &uart::text, "that the console prints"),
                key("matches", &uart::matches, "a regular expression").required_without({"text"}),
                key("within", &uart::within, "simulated time; 0: already printed"),
                key("module", &uart::module, "the first console unless given"),
                key("as", &uart::captures, "names for the matches of its groups")
                    .only_with({"matches"})}
                .one_of({"text", "matches"})),
        expect};
}

}  // namespace trn::scenario
