// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "models/riscv/isa.h"

namespace trn::riscv::test {

using bytes = std::vector<std::uint8_t>;

/// Of QEMU's virt machine: an image starts at ram_base, prints on `uart` and ends by a write to
/// `power`.
constexpr std::uint64_t ram_base = 0x8000'0000, ram_size = std::uint64_t{32} << 20;
constexpr std::uint64_t uart = 0x1000'0000, power = 0x10'0000;

/// What the image prints on our hart.
bytes run_in_hart(const bytes& image, isa extensions = isa::usual());
/// What it prints on Debian's qemu-system-riscv64; `cpu` is an argument of -cpu.
bytes run_in_qemu(const bytes& image, const std::string& cpu);

}  // namespace trn::riscv::test
