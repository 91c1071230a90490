// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>
#include <vector>

#include "models/riscv/back_end.h"
#include "models/riscv/op.h"

namespace trn::riscv {

class code_page;

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

/// A run of instructions with one entry, predecoded. Position-independent: places are offsets in
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
    std::unique_ptr<host_code> native;         ///< of the back end; goes before what it is made of

    const op* first() const { return &ops[1]; }
};

inline const block& block_of(const op* o) {
    return *(o - 1 - o->slot)->of;
}
inline const block::slot& slot_of(const op* o) {
    return block_of(o).slots[o->slot];
}
inline unsigned length_of(u32 bits) {
    return (bits & 3) == 3 ? 4 : 2;
}

}  // namespace trn::riscv
