// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

#include "platform/framework/loader/coverage.h"

namespace trn {

struct lcov_report {
    std::string text;  ///< a tracefile of LCOV, geninfo(1): files by name, lines ascending
    std::vector<std::string> warnings;  ///< sentences: programs without debugging information
};

/// Lines, functions and branches of the sources of every program with executed code, by the
/// debugging information of its ELF file. Sources beneath the current folder are named
/// relative to it, those of libraries that are not here are left out. A branch is one machine
/// instruction: the k-th of its line in a function is one and the same in every copy of the line.
lcov_report to_lcov(const coverage& all);

}  // namespace trn
