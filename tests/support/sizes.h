// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

namespace trn::test {

constexpr std::uint64_t KiB = 1 << 10, MiB = 1 << 20;  // bytes

}  // namespace trn::test
