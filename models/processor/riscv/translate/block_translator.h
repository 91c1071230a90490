// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <functional>
#include <optional>
#include <vector>

#include "models/processor/riscv/decode/code_cache.h"
#include "models/processor/riscv/translate/guest_registers.h"
#include "models/processor/riscv/translate/memory_emitter.h"
#include "models/processor/riscv/translate/options.h"
#include "models/processor/riscv/translate/register_emitter.h"
#include "models/processor/riscv/translate/shared_code.h"

namespace trn::riscv::translate {

/// Host code of one block, before it is copied to its address.
struct translated_block {
    struct entry {
        u8 slot;     ///< slot of the operation at which it enters
        u32 offset;  ///< offset of a function with the calling convention of handlers
    };
    struct link {
        u32 offset;  ///< offset of code that may be replaced by a direct jump
        u16 target;  ///< start offset in the page of the target block
    };
    std::vector<u8> code;
    bool starts = false;  ///< there is code for the first operation
    u32 start = 0;        ///< its offset: host code of other blocks continues there
    std::vector<entry> entries;
    std::vector<link> links;
    bool is_worth_it = false;  ///< faster than executing the operations
};

constexpr unsigned all_slots = ~0u;

/// Translates the operations of a block in order. Unsupported ones leave to the executor, which
/// returns before the next operation. Budgets are counted and checked exactly as in the executor.
class block_translator {
public:
    struct context {
        const shared_code& shared;
        outcome* checked;  ///< stores are recorded there; null: they are not
        const options& chosen;
    };
    /// The code is for address `base`. `host_code_of` returns the address of the host code of a
    /// block, given its first operation; 0: none.
    block_translator(const block& b, u64 base, const context& settings,
                     std::function<u64(const op*)> host_code_of);

    /// With `end`, the code leaves to the executor before the operation at that slot.
    translated_block run(unsigned end = all_slots);

private:
    const op& operation(unsigned slot) const { return b_.ops[slot + 1]; }
    decoded instruction(unsigned slot) const;

    /// Emits the instruction whose operations start at `slot`; returns their number, or 0 if the
    /// block ends.
    unsigned emit(unsigned slot);
    bool emit_inline(unsigned slot, const decoded& d);
    void access(unsigned slot, const decoded& d, const memory_emitter::access_kind& k);
    void add_to_page(unsigned rd, i32 offset);
    void branch(unsigned slot, const decoded& d);
    void close_loop(unsigned slot, const decoded& d, asmjit::x86::CondCode taken);
    void repeat_until(unsigned slot);
    void leave_block(unsigned slot, unsigned count);
    void jump_register(unsigned slot, const decoded& d);
    void count_instructions(unsigned count);
    void pay(unsigned count, const asmjit::Label& spent);
    void follow_link(unsigned slot);
    bool loops(unsigned slot) const;
    std::optional<pinning> pinning_of_loop() const;
    void later(std::function<void()> emit_rare);
    void when_spent(const asmjit::Label& spent, unsigned slot);
    void leave_to(unsigned slot);
    void enter_before(unsigned slot);

    const block& b_;
    const shared_code& shared_;
    const options& options_;
    const std::function<u64(const op*)> host_code_of_;
    asmjit::CodeHolder holder_;
    x86::Assembler a_;
    guest_registers registers_{a_};
    register_emitter emitter_{registers_};
    memory_emitter memory_;
    asmjit::Label start_, body_;  // body_: the code with the block's pinning
    struct rare_part {
        guest_registers::values known;
        std::function<void()> emit;
    };
    std::vector<rare_part> rare_;  // emitted after all other code
    std::vector<std::pair<unsigned, asmjit::Label>> entries_;
    std::vector<translated_block::link> links_;
    unsigned instructions_ = 0;
    bool leaves_ = false;  // inline code leaves to the executor

    // Label of loop rounds after the first, with the register knowledge valid there.
    asmjit::Label round_;
    guest_registers::values round_known_{};
    unsigned round_end_ = 0;  // slot of the branch that repeats it
    bool repeating_ = false;
};

}  // namespace trn::riscv::translate
