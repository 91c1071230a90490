// SPDX-License-Identifier: Apache-2.0
#include "models/processor/riscv/decode/decode.h"

#include <vector>

namespace trn::riscv {

namespace {

constexpr i32 sign(u32 value, unsigned width) {
    return static_cast<i32>(value << (32 - width)) >> (32 - width);
}
constexpr u32 field(u32 bits, unsigned low, unsigned width) {
    return bits >> low & ((u32{1} << width) - 1);
}

i32 immediate(u32 w, format layout) {
    switch (layout) {
    case format::i:
        return sign(field(w, 20, 12), 12);
    case format::shift:
        return static_cast<i32>(field(w, 20, 6));
    case format::csr:
        return static_cast<i32>(field(w, 20, 12));
    case format::fp:
    case format::fp_to_x:
        return static_cast<i32>(field(w, 12, 3) | field(w, 27, 5) << 3);
    case format::s:
        return sign(field(w, 25, 7) << 5 | field(w, 7, 5), 12);
    case format::b:
        return sign(field(w, 31, 1) << 12 | field(w, 7, 1) << 11 | field(w, 25, 6) << 5 |
                        field(w, 8, 4) << 1,
                    13);
    case format::u:
        return static_cast<i32>(w & 0xfffff000);
    case format::j:
        return sign(field(w, 31, 1) << 20 | field(w, 12, 8) << 12 | field(w, 20, 1) << 11 |
                        field(w, 21, 10) << 1,
                    21);
    default:
        return 0;
    }
}

/// Rows by major opcode, to limit a search to a few dozen.
const std::vector<const row*>& candidates(u32 word) {
    static const auto table = [] {
        std::array<std::vector<const row*>, 32> buckets;
        for (const auto rows :
             {rv64i_rows(), rv64m_rows(), rv64a_rows(), zicsr_rows(), privileged_rows(), zb_rows(),
              zicond_rows(), zicbo_rows(), rv64f_rows(), rv64d_rows()})
            for (const row& r : rows) buckets[field(r.match, 2, 5)].push_back(&r);
        return buckets;
    }();
    return table[field(word, 2, 5)];
}

}  // namespace

decoded decode(u32 bits, isa extensions) {
    decoded d;
    d.bits = bits;
    u32 word = bits;
    if ((bits & 3) != 3) {
        d.bits = bits & 0xffff;
        word = extensions.has(extension::c) ? expand(static_cast<u16>(bits)) : 0;
        if (word == 0) return d;
    }
    for (const row* r : candidates(word)) {
        if ((word & r->mask) != r->match) continue;
        if (!extensions.has(r->needs)) return d;
        d.definition = r;
        d.rd = static_cast<u8>(field(word, 7, 5));
        d.rs1 = static_cast<u8>(field(word, 15, 5));
        d.rs2 = static_cast<u8>(field(word, 20, 5));
        d.imm = immediate(word, r->layout);
        return d;
    }
    return d;
}

}  // namespace trn::riscv
