// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "platform/app/scenario/outcome.h"
#include "platform/app/scenario/step.h"
#include "platform/framework/config/diagnostics.h"
#include "platform/framework/misuse/policy.h"

namespace trn::scenario {

/// Properties of a scenario that reports show besides its result.
struct description {
    std::string file = {};
    /// Includes the point of the matrix: "copy [size=1 B, stack=0]". "": the file as a whole, when
    /// the names of its scenarios cannot be read.
    std::string name = {};
    unsigned run = 0;       ///< number with --repeat; `name` then ends with " #1", " #2", ...
    bool campaign = false;  ///< one of the seeds of --seeds; `name` then ends with " seed 7"
    std::uint64_t seed = 1;
    std::vector<std::string> tags = {};
    std::string board = {};
    /// Options that can change the result, as words of a shell: " --misuse=fail".
    std::string options = {};
};

/// A board and the steps to run on it, for one point of the matrix (doc/scenarios.md).
struct scenario : description {
    parameters point = {};          ///< of the matrix
    std::uint64_t text_digest = 0;  ///< digest of its file and of the files that it names
    std::vector<std::string> set;   ///< "name=value" for parameters of the board
    std::string firmware;           ///< "flash_hang.img", or a path; "": the board's default
    std::uint64_t time_limit_ns = 10'000'000'000;  ///< in simulated time
    double wall_limit_s = 60;                      ///< wall-clock limit, to end a hang
    std::uint64_t memory_limit = 0;                ///< bytes resident
    std::string beginning;   ///< scenarios with the same text share their first step
    misuse::choices misuse;  ///< of the key `misuse`, and rules that steps check
    std::vector<step> steps;
    std::vector<step> expectations;  ///< checked after all steps
    std::vector<step> checks = {};   ///< their work runs before the steps
    /// Call before the first run with this seed: compiles kernels, and reports their errors.
    /// `seeds`: of all runs of the scenario, which share the work.
    std::function<void(std::uint64_t seed, const std::vector<std::uint64_t>& seeds, diagnostics&)>
        prepare = {};
    /// Mistakes in the files of the scenario: with any, it fails instead of running.
    std::vector<diagnostic> mistakes = {};
    /// Whether name and tags were read without a mistake. If not, every selection includes it.
    bool is_labelled = true;
};

/// The result of a scenario that has mistakes.
outcome refused(const scenario& run);

/// Path of the image that a scenario boots: a file in the scenario's folder, else an image name or
/// path as in boards; "": the board's default.
std::string find_firmware(const scenario& run);

/// Text for `beginning`: everything that determines the state at the end of the first step.
std::string beginning_of(const scenario& run);

/// The name for readers; for a file as a whole, the name of the file.
std::string title(const description& run);
/// The same without the number of the repetition and the seed.
std::string title_of_all_runs(const description& run);

/// The name without the number of the repetition and the seed.
std::string name_of_all_runs(const description& run);

/// File and name, which identify the same scenario in several runs.
std::string identity(const description& run);

}  // namespace trn::scenario
