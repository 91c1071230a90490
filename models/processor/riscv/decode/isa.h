// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace trn::riscv {

using u8 = std::uint8_t;
using u16 = std::uint16_t;
using u32 = std::uint32_t;
using u64 = std::uint64_t;
using i8 = std::int8_t;
using i16 = std::int16_t;
using i32 = std::int32_t;
using i64 = std::int64_t;

/// Extensions that a hart may implement; each row of the decode table names one.
enum class extension : u8 {
    i,
    m,
    a,
    c,
    zicsr,
    zifencei,
    zba,
    zbb,
    zbs,
    s,
    u,
    f,
    d,
    zicond,
    zicbom,
    zicboz,
    sstc,
    svadu,
    sv48,
    svnapot,
    svpbmt,
    smaia,
    ssaia,
};

/// The set of extensions that a hart implements.
class isa {
public:
    /// Default extensions of a hart: RV64IMAC, Zicsr, Zifencei, Zba, Zbb, Zbs, S and U.
    static isa usual();
    /// All extensions that this core can implement.
    static isa full();
    /// Parses a string such as "rv64imac_zba_zbb"; S and U modes are always included.
    /// Throws std::invalid_argument with one readable sentence.
    static isa parse(std::string_view text);

    bool has(extension e) const { return (bits_ >> static_cast<unsigned>(e) & 1) != 0; }
    u32 bits() const { return bits_; }
    /// The value of the misa CSR (Priv. 3.1.1).
    u64 misa() const;
    /// Canonical string, e.g. "rv64imac_zicsr_zifencei_zba_zbb_zbs".
    std::string name() const;

    friend bool operator==(const isa&, const isa&) = default;

private:
    void add(extension e) { bits_ |= u32{1} << static_cast<unsigned>(e); }
    u32 bits_ = 0;
};

enum class privilege : u8 { user = 0, supervisor = 1, machine = 3 };

}  // namespace trn::riscv
