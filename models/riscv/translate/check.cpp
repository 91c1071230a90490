// SPDX-License-Identifier: Apache-2.0
#include "models/riscv/translate/check.h"

#include <fmt/format.h>

#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <vector>

#include "models/riscv/threaded.h"
#include "models/riscv/translate/difference.h"
#include "models/riscv/translate/memory_emitter.h"
#include "models/riscv/translate/translator.h"

namespace trn::riscv::translate {

namespace {

/// Executes the same instructions by host code and by the executor, and compares.
class comparison {
public:
    comparison(hart& h, const op* o, u64 page, const address_space& space)
        : h_(h),
          b_(block_of(o)),
          hot_(static_cast<hot_block&>(*b_.native)),
          from_(o),
          page_(page),
          space_(space) {}

    void run(i64 budget, address_space* space) {
        const registers before{h_.x, h_.f};
        outcome& out = hot_.owner.result();
        auto& stores = hot_.owner.stores();
        out.next_store = stores.data();
        entry()(h_, from_, 0, budget, page_, space);
        const std::span stored(stores.data(), out.next_store);

        const registers translated{h_.x, h_.f};
        std::vector<u64> values;
        for (const auto& s : stored) values.push_back(read(s));
        for (auto s = stored.rbegin(); s != stored.rend(); ++s)
            std::memcpy(reinterpret_cast<void*>(s->host), &s->before, s->size);
        h_.x = before.x;
        h_.f = before.f;

        const bool within = out.budget == budget;
        const unsigned done = slot_of(from_).before;
        const auto count = within ? slot_of(out.to).before - done
                                  : static_cast<unsigned>(budget - out.budget) - done;
        h_.leave(page_ + slot_of(from_).offset, budget);
        // A jump to a misaligned address traps; the executor must execute that trap.
        const bool traps = !within && out.continues != jump_to && is_misaligned(out.to);
        interpret(traps ? count - 1 : count, stored);
        if (!traps && h_.pc() != next_pc(out, within))
            differs(fmt::format("next pc {:#x}, and {:#x} when interpreted", next_pc(out, within),
                                h_.pc()));
        if (const auto how = difference(translated, {h_.x, h_.f}); !how.empty()) differs(how);
        for (std::size_t i = 0; i < values.size(); ++i)
            if (read(stored[i]) != values[i])
                differs(fmt::format("store {} leaves {:#x}, and {:#x} when interpreted", i,
                                    values[i], read(stored[i])));
    }

private:
    handler entry() const {
        for (const auto& [slot, code] : hot_.entries)
            if (slot == from_->slot) return code;
        std::abort();  // check_block replaces only functions of entries
    }

    static u64 read(const outcome::stored& s) {
        u64 value = 0;
        std::memcpy(&value, reinterpret_cast<const void*>(s.host), s.size);
        return value;
    }

    static bool is_misaligned(const op* to) { return to->run == link_misaligned; }

    u64 next_pc(const outcome& out, bool within) const {
        if (out.continues == jump_to) return out.acc;
        if (within) return page_ + slot_of(out.to).offset;
        const bool stub = out.to->run == link_near || out.to->run == link_far;
        return page_ + (stub ? static_cast<u64>(i64{out.to->imm}) : block_of(out.to).start);
    }

    void interpret(unsigned count, std::span<const outcome::stored> expected) {
        std::size_t stores = 0;
        const auto& code = b_.owner->content();
        while (count-- != 0) {
            const u64 offset = h_.pc() - page_;
            if (offset >= code.size()) return differs("it stayed in the page");
            u32 bits = 0;
            std::memcpy(&bits, code.data() + offset, offset + 4 <= code.size() ? 4 : 2);
            const decoded d = decode(bits, b_.owner->extensions());
            if (d.definition != nullptr && memory_emitter::kind_of(d).is_store) {
                const u64 va = h_.x[d.rs1] + static_cast<u64>(i64{d.imm});
                const u64 size = memory_emitter::kind_of(d).size;
                if (stores == expected.size() || expected[stores].host != host_of(va) ||
                    expected[stores].size != size)
                    differs(fmt::format("store {} should be {} bytes at {:#x}", stores, size, va));
                ++stores;
            }
            if (!h_.execute_one(d)) differs(fmt::format("{:#x} should have trapped", bits));
        }
        if (stores != expected.size()) differs(fmt::format("{} stores too many", expected.size()));
    }

    u64 host_of(u64 va) const {
        if (va - space_.window.first < space_.window.span) return va + space_.window.host;
        const tlb_entry& e = space_.store[va >> 12 & (address_space::tlb_size - 1)];
        return e.tag == (va & ~u64{4095}) ? va + e.host : 0;
    }

    [[noreturn]] void differs(const std::string& how) const {
        fmt::print(stderr, "trnvp: --hart check: host code of the block at {:#x}, from {:#x}: {}\n",
                   page_ + b_.start, page_ + slot_of(from_).offset, how);
        for (const auto& s : b_.slots)
            fmt::print(stderr, "  {:#x}: {:08x}\n", page_ + s.offset, s.bits);
        std::fflush(stderr);
        std::abort();
    }

    hart& h_;
    const block& b_;
    hot_block& hot_;
    const op* const from_;
    const u64 page_;
    const address_space& space_;
};

}  // namespace

void check_block(TRN_FLOW) {
    auto& owner = static_cast<hot_block&>(*block_of(o).native).owner;
    comparison(h, o, page, *space).run(budget, space);
    const outcome& out = owner.result();
    acc = out.acc;
    budget = out.budget;
    page = out.page;
    const handler next = out.continues;
    // Where the compiler emits no tail calls, a chain of checked blocks must not be one of calls.
    if (next != jump_to && next == out.to->run) TRN_CONTINUE(out.to);
    return next(h, out.to, acc, budget, page, space);
}

}  // namespace trn::riscv::translate
