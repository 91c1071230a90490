// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>
#include <optional>
#include <stdexcept>
#include <string>
#include <vector>

#include "platform/app/scenario/parameters.h"
#include "platform/framework/misuse/policy.h"

namespace trn::scenario {

class scenario_context;

/// A step that failed: what() is the message of the report.
class step_failure : public std::runtime_error {
public:
    using std::runtime_error::runtime_error;
};

/// A value that a run measured, and its bounds.
struct figure {
    std::string name;
    double value = 0;
    std::string unit;  ///< "GB/s", "us"
    std::optional<double> min = {}, max = {};

    bool within_bounds() const { return !(min && value < *min) && !(max && value > *max); }
    std::string text() const;  ///< "57.6 GB/s (54.7 to 58.2)"
};

/// What a step may know of its scenario while the file is read.
struct setting {
    std::string board;
    std::uint64_t seed = 1;
};

/// What a step does. Its work runs in a process of the host CPU.
struct action {
    std::string text = {};  ///< "copy host to hbm0@0x1000000, 65537 bytes"
    std::function<void(scenario_context&)> work = {};
    std::vector<misuse::rule> provokes = {};  ///< violations of these rules are expected
    std::string shared = {};  ///< scenarios with the same text share the step's run; "": never
    std::string keeps = {}, returns_to = {};  ///< the snapshot that the step takes, or restores
    bool drives = true;  ///< uses the driver stub, which runs one call at a time
    /// Called before the first run, when the file has no mistake; reports mistakes in it.
    std::function<void(const setting&)> prepare = {};
};

/// The parent of a step: a sequence that is called in this line, a branch (line 0), or (without a
/// name) the step of this line.
struct enclosing {
    std::string name;
    int line = 0;
    bool operator==(const enclosing&) const = default;
};

/// One line of a scenario, read and checked.
struct step : action {
    config::place where = {};
    std::string file = {};                 ///< of `where`
    std::optional<trn_status> fails = {};  ///< the status with which the device call must fail
    std::string saying = {};               ///< and a part of its message
    std::vector<enclosing> inside = {};    ///< outermost first
};

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

/// Checks a board with "name=value" for its parameters. \throws config_error
using board_check = std::function<void(const std::string& board, const std::vector<std::string>&)>;

/// A scenario per point of a file's matrix. Mistakes are collected in `problems`; those that
/// `check` finds get the place where the scenario names the board, its parameter or the firmware.
/// \throws config_error when the file is no YAML at all
std::vector<scenario> load(const std::filesystem::path& file, diagnostics& problems,
                           const board_check& check = {});

/// The image that a scenario boots: a file in the scenario's folder, else an image's name or a
/// path, as boards take them; "": the board's image.
std::string find_firmware(const scenario& what);

/// All that the time before the second step depends on, for `beginning`.
std::string beginning_of(const scenario& what);

/// The .yaml files of a folder and its subfolders, in the order of their names; of a file, the
/// file. \throws config_error when the path does not exist
std::vector<std::filesystem::path> find_files(const std::filesystem::path& where);

/// Reads one item of `steps`, except steps that hold steps (scenario_files).
step read_step(const config::node& item, const parameters& point);

}  // namespace trn::scenario
