// SPDX-License-Identifier: Apache-2.0
// Translation of virtual addresses (Sv39, Sv48, Priv. 4.3-4.5) and of physical addresses to host
// memory.
#include "models/processor/riscv/privileged/mmu.h"

#include <cstring>

namespace trn::riscv {

namespace {

namespace pte {
constexpr u64 v = 1, r = 2, w = 4, x = 8, u = 16, a = 64, d = 128;
constexpr u64 n = u64{1} << 63, pbmt = u64{3} << 61, reserved = u64{127} << 54;
constexpr u64 ppn(u64 entry) {
    return entry >> 10 & ((u64{1} << 44) - 1);
}
}  // namespace pte

constexpr std::size_t index_of(privilege mode) {
    return mode == privilege::machine ? 0 : mode == privilege::supervisor ? 1 : 2;
}

}  // namespace

/// Whether a leaf with N or PBMT bits is reserved: these memory types have no effect here.
bool mmu::reserves(u64 entry, int level) const {
    const u64 type = entry & pte::pbmt;
    if (type != 0 && ((csr_.menvcfg & envcfg::pbmte) == 0 || type == pte::pbmt)) return true;
    // Svnapot: pages of 64 KiB only.
    return (entry & pte::n) != 0 && (!has_napot_ || level != 0 || (pte::ppn(entry) & 15) != 8);
}

/// Priv. 4.3.2, steps 1 to 8, for LEVELS = 3 or 4. A and D bits are set while menvcfg.ADUE is
/// (Svadu); otherwise a clear one is a page fault (Svade).
fault mmu::walk(u64 va, access kind, privilege mode, u64& pa) {
    int level = csr_.satp >> satp_mode_shift == sv48 ? 3 : 2;
    const int unused = 64 - (12 + 9 * (level + 1));  // upper bits, equal to the one below them
    if (static_cast<u64>(static_cast<i64>(va << unused) >> unused) != va)
        return page_fault(kind, va);
    u64 table = (csr_.satp & ((u64{1} << 44) - 1)) << 12, entry = 0, place = 0;
    for (;; --level) {
        place = table + (va >> (12 + 9 * level) & 511) * 8;
        if (!protection_.allows(place, 8, access::load, privilege::supervisor))
            return access_fault(kind, va);
        std::array<u8, 8> raw{};
        if (!read_entry(place, raw)) return access_fault(kind, va);
        std::memcpy(&entry, raw.data(), 8);

        const bool writable_only = (entry & (pte::r | pte::w)) == pte::w;
        if ((entry & pte::v) == 0 || writable_only || (entry & pte::reserved) != 0)
            return page_fault(kind, va);
        if ((entry & (pte::r | pte::x)) != 0) break;
        constexpr u64 leaf_only = pte::a | pte::d | pte::u | pte::pbmt | pte::n;
        if (level == 0 || (entry & leaf_only) != 0) return page_fault(kind, va);
        table = pte::ppn(entry) << 12;
    }

    const bool user_page = (entry & pte::u) != 0;
    if (mode == privilege::user && !user_page) return page_fault(kind, va);
    if (mode == privilege::supervisor && user_page) {
        const bool allowed = kind != access::fetch && (csr_.mstatus & mstatus::sum) != 0;
        if (!allowed) return page_fault(kind, va);
    }
    u64 enough = kind == access::fetch ? pte::x : kind == access::store ? pte::w : pte::r;
    if (kind == access::load && (csr_.mstatus & mstatus::mxr) != 0) enough |= pte::x;
    if ((entry & enough) == 0) return page_fault(kind, va);

    u64 below = (u64{1} << (9 * level)) - 1;  // page numbers inside a superpage
    if ((pte::ppn(entry) & below) != 0) return page_fault(kind, va);
    if ((entry & (pte::n | pte::pbmt)) != 0) [[unlikely]] {
        if (reserves(entry, level)) return page_fault(kind, va);
        if ((entry & pte::n) != 0) below = 15;
    }
    const u64 marked = entry | pte::a | (kind == access::store ? pte::d : 0);
    if (marked != entry && !debugs_) {
        if ((csr_.menvcfg & envcfg::adue) == 0) return page_fault(kind, va);
        if (!set_accessed(place, marked)) return access_fault(kind, va);
    }
    pa = ((pte::ppn(entry) & ~below) | (va >> 12 & below)) << 12 | (va & page_mask);
    return {};
}

/// Tables outside of memory are read from the bus, by a debugger without side effects.
bool mmu::read_entry(u64 pa, std::span<u8> raw) {
    if (const u8* const host = direct(pa, raw.size(), access::load)) {
        std::memcpy(raw.data(), host, raw.size());
        return true;
    }
    if (debugs_) return bus_.debug_read(pa, raw);
    used_bus_ = true;
    bus_.keep_responses();
    return bus_.read(pa, raw);
}

/// One thread executes all harts, so no other hart changes the entry between read and write.
bool mmu::set_accessed(u64 pa, u64 marked) {
    if (!protection_.allows(pa, 8, access::store, privilege::supervisor)) return false;
    std::array<u8, 8> raw{};
    std::memcpy(raw.data(), &marked, 8);
    u8* const host = direct(pa, 8, access::store);
    if (host == nullptr) {
        used_bus_ = true;
        bus_.keep_responses();
        return bus_.write(pa, raw);
    }
    std::memcpy(host, raw.data(), 8);
    return true;
}

bool mmu::debug_translate(u64 va, privilege mode, u64& pa) {
    debugs_ = true;
    const bool found = find_mapped(va, mode, pa);
    debugs_ = false;
    return found;
}

bool mmu::find_mapped(u64 va, privilege mode, u64& pa) {
    for (const access kind : {access::load, access::fetch, access::store})
        for (const privilege tried : {mode, privilege::user})
            if (!translate(va, kind, tried, pa)) return true;
    return false;
}

// --- Host pointers

u8* mmu::direct(u64 pa, u64 size, access kind) {
    const u64 key = (pa & ~page_mask) | static_cast<u64>(kind);
    if (refused_.contains(key)) return nullptr;
    for (const auto& r : regions_) {
        if (!r.holds(pa, size)) continue;
        if (r.is_timed(kind)) return nullptr;
        if (r.serves(kind)) return r.host + (pa - r.first);
    }
    const auto r = bus_.direct(pa);
    if (r && r->holds(pa, size) && (r->serves(kind) || r->is_timed(kind))) {
        regions_.push_back(*r);
        return r->serves(kind) ? r->host + (pa - r->first) : nullptr;
    }
    if (debugs_) return nullptr;  // a debugger leaves no trace
    if (refused_.size() == max_refused) {
        refused_.clear();
        forget_data();
    }
    refused_.insert(key);
    return nullptr;
}

const u8* mmu::bytes(u64 pa, u64 size) {
    if (const u8* const host = direct(pa, size, access::load)) return host;
    const direct_memory* const r = region(pa);
    return r != nullptr && r->holds(pa, size) ? r->host + (pa - r->first) : nullptr;
}

const direct_memory* mmu::region(u64 pa) const {
    for (const auto& r : regions_)
        if (r.holds(pa, 1)) return &r;
    return nullptr;
}

void mmu::forget_direct(u64 first, u64 last) {
    std::erase_if(regions_, [&](const auto& r) { return r.first <= last && first <= r.last; });
    refused_.clear();
}

// --- Caches

address_space& mmu::enter(privilege mode) {
    auto& space = spaces_[index_of(mode)];
    if (space == nullptr) space = std::make_unique<address_space>();
    return *space;
}

void mmu::forget_data() {
    for (auto& space : spaces_)
        if (space != nullptr) space->forget_data();
}

void mmu::forget_code() {
    for (auto& space : spaces_)
        if (space != nullptr) space->forget_code();
}

u64 mmu::footprint() const {
    constexpr u64 node = 2 * sizeof(u64);
    u64 bytes = regions_.capacity() * sizeof regions_[0] + refused_.size() * node +
                refused_.bucket_count() * sizeof(void*);
    for (const auto& space : spaces_)
        if (space != nullptr) bytes += sizeof *space;
    return bytes;
}

}  // namespace trn::riscv
