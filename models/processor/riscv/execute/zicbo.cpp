// SPDX-License-Identifier: Apache-2.0
// Cache-block operations (CMO 1.0: Zicbom, Zicboz). Without caches, management operations only
// check that the block is accessible.
#include "models/processor/riscv/execute/threaded.h"

namespace trn::riscv {

namespace {

/// Whether menvcfg, and in U mode also senvcfg, has one of the bits of `enable` set.
bool is_enabled(const hart& h, u64 enable) {
    if (h.mode() == privilege::machine) return true;
    if ((h.csr.menvcfg & enable) == 0) return false;
    return h.mode() == privilege::supervisor || (h.csr.senvcfg & enable) != 0;
}

template <u64 Enable>
fault manage(hart& h, const op& o) {
    if (!is_enabled(h, Enable)) return h.illegal();
    return h.manage_block(h.x[o.rs1]);
}

fault zero(hart& h, const op& o) {
    if (!is_enabled(h, envcfg::cbze)) return h.illegal();
    return h.zero_block(h.x[o.rs1]);
}

constexpr row cbo(const char* name, u32 number, extension needs, handler run) {
    return {name, 0x200f | number << 20, 0xfff07fff, format::none, needs, flow::other, same(run)};
}

using enum extension;

constexpr row rows[] = {
    cbo("cbo.inval", 0, zicbom, aside<manage<envcfg::cbie>>),
    cbo("cbo.clean", 1, zicbom, aside<manage<envcfg::cbcfe>>),
    cbo("cbo.flush", 2, zicbom, aside<manage<envcfg::cbcfe>>),
    cbo("cbo.zero", 4, zicboz, aside<zero>),
};

}  // namespace

std::span<const row> zicbo_rows() {
    return rows;
}

}  // namespace trn::riscv
