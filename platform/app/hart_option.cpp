// SPDX-License-Identifier: Apache-2.0
#include "platform/app/hart_option.h"

#include <map>

#include "models/processor/riscv/translate/translate.h"

namespace trn {

void hart_choice::apply() const {
    using execution = riscv::translate::mode;
    static const std::map<std::string, execution> modes{{"interpret", execution::interpret},
                                                        {"translate", execution::translate},
                                                        {"check", execution::check}};
    const execution chosen = modes.at(mode);
    // Only translated code is checked, so `check` translates at the first execution.
    riscv::translate::choose(
        chosen, {.threshold = chosen == execution::check ? 1u : 200u, .perf_map = perf_map});
}

void add_hart_option(cli::command& command, hart_choice& choice) {
    command.add_flag("--perf-map", choice.perf_map,
                     "/tmp/perf-PID.map names translated code for perf");
    command
        .add_option("--hart", choice.mode,
                    "how harts execute: interpret, translate (frequent blocks become host code) or "
                    "check (both, and compare)")
        ->transform(cli::one_of({"interpret", "translate", "check"}))
        ->envname("TRNVP_HART")
        ->capture_default_str();
}

}  // namespace trn
