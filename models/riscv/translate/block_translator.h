// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <functional>
#include <optional>
#include <vector>

#include "models/riscv/code_cache.h"
#include "models/riscv/translate/memory_emitter.h"
#include "models/riscv/translate/register_emitter.h"
#include "models/riscv/translate/shared_code.h"

namespace trn::riscv::translate {

/// Host code of one block, not yet at its place.
struct translated_block {
    struct entry {
        u8 slot;     ///< of the operation before which it enters
        u32 offset;  ///< of a function with the calling convention of handlers
    };
    struct link {
        u32 offset;  ///< of code that may become a direct jump
        u16 target;  ///< the block that this leads to: where it starts in the page
    };
    std::vector<u8> code;
    bool starts = false;  ///< whether it has code for the first operation
    u32 start = 0;        ///< and where: host code of other blocks continues there
    std::vector<entry> entries;
    std::vector<link> links;
    bool is_worth_it = false;  ///< beside executing the operations
};

/// Translates the operations of a block, one after the other. What it does not know leaves to the
/// executor, which comes back before the next operation. Budgets are counted and checked exactly
/// where the executor does it.
class block_translator {
public:
    /// The code is for address `base`. `host_code_of`: where the host code of an operation begins
    /// that begins a block; 0: it has none.
    block_translator(const block& b, u64 base, const shared_code& shared, outcome* checked,
                     std::function<u64(const op*)> host_code_of);

    translated_block run();

private:
    const op& operation(unsigned slot) const { return b_.ops[slot + 1]; }
    decoded instruction(unsigned slot) const;

    /// Emits the operations from `slot` on that make one instruction; how many operations, 0 when
    /// the block ends.
    unsigned emit(unsigned slot);
    bool emit_inline(unsigned slot, const decoded& d);
    void access(unsigned slot, const decoded& d, const memory_emitter::access_kind& k);
    void add_to_page(unsigned rd, i32 offset);
    void branch(unsigned slot, const decoded& d);
    void close_loop(unsigned slot, const decoded& d, asmjit::x86::CondCode taken);
    void repeat_until(unsigned slot);
    void leave_block(unsigned slot, unsigned count);
    void jump_register(unsigned slot, const decoded& d);
    void pay(unsigned count, const asmjit::Label& spent);
    void follow_link(unsigned slot);
    bool loops(unsigned slot) const;
    bool leads_here(unsigned slot) const { return checked_ == nullptr && loops(slot); }
    std::optional<pinning> pinning_of_loop() const;
    void later(std::function<void()> emit_rare);
    void when_spent(const asmjit::Label& spent, unsigned slot);
    void leave_to(unsigned slot);
    void enter_before(unsigned slot);

    const block& b_;
    const shared_code& shared_;
    outcome* const checked_;
    const std::function<u64(const op*)> host_code_of_;
    asmjit::CodeHolder holder_;
    x86::Assembler a_;
    register_emitter registers_{a_};
    memory_emitter memory_;
    asmjit::Label start_, body_;  // body_: with the pinning of the block
    struct rare_part {
        register_emitter::values known;
        std::function<void()> emit;
    };
    std::vector<rare_part> rare_;  // emitted after the rest
    std::vector<std::pair<unsigned, asmjit::Label>> entries_;
    std::vector<translated_block::link> links_;
    unsigned instructions_ = 0;
    bool leaves_ = false;  // in line, to the executor

    // The rounds of a loop after the first begin where what is known of registers holds.
    asmjit::Label round_;
    register_emitter::values round_known_{};
    bool repeating_ = false;
};

}  // namespace trn::riscv::translate
