// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>

#include "models/processor/riscv/debug/address_range.h"
#include "models/processor/riscv/decode/isa.h"
#include "models/processor/riscv/privileged/trap.h"

namespace trn::riscv {

/// The guest's trigger module (Debug spec 1.0, chapter Sdtrig): address match triggers of type
/// mcontrol and mcontrol6 that raise breakpoint exceptions before the access.
class triggers {
public:
    static constexpr unsigned count = 4;

    u64 select() const { return select_; }
    void set_select(u64 value);
    u64 tdata1() const { return slot_[select_].tdata1; }
    void set_tdata1(u64 value);
    u64 tdata2() const { return slot_[select_].tdata2; }
    void set_tdata2(u64 value) { slot_[select_].tdata2 = value; }
    u64 tinfo() const;

    /// Whether a trigger fires on this access in `mode`; sets its hit bit.
    bool hit(access kind, u64 address, u64 size, privilege mode);
    /// The addresses within `limits` at which triggers can fire on such an access, and those
    /// between.
    address_range watched(access kind, const address_range& limits) const;
    /// Reduces `range` to its part around `address` where no trigger can fire on loads and stores.
    void exclude_watched(address_range& range, u64 address) const;
    /// Whether any trigger is set.
    bool armed() const;
    void reset();

private:
    struct slot {
        u64 tdata1 = 0;
        u64 tdata2 = 0;

        bool watches(access kind) const;
        address_range watched() const;
    };
    std::array<slot, count> slot_{};
    unsigned select_ = 0;
};

}  // namespace trn::riscv
