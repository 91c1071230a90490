// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <memory>
#include <utility>

namespace trn::riscv {

struct block;

/// Host code of a block; destroyed with the block.
class host_code {
public:
    virtual ~host_code() = default;
};

/// Translates assembled blocks to host code. It replaces functions of operations, so that the
/// executor enters host code like any operation. Without a back end, harts execute operations only.
class back_end {
public:
    virtual ~back_end() = default;
    /// Called for a block that is assembled and not yet executed.
    virtual void adopt(block& b) = 0;
    /// Harts watch bytes of memory from now on.
    virtual void expect_watched_bytes() {}
    /// Whether accesses of host code are undone and repeated (check mode). Then harts access memory
    /// that other processes can write once, outside of host code.
    virtual bool repeats_accesses() const { return false; }
    /// Blocks that have host code now.
    virtual std::size_t blocks() const = 0;

    /// The back end for code caches that are still empty; nullptr: none.
    static const std::shared_ptr<back_end>& chosen() { return chosen_; }
    static void choose(std::shared_ptr<back_end> chosen) { chosen_ = std::move(chosen); }

private:
    inline static std::shared_ptr<back_end> chosen_;
};

}  // namespace trn::riscv
