// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <sys/types.h>

#include <cstdint>
#include <span>
#include <string>

namespace trn::riscv::translate {

/// /tmp/perf-PID.map: a line "START SIZE NAME" in hexadecimal for each piece of code, by which
/// `perf report` names frames. A forked process begins a file of its own with the lines so far.
class perf_map {
public:
    void add(std::span<const std::uint8_t> code, const std::string& name);

private:
    std::string lines_;
    pid_t process_ = 0;  // whose file has all lines so far
};

}  // namespace trn::riscv::translate
