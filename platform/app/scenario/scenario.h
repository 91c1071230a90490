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

class world;

/// A step that did not come out as the scenario says: what() is for the reader of the report.
class step_failure : public std::runtime_error {
public:
    using std::runtime_error::runtime_error;
};

/// A value that a run measured, and where it has to be.
struct figure {
    std::string name;
    double value = 0;
    std::string unit;  ///< "GB/s", "us"; what is counted
    std::optional<double> least = {}, most = {};

    bool within_bounds() const { return !(least && value < *least) && !(most && value > *most); }
    std::string text() const;  ///< "57.6 GB/s (54.7 to 58.2)"
};

/// What a step does. Its work runs in a process of the host CPU.
struct action {
    std::string text = {};  ///< "copy host to hbm0@0x1000000, 65537 bytes"
    std::function<void(world&)> work = {};
    std::vector<misuse::rule> provokes = {};  ///< expects that these rules were broken
    std::string shared = {};  ///< the same in two scenarios: one may do it for both; "": never
    std::string keeps = {}, returns_to = {};  ///< the snapshot that it takes, or goes back to
    bool drives = true;  ///< uses the driver stub, which does one thing after the other
};

/// What a step is a part of: a sequence that is called in this line, a branch (line 0), or (without
/// a name) the step of this line.
struct enclosing {
    std::string name;
    int line = 0;
    bool operator==(const enclosing&) const = default;
};

/// One line of a scenario, read and checked.
struct step : action {
    config::place where = {};
    std::string file = {};                 ///< of `where`
    std::optional<trn_status> fails = {};  ///< what the device call must come to
    std::string saying = {};               ///< and what its sentence must contain
    std::vector<enclosing> inside = {};    ///< outermost first
};

/// What is done on a board, at one point of the matrix (doc/scenarios.md).
struct scenario {
    std::string file;
    std::string name;  ///< with the point: "copy [size=1 B, stack=0]"
    unsigned run = 0;  ///< of several (--repeat): `name` then ends with " #1", " #2", ...
    std::vector<std::string> tags;
    std::string board;
    std::vector<std::string> set;  ///< "name=value" for parameters of the board
    std::string firmware;          ///< "flash_hang.img", or a path; "" = what the board says
    std::uint64_t seed = 1;
    std::uint64_t time_limit_ns = 0;  ///< simulated
    double wall_limit_s = 0;          ///< the safety net
    std::uint64_t memory_limit = 0;   ///< bytes resident; another safety net
    std::string beginning;            ///< scenarios that have the same can begin as one
    std::vector<misuse::policy_choice> misuse;
    std::vector<step> steps;
    std::vector<step> expectations;  ///< checked when all steps are done
};

/// Looks at a board with "name=value" for its parameters. \throws config_error
using board_check = std::function<void(const std::string& board, const std::vector<std::string>&)>;

/// Every point of a file's matrix. Mistakes are collected in `problems`, those that `check` finds
/// too: at the place where the scenario names the board, its parameter or the firmware.
/// \throws config_error when the file is no YAML at all
std::vector<scenario> load(const std::filesystem::path& file, diagnostics& problems,
                           const board_check& check = {});

/// The image that a scenario boots: a file beside it, else what a board takes, an image's name or a
/// path; "": what the board says.
std::string find_firmware(const scenario& what);

/// The .yaml files of a folder and below, in the order of their names; a file is itself.
/// \throws config_error when there is no such thing
std::vector<std::filesystem::path> find_files(const std::filesystem::path& where);

/// Reads one item of `steps` that is no call of a sequence.
step read_step(const config::node& item, const parameters& point);

}  // namespace trn::scenario
