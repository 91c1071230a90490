// SPDX-License-Identifier: Apache-2.0
#include "platform/app/trnvp/exec_harts.h"

#include <fmt/format.h>

#include <map>
#include <optional>
#include <string_view>
#include <variant>

#include "platform/app/commands/guarded.h"
#include "platform/framework/config/refusal_text.h"
#include "platform/framework/config/units.h"

namespace trn {

namespace {

/// An option with a time for single harts, such as "1=300 ns".
struct time_of_harts {
    const char* name;
    picoseconds min, max;
};
// Both limits keep sums of times within the 64 bits of simulated time.
constexpr time_of_harts delay{"--hart-delay", {0}, {1'000'000'000'000'000}};
constexpr time_of_harts clock_period{"--hart-clock", {1}, {1'000'000}};

std::map<unsigned, picoseconds> parse(const time_of_harts& option,
                                      const std::vector<std::string>& texts, unsigned harts) {
    std::map<unsigned, picoseconds> times;
    for (const auto& text : texts) {
        const auto fail = [&](const std::string& why) {
            throw user_error(fmt::format("{} {}: {}", option.name, text, why));
        };
        const auto equal = text.find('=');
        if (equal == std::string::npos) fail("HART=TIME was expected, such as 1='300 ns'");
        const auto hart = config::parse_unsigned(std::string_view(text).substr(0, equal));
        const auto* const id = std::get_if<std::uint64_t>(&hart);
        if (id == nullptr || *id >= harts)
            fail(harts == 1 ? "there is hart 0 only (see --harts)"
                            : fmt::format("there are harts 0 to {}", harts - 1));
        const auto time = config::parse_time(std::string_view(text).substr(equal + 1));
        if (const auto* const wrong = std::get_if<config::refusal>(&time))
            fail(config::refusal_text(*wrong));
        const auto value = std::get<picoseconds>(time);
        if (value < option.min || value > option.max)
            fail(fmt::format("the time is {} to {}", to_string(option.min), to_string(option.max)));
        if (!times.emplace(static_cast<unsigned>(*id), value).second)
            fail(fmt::format("hart {} has a time already", *id));
    }
    return times;
}

}  // namespace

std::vector<exec_machine::hart_config> exec_harts::settings(const riscv_hart::config& all) const {
    std::vector<exec_machine::hart_config> harts(count, {.core = all});
    for (unsigned id = 0; id < count; ++id) harts[id].core.hart_id = id;
    for (const auto& [id, time] : parse(delay, delays, count))
        harts[id].start = sc_core::sc_time::from_value(time.value);
    for (const auto& [id, time] : parse(clock_period, clocks, count))
        harts[id].core.clock = sc_core::sc_time::from_value(time.value);
    return harts;
}

void add_exec_harts(cli::command& command, exec_harts& harts) {
    command
        .add_option("--harts", harts.count,
                    "number of harts, which share RAM, ACLINT and PLIC; all start at the entry")
        ->check(cli::in_range(1u, exec_machine::max_harts))
        ->capture_default_str();
    command
        .add_option("--hart-delay", harts.delays,
                    "HART=TIME: the hart leaves reset then, such as 1='300 ns'")
        ->allow_extra_args(false);
    command
        .add_option("--hart-clock", harts.clocks,
                    "HART=TIME: time per instruction of the hart (1 ns), such as 1='1.1 ns'")
        ->allow_extra_args(false);
    command.add_option("--schedule-seed", harts.schedule_seed,
                       "vary order and length of the harts' turns; the same number, the same "
                       "order (0: fixed turns of --quantum)");
}

}  // namespace trn
