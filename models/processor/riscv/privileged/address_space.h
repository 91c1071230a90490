// SPDX-License-Identifier: Apache-2.0
// What a hart remembers of the addresses that it has accessed.
#pragma once

#include <array>

#include "models/processor/riscv/decode/isa.h"

namespace trn::riscv {

struct op;
class code_page;

/// One cached translation of a 4 KiB page: tag is the virtual page address.
struct tlb_entry {
    static constexpr u64 empty = 0x800;  // bit 11 is never set in what is compared
    u64 tag = empty;
    u64 host = 0;  ///< host address minus virtual address
};

/// A 4 KiB page that is not memory: loads or stores there go to the bus.
struct device_entry {
    u64 tag = tlb_entry::empty;
    u64 bus = 0;  ///< physical address minus virtual address
};

/// The tag of an entry that an aligned access matches.
constexpr u64 tag_of(u64 va, unsigned size) {
    return va & (~u64{4095} | (size - 1));
}

/// A 4 KiB page of memory of which loads or stores to [first, last] are watched. The others need no
/// check.
struct watched_entry {
    u64 tag = tlb_entry::empty;
    u64 host = 0;  ///< host address minus virtual address
    u64 first = 0, last = 0;

    bool permits(u64 va, unsigned size) const {
        return tag == tag_of(va, size) && (va > last || va + (size - 1) < first);
    }
};

/// Target of a jump to `pc`; private to a hart, because the code at an address differs between
/// harts.
struct jump_entry {
    static constexpr u64 empty = 1;  // no instruction has an odd address
    u64 pc = empty;
    const op* target = nullptr;
};

struct fetch_entry {
    u64 tag = tlb_entry::empty;
    code_page* page = nullptr;
};

/// Memory accessed by loads and stores at one offset for all pages: up to 8 bytes at [first, first
/// + span). Only without address translation and other restrictions.
struct data_window {
    u64 first = 0, span = 0;
    u64 host = 0;  ///< host address minus virtual address

    bool holds(u64 va) const { return va - first < span; }
};

/// The caches of one privilege mode, created when the mode is first entered.
struct address_space {
    static constexpr u64 tlb_size = 256, jump_size = 512, fetch_size = 64, device_size = 8,
                         watched_size = 4;

    std::array<tlb_entry, tlb_size> load;
    std::array<tlb_entry, tlb_size> store;
    std::array<device_entry, device_size> device_load, device_store;
    std::array<watched_entry, watched_size> watched_load, watched_store;
    std::array<jump_entry, jump_size> jump;
    std::array<fetch_entry, fetch_size> fetch;
    data_window window;
    data_window beside;  ///< the same memory's part on the other side of watched bytes

    tlb_entry& load_entry(u64 va) { return load[va >> 12 & (tlb_size - 1)]; }
    tlb_entry& store_entry(u64 va) { return store[va >> 12 & (tlb_size - 1)]; }
    device_entry& device_load_entry(u64 va) { return device_load[va >> 12 & (device_size - 1)]; }
    device_entry& device_store_entry(u64 va) { return device_store[va >> 12 & (device_size - 1)]; }
    watched_entry& watched_load_entry(u64 va) {
        return watched_load[va >> 12 & (watched_size - 1)];
    }
    watched_entry& watched_store_entry(u64 va) {
        return watched_store[va >> 12 & (watched_size - 1)];
    }
    jump_entry& jump_at(u64 pc) { return jump[pc >> 1 & (jump_size - 1)]; }
    fetch_entry& fetch_at(u64 pc) { return fetch[pc >> 12 & (fetch_size - 1)]; }

    void forget_data() {
        load.fill({});
        store.fill({});
        device_load.fill({});
        device_store.fill({});
        watched_load.fill({});
        watched_store.fill({});
        window = beside = {};
    }
    void forget_code() {
        jump.fill({});
        fetch.fill({});
    }
};

}  // namespace trn::riscv
