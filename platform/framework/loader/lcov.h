// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <map>
#include <set>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "platform/framework/loader/coverage.h"

namespace trn {

/// The coverage of one source file.
struct source_coverage {
    std::map<int, bool> lines = {};  ///< whether the line was executed
    /// By line, number of the branch and direction (0: taken): 1 for a direction that was taken, 0
    /// for a direction that was not, -1 when the branch was never reached.
    std::map<std::tuple<int, unsigned, unsigned>, int> branches = {};
    std::set<std::pair<int, std::string>> functions = {};  ///< first line and name
};

/// The part of a tracefile for `file`, consistent as genhtml 2 requires it: a function begins on a
/// line with data, and was executed if a line up to the next function was; a line that was executed
/// has no branches of which none was reached.
std::string to_tracefile(const std::string& file, source_coverage covered);

struct lcov_report {
    std::string text;                   ///< LCOV tracefile (geninfo(1)), sorted by file and line
    std::vector<std::string> warnings;  ///< sentences: programs without debugging information
};

/// Computes the coverage of lines, functions and branches for every program with executed code,
/// using the debugging information of its ELF file. Sources below the current folder get relative
/// names; library sources that do not exist here are omitted. A branch is one machine instruction:
/// the k-th branch of a line in a function is the same one in every copy of that line.
lcov_report to_lcov(const coverage& all);

}  // namespace trn
