// SPDX-License-Identifier: Apache-2.0
#include "tests/integration/riscv_diff/float_program.h"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstring>
#include <limits>

#include "models/processor/riscv/decode/decode.h"
#include "tests/integration/riscv_diff/machines.h"

namespace trn::riscv::test {

namespace {

constexpr u64 operands_at = 0x80'0000, outcomes_at = 0xc0'0000;  // from ram_base
// Registers of the program. f8 to f10 and x12 are the sources, f14 and x14 the destinations.
constexpr u32 sp = 2, uart_base = 5, scratch = 6, operand = 10, outcome_at = 11, source = 12,
              flags = 13, result = 14, flags_after = 15, printed = 16;
constexpr u32 mstatus_csr = 0x300, fcsr = 3;

u32 i_type(u32 opcode, u32 rd, u32 rs1, i32 imm) {
    return opcode | rd << 7 | rs1 << 15 | static_cast<u32>(imm) << 20;
}
u32 s_type(u32 opcode, u32 rs2, u32 rs1, u32 imm) {
    return opcode | (imm & 31) << 7 | rs1 << 15 | rs2 << 20 | imm >> 5 << 25;
}
constexpr u32 addi = 0x13, ld = 0x3003, fld = 0x3007, sd = 0x3023, fsd = 0x3027, lbu = 0x4003,
              sb = 0x23, sw = 0x2023, csrrw = 0x1073, csrrs = 0x2073, lui = 0x37, auipc = 0x17;
constexpr u32 c_nop = 1;

bool reads_singles(const row& r) {
    if (std::string_view(r.name) == "fcvt.s.d") return false;
    return r.needs == extension::f || std::string_view(r.name) == "fcvt.d.s";
}

}  // namespace

float_program::float_program(u64 seed)
    : image(outcomes_at + vectors * sizeof(outcome)), state_(seed) {
    begin();
    for (unsigned i = 0; i < vectors; ++i) {
        vectors_.push_back(below(40) == 0 ? choose_compressed() : choose());
        add(vectors_.back());
        std::memcpy(&image[operands_at + i * sizeof(operands)], &vectors_.back().in,
                    sizeof(operands));
    }
    end();
}

/// SplitMix64: a seed gives the same program on every machine.
u64 float_program::next() {
    u64 z = state_ += 0x9e3779b97f4a7c15;
    z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9;
    z = (z ^ z >> 27) * 0x94d049bb133111eb;
    return z ^ z >> 31;
}

std::string float_program::describe(unsigned index) const {
    const vector& v = vectors_.at(index);
    return fmt::format("{} {:#x}: f {:#x} {:#x} {:#x}, x {:#x}, fcsr {:#x}", v.name, v.bits,
                       v.in.f[0], v.in.f[1], v.in.f[2], v.in.x, v.in.fcsr);
}

// --- Operands.

template <typename F, typename Host>
F float_program::number() {
    constexpr unsigned fraction = sizeof(F) == 4 ? 23 : 52;
    constexpr unsigned bias = sizeof(F) == 4 ? 127 : 1023;
    constexpr F infinite = F{2 * bias + 1} << fraction, sign = F{1} << (8 * sizeof(F) - 1);
    const F negative = below(2) == 0 ? sign : 0;
    const auto random = static_cast<F>(next());
    const auto near = [&](Host value) {  // and up to two units in the last place away
        return static_cast<F>(std::bit_cast<F>(value) + static_cast<F>(below(5)) - 2);
    };
    constexpr F corners[] = {0,
                             1,
                             (F{1} << fraction) - 1,
                             F{1} << fraction,
                             infinite - 1,
                             infinite,
                             infinite | F{1} << (fraction - 1),
                             infinite | 1,
                             infinite | F{1} << (fraction - 1) | 12345};
    constexpr Host values[] = {0.5F,
                               1,
                               1.5F,
                               2.5F,
                               3,
                               Host(1U << 31),
                               Host(1ULL << 32),
                               Host(1ULL << 63),
                               Host(1ULL << 63) * 2,
                               Host(1.17549435e-38F),
                               Host(3.40282347e+38F)};
    switch (below(6)) {
    case 0:
        return negative | corners[below(std::size(corners))];
    case 1:
        return negative | near(values[below(std::size(values))]);
    case 2:  // a short significand: results are exact, or ties
        return (random & ~((F{1} << (fraction - below(6))) - 1)) | negative;
    case 3:  // near 1: sums cancel
        return negative | ((bias - 2 + static_cast<F>(below(5))) << fraction) |
               (random & ((F{1} << fraction) - 1));
    case 4:  // small: results are subnormal
        return negative | static_cast<F>(below(bias / 2)) << fraction |
               (random & ((F{1} << fraction) - 1));
    default:
        return random;
    }
}

template <typename F, typename Host>
void float_program::choose_numbers(std::array<u64, 3>& f) {
    std::array<F, 3> all{number<F, Host>(), number<F, Host>(), number<F, Host>()};
    constexpr F sign = F{1} << (8 * sizeof(F) - 1);
    if (below(4) == 0) all[1] = (all[0] ^ static_cast<F>(below(4))) ^ (below(2) == 0 ? sign : 0);
    if (below(3) == 0) {  // the addend nearly cancels the product
        const auto product = std::bit_cast<Host>(all[0]) * std::bit_cast<Host>(all[1]);
        all[2] = std::bit_cast<F>(-product) + static_cast<F>(below(3)) - 1;
    }
    for (unsigned i = 0; i < 3; ++i) {
        f[i] = all[i];
        if (sizeof(F) == 4 && below(16) != 0) f[i] |= ~u64{0} << 32;
    }
}

u64 float_program::integer() {
    constexpr u64 corners[] = {0, 1, ~u64{0}, u64{1} << 63, 0x7fffffff, 0x80000000, 0xffffffff};
    return below(3) == 0 ? corners[below(std::size(corners))] : next() >> below(64);
}

// --- Instructions.

float_program::vector float_program::choose() {
    static const auto rows = [] {
        std::vector<const row*> all;
        for (const auto part : {rv64f_rows(), rv64d_rows()})
            for (const row& r : part) all.push_back(&r);
        return all;
    }();
    const row& r = *rows[below(rows.size())];
    vector v{r.name, r.match, {}};
    if (reads_singles(r))
        choose_numbers<u32, float>(v.in.f);
    else
        choose_numbers<u64, double>(v.in.f);
    v.in.x = integer();
    v.in.fcsr = below(5) << 5;
    if (r.layout == format::i) {
        v.bits |= i_type(0, result, operand, static_cast<i32>(below(24)));
    } else if (r.layout == format::s) {
        v.bits |= s_type(0, 8, outcome_at, 24 + static_cast<u32>(below(8)));
    } else {
        constexpr u32 modes[] = {0, 1, 2, 3, 4, 7, 7, 7};
        const u32 funct5 = r.match >> 27;
        const bool from_x = (r.match & 0x7f) == 0x53 && (funct5 == 0x1a || funct5 == 0x1e);
        const u32 sources = (from_x ? source : 8u) << 15 | 9u << 20 | 10u << 27;
        v.bits |= (sources | modes[below(std::size(modes))] << 12) & ~r.mask;
        v.bits |= result << 7;
    }
    return v;
}

float_program::vector float_program::choose_compressed() {
    constexpr u32 to = result - 8, from = 8 - 8, at_operand = operand - 8,
                  at_outcome = outcome_at - 8;
    vector v;
    choose_numbers<u64, double>(v.in.f);
    v.in.x = integer();
    v.in.fcsr = 0;
    switch (below(4)) {
    case 0:
        v.name = "c.fld", v.bits = 0x2000 | to << 2 | at_operand << 7 | 2u << 10;  // offset 16
        break;
    case 1:
        v.name = "c.fsd", v.bits = 0xa000 | from << 2 | at_outcome << 7 | 3u << 10;  // 24
        break;
    case 2:
        v.name = "c.fldsp", v.bits = 0x2002 | result << 7 | 1u << 5;  // 8
        break;
    default:
        v.name = "c.fsdsp", v.bits = 0xa002 | 9u << 2 | 4u << 10;  // 32
        break;
    }
    return v;
}

// --- The program.

void float_program::emit(u32 word) {
    std::memcpy(&image.at(at_), &word, sizeof word);
    at_ += sizeof word;
}

void float_program::begin() {
    const auto address = [&](u32 rd, u64 offset) {
        const auto back = -static_cast<i32>(at_);
        emit(auipc | rd << 7 | static_cast<u32>(offset));
        emit(i_type(addi, rd, rd, back));
    };
    emit(lui | scratch << 7 | 0x6000);  // mstatus.FS
    emit(i_type(csrrs, 0, scratch, mstatus_csr));
    address(operand, operands_at);
    address(outcome_at, outcomes_at);
    emit(i_type(addi, printed, outcome_at, 0));
}

void float_program::add(const vector& v) {
    for (u32 i = 0; i < 3; ++i) emit(i_type(fld, 8 + i, operand, static_cast<i32>(8 * i)));
    emit(i_type(ld, source, operand, 24));
    emit(i_type(ld, flags, operand, 32));
    emit(i_type(csrrw, 0, flags, fcsr));
    emit(i_type(addi, sp, v.name == "c.fsdsp" ? outcome_at : operand, 0));
    emit((v.bits & 3) == 3 ? v.bits : v.bits | c_nop << 16);
    emit(s_type(fsd, result, outcome_at, 0));
    emit(s_type(sd, result, outcome_at, 8));
    emit(i_type(csrrs, flags_after, 0, fcsr));
    emit(s_type(sd, flags_after, outcome_at, 16));
    emit(i_type(addi, operand, operand, sizeof(operands)));
    emit(i_type(addi, outcome_at, outcome_at, sizeof(outcome)));
}

void float_program::end() {
    emit(lui | uart_base << 7 | static_cast<u32>(uart));
    emit(i_type(lbu, scratch, printed, 0));
    emit(s_type(sb, scratch, uart_base, 0));
    emit(i_type(addi, printed, printed, 1));
    emit(0xfeb86ae3);  // bltu printed, outcome_at, -12
    emit(lui | uart_base << 7 | static_cast<u32>(power));
    emit(lui | scratch << 7 | 0x5000);
    emit(i_type(addi, scratch, scratch, 0x555));
    emit(s_type(sw, scratch, uart_base, 0));
    emit(0x6f);  // j .
}

}  // namespace trn::riscv::test
