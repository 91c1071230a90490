// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <vector>

#include "models/processor/riscv/hart/hart.h"
#include "models/processor/riscv/translate/registers.h"

namespace trn::riscv::translate {

/// The exit of a run of checked code, and the stores it made; see check.h.
struct outcome {
    struct stored {
        u64 host;
        u64 before;  ///< bytes before the store
        u64 value;   ///< bytes that it stores
        u64 size;
    };
    /// Maximum budget of a run. It exceeds it by less than a block, of at most 64 instructions.
    static constexpr unsigned max_instructions = 2000;
    static constexpr unsigned max_stores = max_instructions + 64;

    stored* next_store = nullptr;
    const op* next = nullptr;
    handler continues = nullptr;
    u64 acc = 0;
    i64 budget = 0;
    u64 page = 0;
};

/// Code used by all blocks: converts the calling convention of handlers to that of host code and
/// back. Addresses are absolute.
struct shared_code {
    u64 enter = 0;     ///< continues at the address in rax
    u64 leave = 0;     ///< rax: operation, rcx: its function, rdx: acc
    u64 leave_to = 0;  ///< rax: operation; also the target in headers of blocks without host code
    u64 dispatch = 0;  ///< rax: pc; uses the hart's jump table
    /// Function that looks for the address in rax in the pages that are watched in part. Sets the
    /// carry flag and rcx, the host address minus the address, if the access needs no check. By
    /// kind (load, store) and logarithm of the size.
    std::array<std::array<u64, 4>, 2> find_watched{};

    /// Whether harts watch bytes: accesses then look in the window beside them too.
    bool watches = false;

    /// Returns the code for address `base`. With `checked`, leaving fills it in and returns.
    std::vector<u8> make(u64 base, outcome* checked);
};

}  // namespace trn::riscv::translate
