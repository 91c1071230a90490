// SPDX-License-Identifier: Apache-2.0
// The register instructions of RV64IM, in the manual's order. Operand b is the second
// register or the sign-extended immediate.
#pragma once

#include "models/processor/riscv/decode/isa.h"

namespace trn::riscv::alu {

constexpr i64 s(u64 v) {
    return static_cast<i64>(v);
}
constexpr i32 s32(u64 v) {
    return static_cast<i32>(v);
}
constexpr u32 u(u64 v) {
    return static_cast<u32>(v);
}
/// A 32-bit result is kept sign-extended (Unpriv. 5.2).
constexpr u64 word(u32 v) {
    return static_cast<u64>(i64{static_cast<i32>(v)});
}

constexpr u64 move(u64 a) {
    return a;
}
constexpr u64 add(u64 a, u64 b) {
    return a + b;
}
constexpr u64 sub(u64 a, u64 b) {
    return a - b;
}
constexpr u64 sll(u64 a, u64 b) {
    return a << (b & 63);
}
constexpr u64 slt(u64 a, u64 b) {
    return s(a) < s(b) ? 1 : 0;
}
constexpr u64 sltu(u64 a, u64 b) {
    return a < b ? 1 : 0;
}
constexpr u64 xor_(u64 a, u64 b) {
    return a ^ b;
}
constexpr u64 srl(u64 a, u64 b) {
    return a >> (b & 63);
}
constexpr u64 sra(u64 a, u64 b) {
    return static_cast<u64>(s(a) >> (b & 63));
}
constexpr u64 or_(u64 a, u64 b) {
    return a | b;
}
constexpr u64 and_(u64 a, u64 b) {
    return a & b;
}

constexpr u64 addw(u64 a, u64 b) {
    return word(u(a) + u(b));
}
constexpr u64 subw(u64 a, u64 b) {
    return word(u(a) - u(b));
}
constexpr u64 sllw(u64 a, u64 b) {
    return word(u(a) << (b & 31));
}
constexpr u64 srlw(u64 a, u64 b) {
    return word(u(a) >> (b & 31));
}
constexpr u64 sraw(u64 a, u64 b) {
    return word(static_cast<u32>(s32(a) >> (b & 31)));
}

constexpr bool eq(u64 a, u64 b) {
    return a == b;
}
constexpr bool ne(u64 a, u64 b) {
    return a != b;
}
constexpr bool lt(u64 a, u64 b) {
    return s(a) < s(b);
}
constexpr bool ge(u64 a, u64 b) {
    return s(a) >= s(b);
}
constexpr bool ltu(u64 a, u64 b) {
    return a < b;
}
constexpr bool geu(u64 a, u64 b) {
    return a >= b;
}

}  // namespace trn::riscv::alu
