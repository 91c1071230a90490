// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "models/processor/riscv/decode/isa.h"

namespace trn::riscv::test {

using bytes = std::vector<std::uint8_t>;

/// Addresses of QEMU's virt machine: an image starts at ram_base, prints to `uart` and ends by a
/// write to `power`.
constexpr std::uint64_t ram_base = 0x8000'0000, ram_size = std::uint64_t{32} << 20;
constexpr std::uint64_t uart = 0x1000'0000, power = 0x10'0000;

/// The image's output on the model's hart.
bytes run_in_hart(const bytes& image, isa extensions = isa::usual());
/// The image's output on Debian's qemu-system-riscv64; `cpu` is the argument of -cpu.
bytes run_in_qemu(const bytes& image, const std::string& cpu);

}  // namespace trn::riscv::test
