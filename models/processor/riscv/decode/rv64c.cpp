// SPDX-License-Identifier: Apache-2.0
// Compressed instructions (Unpriv. chapter 16): each is expanded to the 32-bit instruction by which
// the manual defines it. Reserved encodings expand to 0.
#include "models/processor/riscv/decode/decode.h"

namespace trn::riscv {

namespace {

constexpr u32 zero = 0, ra = 1, sp = 2;
constexpr u32 op_load = 0x03, op_load_fp = 0x07, op_store_fp = 0x27, op_imm = 0x13,
              op_imm_32 = 0x1b, op_store = 0x23, op_op = 0x33, op_lui = 0x37, op_op_32 = 0x3b,
              op_branch = 0x63, op_jalr = 0x67, op_jal = 0x6f, ebreak = 0x00100073;

struct compressed {
    u32 c;

    /// Bits high to low of the instruction, shifted to bit `shift`.
    u32 get(unsigned high, unsigned low, unsigned shift = 0) const {
        return (c >> low & ((u32{1} << (high - low + 1)) - 1)) << shift;
    }
    u32 rd() const { return get(11, 7); }
    u32 rs2() const { return get(6, 2); }
    u32 rd_short() const { return 8 + get(4, 2); }
    u32 rs1_short() const { return 8 + get(9, 7); }
    u32 imm6() const { return sign(get(12, 12, 5) | get(6, 2), 6); }
    static u32 sign(u32 value, unsigned width) {
        return static_cast<u32>(static_cast<i32>(value << (32 - width)) >> (32 - width));
    }
    u32 shamt() const { return get(12, 12, 5) | get(6, 2); }
    u32 offset_w() const { return get(12, 10, 3) | get(6, 6, 2) | get(5, 5, 6); }
    u32 offset_d() const { return get(12, 10, 3) | get(6, 5, 6); }
    u32 offset_dsp() const { return get(12, 12, 5) | get(6, 5, 3) | get(4, 2, 6); }
    u32 offset_j() const {
        return sign(get(12, 12, 11) | get(11, 11, 4) | get(10, 9, 8) | get(8, 8, 10) |
                        get(7, 7, 6) | get(6, 6, 7) | get(5, 3, 1) | get(2, 2, 5),
                    12);
    }
    u32 offset_b() const {
        return sign(get(12, 12, 8) | get(11, 10, 3) | get(6, 5, 6) | get(4, 3, 1) | get(2, 2, 5),
                    9);
    }
};

u32 i_type(u32 opcode, u32 funct3, u32 rd, u32 rs1, u32 imm) {
    return opcode | rd << 7 | funct3 << 12 | rs1 << 15 | (imm & 0xfff) << 20;
}
u32 r_type(u32 opcode, u32 funct3, u32 funct7, u32 rd, u32 rs1, u32 rs2) {
    return opcode | rd << 7 | funct3 << 12 | rs1 << 15 | rs2 << 20 | funct7 << 25;
}
u32 s_type(u32 funct3, u32 rs1, u32 rs2, u32 imm, u32 opcode = op_store) {
    return opcode | (imm & 31) << 7 | funct3 << 12 | rs1 << 15 | rs2 << 20 | (imm >> 5 & 127) << 25;
}
u32 b_type(u32 funct3, u32 rs1, u32 imm) {
    return op_branch | (imm >> 11 & 1) << 7 | (imm >> 1 & 15) << 8 | funct3 << 12 | rs1 << 15 |
           (imm >> 5 & 63) << 25 | (imm >> 12 & 1) << 31;
}
u32 j_type(u32 rd, u32 imm) {
    return op_jal | rd << 7 | (imm >> 12 & 255) << 12 | (imm >> 11 & 1) << 20 |
           (imm >> 1 & 1023) << 21 | (imm >> 20 & 1) << 31;
}

u32 quadrant0(compressed i) {
    switch (i.get(15, 13)) {
    case 0: {  // c.addi4spn
        const u32 imm = i.get(12, 11, 4) | i.get(10, 7, 6) | i.get(6, 6, 2) | i.get(5, 5, 3);
        return imm == 0 ? 0 : i_type(op_imm, 0, i.rd_short(), sp, imm);
    }
    case 1:
        return i_type(op_load_fp, 3, i.rd_short(), i.rs1_short(), i.offset_d());  // c.fld
    case 2:
        return i_type(op_load, 2, i.rd_short(), i.rs1_short(), i.offset_w());  // c.lw
    case 3:
        return i_type(op_load, 3, i.rd_short(), i.rs1_short(), i.offset_d());  // c.ld
    case 5:                                                                    // c.fsd
        return s_type(3, i.rs1_short(), i.rd_short(), i.offset_d(), op_store_fp);
    case 6:
        return s_type(2, i.rs1_short(), i.rd_short(), i.offset_w());  // c.sw
    case 7:
        return s_type(3, i.rs1_short(), i.rd_short(), i.offset_d());  // c.sd
    default:
        return 0;
    }
}

u32 arithmetic(compressed i) {
    const u32 rd = i.rs1_short(), rs2 = i.rd_short();
    switch (i.get(11, 10)) {
    case 0:
        return i_type(op_imm, 5, rd, rd, i.shamt());  // c.srli
    case 1:
        return i_type(op_imm, 5, rd, rd, i.shamt() | 0x400);  // c.srai
    case 2:
        return i_type(op_imm, 7, rd, rd, i.imm6());  // c.andi
    default:
        break;
    }
    switch (i.get(12, 12, 2) | i.get(6, 5)) {
    case 0:
        return r_type(op_op, 0, 0x20, rd, rd, rs2);  // c.sub
    case 1:
        return r_type(op_op, 4, 0, rd, rd, rs2);  // c.xor
    case 2:
        return r_type(op_op, 6, 0, rd, rd, rs2);  // c.or
    case 3:
        return r_type(op_op, 7, 0, rd, rd, rs2);  // c.and
    case 4:
        return r_type(op_op_32, 0, 0x20, rd, rd, rs2);  // c.subw
    case 5:
        return r_type(op_op_32, 0, 0, rd, rd, rs2);  // c.addw
    default:
        return 0;
    }
}

u32 quadrant1(compressed i) {
    switch (i.get(15, 13)) {
    case 0:
        return i_type(op_imm, 0, i.rd(), i.rd(), i.imm6());  // c.addi
    case 1:
        return i.rd() == 0 ? 0 : i_type(op_imm_32, 0, i.rd(), i.rd(), i.imm6());  // c.addiw
    case 2:
        return i_type(op_imm, 0, i.rd(), zero, i.imm6());  // c.li
    case 3: {
        if (i.rd() == sp) {  // c.addi16sp
            const u32 imm = i.get(12, 12, 9) | i.get(6, 6, 4) | i.get(5, 5, 6) | i.get(4, 3, 7) |
                            i.get(2, 2, 5);
            return imm == 0 ? 0 : i_type(op_imm, 0, sp, sp, compressed::sign(imm, 10));
        }
        const u32 imm = i.imm6();
        return imm == 0 ? 0 : op_lui | i.rd() << 7 | imm << 12;  // c.lui
    }
    case 4:
        return arithmetic(i);
    case 5:
        return j_type(zero, i.offset_j());  // c.j
    case 6:
        return b_type(0, i.rs1_short(), i.offset_b());  // c.beqz
    default:
        return b_type(1, i.rs1_short(), i.offset_b());  // c.bnez
    }
}

u32 quadrant2(compressed i) {
    const bool bit12 = i.get(12, 12) != 0;
    switch (i.get(15, 13)) {
    case 0:
        return i_type(op_imm, 1, i.rd(), i.rd(), i.shamt());  // c.slli
    case 1:
        return i_type(op_load_fp, 3, i.rd(), sp, i.offset_dsp());  // c.fldsp
    case 2: {                                                      // c.lwsp
        const u32 imm = i.get(12, 12, 5) | i.get(6, 4, 2) | i.get(3, 2, 6);
        return i.rd() == 0 ? 0 : i_type(op_load, 2, i.rd(), sp, imm);
    }
    case 3:
        return i.rd() == 0 ? 0 : i_type(op_load, 3, i.rd(), sp, i.offset_dsp());  // c.ldsp
    case 4:
        if (i.rs2() != 0) return r_type(op_op, 0, 0, i.rd(), bit12 ? i.rd() : zero, i.rs2());
        if (i.rd() == 0) return bit12 ? ebreak : 0;               // c.ebreak
        return i_type(op_jalr, 0, bit12 ? ra : zero, i.rd(), 0);  // c.jalr, c.jr
    case 5:                                                       // c.fsdsp
        return s_type(3, sp, i.rs2(), i.get(12, 10, 3) | i.get(9, 7, 6), op_store_fp);
    case 6:
        return s_type(2, sp, i.rs2(), i.get(12, 9, 2) | i.get(8, 7, 6));  // c.swsp
    case 7:
        return s_type(3, sp, i.rs2(), i.get(12, 10, 3) | i.get(9, 7, 6));  // c.sdsp
    default:
        return 0;
    }
}

}  // namespace

u32 expand(u16 bits) {
    const compressed i{bits};
    switch (bits & 3) {
    case 0:
        return quadrant0(i);
    case 1:
        return quadrant1(i);
    default:
        return quadrant2(i);
    }
}

}  // namespace trn::riscv
