// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <span>
#include <string>

#include "models/processor/riscv/hart/hart.h"
#include "models/processor/riscv/translate/reference.h"
#include "models/processor/riscv/translate/translator.h"

namespace trn::riscv::translate {

/// A run of host code: it begins at an operation and lasts until its budget is used up or it leaves
/// to the executor. Each execution undoes it, executes its instructions again without host code,
/// and compares. Neither accesses the bus.
class checked_run {
public:
    checked_run(hart& h, const op* start, u64 acc, u64 page, address_space& space);

    /// Executes `code`, host code for `from`. Returns how it differs; empty: it does not, and the
    /// hart is in the state after the run.
    std::string execute(handler code, i64 budget);
    /// Returns to the state before the run.
    void undo();

    /// How host code has left. Its budget is what is left of that of the execution.
    const outcome& end() const { return hot_.owner.result(); }
    /// Whether it has used up its budget, rather than left for another reason.
    bool is_spent() const { return !is_within_block_ && end().budget <= 0; }
    u64 end_pc() const;
    /// The operation at which it continues, if that begins a block that was executed before.
    const op* next_block() const;

    hart& checked_hart() const { return h_; }
    hot_block& block_of_start() const { return hot_; }
    const op* start() const { return start_; }
    u64 page() const { return page_; }
    address_space& space() const { return space_; }

    /// The block of reference operations of the block with this first operation, or null.
    static reference_block* reference_to(const op* first);

private:
    void undo_stores(std::size_t count);
    void set_registers();
    std::string compare(const std::array<u64, 33>& translated, i64 start, i64 left) const;

    hart& h_;
    const op* const start_;
    const u64 acc_, page_;
    address_space& space_;
    hot_block& hot_;
    std::array<u64, 33> x_;  // before the run, as f_ and csr_
    std::array<u64, 32> f_;
    union {  // not initialised before it is copied
        csr_state csr_;
    };
    std::span<const outcome::stored> stored_;  // by host code
    std::size_t done_ = 0;                     // of these, in memory now
    bool is_within_block_ = false;             // host code has left there
};

}  // namespace trn::riscv::translate
