// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

#include "platform/framework/loader/coverage.h"

namespace trn {

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
