// SPDX-License-Identifier: Apache-2.0
#include "platform/app/commands/wave_options.h"

#include <fmt/format.h>

#include <stdexcept>
#include <utility>

#include "platform/app/commands/guarded.h"
#include "platform/framework/waves/make_wave_writer.h"

namespace trn {

void add_wave_options(cli::command& command, wave_options& waves) {
    command.add_option("--vcd", waves.file,
                       "write signal changes to this file, for GTKWave or Surfer; .fst: in FST");
    command
        .add_option("--vcd-signal", waves.signals,
                    "register, field, line or state of the board, as 'trnctl signals' lists them: "
                    "'chip0.management.uart.LSR', 'chip0.nc0.SEMAPHORE_READ[3]', "
                    "'chip0.h2t0.engine*.transactions'; '*' and '?' for several")
        ->allow_extra_args(false);
    command.add_option("--vcd-from", waves.begin,
                       "record from here on: a simulated time, 'ready' or 'SIGNAL == VALUE'");
    command.add_option("--vcd-until", waves.end, "until here, and again from the next --vcd-from");
}

moment moment_option(std::string_view option, const std::string& text, std::string_view others) {
    try {
        return parse_moment(option, text, others);
    } catch (const std::invalid_argument& wrong) {
        throw user_error(wrong.what());
    }
}

void check_waves(const wave_options& waves) {
    if (!waves.file.empty() && waves.signals.empty())
        throw user_error(
            "--vcd without --vcd-signal, such as --vcd-signal chip0.management.uart.LSR");
    const std::pair<const char*, bool> others[]{{"--vcd-signal", !waves.signals.empty()},
                                                {"--vcd-from", !waves.begin.empty()},
                                                {"--vcd-until", !waves.end.empty()}};
    for (const auto& [option, given] : others)
        if (given && waves.file.empty())
            throw user_error(fmt::format("{} without --vcd FILE", option));
    if (const auto why = wave_format_refusal(waves.file.string()); !why.empty())
        throw user_error("--vcd " + why);
    if (!waves.begin.empty()) moment_option("--vcd-from", waves.begin);
    if (!waves.end.empty()) moment_option("--vcd-until", waves.end);
}

}  // namespace trn
