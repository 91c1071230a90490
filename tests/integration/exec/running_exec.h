// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include "tests/support/program.h"

namespace trn::test {

/// Folder of the programs that tests run.
inline const std::string guests = GUESTS;

/// Runs `trnvp exec` with `arguments` of a shell.
inline ended exec(const std::string& arguments) {
    return run(TRNVP " exec " + arguments);
}

}  // namespace trn::test
