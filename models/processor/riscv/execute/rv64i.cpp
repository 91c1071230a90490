// SPDX-License-Identifier: Apache-2.0
// RV32I, RV64I (Unpriv. chapters 2 and 5) and Zifencei (chapter 3).
#include "models/processor/riscv/execute/alu.h"
#include "models/processor/riscv/execute/threaded.h"

namespace trn::riscv {

namespace {

using namespace alu;

/// No effect: one thread executes all harts, so memory order is program order.
fault fence(hart&, const op&) {
    return {};
}

fault fence_i(hart& h, const op&) {
    h.fence_i();
    return {};
}

fault ecall(hart& h, const op&) {
    return {static_cast<cause>(static_cast<u8>(cause::ecall_from_user) + static_cast<u8>(h.mode())),
            0};
}

fault ebreak(hart& h, const op& o) {
    return {cause::breakpoint, h.pc_of(&o)};
}

using enum format;
using enum flow;
constexpr extension base = extension::i;

constexpr row rows[] = {
    {"lui", 0x37, 0x7f, u, base, result, same(single<constant>)},
    {"auipc", 0x17, 0x7f, u, base, result, same(add_upper_to_pc)},
    {"jal", 0x6f, 0x7f, j, base, jump, same(jump_and_link)},
    {"jalr", 0x67, 0x707f, i, base, jump_register, register_jumps},
    {"beq", 0x63, 0x707f, b, base, flow::branch, branches<eq>},
    {"bne", 0x1063, 0x707f, b, base, flow::branch, branches<ne>},
    {"blt", 0x4063, 0x707f, b, base, flow::branch, branches<lt>},
    {"bge", 0x5063, 0x707f, b, base, flow::branch, branches<ge>},
    {"bltu", 0x6063, 0x707f, b, base, flow::branch, branches<ltu>},
    {"bgeu", 0x7063, 0x707f, b, base, flow::branch, branches<geu>},
    {"lb", 0x03, 0x707f, i, base, result, loads<i8>},
    {"lh", 0x1003, 0x707f, i, base, result, loads<i16>},
    {"lw", 0x2003, 0x707f, i, base, result, loads<i32>},
    {"ld", 0x3003, 0x707f, i, base, result, loads<i64>},
    {"lbu", 0x4003, 0x707f, i, base, result, loads<u8>},
    {"lhu", 0x5003, 0x707f, i, base, result, loads<u16>},
    {"lwu", 0x6003, 0x707f, i, base, result, loads<u32>},
    {"sb", 0x23, 0x707f, format::s, base, flow::store, stores<u8>},
    {"sh", 0x1023, 0x707f, format::s, base, flow::store, stores<u16>},
    {"sw", 0x2023, 0x707f, format::s, base, flow::store, stores<u32>},
    {"sd", 0x3023, 0x707f, format::s, base, flow::store, stores<u64>},
    {"addi", 0x13, 0x707f, i, base, result, ri<add>},
    {"slti", 0x2013, 0x707f, i, base, result, ri<slt>},
    {"sltiu", 0x3013, 0x707f, i, base, result, ri<sltu>},
    {"xori", 0x4013, 0x707f, i, base, result, ri<xor_>},
    {"ori", 0x6013, 0x707f, i, base, result, ri<or_>},
    {"andi", 0x7013, 0x707f, i, base, result, ri<and_>},
    {"slli", 0x1013, 0xfc00707f, shift, base, result, ri<sll>},
    {"srli", 0x5013, 0xfc00707f, shift, base, result, ri<srl>},
    {"srai", 0x40005013, 0xfc00707f, shift, base, result, ri<sra>},
    {"add", 0x33, 0xfe00707f, r, base, result, rr<add>},
    {"sub", 0x40000033, 0xfe00707f, r, base, result, rr<sub>},
    {"sll", 0x1033, 0xfe00707f, r, base, result, rr<sll>},
    {"slt", 0x2033, 0xfe00707f, r, base, result, rr<slt>},
    {"sltu", 0x3033, 0xfe00707f, r, base, result, rr<sltu>},
    {"xor", 0x4033, 0xfe00707f, r, base, result, rr<xor_>},
    {"srl", 0x5033, 0xfe00707f, r, base, result, rr<srl>},
    {"sra", 0x40005033, 0xfe00707f, r, base, result, rr<sra>},
    {"or", 0x6033, 0xfe00707f, r, base, result, rr<or_>},
    {"and", 0x7033, 0xfe00707f, r, base, result, rr<and_>},
    {"fence", 0x0f, 0x707f, none, base, other, same(aside<fence>)},
    {"fence.i", 0x100f, 0x707f, none, extension::zifencei, leave, same(system<fence_i>)},
    {"ecall", 0x73, 0xffffffff, none, base, leave, same(system<ecall>)},
    {"ebreak", 0x100073, 0xffffffff, none, base, leave, same(system<ebreak>)},

    {"addiw", 0x1b, 0x707f, i, base, result, ri<addw>},
    {"slliw", 0x101b, 0xfe00707f, shift, base, result, ri<sllw>},
    {"srliw", 0x501b, 0xfe00707f, shift, base, result, ri<srlw>},
    {"sraiw", 0x4000501b, 0xfe00707f, shift, base, result, ri<sraw>},
    {"addw", 0x3b, 0xfe00707f, r, base, result, rr<addw>},
    {"subw", 0x4000003b, 0xfe00707f, r, base, result, rr<subw>},
    {"sllw", 0x103b, 0xfe00707f, r, base, result, rr<sllw>},
    {"srlw", 0x503b, 0xfe00707f, r, base, result, rr<srlw>},
    {"sraw", 0x4000503b, 0xfe00707f, r, base, result, rr<sraw>},
};

}  // namespace

std::span<const row> rv64i_rows() {
    return rows;
}

}  // namespace trn::riscv
