// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include "platform/app/regression/records/record.h"

namespace trn::regression::sample {

inline result named(const std::string& name, bool passed = true, double seconds = 1) {
    result one;
    one.description.file = "x.yaml";
    one.description.name = name;
    one.description.board = one.board_key = "chip";
    one.outcome.result =
        passed ? scenario::outcome::verdict::passed : scenario::outcome::verdict::failed;
    one.outcome.wall_s = seconds;
    if (passed) return one;
    one.outcome.message = "wrong byte";
    one.outcome.step = "copy";
    one.outcome.place = {7, 5, 1};
    return one;
}

/// The record of shard `part` of `parts`; `whole` lists the names of all runs.
inline run_record shard(unsigned part, unsigned parts, std::vector<std::string> whole,
                        std::vector<result> results) {
    run_record run{.build = "1 abc", .started = 1000, .machine = "m", .part = part, .parts = parts};
    run.boards["chip"] = {"00ff", "<svg></svg>"};
    for (const auto& name : whole) run.whole.push_back("x.yaml\t" + name);
    run.results = std::move(results);
    return run;
}

}  // namespace trn::regression::sample
