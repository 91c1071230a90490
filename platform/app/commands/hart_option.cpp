// SPDX-License-Identifier: Apache-2.0
#include "platform/app/commands/hart_option.h"

#include <map>
#include <string>

#include "models/riscv/translate/translate.h"

namespace trn {

void add_hart_option(cli::command& command) {
    using riscv::translate::mode;
    static const std::map<std::string, mode> modes{
        {"interpret", mode::interpret}, {"translate", mode::translate}, {"check", mode::check}};
    static bool perf_map = false;
    command.add_flag("--perf-map", perf_map, "/tmp/perf-PID.map names translated code for perf");
    command
        .add_option_function<std::string>(
            "--hart",
            [](const std::string& name) {
                const mode how = modes.at(name);
                // Only translated code is checked, so `check` translates at the first execution.
                riscv::translate::choose(
                    how, {.threshold = how == mode::check ? 1u : 200u, .perf_map = perf_map});
            },
            "how harts execute: interpret, translate (frequent blocks become host code) or check "
            "(both, and compare)")
        ->transform(cli::one_of({"interpret", "translate", "check"}))
        ->envname("TRNVP_HART")
        ->default_value("translate");
}

}  // namespace trn
