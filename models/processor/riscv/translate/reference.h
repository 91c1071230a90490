// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <span>
#include <string>
#include <utility>

#include "models/processor/riscv/decode/block.h"
#include "models/processor/riscv/translate/shared_code.h"

namespace trn::riscv::translate {

class reference;

/// The operations of a block as check mode executes them again: those of the executor, except that
/// links lead to other such blocks, stores are compared with those of host code, and an operation
/// that host code must leave to the executor ends the run.
struct reference_block : block {
    reference_block(const block& original, reference& repeated);
    reference& run;
};

/// Executes the instructions of a run of host code again, by operations. Accesses no bus.
class reference {
public:
    /// Returns the reference block of the block with this first operation; null: it has none.
    using finder = reference_block* (*)(const op* first);
    explicit reference(finder find) : find_(find) {}

    struct run {
        const op* first = nullptr;  ///< an operation of a reference block; null: nothing
        u64 acc = 0, page = 0;
        i64 budget = 0;           ///< the run ends with the block that uses it up,
        const op* end = nullptr;  ///< or before this operation of a reference block
        i64 budget_at_end = 0;    ///< when this budget is left
    };
    /// Memory must be as before the run; `expected` are the stores of host code. Afterwards the
    /// hart has the pc and the budget at which the run ended.
    void execute(hart& h, const run& asked, std::span<const outcome::stored> expected);

    /// Number of stores executed, which are the first ones expected.
    std::size_t stores() const { return stores_; }
    /// Describes the instruction at which the run ended early; empty: it did not.
    const std::string& difference() const { return difference_; }

    // For operations.
    reference_block* find(const op* first) const { return find_(first); }
    bool ends_before(const op* o, i64 budget) const {
        return o == run_.end && budget == run_.budget_at_end;
    }
    handler function_of_end() const { return function_of_end_; }
    const outcome::stored* next_store() const {
        return stores_ < expected_.size() ? &expected_[stores_] : nullptr;
    }
    void count_store() { ++stores_; }
    void differs(std::string difference) { difference_ = std::move(difference); }

private:
    const finder find_;
    run run_;
    handler function_of_end_ = nullptr;
    std::span<const outcome::stored> expected_;
    std::size_t stores_ = 0;
    std::string difference_;
};

}  // namespace trn::riscv::translate
