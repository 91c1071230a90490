// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "models/processor/riscv/decode/isa.h"

namespace trn::riscv {

/// Fields of mstatus (Priv. 3.1.6).
namespace mstatus {
constexpr u64 sie = 1 << 1, mie = 1 << 3, spie = 1 << 5, mpie = 1 << 7, spp = 1 << 8, mpp = 3 << 11,
              mprv = 1 << 17, sum = 1 << 18, mxr = 1 << 19, tvm = 1 << 20, tw = 1 << 21,
              tsr = 1 << 22;
constexpr u64 fs = 3 << 13, sd = u64{1} << 63;
constexpr unsigned mpp_shift = 11, spp_shift = 8;
constexpr u64 lengths = u64{2} << 32 | u64{2} << 34;  // UXL = SXL = 64 bits, read-only
}  // namespace mstatus

/// Fields of menvcfg and senvcfg (Priv. 3.1.18, 4.1.10, CMO 1.0, Sstc, Svadu, Svpbmt).
namespace envcfg {
constexpr u64 fiom = 1, cbie = 3 << 4, cbcfe = 1 << 6, cbze = 1 << 7, adue = u64{1} << 61,
              pbmte = u64{1} << 62, stce = u64{1} << 63;
}  // namespace envcfg

/// Fields of mcountinhibit (Priv. 3.1.12).
namespace inhibit {
constexpr u64 cycle = 1, instret = 4;
}  // namespace inhibit

/// CSRs that hold no state elsewhere. Names are the manual's.
struct csr_state {
    u64 mstatus = mstatus::lengths, medeleg = 0, mideleg = 0, mie = 0, mtvec = 0, mcounteren = 0,
        mscratch = 0;
    u64 mepc = 0, mcause = 0, mtval = 0, mcountinhibit = 0, menvcfg = 0;
    u64 stvec = 0, scounteren = 0, sscratch = 0, sepc = 0, scause = 0, stval = 0, satp = 0;
    u64 senvcfg = 0;
    u64 fcsr = 0;  ///< fflags 4:0, frm 7:5
    u64 stimecmp = ~u64{0};
    u64 miselect = 0, siselect = 0, mvien = 0;
    u64 mvip = 0;          ///< SSIP while mvien has it; the other bits are in software_mip
    u64 virtual_sie = 0;   ///< bits of sie that mvien enables and mideleg does not
    u64 software_mip = 0;  ///< SSIP, STIP, SEIP as written by software
    u64 cycle_offset = 0, instret_offset = 0;  ///< counter = counted events + offset
};

}  // namespace trn::riscv
