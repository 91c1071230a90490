// SPDX-License-Identifier: Apache-2.0
// Memory as a hart sees it: translation (Sv39, Priv. 4.3-4.4), protection, host pointers, devices.
#include <algorithm>
#include <cstring>
#include <utility>

#include "models/riscv/commit_log.h"
#include "models/riscv/hart.h"

namespace trn::riscv {

namespace {

namespace pte {
constexpr u64 v = 1, r = 2, w = 4, x = 8, u = 16, a = 64, d = 128;
constexpr u64 reserved = ~u64{0} << 54;  // N, PBMT and reserved: no extension of ours uses them
constexpr u64 ppn(u64 entry) {
    return entry >> 10 & ((u64{1} << 44) - 1);
}
}  // namespace pte

constexpr u64 page_size = 4096, page_mask = page_size - 1;

fault page_fault(access how, u64 va) {
    constexpr cause codes[] = {cause::fetch_page_fault, cause::load_page_fault,
                               cause::store_page_fault};
    return {codes[static_cast<u8>(how)], va};
}

fault access_fault(access how, u64 va) {
    constexpr cause codes[] = {cause::fetch_access, cause::load_access, cause::store_access};
    return {codes[static_cast<u8>(how)], va};
}

fault misaligned(access how, u64 va) {
    return {how == access::load ? cause::load_misaligned : cause::store_misaligned, va};
}

constexpr bool aligned(u64 va, unsigned size) {
    return (va & (size - 1)) == 0 && (size & (size - 1)) == 0;
}

}  // namespace

// --- From virtual to physical.

privilege hart::data_mode() const {
    if ((csr.mstatus & mstatus::mprv) == 0) return mode_;
    return static_cast<privilege>(csr.mstatus >> mstatus::mpp_shift & 3);
}

fault hart::translate(u64 va, access how, privilege mode, u64& pa) {
    constexpr unsigned satp_mode_shift = 60;
    if (mode == privilege::machine || csr.satp >> satp_mode_shift == 0) {
        pa = va;
        return {};
    }
    return walk(va, how, mode, pa);
}

/// Priv. 4.3.2, steps 1 to 8, for LEVELS = 3. A and D bits are never set by us (Svade).
fault hart::walk(u64 va, access how, privilege mode, u64& pa) {
    if (static_cast<u64>(static_cast<i64>(va << 25) >> 25) != va) return page_fault(how, va);
    u64 table = (csr.satp & ((u64{1} << 44) - 1)) << 12, entry = 0;
    int level = 2;
    for (;; --level) {
        const u64 at = table + (va >> (12 + 9 * level) & 511) * 8;
        if (!protection.allows(at, 8, access::load, privilege::supervisor))
            return access_fault(how, va);
        std::array<u8, 8> raw{};
        if (const u8* const host = direct(at, 8, access::load))
            std::memcpy(&raw, host, 8);
        else if (!bus_.read(at, raw))
            return access_fault(how, va);
        std::memcpy(&entry, raw.data(), 8);

        const bool writable_only = (entry & (pte::r | pte::w)) == pte::w;
        if ((entry & pte::v) == 0 || writable_only || (entry & pte::reserved) != 0)
            return page_fault(how, va);
        if ((entry & (pte::r | pte::x)) != 0) break;
        if (level == 0 || (entry & (pte::a | pte::d | pte::u)) != 0) return page_fault(how, va);
        table = pte::ppn(entry) << 12;
    }

    const bool user_page = (entry & pte::u) != 0;
    if (mode == privilege::user && !user_page) return page_fault(how, va);
    if (mode == privilege::supervisor && user_page) {
        const bool allowed = how != access::fetch && (csr.mstatus & mstatus::sum) != 0;
        if (!allowed) return page_fault(how, va);
    }
    u64 enough = how == access::fetch ? pte::x : how == access::store ? pte::w : pte::r;
    if (how == access::load && (csr.mstatus & mstatus::mxr) != 0) enough |= pte::x;
    if ((entry & enough) == 0) return page_fault(how, va);

    const u64 below = (u64{1} << (9 * level)) - 1;  // page numbers inside a superpage
    if ((pte::ppn(entry) & below) != 0) return page_fault(how, va);
    if ((entry & pte::a) == 0 || (how == access::store && (entry & pte::d) == 0))
        return page_fault(how, va);
    pa = (pte::ppn(entry) | (va >> 12 & below)) << 12 | (va & page_mask);
    return {};
}

fault hart::physical(u64 va, u64 size, access how, u64& pa) {
    const privilege mode = how == access::fetch ? mode_ : data_mode();
    if (const fault f = translate(va, how, mode, pa)) return f;
    if (!protection.allows(pa, size, how, mode)) return access_fault(how, va);
    return {};
}

// --- Host pointers.

u8* hart::direct(u64 pa, u64 size, access how) {
    const auto usable = [&](const direct_memory& r) {
        return r.holds(pa, size) && (how == access::store ? r.writable : r.readable);
    };
    for (const auto& r : regions_)
        if (usable(r)) return r.host + (pa - r.first);

    // Ask once per page; a page that answered no is remembered until forget_direct().
    u64& known = not_direct_[pa >> 12 & (not_direct_.size() - 1)];
    const u64 key = (pa & ~page_mask) | static_cast<u64>(how) << 1 | 1;
    if (known == key) return nullptr;
    if (const auto r = bus_.direct(pa); r && usable(*r)) {
        regions_.push_back(*r);
        return r->host + (pa - r->first);
    }
    known = key;
    return nullptr;
}

/// Makes the next such access to this page fast, if nothing in the page needs attention.
void hart::remember(u64 va, u64 pa, access how) {
    const u64 page = va & ~page_mask, frame = pa & ~page_mask;
    if (log_ != nullptr || page_is_watched(page, how) || !protection.uniform(frame, page_size))
        return;
    u8* const host = direct(frame, page_size, how);
    if (host == nullptr) return;
    tlb_entry& e = how == access::store ? space_->store_entry(va) : space_->load_entry(va);
    e = {page, reinterpret_cast<u64>(host) - page};
}

// --- Loads and stores that the fast path did not answer.

fault hart::load(u64 va, unsigned size, u64& value) {
    if (const fault f = watch_data(va, size, access::load)) return f;
    const auto here = static_cast<unsigned>(page_size - (va & page_mask));
    if (size <= here) return load_in_page(va, size, value);
    u64 low = 0, high = 0;
    if (const fault f = load_in_page(va, here, low)) return f;
    if (const fault f = load_in_page(va + here, size - here, high)) return f;
    value = low | high << (8 * here);
    return {};
}

fault hart::load_in_page(u64 va, unsigned size, u64& value) {
    u64 pa = 0;
    if (const fault f = physical(va, size, access::load, pa)) return f;
    std::array<u8, 8> raw{};
    if (const u8* const host = direct(pa, size, access::load)) {
        std::memcpy(raw.data(), host, size);
        remember(va, pa, access::load);
    } else {
        // Only memory takes misaligned accesses. A device would see another access than was meant,
        // so nobody should emulate it: an access fault (Priv. 3.6.3.3).
        if (!aligned(va, size) || !bus_.read(pa, {raw.data(), size}))
            return access_fault(access::load, va);
    }
    std::memcpy(&value, raw.data(), 8);
    if (log_ != nullptr) log_->load(va);
    return {};
}

fault hart::store(u64 va, unsigned size, u64 value) {
    if (const fault f = watch_data(va, size, access::store)) return f;
    const auto here = static_cast<unsigned>(page_size - (va & page_mask));
    if (size <= here) return store_in_page(va, size, value);
    // Nothing is stored unless all of it can be.
    u64 pa = 0;
    if (const fault f = physical(va, here, access::store, pa)) return f;
    if (direct(pa, here, access::store) == nullptr) return access_fault(access::store, va);
    if (const fault f = physical(va + here, size - here, access::store, pa)) return f;
    if (direct(pa, size - here, access::store) == nullptr)
        return access_fault(access::store, va + here);
    if (const fault f = store_in_page(va, here, value)) return f;
    return store_in_page(va + here, size - here, value >> (8 * here));
}

fault hart::store_in_page(u64 va, unsigned size, u64 value) {
    u64 pa = 0;
    if (const fault f = physical(va, size, access::store, pa)) return f;
    if (u8* const host = direct(pa, size, access::store)) {
        std::memcpy(host, &value, size);
        remember(va, pa, access::store);
    } else {
        std::array<u8, 8> raw{};
        std::memcpy(raw.data(), &value, 8);
        if (!aligned(va, size) || !bus_.write(pa, {raw.data(), size}))
            return access_fault(access::store, va);
    }
    if (log_ != nullptr) log_->store(va, size, value);
    return {};
}

// -- Atomics: aligned, and in memory; AMOs also work on devices, as a read and a write.
// -------------

fault hart::atomic_address(u64 va, unsigned size, access how, u64& pa, u8*& host) {
    if (const fault f = watch_data(va, size, how)) return f;
    if (!aligned(va, size)) return misaligned(how, va);
    if (const fault f = physical(va, size, how, pa)) return f;
    host = direct(pa, size, how);
    if (host != nullptr) remember(va, pa, how);
    return {};
}

fault hart::load_reserved(u64 va, unsigned size, u64& value) {
    u64 pa = 0;
    u8* host = nullptr;
    if (const fault f = atomic_address(va, size, access::load, pa, host)) return f;
    if (host == nullptr) return access_fault(access::load, va);
    std::memcpy(&value, host, size);
    reservation_ = {pa, value, size};
    if (log_ != nullptr) log_->load(va);
    return {};
}

fault hart::store_conditional(u64 va, unsigned size, u64 value, bool& stored) {
    if (const fault f = watch_data(va, size, access::store)) return f;  // keeps the reservation
    u64 pa = 0;
    u8* host = nullptr;
    const auto reserved = std::exchange(reservation_, {});
    if (const fault f = atomic_address(va, size, access::store, pa, host)) return f;
    if (host == nullptr) return access_fault(access::store, va);
    // Others (harts, DMA) write behind our back: the reservation holds while the value does.
    u64 now = 0;
    std::memcpy(&now, host, size);
    stored = reserved.size == size && reserved.pa == pa && reserved.value == now;
    if (!stored) return {};
    std::memcpy(host, &value, size);
    if (log_ != nullptr) log_->store(va, size, value);
    return {};
}

fault hart::read_modify_write(u64 va, unsigned size, combine f, u64 operand, u64& old) {
    if (const tlb_entry& e = space_->store_entry(va); e.tag == (va & (~page_mask | (size - 1)))) {
        auto* const host = reinterpret_cast<u8*>(va + e.host);
        std::memcpy(&old, host, size);
        const u64 result = f(old, operand);
        std::memcpy(host, &result, size);
        return {};
    }
    if (const fault w = watch_data(va, size, access::load)) return w;
    u64 pa = 0;
    u8* host = nullptr;
    if (const fault w = atomic_address(va, size, access::store, pa, host)) return w;
    std::array<u8, 8> raw{};
    if (host != nullptr)
        std::memcpy(raw.data(), host, size);
    else if (!bus_.read(pa, {raw.data(), size}))
        return access_fault(access::store, va);
    std::memcpy(&old, raw.data(), 8);
    const u64 result = f(old, operand);
    std::memcpy(raw.data(), &result, 8);
    if (host != nullptr)
        std::memcpy(host, raw.data(), size);
    else if (!bus_.write(pa, {raw.data(), size}))
        return access_fault(access::store, va);
    if (log_ != nullptr) {
        log_->load(va);
        log_->store(va, size, result);
    }
    return {};
}

// --- Instructions executed alone.

fault hart::fetch(u64 pc, u32& bits) {
    if (triggers_enabled() && watch.hit(access::fetch, pc, 1, mode_))
        return {cause::breakpoint, pc};
    if ((pc & 2) != 0 && !cfg_.extensions.has(extension::c)) return {cause::fetch_misaligned, pc};
    u16 low = 0, high = 0;
    if (const fault f = fetch_half(pc, low)) return f;
    if (length_of(low) == 4)
        if (const fault f = fetch_half(pc + 2, high)) return f;
    bits = low | u32{high} << 16;
    return {};
}

fault hart::fetch_half(u64 pc, u16& half) {
    u64 pa = 0;
    if (const fault f = physical(pc, 2, access::fetch, pa)) return f;
    std::array<u8, 2> raw{};
    if (const u8* const host = direct(pa, 2, access::fetch))
        std::memcpy(&raw, host, 2);
    else if (!bus_.read(pa, raw))
        return access_fault(access::fetch, pc);
    std::memcpy(&half, raw.data(), 2);
    return {};
}

// --- Watching.

/// Debug spec, Sdtrig "native triggers": none fires while it could not be returned from.
bool hart::triggers_enabled() const {
    if (mode_ == privilege::machine) return (csr.mstatus & mstatus::mie) != 0;
    const bool delegated = (csr.medeleg >> static_cast<unsigned>(cause::breakpoint) & 1) != 0;
    return mode_ == privilege::user || !delegated || (csr.mstatus & mstatus::sie) != 0;
}

fault hart::watch_data(u64 va, unsigned size, access how) {
    if (!watching_data_) return {};
    if (triggers_enabled() && watch.hit(how, va, size, mode_)) return {cause::breakpoint, va};
    for (const watchpoint& w : watchpoints_) {
        const bool concerns = how == access::store ? w.on_store : w.on_load;
        if (!concerns || va + (size - 1) < w.address || va > w.address + (w.size - 1)) continue;
        if (alone_) watch_hit_ = stop{stop_reason::watchpoint, std::max(va, w.address), how};
        return {cause::alone, 0};
    }
    return {};
}

bool hart::page_is_watched(u64 va, access how) const {
    if (watch.watches(how, va, page_size)) return true;
    if (how == access::fetch) {
        for (const u64 pc : breakpoints_)
            if ((pc & ~page_mask) == va) return true;
        return false;
    }
    for (const watchpoint& w : watchpoints_) {
        const bool concerns = how == access::store ? w.on_store : w.on_load;
        if (concerns && w.address < va + page_size && va < w.address + w.size) return true;
    }
    return false;
}

// --- For debuggers.

bool hart::debug_translate(u64 va, u64& pa) {
    // A debugger sees what the hart could: permissions are ignored, the mapping is not.
    for (const access how : {access::load, access::fetch, access::store})
        for (const privilege as : {data_mode(), privilege::user})
            if (!translate(va, how, as, pa)) return true;
    return false;
}

std::size_t hart::debug_read(u64 va, std::span<u8> data) {
    std::size_t done = 0;
    while (done < data.size()) {
        const u64 here = std::min(data.size() - done, page_size - (va & page_mask));
        u64 pa = 0;
        if (!debug_translate(va, pa) || !bus_.debug_read(pa, data.subspan(done, here))) break;
        done += here;
        va += here;
    }
    return done;
}

std::size_t hart::debug_write(u64 va, std::span<const u8> data) {
    std::size_t done = 0;
    while (done < data.size()) {
        const u64 here = std::min(data.size() - done, page_size - (va & page_mask));
        u64 pa = 0;
        if (!debug_translate(va, pa) || !bus_.debug_write(pa, data.subspan(done, here))) break;
        done += here;
        va += here;
    }
    invalidate_code();
    return done;
}

}  // namespace trn::riscv
