// SPDX-License-Identifier: Apache-2.0
// Translated harts: blocks that are executed often become x86-64 code. Design:
// doc/models/translated-harts.md.
#pragma once

#include <cstddef>
#include <string_view>

namespace trn::riscv::translate {

enum class mode {
    interpret,
    translate,
    check,  ///< executes every block twice and compares: registers, stores, next pc
};

struct options {
    /// Executions of a block before it is translated.
    unsigned threshold = 200;
    /// Bytes of host code; when it is used up all is dropped.
    std::size_t region = std::size_t{32} << 20;
    /// Whether /tmp/perf-PID.map names the code for `perf report`.
    bool perf_map = false;
};

/// For harts whose code cache is empty. False: this host or build cannot translate, and harts
/// interpret; that is logged once.
bool choose(mode how, const options& chosen = {});

}  // namespace trn::riscv::translate
