// SPDX-License-Identifier: Apache-2.0
#include "platform/app/commands/vcd_options.h"

#include "platform/app/commands/guarded.h"

namespace trn {

void add_vcd_options(cli::command& command, std::filesystem::path& file,
                     std::vector<std::string>& signals) {
    command.add_option("--vcd", file, "write signal changes to this file, for GTKWave");
    command
        .add_option("--vcd-signal", signals,
                    "register, field or line of the board: 'chip0.management.uart.LSR', "
                    "'chip0.nc0.SEMAPHORE_READ[3]', '*' and '?' for several")
        ->allow_extra_args(false);
}

void check_vcd(const std::filesystem::path& file, const std::vector<std::string>& signals) {
    if (!file.empty() && signals.empty())
        throw user_error(
            "--vcd without --vcd-signal, such as --vcd-signal chip0.management.uart.LSR");
    if (file.empty() && !signals.empty()) throw user_error("--vcd-signal without --vcd FILE");
}

}  // namespace trn
