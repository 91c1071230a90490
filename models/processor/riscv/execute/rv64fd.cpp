// SPDX-License-Identifier: Apache-2.0
// RV64F and RV64D (Unpriv. chapters 11 and 12), in the manual's order.
#include <array>
#include <cstring>

#include "models/processor/riscv/execute/soft_float.h"
#include "models/processor/riscv/execute/threaded.h"

namespace trn::riscv {

namespace {

using soft_float::canonical_nan;
using soft_float::context;
using soft_float::sign_bit;

constexpr u64 box = ~u64{0} << 32;

template <typename F>
F read(const hart& h, unsigned index) {
    const u64 bits = h.f[index];
    if constexpr (sizeof(F) == 4)
        if ((bits & box) != box) return canonical_nan<F>;
    return static_cast<F>(bits);
}

template <typename F>
u64 boxed(F value) {
    return sizeof(F) == 4 ? box | value : u64{value};
}

/// Register 0 is a normal register here; as a destination it is encoded as 32 (op.h).
template <typename F>
void write(hart& h, const op& o, F value) {
    h.f[o.rd & 31] = boxed(value);
}

bool is_off(const hart& h) {
    return (h.csr.mstatus & mstatus::fs) == 0;
}

/// Sets the rounding mode of `c`; returns false if the mode is invalid.
bool choose_rounding(const hart& h, const op& o, context& c) {
    constexpr u64 dynamic = 7, last = 4;
    u64 mode = static_cast<u64>(o.imm) & 7;
    if (mode == dynamic) mode = h.csr.fcsr >> 5;
    if (mode > last) return false;
    c.mode = static_cast<soft_float::rounding>(mode);
    return true;
}

unsigned third_source(const op& o) {
    return static_cast<unsigned>(o.imm) >> 3;
}

void mark_dirty(hart& h) {
    h.csr.mstatus |= mstatus::fs | mstatus::sd;
}
void finish(hart& h, const context& c) {
    h.csr.fcsr |= c.flags;
    mark_dirty(h);
}

// --- Loads and stores

template <typename F>
fault load_float(hart& h, const op& o) {
    if (is_off(h)) return h.illegal();
    const u64 va = h.x[o.rs1] + static_cast<u64>(i64{o.imm});
    u64 value = 0;
    if (const tlb_entry& e = h.exec.space->load_entry(va);
        e.tag == (va & (~u64{4095} | (sizeof(F) - 1))))
        std::memcpy(&value, reinterpret_cast<const void*>(va + e.host), sizeof(F));
    else if (const fault f = h.load(va, sizeof(F), value))
        return f;
    write(h, o, static_cast<F>(value));
    mark_dirty(h);
    return {};
}

template <typename F>
fault store_float(hart& h, const op& o) {
    if (is_off(h)) return h.illegal();
    const u64 va = h.x[o.rs1] + static_cast<u64>(i64{o.imm});
    if (const tlb_entry& e = h.exec.space->store_entry(va);
        e.tag == (va & (~u64{4095} | (sizeof(F) - 1)))) {
        std::memcpy(reinterpret_cast<void*>(va + e.host), &h.f[o.rs2], sizeof(F));
        return {};
    }
    return h.store(va, sizeof(F), h.f[o.rs2]);
}

// --- Arithmetic with rounding

template <typename F, F (*Operation)(F, F, context&)>
fault rounded(hart& h, const op& o) {
    context c;
    if (is_off(h) || !choose_rounding(h, o, c)) return h.illegal();
    write(h, o, Operation(read<F>(h, o.rs1), read<F>(h, o.rs2), c));
    finish(h, c);
    return {};
}

template <typename F>
F subtract(F a, F b, context& c) {
    return soft_float::add<F>(a, b ^ sign_bit<F>, c);
}
template <typename F>
F root(F a, F, context& c) {
    return soft_float::square_root<F>(a, c);
}

template <typename F, bool NegateProduct, bool NegateAddend>
fault fused(hart& h, const op& o) {
    context c;
    if (is_off(h) || !choose_rounding(h, o, c)) return h.illegal();
    const F a = read<F>(h, o.rs1) ^ (NegateProduct ? sign_bit<F> : 0);
    const F addend = read<F>(h, third_source(o)) ^ (NegateAddend ? sign_bit<F> : 0);
    write(h, o, soft_float::multiply_add<F>(a, read<F>(h, o.rs2), addend, c));
    finish(h, c);
    return {};
}

template <typename F, typename Integer>
fault to_integer(hart& h, const op& o) {
    context c;
    if (is_off(h) || !choose_rounding(h, o, c)) return h.illegal();
    const auto result = soft_float::to_integer<Integer, F>(read<F>(h, o.rs1), c);
    // 32-bit results are sign-extended, including unsigned ones (Unpriv. 11.7).
    h.x[o.rd] = sizeof(Integer) == 4 ? static_cast<u64>(i64{static_cast<i32>(result)})
                                     : static_cast<u64>(result);
    finish(h, c);
    return {};
}

template <typename F, typename Integer>
fault from_integer(hart& h, const op& o) {
    context c;
    if (is_off(h) || !choose_rounding(h, o, c)) return h.illegal();
    write(h, o, soft_float::from_integer<F, Integer>(static_cast<Integer>(h.x[o.rs1]), c));
    finish(h, c);
    return {};
}

template <typename To, typename From, To (*Convert)(From, context&)>
fault convert(hart& h, const op& o) {
    context c;
    if (is_off(h) || !choose_rounding(h, o, c)) return h.illegal();
    write(h, o, Convert(read<From>(h, o.rs1), c));
    finish(h, c);
    return {};
}

// --- Operations without rounding

template <typename F, F (*Operation)(F, F, context&)>
fault exact(hart& h, const op& o) {
    if (is_off(h)) return h.illegal();
    context c;
    write(h, o, Operation(read<F>(h, o.rs1), read<F>(h, o.rs2), c));
    finish(h, c);
    return {};
}

template <typename F>
F inject_sign(F a, F b, context&) {
    return (a & ~sign_bit<F>) | (b & sign_bit<F>);
}
template <typename F>
F inject_negated(F a, F b, context&) {
    return (a & ~sign_bit<F>) | (~b & sign_bit<F>);
}
template <typename F>
F inject_xor(F a, F b, context&) {
    return a ^ (b & sign_bit<F>);
}

template <typename F, bool (*Comparison)(F, F, context&)>
fault compare(hart& h, const op& o) {
    if (is_off(h)) return h.illegal();
    context c;
    h.x[o.rd] = Comparison(read<F>(h, o.rs1), read<F>(h, o.rs2), c) ? 1 : 0;
    finish(h, c);
    return {};
}

template <typename F>
fault classify(hart& h, const op& o) {
    if (is_off(h)) return h.illegal();
    h.x[o.rd] = soft_float::classify<F>(read<F>(h, o.rs1));
    return {};
}

/// Moves copy the bits regardless of NaN boxing.
template <typename F>
fault move_to_x(hart& h, const op& o) {
    if (is_off(h)) return h.illegal();
    const u64 bits = h.f[o.rs1];
    h.x[o.rd] = sizeof(F) == 4 ? static_cast<u64>(i64{static_cast<i32>(bits)}) : bits;
    return {};
}
template <typename F>
fault move_from_x(hart& h, const op& o) {
    if (is_off(h)) return h.illegal();
    write(h, o, static_cast<F>(h.x[o.rs1]));
    mark_dirty(h);
    return {};
}

// --- Rows. `funct` is bits 31:25 for binary32; binary64 has bit 25 set.

template <typename F>
constexpr extension needed = sizeof(F) == 4 ? extension::f : extension::d;
template <typename F>
constexpr u32 width = sizeof(F) == 4 ? 0 : 1u << 25;

constexpr u32 op_fp = 0x53;
constexpr u32 funct7_mask = 0xfe00007f, rs2_mask = 0x01f00000, funct3_mask = 0x7000;

template <typename F, effect E>
constexpr row make(const char* name, u32 match, u32 mask, format layout) {
    return {name, match, mask, layout, needed<F>, flow::other, same(aside<E>)};
}
/// Rows with a rounding mode and two sources, or one (rs2 is part of the opcode).
template <typename F, effect E>
constexpr row two(const char* name, u32 funct) {
    return make<F, E>(name, op_fp | funct << 25 | width<F>, funct7_mask, format::fp);
}
template <typename F, effect E>
constexpr row unary_row(const char* name, u32 funct, u32 rs2, format layout = format::fp) {
    return make<F, E>(name, op_fp | funct << 25 | width<F> | rs2 << 20, funct7_mask | rs2_mask,
                      layout);
}
/// Rows without a rounding mode.
template <typename F, effect E>
constexpr row plain(const char* name, u32 funct, u32 funct3, format layout = format::fp) {
    return make<F, E>(name, op_fp | funct << 25 | width<F> | funct3 << 12,
                      funct7_mask | funct3_mask, layout);
}
template <typename F, effect E>
constexpr row move(const char* name, u32 funct, u32 funct3, format layout) {
    return make<F, E>(name, op_fp | funct << 25 | width<F> | funct3 << 12,
                      funct7_mask | funct3_mask | rs2_mask, layout);
}
template <typename F, effect E>
constexpr row four(const char* name, u32 opcode) {
    return make<F, E>(name, opcode | width<F>, 0x0600007f, format::fp);
}

using soft_float::add;
using soft_float::divide;
using soft_float::equal;
using soft_float::less;
using soft_float::less_or_equal;
using soft_float::maximum;
using soft_float::minimum;
using soft_float::multiply;

constexpr row f_rows[] = {
    make<u32, load_float<u32>>("flw", 0x2007, 0x707f, format::i),
    make<u32, store_float<u32>>("fsw", 0x2027, 0x707f, format::s),
    four<u32, fused<u32, false, false>>("fmadd.s", 0x43),
    four<u32, fused<u32, false, true>>("fmsub.s", 0x47),
    four<u32, fused<u32, true, false>>("fnmsub.s", 0x4b),
    four<u32, fused<u32, true, true>>("fnmadd.s", 0x4f),
    two<u32, rounded<u32, add<u32>>>("fadd.s", 0x00),
    two<u32, rounded<u32, subtract<u32>>>("fsub.s", 0x04),
    two<u32, rounded<u32, multiply<u32>>>("fmul.s", 0x08),
    two<u32, rounded<u32, divide<u32>>>("fdiv.s", 0x0c),
    unary_row<u32, rounded<u32, root<u32>>>("fsqrt.s", 0x2c, 0),
    plain<u32, exact<u32, inject_sign<u32>>>("fsgnj.s", 0x10, 0),
    plain<u32, exact<u32, inject_negated<u32>>>("fsgnjn.s", 0x10, 1),
    plain<u32, exact<u32, inject_xor<u32>>>("fsgnjx.s", 0x10, 2),
    plain<u32, exact<u32, minimum<u32>>>("fmin.s", 0x14, 0),
    plain<u32, exact<u32, maximum<u32>>>("fmax.s", 0x14, 1),
    unary_row<u32, to_integer<u32, i32>>("fcvt.w.s", 0x60, 0, format::fp_to_x),
    unary_row<u32, to_integer<u32, u32>>("fcvt.wu.s", 0x60, 1, format::fp_to_x),
    move<u32, move_to_x<u32>>("fmv.x.w", 0x70, 0, format::fp_to_x),
    plain<u32, compare<u32, equal<u32>>>("feq.s", 0x50, 2, format::fp_to_x),
    plain<u32, compare<u32, less<u32>>>("flt.s", 0x50, 1, format::fp_to_x),
    plain<u32, compare<u32, less_or_equal<u32>>>("fle.s", 0x50, 0, format::fp_to_x),
    move<u32, classify<u32>>("fclass.s", 0x70, 1, format::fp_to_x),
    unary_row<u32, from_integer<u32, i32>>("fcvt.s.w", 0x68, 0),
    unary_row<u32, from_integer<u32, u32>>("fcvt.s.wu", 0x68, 1),
    move<u32, move_from_x<u32>>("fmv.w.x", 0x78, 0, format::fp),
    unary_row<u32, to_integer<u32, i64>>("fcvt.l.s", 0x60, 2, format::fp_to_x),
    unary_row<u32, to_integer<u32, u64>>("fcvt.lu.s", 0x60, 3, format::fp_to_x),
    unary_row<u32, from_integer<u32, i64>>("fcvt.s.l", 0x68, 2),
    unary_row<u32, from_integer<u32, u64>>("fcvt.s.lu", 0x68, 3),
};

constexpr row d_rows[] = {
    make<u64, load_float<u64>>("fld", 0x3007, 0x707f, format::i),
    make<u64, store_float<u64>>("fsd", 0x3027, 0x707f, format::s),
    four<u64, fused<u64, false, false>>("fmadd.d", 0x43),
    four<u64, fused<u64, false, true>>("fmsub.d", 0x47),
    four<u64, fused<u64, true, false>>("fnmsub.d", 0x4b),
    four<u64, fused<u64, true, true>>("fnmadd.d", 0x4f),
    two<u64, rounded<u64, add<u64>>>("fadd.d", 0x00),
    two<u64, rounded<u64, subtract<u64>>>("fsub.d", 0x04),
    two<u64, rounded<u64, multiply<u64>>>("fmul.d", 0x08),
    two<u64, rounded<u64, divide<u64>>>("fdiv.d", 0x0c),
    unary_row<u64, rounded<u64, root<u64>>>("fsqrt.d", 0x2c, 0),
    plain<u64, exact<u64, inject_sign<u64>>>("fsgnj.d", 0x10, 0),
    plain<u64, exact<u64, inject_negated<u64>>>("fsgnjn.d", 0x10, 1),
    plain<u64, exact<u64, inject_xor<u64>>>("fsgnjx.d", 0x10, 2),
    plain<u64, exact<u64, minimum<u64>>>("fmin.d", 0x14, 0),
    plain<u64, exact<u64, maximum<u64>>>("fmax.d", 0x14, 1),
    // The width is that of the result; both conversions need D.
    {"fcvt.s.d", op_fp | 0x20u << 25 | 1u << 20, funct7_mask | rs2_mask, format::fp, extension::d,
     flow::other, same(aside<convert<u32, u64, soft_float::narrow>>)},
    unary_row<u64, convert<u64, u32, soft_float::widen>>("fcvt.d.s", 0x20, 0),
    plain<u64, compare<u64, equal<u64>>>("feq.d", 0x50, 2, format::fp_to_x),
    plain<u64, compare<u64, less<u64>>>("flt.d", 0x50, 1, format::fp_to_x),
    plain<u64, compare<u64, less_or_equal<u64>>>("fle.d", 0x50, 0, format::fp_to_x),
    move<u64, classify<u64>>("fclass.d", 0x70, 1, format::fp_to_x),
    unary_row<u64, to_integer<u64, i32>>("fcvt.w.d", 0x60, 0, format::fp_to_x),
    unary_row<u64, to_integer<u64, u32>>("fcvt.wu.d", 0x60, 1, format::fp_to_x),
    unary_row<u64, from_integer<u64, i32>>("fcvt.d.w", 0x68, 0),
    unary_row<u64, from_integer<u64, u32>>("fcvt.d.wu", 0x68, 1),
    unary_row<u64, to_integer<u64, i64>>("fcvt.l.d", 0x60, 2, format::fp_to_x),
    unary_row<u64, to_integer<u64, u64>>("fcvt.lu.d", 0x60, 3, format::fp_to_x),
    move<u64, move_to_x<u64>>("fmv.x.d", 0x70, 0, format::fp_to_x),
    unary_row<u64, from_integer<u64, i64>>("fcvt.d.l", 0x68, 2),
    unary_row<u64, from_integer<u64, u64>>("fcvt.d.lu", 0x68, 3),
    move<u64, move_from_x<u64>>("fmv.d.x", 0x78, 0, format::fp),
};

}  // namespace

std::span<const row> rv64f_rows() {
    return f_rows;
}
std::span<const row> rv64d_rows() {
    return d_rows;
}

}  // namespace trn::riscv
