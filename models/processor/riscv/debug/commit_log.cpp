// SPDX-License-Identifier: Apache-2.0
#include "models/processor/riscv/debug/commit_log.h"

#include <fmt/format.h>

namespace trn::riscv {

namespace {

/// The letter of the register file that the instruction writes, or 0.
char written_file(const decoded& d) {
    switch (d.definition->then) {
    case flow::store:
    case flow::branch:
        return 0;
    case flow::leave:
        return d.definition->layout == format::csr ? 'x' : '\0';
    case flow::other:
        switch (d.definition->layout) {
        case format::r:
        case format::fp_to_x:
            return 'x';
        case format::fp:
        case format::i:  // loads of f registers
            return 'f';
        default:  // fences have no format
            return 0;
        }
    default:
        return 'x';
    }
}

}  // namespace

void commit_log::begin() {
    loads_.clear();
    stores_.clear();
    csrs_.clear();
}

void commit_log::retire(u64 hart_id, privilege mode, u64 pc, const decoded& d,
                        const std::array<u64, 33>& x, const std::array<u64, 32>& f) {
    fmt::memory_buffer line;
    auto out = std::back_inserter(line);
    fmt::format_to(out, "core{:4}: {} 0x{:016x} (0x{:0{}x})", hart_id, static_cast<unsigned>(mode),
                   pc, d.bits, d.length() * 2);
    const char file = written_file(d);
    if (file == 'f' || (file == 'x' && d.rd != 0))
        fmt::format_to(out, " {}{:<2} 0x{:016x}", file, d.rd, file == 'f' ? f[d.rd] : x[d.rd]);
    for (const auto& [number, name, value] : csrs_)
        fmt::format_to(out, " c{}_{} 0x{:016x}", number, name, value);
    for (const u64 va : loads_) fmt::format_to(out, " mem 0x{:016x}", va);
    for (const auto& [va, value, size] : stores_) {
        const u64 kept = size == 8 ? value : value & ((u64{1} << (8 * size)) - 1);
        fmt::format_to(out, " mem 0x{:016x} 0x{:0{}x}", va, kept, size * 2);
    }
    line.push_back('\n');
    out_.put({line.data(), line.size()});
}

}  // namespace trn::riscv
