// SPDX-License-Identifier: Apache-2.0
#include "models/riscv/translate/perf_map.h"

#include <fmt/format.h>
#include <unistd.h>

#include <fstream>

namespace trn::riscv::translate {

void perf_map::add(std::span<const std::uint8_t> code, const std::string& name) {
    const std::string line = fmt::format(
        "{:x} {:x} {}\n", reinterpret_cast<std::uintptr_t>(code.data()), code.size(), name);
    lines_ += line;
    const bool continues = process_ == getpid();
    process_ = getpid();
    std::ofstream file(fmt::format("/tmp/perf-{}.map", process_),
                       continues ? std::ios::app : std::ios::trunc);
    file << (continues ? line : lines_);
}

}  // namespace trn::riscv::translate
