// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <string>

#include "models/riscv/isa.h"

namespace trn::riscv::translate {

/// What both executions of a block have to leave the same, beside memory and the next pc.
struct registers {
    std::array<u64, 33> x{};  ///< as in a hart: [0] and [32] mean nothing
    std::array<u64, 32> f{};
};

/// Names the first register that differs, and both values; empty: all are equal.
std::string difference(const registers& translated, const registers& interpreted);

}  // namespace trn::riscv::translate
