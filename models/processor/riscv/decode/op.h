// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "models/processor/riscv/decode/isa.h"

namespace trn::riscv {

class hart;
struct op;
struct block;
struct address_space;

/// State passed from one predecoded operation to the next, in host registers:
///   h       the hart
///   o       the operation
/// acc     the value last written to a register; an operation with that source register uses acc,
/// which avoids waiting for store-to-load forwarding of x[]
///   budget  instructions that may still be executed; checked where blocks end
///   page    virtual address of the page that is being executed
///   space   the address translations and jump targets of the current privilege mode
#define TRN_FLOW                                                                           \
    [[maybe_unused]] ::trn::riscv::hart &h, [[maybe_unused]] const ::trn::riscv::op *o,    \
        [[maybe_unused]] ::trn::riscv::u64 acc, [[maybe_unused]] ::trn::riscv::i64 budget, \
        [[maybe_unused]] ::trn::riscv::u64 page,                                           \
        [[maybe_unused]] ::trn::riscv::address_space *space

using handler = void (*)(TRN_FLOW);

/// One predecoded operation, 16 bytes. Shared between harts: registers are named by index and
/// places in the code by offset from the start of the 4 KiB page. A block is
///   [header: block*] [operation]…, and an operation that leaves it is followed by
///   [links: taken, fall] [stub for taken] [stub for fall].
struct op {
    union {
        handler run;
        const struct block* home;  ///< header
        const op* taken;           ///< links
    };
    union {
        struct {
            i32 imm;
            u8 rd;  ///< 32 stands for "x0: throw the result away"; conditional branch: count
            u8 rs1;
            u8 rs2;   ///< jump, jalr, system, block end: count
            u8 slot;  ///< distance from the first operation of the block
        };
        const op* fall;  ///< links
    };
};
static_assert(sizeof(op) == 16);

/// Operations continue by tail calls. Where the compiler does not emit them (sanitizer builds, no
/// optimisation), each returns and a loop in hart::run_operations() calls the next.
#if defined(__OPTIMIZE__) && !defined(__SANITIZE_ADDRESS__)
#define TRN_CONTINUE(next)                                     \
    do {                                                       \
        const ::trn::riscv::op* const next_ = (next);          \
        return next_->run(h, next_, acc, budget, page, space); \
    } while (false)
#else
#define TRN_CONTINUE(next) return h.hand_over((next), acc, budget, page, space)
#endif

}  // namespace trn::riscv
