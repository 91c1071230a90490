// SPDX-License-Identifier: Apache-2.0
// Memory accesses of instructions and debuggers.
#include <algorithm>
#include <cstring>
#include <utility>

#include "models/processor/riscv/debug/commit_log.h"
#include "models/processor/riscv/hart/hart.h"

namespace trn::riscv {

namespace {

constexpr u64 page_size = mmu::page_size, page_mask = mmu::page_mask;

fault misaligned(access kind, u64 va) {
    return {kind == access::load ? cause::load_misaligned : cause::store_misaligned, va};
}

constexpr bool aligned(u64 va, unsigned size) {
    return (va & (size - 1)) == 0 && (size & (size - 1)) == 0;
}

}  // namespace

privilege hart::data_mode() const {
    if ((csr.mstatus & mstatus::mprv) == 0) return mode_;
    return static_cast<privilege>(csr.mstatus >> mstatus::mpp_shift & 3);
}

fault hart::physical(u64 va, u64 size, access kind, u64& pa) {
    const fault f = mmu_.physical(va, size, kind, kind == access::fetch ? mode_ : data_mode(), pa);
    if (mmu_.has_used_bus()) end_with_quantum();
    return is_left() ? reason_left() : f;
}

/// Enters the page into the TLB, so that further accesses take the fast path, unless the page needs
/// checks. A page of which some bytes are watched has entries of its own.
void hart::remember(u64 va, u64 pa, access kind) {
    const u64 page = va & ~page_mask, frame = pa & ~page_mask;
    if (log_ != nullptr || !protection.uniform(frame, page_size)) return;
    u8* const host = mmu_.direct(frame, page_size, kind);
    if (host == nullptr) return;
    if (kind == access::store && observed_ && reservations_->any_in(host, page_size)) return;
    if (is_accessed_once(*mmu_.region(frame))) return;
    const u64 offset = reinterpret_cast<u64>(host) - page;
    const bool is_store = kind == access::store;
    if (const address_range watched = watched_in_page(page, kind); watched.is_empty())
        (is_store ? exec.space->store_entry(va) : exec.space->load_entry(va)) = {page, offset};
    else
        (is_store ? exec.space->watched_store_entry(va) : exec.space->watched_load_entry(va)) = {
            page, offset, watched.first, watched.last};
    open_windows(pa);
}

/// Whether host code must not access this memory: it would access it twice, and what other
/// processes store in between would be taken for an error or be lost.
bool hart::is_accessed_once(const direct_memory& memory) const {
    return memory.shared && code_->translator() != nullptr &&
           code_->translator()->repeats_accesses();
}

/// Enters the page as a device page, so that further accesses go directly to the bus, unless the
/// page needs checks. Called before the access, which may change the mode and the translations.
void hart::remember_device(u64 va, u64 pa, access kind) {
    const u64 page = va & ~page_mask;
    if (log_ != nullptr || !watched_in_page(page, kind).is_empty() ||
        !protection.uniform(pa & ~page_mask, page_size))
        return;
    if (kind == access::store && observed_ && is_memory(pa, 1)) return;
    auto& entry = kind == access::store ? exec.space->device_store_entry(va)
                                        : exec.space->device_load_entry(va);
    entry = {page, pa - va};
}

/// Opens data windows around `pa`, so that host code accesses memory without page look-ups: one,
/// and with watched bytes a second one in the same memory, beside them. Further accesses to a page
/// with watched bytes open none, so both of its ends count.
void hart::open_windows(u64 pa) {
    data_window &first = exec.space->window, &second = exec.space->beside;
    if (first.span == 0) first = window_around(pa);
    if (!watching_data_) return;
    for (const u64 place : {pa, pa & ~page_mask, pa | page_mask}) {
        if (second.span != 0 || first.holds(place)) continue;
        const data_window other = window_around(place);
        if (other.host == first.host && other.first != first.first) second = other;
    }
}

/// The data window for the region of `pa`; empty if one of its pages needs checks. Watched bytes
/// bound the window.
data_window hart::window_around(u64 pa) const {
    const privilege mode = data_mode();
    const bool translated = mode != privilege::machine && csr.satp >> 60 != 0;
    if (translated || observed_) return {};
    const direct_memory* const r = mmu_.region(pa);
    if (r == nullptr || !r->serves(access::load) || !r->serves(access::store) ||
        is_accessed_once(*r))
        return {};
    address_range open{r->first, r->last};
    debug_.exclude_watched(open, pa);
    watch.exclude_watched(open, pa);
    if (open.is_empty() || open.last - open.first < page_mask) return {};
    const u64 size = open.last - open.first + 1;
    if (!protection.uniform(open.first, size) ||
        !protection.allows(open.first, size, access::load, mode) ||
        !protection.allows(open.first, size, access::store, mode))
        return {};
    return {open.first, size - 7, reinterpret_cast<u64>(r->host) - r->first};
}

// --- Loads and stores outside the fast path

/// Whether `pa` is memory. It may have no host pointer at present, or none for stores, which are
/// observed: then accesses go to the bus. Precondition: the bytes are in one page.
bool hart::is_memory(u64 pa, u64 size) {
    return mmu_.bytes(pa, size) != nullptr || bus_.is_memory(pa);
}

/// The fault of an access to memory within a page; an access fault outside of memory.
fault hart::memory_access(u64 va, u64 size, access kind) {
    u64 pa = 0;
    if (const fault f = physical(va, size, kind, pa)) return f;
    return is_memory(pa, size) ? fault{} : access_fault(kind, va);
}

/// Precondition: `value` is 0.
fault hart::load_anywhere(u64 va, unsigned size, u64& value) {
    if (const watched_entry& e = exec.space->watched_load_entry(va); e.permits(va, size)) {
        std::memcpy(&value, reinterpret_cast<const void*>(va + e.host), size);
        return {};
    }
    if (const fault f = watch_data(va, size, access::load)) return f;
    const auto count = static_cast<unsigned>(page_size - (va & page_mask));
    if (size <= count) return load_in_page(va, size, value);
    // Devices are not read for a part of a misaligned access.
    if (const fault f = memory_access(va, count, access::load)) return f;
    if (const fault f = memory_access(va + count, size - count, access::load)) return f;
    bus_.keep_responses();
    u64 low = 0, high = 0;
    if (const fault f = load_in_page(va, count, low)) return f;
    if (const fault f = load_in_page(va + count, size - count, high)) return f;
    value = low | high << (8 * count);
    return {};
}

/// Precondition: `value` is 0; bytes beyond `size` stay 0.
fault hart::load_in_page(u64 va, unsigned size, u64& value) {
    u64 pa = 0;
    if (const fault f = physical(va, size, access::load, pa)) return f;
    auto* const raw = reinterpret_cast<u8*>(&value);
    if (const u8* const host = mmu_.direct(pa, size, access::load)) {
        std::memcpy(raw, host, size);
        remember(va, pa, access::load);
    } else {
        // Only memory supports misaligned accesses. For devices they are access faults, because
        // software should not emulate them by several smaller accesses (Priv. 3.6.3.3).
        if (!aligned(va, size) && !is_memory(pa, size)) return access_fault(access::load, va);
        remember_device(va, pa, access::load);
        if (!bus_read(pa, {raw, size})) return failed(access::load, va);
    }
    if (log_ != nullptr) log_->load(va);
    return {};
}

fault hart::store_anywhere(u64 va, unsigned size, u64 value) {
    if (const watched_entry& e = exec.space->watched_store_entry(va); e.permits(va, size)) {
        std::memcpy(reinterpret_cast<void*>(va + e.host), &value, size);
        return {};
    }
    if (const fault f = watch_data(va, size, access::store)) return f;
    const auto count = static_cast<unsigned>(page_size - (va & page_mask));
    if (size <= count) return store_in_page(va, size, value);
    // Stores nothing unless both parts are permitted.
    if (const fault f = memory_access(va, count, access::store)) return f;
    if (const fault f = memory_access(va + count, size - count, access::store)) return f;
    bus_.keep_responses();
    // A part that goes to the bus may fail there, so it is stored first.
    u64 pa = 0;
    if (const fault f = physical(va, count, access::store, pa)) return f;
    const bool low_first = mmu_.direct(pa, count, access::store) == nullptr;
    const auto store_low = [&] { return store_in_page(va, count, value); };
    const auto store_high = [&] {
        return store_in_page(va + count, size - count, value >> (8 * count));
    };
    if (const fault f = low_first ? store_low() : store_high()) return f;
    return low_first ? store_high() : store_low();
}

fault hart::store_in_page(u64 va, unsigned size, u64 value) {
    u64 pa = 0;
    if (const fault f = physical(va, size, access::store, pa)) return f;
    end_reservations(pa, size);
    if (u8* const host = mmu_.direct(pa, size, access::store)) {
        std::memcpy(host, &value, size);
        remember(va, pa, access::store);
    } else {
        if (!aligned(va, size) && !is_memory(pa, size)) return access_fault(access::store, va);
        remember_device(va, pa, access::store);
        if (!bus_write(pa, {reinterpret_cast<const u8*>(&value), size}))
            return failed(access::store, va);
    }
    if (log_ != nullptr) log_->store(va, size, value);
    return {};
}

// --- Atomics: aligned accesses to memory; AMOs also access devices, by a read and a write

fault hart::atomic_address(u64 va, unsigned size, access kind, u64& pa, u8*& host) {
    if (const fault f = watch_data(va, size, kind)) return f;
    if (!aligned(va, size)) return misaligned(kind, va);
    if (const fault f = physical(va, size, kind, pa)) return f;
    host = mmu_.direct(pa, size, kind);
    if (host != nullptr) remember(va, pa, kind);
    return {};
}

/// An atomic instruction, if it is made on the bus. It ends unless memory has deferred it.
class hart::atomic_access {
public:
    atomic_access(hart& owner, const u8* host, u64 pa, unsigned size)
        : owner_(owner), on_bus_(host == nullptr) {
        if (on_bus_) owner_.bus_.begin_atomic(pa, size);
    }
    ~atomic_access() {
        if (on_bus_ && !owner_.is_deferred_) owner_.bus_.end_atomic();
    }
    atomic_access(const atomic_access&) = delete;
    atomic_access& operator=(const atomic_access&) = delete;

private:
    hart& owner_;
    const bool on_bus_;
};

/// A store to a word ends other harts' reservations of it.
void hart::end_reservations(u64 pa, u64 size) {
    if (!observed_) return;
    if (const u8* const host = mmu_.bytes(pa, size)) reservations_->end(host, size);
}

/// Reads a word of memory for an LR (load) or SC (store). Precondition: `value` is 0.
fault hart::read_word(u64 pa, u64 va, unsigned size, access kind, u64& value) {
    if (const u8* const host = mmu_.direct(pa, size, access::load)) {
        std::memcpy(&value, host, size);
        return {};
    }
    if (!is_memory(pa, size)) return access_fault(kind, va);
    return bus_read(pa, {reinterpret_cast<u8*>(&value), size}) ? fault{} : failed(kind, va);
}

fault hart::load_reserved(u64 va, unsigned size, u64& value) {
    u64 pa = 0;
    u8* host = nullptr;
    if (const fault f = atomic_address(va, size, access::load, pa, host)) return f;
    if (const fault f = read_word(pa, va, size, access::load, value)) return f;
    reservation_ = {pa, value, size, mmu_.bytes(pa, size),
                    horizon_ - static_cast<u64>(exec.budget)};
    if (log_ != nullptr) log_->load(va);
    return {};
}

fault hart::store_conditional(u64 va, unsigned size, u64 value, bool& stored) {
    if (const fault f = watch_data(va, size, access::store)) return f;  // keeps the reservation
    u64 pa = 0;
    u8* host = nullptr;
    const auto reserved = std::exchange(reservation_, {});
    const auto keep_if_deferred = [&](const fault& f) {  // an SC that is repeated needs it
        if (is_deferred_) reservation_ = reserved;
        return f;
    };
    if (const fault f = atomic_address(va, size, access::store, pa, host))
        return keep_if_deferred(f);
    // DMA writes without a notification: the reservation holds while the value is unchanged.
    u64 now = 0;
    const atomic_access on_bus(*this, host, pa, size);
    if (const fault f = read_word(pa, va, size, access::store, now)) return keep_if_deferred(f);
    stored = reserved.size == size && reserved.pa == pa && reserved.value == now;
    if (!stored) return {};
    end_reservations(pa, size);
    if (host != nullptr)
        std::memcpy(host, &value, size);
    else if (!bus_write(pa, {reinterpret_cast<const u8*>(&value), size}))
        return keep_if_deferred(failed(access::store, va));
    if (log_ != nullptr) log_->store(va, size, value);
    return {};
}

fault hart::read_modify_write(u64 va, unsigned size, combine f, u64 operand, u64& old) {
    // The page may be watched for loads only: then it has no entry for them.
    if (const tlb_entry& e = exec.space->store_entry(va);
        e.tag == tag_of(va, size) && (!watching_data_ || exec.space->load_entry(va).tag == e.tag)) {
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
    end_reservations(pa, size);
    std::array<u8, 8> raw{};
    const atomic_access on_bus(*this, host, pa, size);
    if (host != nullptr) {
        std::memcpy(raw.data(), host, size);
        if (watching_data_) remember(va, pa, access::load);
    } else if (!bus_read(pa, {raw.data(), size})) {
        return failed(access::store, va);
    }
    std::memcpy(&old, raw.data(), 8);
    const u64 result = f(old, operand);
    std::memcpy(raw.data(), &result, 8);
    if (host != nullptr)
        std::memcpy(host, raw.data(), size);
    else if (!bus_write(pa, {raw.data(), size}))
        return failed(access::store, va);
    if (log_ != nullptr) {
        log_->load(va);
        log_->store(va, size, result);
    }
    return {};
}

// --- Cache blocks

/// CMO 1.0, 2.5: a load or a store must be permitted; otherwise a store fault is raised.
fault hart::manage_block(u64 va) {
    const u64 block = va & ~(cache_block - 1);
    u64 pa = 0;
    if (!physical(block, cache_block, access::load, pa)) return {};
    const fault f = physical(block, cache_block, access::store, pa);
    return f ? fault{f.why, va} : fault{};
}

fault hart::zero_block(u64 va) {
    const u64 block = va & ~(cache_block - 1);
    if (const fault f = watch_data(block, cache_block, access::store)) return f;
    u64 pa = 0;
    if (const fault f = physical(block, cache_block, access::store, pa)) return {f.why, va};
    end_reservations(pa, cache_block);
    if (u8* const host = mmu_.direct(pa, cache_block, access::store)) {
        std::memset(host, 0, cache_block);
        remember(block, pa, access::store);
    } else {
        if (!is_memory(pa, cache_block)) return access_fault(access::store, va);
        const std::array<u8, cache_block> zeroes{};
        if (!bus_write(pa, zeroes)) return failed(access::store, va);
    }
    if (log_ != nullptr)
        for (u64 place = block; place < block + cache_block; place += 8) log_->store(place, 8, 0);
    return {};
}

// --- Instructions executed alone

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
    if (const u8* const host = mmu_.direct(pa, 2, access::fetch)) {
        std::memcpy(&raw, host, 2);
    } else {
        bus_.keep_responses();
        if (!bus_read(pa, raw)) return failed(access::fetch, pc);
    }
    std::memcpy(&half, raw.data(), 2);
    return {};
}

// --- Watchpoints and triggers

/// Debug spec, Sdtrig "native triggers": disabled while the trap handler could not return.
bool hart::triggers_enabled() const {
    if (mode_ == privilege::machine) return (csr.mstatus & mstatus::mie) != 0;
    const bool delegated = (csr.medeleg >> static_cast<unsigned>(cause::breakpoint) & 1) != 0;
    return mode_ == privilege::user || !delegated || (csr.mstatus & mstatus::sie) != 0;
}

fault hart::watch_data(u64 va, unsigned size, access kind) {
    if (!watching_data_) return {};
    if (triggers_enabled() && watch.hit(kind, va, size, mode_)) return {cause::breakpoint, va};
    const auto watched = debug_.watched(va, size, kind);
    if (!watched) return {};
    if (phase_ == phase::alone) debug_.hit(*watched, kind);
    return {cause::alone, 0};
}

/// The bytes of the page at which a debugger or a trigger may have to stop such an access, and
/// those between.
address_range hart::watched_in_page(u64 page, access kind) const {
    const address_range limits{page, page + page_mask};
    address_range all = watch.watched(kind, limits);
    if (kind != access::fetch) all.include(debug_.watched(kind, limits), limits);
    return all;
}

}  // namespace trn::riscv
