// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <string>

#include "models/processor/riscv/decode/isa.h"
#include "models/processor/riscv/privileged/csr_state.h"

namespace trn::riscv::translate {

/// State that must be equal after both executions of a run, in addition to memory and next pc.
struct registers {
    std::array<u64, 33> x{};  ///< as in a hart; [0] and [32] are ignored
    std::array<u64, 32> f{};
    csr_state csr{};
};

/// Describes the first register that differs, with both values; empty if all are equal.
std::string difference(const registers& translated, const registers& interpreted);

}  // namespace trn::riscv::translate
