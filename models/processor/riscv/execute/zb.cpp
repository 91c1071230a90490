// SPDX-License-Identifier: Apache-2.0
// Bit manipulation (Bitmanip 1.0): Zba, Zbb, Zbs, in the order of the manual's instruction lists.
#include <algorithm>
#include <bit>

#include "models/processor/riscv/execute/alu.h"
#include "models/processor/riscv/execute/threaded.h"

namespace trn::riscv {

namespace {

using namespace alu;

u64 add_uw(u64 a, u64 b) {
    return u64{u(a)} + b;
}
template <unsigned N>
u64 shadd(u64 a, u64 b) {
    return (a << N) + b;
}
template <unsigned N>
u64 shadd_uw(u64 a, u64 b) {
    return (u64{u(a)} << N) + b;
}
u64 slli_uw(u64 a, u64 b) {
    return u64{u(a)} << (b & 63);
}

u64 andn(u64 a, u64 b) {
    return a & ~b;
}
u64 orn(u64 a, u64 b) {
    return a | ~b;
}
u64 xnor(u64 a, u64 b) {
    return ~(a ^ b);
}
u64 clz(u64 a) {
    return static_cast<u64>(std::countl_zero(a));
}
u64 clzw(u64 a) {
    return static_cast<u64>(std::countl_zero(u(a)));
}
u64 ctz(u64 a) {
    return static_cast<u64>(std::countr_zero(a));
}
u64 ctzw(u64 a) {
    return static_cast<u64>(std::countr_zero(u(a)));
}
u64 cpop(u64 a) {
    return static_cast<u64>(std::popcount(a));
}
u64 cpopw(u64 a) {
    return static_cast<u64>(std::popcount(u(a)));
}
u64 max(u64 a, u64 b) {
    return s(a) < s(b) ? b : a;
}
u64 maxu(u64 a, u64 b) {
    return std::max(a, b);
}
u64 min(u64 a, u64 b) {
    return s(a) < s(b) ? a : b;
}
u64 minu(u64 a, u64 b) {
    return std::min(a, b);
}
u64 sext_b(u64 a) {
    return static_cast<u64>(i64{static_cast<i8>(a)});
}
u64 sext_h(u64 a) {
    return static_cast<u64>(i64{static_cast<i16>(a)});
}
u64 zext_h(u64 a) {
    return a & 0xffff;
}
u64 rol(u64 a, u64 b) {
    return std::rotl(a, static_cast<int>(b & 63));
}
u64 ror(u64 a, u64 b) {
    return std::rotr(a, static_cast<int>(b & 63));
}
u64 rolw(u64 a, u64 b) {
    return word(std::rotl(u(a), static_cast<int>(b & 31)));
}
u64 rorw(u64 a, u64 b) {
    return word(std::rotr(u(a), static_cast<int>(b & 31)));
}
u64 orc_b(u64 a) {
    constexpr u64 lows = 0x0101010101010101;
    a |= a >> 4 & 0x0f0f0f0f0f0f0f0f;
    a |= a >> 2 & 0x3333333333333333;
    a |= a >> 1 & 0x5555555555555555;
    return (a & lows) * 0xff;
}
u64 rev8(u64 a) {
    return __builtin_bswap64(a);
}

u64 bclr(u64 a, u64 b) {
    return a & ~(u64{1} << (b & 63));
}
u64 bext(u64 a, u64 b) {
    return a >> (b & 63) & 1;
}
u64 binv(u64 a, u64 b) {
    return a ^ u64 { 1 } << (b & 63);
}
u64 bset(u64 a, u64 b) {
    return a | u64{1} << (b & 63);
}

constexpr row r(const char* name, u32 match, extension needs, variants run) {
    return {name, match, 0xfe00707f, format::r, needs, flow::result, run};
}
constexpr row i6(const char* name, u32 match, extension needs, variants run) {
    return {name, match, 0xfc00707f, format::shift, needs, flow::result, run};
}
constexpr row r1(const char* name, u32 match, variants run) {
    return {name, match, 0xfff0707f, format::r, extension::zbb, flow::result, run};
}

using enum extension;

constexpr row rows[] = {
    r("add.uw", 0x0800003b, zba, rr<add_uw>),
    r("sh1add", 0x20002033, zba, rr<shadd<1>>),
    r("sh1add.uw", 0x2000203b, zba, rr<shadd_uw<1>>),
    r("sh2add", 0x20004033, zba, rr<shadd<2>>),
    r("sh2add.uw", 0x2000403b, zba, rr<shadd_uw<2>>),
    r("sh3add", 0x20006033, zba, rr<shadd<3>>),
    r("sh3add.uw", 0x2000603b, zba, rr<shadd_uw<3>>),
    i6("slli.uw", 0x0800101b, zba, ri<slli_uw>),

    r("andn", 0x40007033, zbb, rr<andn>),
    r("orn", 0x40006033, zbb, rr<orn>),
    r("xnor", 0x40004033, zbb, rr<xnor>),
    r1("clz", 0x60001013, unaries<clz>),
    r1("clzw", 0x6000101b, unaries<clzw>),
    r1("ctz", 0x60101013, unaries<ctz>),
    r1("ctzw", 0x6010101b, unaries<ctzw>),
    r1("cpop", 0x60201013, unaries<cpop>),
    r1("cpopw", 0x6020101b, unaries<cpopw>),
    r("max", 0x0a006033, zbb, rr<max>),
    r("maxu", 0x0a007033, zbb, rr<maxu>),
    r("min", 0x0a004033, zbb, rr<min>),
    r("minu", 0x0a005033, zbb, rr<minu>),
    r1("sext.b", 0x60401013, unaries<sext_b>),
    r1("sext.h", 0x60501013, unaries<sext_h>),
    r1("zext.h", 0x0800403b, unaries<zext_h>),
    r("rol", 0x60001033, zbb, rr<rol>),
    r("rolw", 0x6000103b, zbb, rr<rolw>),
    r("ror", 0x60005033, zbb, rr<ror>),
    i6("rori", 0x60005013, zbb, ri<ror>),
    {"roriw", 0x6000501b, 0xfe00707f, format::shift, zbb, flow::result, ri<rorw>},
    r("rorw", 0x6000503b, zbb, rr<rorw>),
    r1("orc.b", 0x28705013, unaries<orc_b>),
    r1("rev8", 0x6b805013, unaries<rev8>),

    r("bclr", 0x48001033, zbs, rr<bclr>),
    i6("bclri", 0x48001013, zbs, ri<bclr>),
    r("bext", 0x48005033, zbs, rr<bext>),
    i6("bexti", 0x48005013, zbs, ri<bext>),
    r("binv", 0x68001033, zbs, rr<binv>),
    i6("binvi", 0x68001013, zbs, ri<binv>),
    r("bset", 0x28001033, zbs, rr<bset>),
    i6("bseti", 0x28001013, zbs, ri<bset>),
};

}  // namespace

std::span<const row> zb_rows() {
    return rows;
}

}  // namespace trn::riscv
