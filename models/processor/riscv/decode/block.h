// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>
#include <vector>

#include "models/processor/riscv/decode/back_end.h"
#include "models/processor/riscv/decode/op.h"

namespace trn::riscv {

class code_page;

/// Records the first execution of each operation of a block for trn::coverage. Until its first
/// execution an operation's function is first_time(), which then restores the original function, so
/// that later executions cost nothing extra.
struct first_executions {
    struct place {
        u32 slot;   ///< of the operation
        u8* marks;  ///< marks to set when it is executed
        u8 mark;
    };
    std::vector<place> places;
    std::vector<handler> alone, fused;  ///< original functions by slot; null: no operation
};

/// A run of predecoded instructions with one entry. Position-independent: locations are offsets in
/// its 4 KiB page.
struct block {
    struct slot {
        u32 bits;    ///< the instruction as fetched
        u16 offset;  ///< in the page
        u8 before;   ///< instructions of the block before this one
        u8 in_acc;   ///< the register whose value the operation expects in acc; > 31: none
    };
    code_page* owner = nullptr;
    u16 start = 0;                             ///< offset of the entry in the page
    std::vector<op> ops;                       ///< [0] is the header
    std::vector<slot> slots;                   ///< of ops[1]…
    std::unique_ptr<first_executions> unseen;  ///< while coverage is recorded
    std::vector<handler> alone;                ///< of ops[1]… unfused; empty without a back end
    std::unique_ptr<host_code> native;  ///< from the back end; destroyed before the operations

    const op* first() const { return &ops[1]; }
};

inline const block& block_of(const op* o) {
    return *(o - 1 - o->slot)->home;
}
inline const block::slot& slot_of(const op* o) {
    return block_of(o).slots[o->slot];
}
inline unsigned length_of(u32 bits) {
    return (bits & 3) == 3 ? 4 : 2;
}

}  // namespace trn::riscv
