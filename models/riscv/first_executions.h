// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <vector>

#include "models/riscv/op.h"

namespace trn::riscv {

/// Records the first execution of each operation of a block for trn::coverage.
/// Until then the operation's function is first_time(), from then on its own: what was seen once
/// costs nothing more.
struct first_executions {
    struct place {
        u32 slot;   ///< of the operation
        u8* marks;  ///< of an instruction that was then executed
        u8 mark;
    };
    std::vector<place> places;
    std::vector<handler> alone, fused;  ///< by slot; null: no operation
};

/// The function of an operation that was not executed yet.
void first_time(TRN_FLOW);
/// Marks the first execution of `o`, whose function is first_time(); returns the function
/// that executes it, which it has from now on.
handler first_seen(const op* o);

}  // namespace trn::riscv
