// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <vector>

#include "models/riscv/hart.h"
#include "models/riscv/translate/registers.h"

namespace trn::riscv::translate {

/// Where a checked block leaves to, and what it stored: check.h.
struct outcome {
    struct stored {
        u64 host;
        u64 before;  ///< the bytes that were there
        u64 size;
    };
    static constexpr unsigned max_stores = 80;  ///< a block has fewer

    stored* next_store = nullptr;
    const op* to = nullptr;
    handler continues = nullptr;
    u64 acc = 0;
    i64 budget = 0;
    u64 page = 0;
};

/// Code that all blocks use: from the calling convention of handlers to that of host code and
/// back. Addresses are absolute.
struct shared_code {
    u64 enter = 0;     ///< continues at the address in rax
    u64 leave = 0;     ///< rax: operation, rcx: its function, rdx: acc
    u64 leave_to = 0;  ///< rax: operation; what the header of a block without host code leads to
    u64 dispatch = 0;  ///< rax: pc; by the jump table of the hart

    /// The code, to be placed at `base`. With `checked`, leaving returns and fills it in.
    std::vector<u8> make(u64 base, outcome* checked);
};

}  // namespace trn::riscv::translate
