// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>
#include <utility>

namespace trn::riscv {

struct block;

/// Host code made of a block; goes with the block.
class host_code {
public:
    virtual ~host_code() = default;
};

/// Makes host code of assembled blocks. It installs functions in place of those of operations, so
/// that the executor enters host code as it enters any operation. Without a back end operations
/// are all there is.
class back_end {
public:
    virtual ~back_end() = default;
    /// A block was assembled; it was not executed yet.
    virtual void adopt(block& b) = 0;

    /// Of code caches that are empty now; nullptr: none.
    static const std::shared_ptr<back_end>& chosen() { return chosen_; }
    static void choose(std::shared_ptr<back_end> chosen) { chosen_ = std::move(chosen); }

private:
    inline static std::shared_ptr<back_end> chosen_;
};

}  // namespace trn::riscv
