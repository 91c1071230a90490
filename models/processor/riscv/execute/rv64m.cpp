// SPDX-License-Identifier: Apache-2.0
// RV64M (Unpriv. chapter 7). Division does not trap: division by zero and overflow have defined
// results.
#include <limits>

#include "models/processor/riscv/execute/alu.h"
#include "models/processor/riscv/execute/threaded.h"

namespace trn::riscv {

namespace {

using namespace alu;
using i128 = __int128;
using u128 = unsigned __int128;

constexpr u64 high(u128 product) {
    return static_cast<u64>(product >> 64);
}

u64 mul(u64 a, u64 b) {
    return a * b;
}
u64 mulh(u64 a, u64 b) {
    return high(static_cast<u128>(i128{s(a)} * i128{s(b)}));
}
u64 mulhsu(u64 a, u64 b) {
    return high(static_cast<u128>(i128{s(a)} * static_cast<i128>(u128{b})));
}
u64 mulhu(u64 a, u64 b) {
    return high(u128{a} * u128{b});
}

template <typename T>
T quotient(T a, T b) {
    if (b == 0) return static_cast<T>(-1);
    if (std::numeric_limits<T>::is_signed && b == static_cast<T>(-1))
        return static_cast<T>(0 - static_cast<std::make_unsigned_t<T>>(a));
    return a / b;
}
template <typename T>
T remainder(T a, T b) {
    if (b == 0) return a;
    if (std::numeric_limits<T>::is_signed && b == static_cast<T>(-1)) return 0;
    return a % b;
}

u64 div(u64 a, u64 b) {
    return static_cast<u64>(quotient(s(a), s(b)));
}
u64 divu(u64 a, u64 b) {
    return quotient(a, b);
}
u64 rem(u64 a, u64 b) {
    return static_cast<u64>(remainder(s(a), s(b)));
}
u64 remu(u64 a, u64 b) {
    return remainder(a, b);
}

u64 mulw(u64 a, u64 b) {
    return word(u(a) * u(b));
}
u64 divw(u64 a, u64 b) {
    return word(static_cast<u32>(quotient(s32(a), s32(b))));
}
u64 divuw(u64 a, u64 b) {
    return word(quotient(u(a), u(b)));
}
u64 remw(u64 a, u64 b) {
    return word(static_cast<u32>(remainder(s32(a), s32(b))));
}
u64 remuw(u64 a, u64 b) {
    return word(remainder(u(a), u(b)));
}

constexpr row m(const char* name, u32 match, variants run) {
    return {name, match, 0xfe00707f, format::r, extension::m, flow::result, run};
}

constexpr row rows[] = {
    m("mul", 0x2000033, rr<mul>),       m("mulh", 0x2001033, rr<mulh>),
    m("mulhsu", 0x2002033, rr<mulhsu>), m("mulhu", 0x2003033, rr<mulhu>),
    m("div", 0x2004033, rr<div>),       m("divu", 0x2005033, rr<divu>),
    m("rem", 0x2006033, rr<rem>),       m("remu", 0x2007033, rr<remu>),
    m("mulw", 0x200003b, rr<mulw>),     m("divw", 0x200403b, rr<divw>),
    m("divuw", 0x200503b, rr<divuw>),   m("remw", 0x200603b, rr<remw>),
    m("remuw", 0x200703b, rr<remuw>),
};

}  // namespace

std::span<const row> rv64m_rows() {
    return rows;
}

}  // namespace trn::riscv
