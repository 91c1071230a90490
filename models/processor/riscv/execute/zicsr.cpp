// SPDX-License-Identifier: Apache-2.0
// Zicsr (Unpriv. chapter 9) and the instructions of the privileged architecture (Priv. 3.3, 4.2).
#include "models/processor/riscv/execute/threaded.h"

namespace trn::riscv {

namespace {

constexpr u8 discarded = 32;  // rd = x0

u64 from_register(const hart& h, const op& o) {
    return h.x[o.rs1];
}
u64 from_immediate(const hart&, const op& o) {
    return o.rs1;
}
using operand_of = u64 (*)(const hart&, const op&);

/// CSRRW does not read when rd is x0.
template <operand_of Operand>
fault csrrw(hart& h, const op& o) {
    const auto number = static_cast<unsigned>(o.imm);
    const u64 value = Operand(h, o);
    u64 old = 0;
    if (o.rd != discarded)
        if (const fault f = h.csr_read(number, old)) return f;
    if (const fault f = h.csr_write(number, value)) return f;
    h.x[o.rd] = old;
    return {};
}

/// CSRRS and CSRRC do not write if the operand is x0 or immediate 0.
template <operand_of Operand, bool Set>
fault csr_bits(hart& h, const op& o) {
    const auto number = static_cast<unsigned>(o.imm);
    const u64 mask = Operand(h, o);
    u64 old = 0;
    if (const fault f = h.csr_read(number, old)) return f;
    if (o.rs1 != 0) {
        const u64 base = h.csr_to_modify(number, old);
        if (const fault f = h.csr_write(number, Set ? base | mask : base & ~mask)) return f;
    }
    h.x[o.rd] = old;
    return {};
}

fault mret(hart& h, const op&) {
    if (h.mode() != privilege::machine) return h.illegal();
    h.return_from_trap(privilege::machine);
    return {};
}

fault sret(hart& h, const op&) {
    const bool trapped = (h.csr.mstatus & mstatus::tsr) != 0;
    if (h.mode() < (trapped ? privilege::machine : privilege::supervisor)) return h.illegal();
    h.return_from_trap(privilege::supervisor);
    return {};
}

fault wfi(hart& h, const op&) {
    const bool trapped = (h.csr.mstatus & mstatus::tw) != 0;
    if (h.mode() < (trapped ? privilege::machine : privilege::supervisor)) return h.illegal();
    h.wait_for_interrupt();
    return {};
}

fault sfence_vma(hart& h, const op&) {
    const bool trapped = (h.csr.mstatus & mstatus::tvm) != 0;
    if (h.mode() < (trapped ? privilege::machine : privilege::supervisor)) return h.illegal();
    h.fence_vma();
    return {};
}

constexpr row z(const char* name, u32 match, handler run) {
    return {name, match, 0x707f, format::csr, extension::zicsr, flow::leave, same(run)};
}
constexpr row p(const char* name, u32 match, handler run, u32 mask = 0xffffffff) {
    return {name, match, mask, format::none, extension::i, flow::leave, same(run)};
}

constexpr row csr_rows[] = {
    z("csrrw", 0x1073, system<csrrw<from_register>>),
    z("csrrs", 0x2073, system<csr_bits<from_register, true>>),
    z("csrrc", 0x3073, system<csr_bits<from_register, false>>),
    z("csrrwi", 0x5073, system<csrrw<from_immediate>>),
    z("csrrsi", 0x6073, system<csr_bits<from_immediate, true>>),
    z("csrrci", 0x7073, system<csr_bits<from_immediate, false>>),
};

constexpr row rows[] = {
    p("sret", 0x10200073, system<sret>),
    p("mret", 0x30200073, system<mret>),
    p("wfi", 0x10500073, system<wfi>),
    p("sfence.vma", 0x12000073, system<sfence_vma>, 0xfe007fff),
};

}  // namespace

std::span<const row> zicsr_rows() {
    return csr_rows;
}
std::span<const row> privileged_rows() {
    return rows;
}

}  // namespace trn::riscv
