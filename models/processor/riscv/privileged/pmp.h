// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>

#include "models/processor/riscv/decode/isa.h"
#include "models/processor/riscv/privileged/trap.h"

namespace trn::riscv {

/// Physical memory protection, 16 entries (Priv. 3.7). Grain is 4 bytes.
class pmp {
public:
    static constexpr unsigned entries = 16;

    u8 config(unsigned entry) const { return config_[entry]; }
    u64 address(unsigned entry) const { return address_[entry]; }
    /// Locked entries ignore writes, as does the address entry below a locked TOR entry.
    void set_config(unsigned entry, u8 value);
    void set_address(unsigned entry, u64 value);

    /// Whether `mode` may access all of [pa, pa + size).
    bool allows(u64 pa, u64 size, access kind, privilege mode) const;
    /// Whether the same entry, or none, applies to all bytes of [pa, pa + size).
    bool uniform(u64 pa, u64 size) const;
    void reset();

private:
    struct region {
        u64 first = ~u64{0}, last = 0;  // empty: no access ends at or after `first` and begins at 0
    };
    void update();

    std::array<u8, entries> config_{};
    std::array<u64, entries> address_{};
    std::array<region, entries> region_{};
    unsigned active_ = 0;  // entries from this index on are off
};

}  // namespace trn::riscv
