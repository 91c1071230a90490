// SPDX-License-Identifier: Apache-2.0
// RV64A (Unpriv. chapter 8). One thread executes all harts, so each operation is atomic; aq and rl
// need no code, because accesses are already in program order.
#include <algorithm>

#include "models/processor/riscv/execute/alu.h"
#include "models/processor/riscv/execute/threaded.h"

namespace trn::riscv {

namespace {

using namespace alu;

u64 swap(u64, u64 b) {
    return b;
}
u64 smin(u64 a, u64 b) {
    return s(a) < s(b) ? a : b;
}
u64 smax(u64 a, u64 b) {
    return s(a) < s(b) ? b : a;
}
u64 umin(u64 a, u64 b) {
    return std::min(a, b);
}
u64 umax(u64 a, u64 b) {
    return std::max(a, b);
}

/// Word operations use the low halves of their operands; results are stored as 4 bytes.
template <binary F>
u64 on_words(u64 a, u64 b) {
    return F(word(u(a)), word(u(b)));
}

template <unsigned Size>
fault lr(hart& h, const op& o) {
    u64 value = 0;
    if (const fault f = h.load_reserved(h.x[o.rs1], Size, value)) return f;
    h.x[o.rd] = Size == 4 ? word(u(value)) : value;
    return {};
}

template <unsigned Size>
fault sc(hart& h, const op& o) {
    bool stored = false;
    if (const fault f = h.store_conditional(h.x[o.rs1], Size, h.x[o.rs2], stored)) return f;
    h.x[o.rd] = stored ? 0 : 1;
    return {};
}

template <unsigned Size, binary F>
fault amo(hart& h, const op& o) {
    constexpr binary combine = Size == 4 ? on_words<F> : F;
    u64 old = 0;
    if (const fault f = h.read_modify_write(h.x[o.rs1], Size, combine, h.x[o.rs2], old)) return f;
    h.x[o.rd] = Size == 4 ? word(u(old)) : old;
    return {};
}

constexpr row a(const char* name, u32 match, handler run, u32 mask = 0xf800707f) {
    return {name, match, mask, format::r, extension::a, flow::other, same(run)};
}

constexpr u32 lr_mask = 0xf9f0707f;

constexpr row rows[] = {
    a("lr.w", 0x1000202f, aside<lr<4>>, lr_mask),
    a("sc.w", 0x1800202f, aside<sc<4>>),
    a("amoswap.w", 0x0800202f, aside<amo<4, swap>>),
    a("amoadd.w", 0x0000202f, aside<amo<4, add>>),
    a("amoxor.w", 0x2000202f, aside<amo<4, xor_>>),
    a("amoand.w", 0x6000202f, aside<amo<4, and_>>),
    a("amoor.w", 0x4000202f, aside<amo<4, or_>>),
    a("amomin.w", 0x8000202f, aside<amo<4, smin>>),
    a("amomax.w", 0xa000202f, aside<amo<4, smax>>),
    a("amominu.w", 0xc000202f, aside<amo<4, umin>>),
    a("amomaxu.w", 0xe000202f, aside<amo<4, umax>>),
    a("lr.d", 0x1000302f, aside<lr<8>>, lr_mask),
    a("sc.d", 0x1800302f, aside<sc<8>>),
    a("amoswap.d", 0x0800302f, aside<amo<8, swap>>),
    a("amoadd.d", 0x0000302f, aside<amo<8, add>>),
    a("amoxor.d", 0x2000302f, aside<amo<8, xor_>>),
    a("amoand.d", 0x6000302f, aside<amo<8, and_>>),
    a("amoor.d", 0x4000302f, aside<amo<8, or_>>),
    a("amomin.d", 0x8000302f, aside<amo<8, smin>>),
    a("amomax.d", 0xa000302f, aside<amo<8, smax>>),
    a("amominu.d", 0xc000302f, aside<amo<8, umin>>),
    a("amomaxu.d", 0xe000302f, aside<amo<8, umax>>),
};

}  // namespace

std::span<const row> rv64a_rows() {
    return rows;
}

}  // namespace trn::riscv
