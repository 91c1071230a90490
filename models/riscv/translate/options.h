// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>

namespace trn::riscv::translate {

struct options {
    /// Executions of a block before it is translated.
    unsigned threshold = 200;
    /// Bytes of host code; when it is used up all is dropped.
    std::size_t region = std::size_t{32} << 20;
    /// Whether /tmp/perf-PID.map names the code for `perf report`.
    bool perf_map = false;
};

}  // namespace trn::riscv::translate
