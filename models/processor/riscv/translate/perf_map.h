// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <sys/types.h>

#include <cstdint>
#include <span>
#include <string>
#include <string_view>

#include "platform/framework/unique_fd.h"

namespace trn::riscv::translate {

/// /tmp/perf-PID.map: a line "START SIZE NAME" in hexadecimal for each piece of code, from which
/// `perf report` takes names. A forked process starts its own file with a copy of the lines.
class perf_map {
public:
    void add(std::span<const std::uint8_t> code, const std::string& name);

private:
    void open_file();
    void put(std::string_view text);

    std::string lines_;
    unique_fd file_;
    pid_t process_ = 0;  // process whose file contains all lines
};

}  // namespace trn::riscv::translate
