// SPDX-License-Identifier: Apache-2.0
#include "platform/app/scenario/context/failure_state.h"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>

#include "platform/app/platform.h"
#include "platform/app/scenario/context/scenario_context.h"
#include "platform/app/scenario/language/parameters.h"
#include "platform/app/scenario/language/step.h"
#include "platform/framework/debug/harts.h"
#include "platform/framework/kernel/boot_failure.h"
#include "platform/framework/kernel/introspection.h"
#include "platform/framework/kernel/time_value.h"

namespace trn::scenario {

namespace {

using lines = std::vector<std::string>;

/// Whole nanoseconds are enough for readers.
std::string shown(const sc_core::sc_time& time) {
    return to_string(nanoseconds{in_picoseconds(time) / 1000});
}

constexpr std::size_t max_of_a_kind = 16;

/// Adds the first lines, and the number of lines left out: a rack has hundreds of harts.
void add(lines& report, const lines& more) {
    const auto shown = std::min(more.size(), max_of_a_kind);
    report.insert(report.end(), more.begin(),
                  std::next(more.begin(), static_cast<std::ptrdiff_t>(shown)));
    if (shown < more.size()) report.push_back(fmt::format("... and {} more", more.size() - shown));
}

/// The faults that were injected last: these are more likely the cause.
lines injected_of(const scenario_context& ctx) {
    const auto& all = ctx.injected;
    if (all.size() <= max_of_a_kind) return all;
    const auto left_out = all.size() - max_of_a_kind + 1;
    lines some{fmt::format("injected {} faults before these:", left_out)};
    some.insert(some.end(), std::next(all.begin(), static_cast<std::ptrdiff_t>(left_out)),
                all.end());
    return some;
}

/// Calls of the driver stub that have not returned. Other steps are containers, or wait for a
/// condition.
lines calls_of(const scenario_context& ctx) {
    lines all;
    for (const auto& [played, since] : ctx.run.in_progress)
        if (played->drives)
            all.push_back(fmt::format("'{}' runs since {}", played->text, shown(since)));
    return all;
}

lines waits_of(const scenario_context& ctx) {
    lines all;
    for (const auto& [text, observed] : ctx.waits.current())
        all.push_back(fmt::format("a step waits for {}: {}", text, observed->found_text()));
    return all;
}

lines waiting_modules() {
    lines all;
    for_each_module<describes_wait>([&](const auto& object, auto& module) {
        if (const auto text = module.describe_wait())
            all.push_back(fmt::format("{} waits for {}", object.name(), *text));
    });
    return all;
}

/// "chip0.management.cpu: M-mode, running, in main (main.c:12), pc 0x1000"
std::string hart_text(const scenario_context& ctx, const debug_hart& hart) {
    const auto pc = hart.target->read_register(debug_target::pc).value_or(0);
    const auto place = ctx.board == nullptr ? "" : ctx.board->source_at(hart.name, pc);
    return fmt::format("{}: {}{}{}, pc {:#x}", hart.name, hart.target->state(),
                       place.empty() ? "" : ", in ", place, pc);
}

/// Harts of firmware; those of a Linux are in linux_states().
lines executing_harts(const scenario_context& ctx) {
    lines all;
    for (const auto& hart : find_harts())
        if (!hart.target->sleeps() &&
            (ctx.board == nullptr || ctx.board->linux_hosts().find(hart.name) == nullptr))
            all.push_back(hart_text(ctx, hart));
    return all;
}

/// What each Linux inside does: its harts, and its processes that wait.
lines linux_states(const scenario_context& ctx) {
    lines all;
    if (ctx.board == nullptr) return all;
    for (const auto* const host : ctx.board->linux_hosts().all()) {
        lines of_host;
        for (const auto& hart : host->harts()) {
            const auto activity = host->activity(hart);
            of_host.push_back(activity.empty() ? hart_text(ctx, hart)
                                               : fmt::format("{}: {}, {}", hart.name,
                                                             hart.target->state(), activity));
        }
        for (const auto& task : host->waiting_tasks())
            of_host.push_back(fmt::format("{}: {}", host->name(), task));
        add(all, of_host);
    }
    return all;
}

/// "chip0.management" for a module in it.
std::string parent_of(const sc_core::sc_object& module) {
    const auto* parent = module.get_parent_object();
    return parent == nullptr ? module.name() : parent->name();
}

/// The blocks that contain a module which is not ready; the first one's reason, if it has one.
struct unready {
    std::vector<std::string> blocks;
    std::string why;
};
unready unready_blocks() {
    unready found;
    for_each_module<reports_ready>([&](const auto& object, auto& module) {
        const auto block = parent_of(object);
        if (module.ready() || std::ranges::find(found.blocks, block) != found.blocks.end()) return;
        found.blocks.push_back(block);
    });
    for_each_module<reports_boot_failure>([&](const auto& object, auto& module) {
        if (found.why.empty() && !found.blocks.empty() && parent_of(object) == found.blocks.front())
            found.why = module.boot_failure();
    });
    return found;
}

}  // namespace

std::string boot_state(const scenario_context& ctx) {
    const auto found = unready_blocks();
    if (found.blocks.empty()) return "every chip is ready";
    auto text = fmt::format(
        "the firmware of {}{} has not published its routing id{}{}", found.blocks.front(),
        found.blocks.size() == 1 ? "" : fmt::format(" (and of {} more)", found.blocks.size() - 1),
        found.why.empty() ? "" : ": ", found.why);
    for (const auto& hart : find_harts())
        if (hart.name.starts_with(found.blocks.front() + ".")) text += "; " + hart_text(ctx, hart);
    return text;
}

std::vector<std::string> state_at_failure(const scenario_context& ctx) {
    lines all{"at " + shown(sc_core::sc_time_stamp())};
    add(all, injected_of(ctx));
    add(all, calls_of(ctx));
    add(all, waits_of(ctx));
    add(all, executing_harts(ctx));
    const auto hosts = linux_states(ctx);
    all.insert(all.end(), hosts.begin(), hosts.end());
    add(all, waiting_modules());
    return all.size() == 1 ? lines{} : all;
}

}  // namespace trn::scenario
