// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

namespace trn::scenario {

/// Limit of the runs of a command.
inline constexpr std::size_t max_runs = 100'000;

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

/// The name for readers; for a file as a whole, the name of the file.
std::string title(const description& run);
/// The same without the number of the repetition and the seed.
std::string title_of_all_runs(const description& run);

/// The name without the number of the repetition and the seed.
std::string name_of_all_runs(const description& run);

/// File and name, which identify the same scenario in several runs.
std::string identity(const description& run);

}  // namespace trn::scenario
