// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstddef>
#include <memory>
#include <span>
#include <unordered_set>
#include <utility>
#include <vector>

#include "models/processor/riscv/privileged/address_space.h"
#include "models/processor/riscv/privileged/csr_state.h"
#include "models/processor/riscv/privileged/hart_bus.h"
#include "models/processor/riscv/privileged/pmp.h"
#include "models/processor/riscv/privileged/trap.h"

namespace trn::riscv {

/// Address translation (Sv39, Sv48, Priv. 4.3-4.5), protection and host pointers for a hart's loads
/// and stores, with caches for each privilege mode.
class mmu {
public:
    static constexpr u64 page_size = 4096, page_mask = page_size - 1;
    static constexpr u64 bare = 0, sv39 = 8, sv48 = 9;  ///< satp.MODE

    mmu(const isa& extensions, const csr_state& csr, const pmp& protection, hart_bus& bus)
        : has_napot_(extensions.has(extension::svnapot)),
          csr_(csr),
          protection_(protection),
          bus_(bus) {}

    /// Translates to the physical address. Checks permissions of the page table only.
    fault translate(u64 va, access kind, privilege mode, u64& pa) {
        if (mode != privilege::machine && csr_.satp >> satp_mode_shift != bare)
            return walk(va, kind, mode, pa);
        pa = va;
        return {};
    }
    /// Like translate(), but PMP must also allow the whole access.
    fault physical(u64 va, u64 size, access kind, privilege mode, u64& pa) {
        if (const fault f = translate(va, kind, mode, pa)) return f;
        if (!protection_.allows(pa, size, kind, mode)) return access_fault(kind, va);
        return {};
    }
    /// The host memory of an access that takes no time, or nullptr.
    u8* direct(u64 pa, u64 size, access kind);
    /// The bytes in host memory, also if accesses take time; nullptr: unknown.
    const u8* bytes(u64 pa, u64 size);
    /// The memory granted by direct() for `pa`, or nullptr.
    const direct_memory* region(u64 pa) const;
    /// Like translate() for a debugger: ignores permissions, sets no A or D bits. False: not
    /// mapped.
    bool debug_translate(u64 va, privilege mode, u64& pa);

    /// Whether a walk has accessed the bus since the last call.
    bool has_used_bus() { return std::exchange(used_bus_, false); }

    /// The caches of a mode, created when it is first entered.
    address_space& enter(privilege mode);
    void forget_data();
    void forget_code();
    /// Drops host pointers derived from [first, last]; the caller drops cached translations.
    void forget_direct(u64 first, u64 last);
    /// Bytes of host memory, beside this object.
    u64 footprint() const;

private:
    static constexpr unsigned satp_mode_shift = 60;

    bool reserves(u64 entry, int level) const;
    fault walk(u64 va, access kind, privilege mode, u64& pa);
    bool read_entry(u64 pa, std::span<u8> raw);
    bool set_accessed(u64 pa, u64 marked);
    bool find_mapped(u64 va, privilege mode, u64& pa);

    const bool has_napot_;
    const csr_state& csr_;
    const pmp& protection_;
    hart_bus& bus_;
    bool debugs_ = false;  // during debug_translate()
    bool used_bus_ = false;
    std::array<std::unique_ptr<address_space>, 3> spaces_;
    std::vector<direct_memory> regions_;
    /// Pages and kinds of access without a host pointer, until forget_direct(). Complete, so that
    /// interpreted and translated harts, whose other caches differ, request pointers at the same
    /// accesses: a refusal may end without a revocation.
    std::unordered_set<u64> refused_;
    static constexpr std::size_t max_refused = 4096;
};

}  // namespace trn::riscv
