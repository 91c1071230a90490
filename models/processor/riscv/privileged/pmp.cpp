// SPDX-License-Identifier: Apache-2.0
#include "models/processor/riscv/privileged/pmp.h"

#include <bit>

namespace trn::riscv {

namespace {

enum : u8 { bit_r = 1, bit_w = 2, bit_x = 4, bits_a = 0x18, bit_l = 0x80 };
enum : u8 { off = 0x00, tor = 0x08, na4 = 0x10, napot = 0x18 };

}  // namespace

void pmp::set_config(unsigned entry, u8 value) {
    if ((config_[entry] & bit_l) != 0) return;
    value &= u8{bit_r | bit_w | bit_x | bits_a | bit_l};
    // R = 0 with W = 1 is reserved (Priv. 3.7.1): the write permission is dropped.
    if ((value & (bit_r | bit_w)) == bit_w) value &= static_cast<u8>(~bit_w);
    config_[entry] = value;
    update();
}

void pmp::set_address(unsigned entry, u64 value) {
    if ((config_[entry] & bit_l) != 0) return;
    if (entry + 1 < entries) {
        const u8 above = config_[entry + 1];
        if ((above & bit_l) != 0 && (above & bits_a) == tor) return;
    }
    address_[entry] = value & ((u64{1} << 54) - 1);
    update();
}

void pmp::update() {
    active_ = 0;
    for (unsigned i = 0; i < entries; ++i) {
        region& r = region_[i];
        r = {};
        switch (config_[i] & bits_a) {
        case tor: {
            const u64 first = i == 0 ? 0 : address_[i - 1] << 2, end = address_[i] << 2;
            if (first < end) r = {first, end - 1};
            break;
        }
        case na4:
            r = {address_[i] << 2, (address_[i] << 2) + 3};
            break;
        case napot: {
            const u64 size_mask = address_[i] ^ (address_[i] + 1);  // ones up to the lowest zero
            const u64 base = (address_[i] & ~size_mask) << 2;
            r = {base, base + ((size_mask << 2) | 3)};
            break;
        }
        default:
            continue;
        }
        active_ = i + 1;
    }
}

bool pmp::allows(u64 pa, u64 size, access kind, privilege mode) const {
    const u64 last = pa + size - 1;
    for (unsigned i = 0; i < active_; ++i) {
        const region& r = region_[i];
        if (last < r.first || pa > r.last) continue;
        // Priv. 3.7.1: the lowest-numbered entry that matches any byte applies, and must match all
        // bytes.
        if (pa < r.first || last > r.last) return false;
        if (mode == privilege::machine && (config_[i] & bit_l) == 0) return true;
        const u8 needed = kind == access::fetch ? bit_x : kind == access::load ? bit_r : bit_w;
        return (config_[i] & needed) != 0;
    }
    return mode == privilege::machine;
}

bool pmp::uniform(u64 pa, u64 size) const {
    const u64 last = pa + size - 1;
    for (unsigned i = 0; i < active_; ++i) {
        const region& r = region_[i];
        if (last < r.first || pa > r.last) continue;
        return pa >= r.first && last <= r.last;
    }
    return true;
}

void pmp::reset() {
    *this = {};
}

}  // namespace trn::riscv
