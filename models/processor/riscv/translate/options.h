// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>

namespace trn::riscv {
struct decoded;
}

namespace trn::riscv::translate {

struct options {
    /// Number of executions of a block before it is translated.
    unsigned threshold = 200;
    /// Maximum bytes of host code; all is dropped when it is reached.
    std::size_t region = std::size_t{32} << 20;
    /// Write /tmp/perf-PID.map, which names the code for `perf report`.
    bool perf_map = false;

    // Errors of the translator, for tests of check mode:
    /// Returns the instruction of which host code is made instead of this one.
    decoded (*mistranslate)(const decoded& instruction) = nullptr;
    unsigned miscount = 0;  ///< added where host code counts instructions
};

}  // namespace trn::riscv::translate
