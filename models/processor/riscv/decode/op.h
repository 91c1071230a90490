// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstdint>

#include "models/processor/riscv/decode/isa.h"

namespace trn::riscv {

class hart;
struct op;
struct block;
struct address_space;

/// State passed from one predecoded operation to the next, in host registers:
///   h       the hart
///   o       the operation
/// acc     the value last written to a register; an operation with that source register uses acc,
/// which avoids waiting for store-to-load forwarding of x[]
///   budget  instructions that may still be executed; checked where blocks end
///   page    virtual address of the page that is being executed
///   space   the address translations and jump targets of the current privilege mode
#define TRN_FLOW                                                                           \
    [[maybe_unused]] ::trn::riscv::hart &h, [[maybe_unused]] const ::trn::riscv::op *o,    \
        [[maybe_unused]] ::trn::riscv::u64 acc, [[maybe_unused]] ::trn::riscv::i64 budget, \
        [[maybe_unused]] ::trn::riscv::u64 page,                                           \
        [[maybe_unused]] ::trn::riscv::address_space *space

using handler = void (*)(TRN_FLOW);

/// One predecoded operation, 16 bytes. Shared between harts: registers are named by index and
/// places in the code by offset from the start of the 4 KiB page. A block is
///   [header: block*] [operation]…, and an operation that leaves it is followed by
///   [links: taken, fall] [stub for taken] [stub for fall].
struct op {
    union {
        handler run;
        const struct block* of;  ///< header
        const op* taken;         ///< links
    };
    union {
        struct {
            i32 imm;
            u8 rd;  ///< 32 stands for "x0: throw the result away"; conditional branch: count
            u8 rs1;
            u8 rs2;   ///< jump, jalr, system, block end: count
            u8 slot;  ///< distance from the first operation of the block
        };
        const op* fall;  ///< links
    };
};
static_assert(sizeof(op) == 16);

/// Operations continue by tail calls. Where the compiler does not emit them (sanitizer builds, no
/// optimisation), each returns and a loop in hart::execute calls the next.
#if defined(__OPTIMIZE__) && !defined(__SANITIZE_ADDRESS__)
#define TRN_CONTINUE(next)                                     \
    do {                                                       \
        const ::trn::riscv::op* const next_ = (next);          \
        return next_->run(h, next_, acc, budget, page, space); \
    } while (false)
#else
#define TRN_CONTINUE(next) return h.hand_over((next), acc, budget, page, space)
#endif

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

class code_page;

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
