// SPDX-License-Identifier: Apache-2.0
#include "models/processor/riscv/debug/triggers.h"

namespace trn::riscv {

namespace {

enum : u64 { type_mcontrol = 2, type_mcontrol6 = 6, type_disabled = 15 };
enum : u64 { match_equal = 0, match_napot = 1, match_at_least = 2, match_below = 3 };

constexpr u64 disabled = type_disabled << 60;
constexpr u64 common_bits = 0x5f;  // m, s, u, execute, store, load: same positions in both types
constexpr u64 match_shift = 7;
constexpr u64 hit_mcontrol = u64{1} << 20, hit_mcontrol6 = u64{1} << 22;

constexpr u64 type_of(u64 tdata1) {
    return tdata1 >> 60;
}
constexpr u64 match_of(u64 tdata1) {
    return tdata1 >> match_shift & 15;
}
constexpr u64 hit_bit(u64 tdata1) {
    return type_of(tdata1) == type_mcontrol ? hit_mcontrol : hit_mcontrol6;
}

}  // namespace

void triggers::set_select(u64 value) {
    if (value < count) select_ = static_cast<unsigned>(value);
}

void triggers::set_tdata1(u64 value) {
    // WARL: dmode, data match, chain, action and timing are fixed at 0. mcontrol has maskmax 0,
    // which excludes NAPOT (Debug spec 5.7.11).
    u64& tdata1 = slot_[select_].tdata1;
    const u64 type = type_of(value);
    if (type != type_mcontrol && type != type_mcontrol6) {
        tdata1 = disabled;
        return;
    }
    u64 match = match_of(value);
    const bool legal = match <= match_below && !(type == type_mcontrol && match == match_napot);
    if (!legal) match = match_equal;
    tdata1 = type << 60 | (value & (common_bits | hit_bit(value))) | match << match_shift;
}

u64 triggers::tinfo() const {
    constexpr u64 version_1 = u64{1} << 24;
    return version_1 | u64{1} << type_mcontrol | u64{1} << type_mcontrol6 | u64{1} << type_disabled;
}

bool triggers::slot::watches(access kind) const {
    if (type_of(tdata1) == type_disabled) return false;
    const u64 bit = kind == access::fetch ? 4 : kind == access::store ? 2 : 1;
    return (tdata1 & bit) != 0;
}

/// An access that touches one of these addresses matches.
address_range triggers::slot::watched() const {
    switch (match_of(tdata1)) {
    case match_equal:
        return {tdata2, tdata2};
    case match_napot: {
        const u64 mask = tdata2 ^ (tdata2 + 1);
        return {tdata2 & ~mask, tdata2 | mask};
    }
    case match_at_least:
        return {tdata2, ~u64{0}};
    default:
        return tdata2 == 0 ? address_range{} : address_range{0, tdata2 - 1};
    }
}

bool triggers::hit(access kind, u64 address, u64 size, privilege mode) {
    const u64 mode_bit = mode == privilege::machine      ? 0x40
                         : mode == privilege::supervisor ? 0x10
                                                         : 8;
    const address_range accessed{address, address + size - 1};
    for (slot& s : slot_) {
        if (!s.watches(kind) || (s.tdata1 & mode_bit) == 0 || !s.watched().overlaps(accessed))
            continue;
        s.tdata1 |= hit_bit(s.tdata1);
        return true;
    }
    return false;
}

address_range triggers::watched(access kind, const address_range& limits) const {
    address_range all;
    for (const slot& s : slot_)
        if (s.watches(kind)) all.include(s.watched(), limits);
    return all;
}

void triggers::exclude_watched(address_range& range, u64 address) const {
    for (const slot& s : slot_)
        if (s.watches(access::load) || s.watches(access::store))
            range.exclude(s.watched(), address);
}

bool triggers::armed() const {
    for (const slot& s : slot_)
        if (type_of(s.tdata1) != type_disabled) return true;
    return false;
}

void triggers::reset() {
    select_ = 0;
    slot_.fill({disabled, 0});
}

}  // namespace trn::riscv
