// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <vector>

#include "platform/app/linux_symbols/kernel_image.h"

namespace trn {

/// An ELF file with the symbols of a kernel at the addresses at which it runs, for debuggers; it
/// has no code.
std::vector<std::uint8_t> symbol_file(const kernel_image& kernel, std::uint64_t slide);

/// The ELF file `object` with the address 0 in all section headers.
std::vector<std::uint8_t> without_addresses(std::vector<std::uint8_t> object);

}  // namespace trn
