// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>
#include <string>
#include <vector>

#include "platform/app/scenario/language/step.h"
#include "platform/app/scenario/results/description.h"
#include "platform/app/scenario/results/outcome.h"
#include "platform/framework/config/diagnostics.h"
#include "platform/framework/misuse/policy.h"

namespace trn::scenario {

/// A board and the steps to run on it, for one point of the matrix (doc/scenarios.md).
struct scenario : description {
    parameters point = {};          ///< of the matrix
    std::uint64_t text_digest = 0;  ///< digest of its file and of the files that it names
    std::vector<std::string> set;   ///< "name=value" for parameters of the board
    std::string firmware;           ///< "flash_hang.img", or a path; "": the board's default
    std::uint64_t time_limit_ns = 10'000'000'000;  ///< in simulated time
    double wall_limit_s = 60;                      ///< wall-clock limit, to end a hang
    std::uint64_t memory_limit = 0;                ///< bytes resident
    std::string beginning;           ///< scenarios with the same text share their first steps
    std::size_t shared_steps = 0;    ///< number of these: those of `setup`, or a first boot
    misuse::choices misuse;          ///< of the key `misuse`, and rules that steps check
    std::vector<step> steps;         ///< those of `setup` first
    std::vector<step> expectations;  ///< checked after all steps
    std::vector<step> checks = {};   ///< their work runs before the steps
    /// Call before the first run with this seed: compiles kernels, and reports their errors.
    /// `seeds`: of all runs of the scenario, which share the work. `stop`: as in setting.
    std::function<void(std::uint64_t seed, const std::vector<std::uint64_t>& seeds,
                       const std::function<bool()>& stop, diagnostics&)>
        prepare = {};
    /// Mistakes in the files of the scenario: with any, it fails instead of running.
    std::vector<diagnostic> mistakes = {};
    /// Whether name and tags were read without a mistake. If not, every selection includes it.
    bool is_labelled = true;
};

/// The result of a scenario that has mistakes.
outcome refused(const scenario& run);

/// Path of the scenario's `firmware` in the scenario's folder. Contains a '/', because a bare name
/// refers to the firmware folder.
std::filesystem::path firmware_beside(const scenario& run);
/// Path of the image that a scenario boots: a file in the scenario's folder, else an image name or
/// path as in boards; "": the board's default.
std::string find_firmware(const scenario& run);
/// "name=value" for each parameter of the board, including `firmware` when the scenario sets it.
std::vector<std::string> board_set(const scenario& run);

/// Text for `beginning`: everything that determines the state at the end of the shared steps.
std::string beginning_of(const scenario& run);

}  // namespace trn::scenario
