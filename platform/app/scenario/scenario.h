// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "platform/app/scenario/step.h"
#include "platform/framework/config/diagnostics.h"
#include "platform/framework/misuse/policy.h"

namespace trn::scenario {

/// What reports say about a scenario besides its result.
struct description {
    std::string file;
    std::string name;       ///< with the point: "copy [size=1 B, stack=0]"
    unsigned run = 0;       ///< of several (--repeat): `name` then ends with " #1", " #2", ...
    bool campaign = false;  ///< one of several seeds (--seeds): `name` then ends with " seed 7"
    std::uint64_t seed = 1;
    std::vector<std::string> tags;
    std::string board;
};

/// The steps on a board, at one point of the matrix (doc/scenarios.md).
struct scenario : description {
    std::uint64_t text_digest = 0;    ///< of its file and the included ones
    std::vector<std::string> set;     ///< "name=value" for parameters of the board
    std::string firmware;             ///< "flash_hang.img", or a path; "" = what the board says
    std::uint64_t time_limit_ns = 0;  ///< simulated
    double wall_limit_s = 0;          ///< of the host, against a hang
    std::uint64_t memory_limit = 0;   ///< bytes resident
    std::string beginning;            ///< scenarios with the same text share their first step
    std::string misuse_text;          ///< as the file says it
    std::vector<misuse::policy_choice> misuse;
    std::vector<step> steps;
    std::vector<step> expectations;  ///< checked when all steps are done
    /// Call before the first run: compiles kernels, and reports what is wrong with them.
    std::function<void(diagnostics&)> prepare = {};
};

/// The image that a scenario boots: a file in the scenario's folder, else an image's name or a
/// path, as boards take them; "": the board's image.
std::string find_firmware(const scenario& what);

/// All that the time before the second step depends on, for `beginning`.
std::string beginning_of(const scenario& what);

/// Its name without the number of the run or the seed.
std::string name_of_all_runs(const description& what);

/// File and name: what is the same scenario in two runs.
std::string identity(const description& what);

}  // namespace trn::scenario
