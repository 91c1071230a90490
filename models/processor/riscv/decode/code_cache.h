// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <iterator>
#include <memory>
#include <span>
#include <string>
#include <unordered_map>
#include <vector>

#include "models/processor/riscv/decode/back_end.h"
#include "models/processor/riscv/decode/block.h"
#include "models/processor/riscv/decode/decode.h"
#include "models/processor/riscv/decode/isa.h"
#include "models/processor/riscv/decode/op.h"
#include "platform/framework/loader/coverage.h"
#include "platform/framework/loader/function_names.h"

namespace trn::riscv {

/// Functions that convert instructions to operations. Operations access harts, and harts hold code:
/// to avoid the cycle, these functions are passed in when the cache is created (assemble.h).
struct predecoder {
    /// Predecodes the block that begins at `offset` of the page. Conditional branches do not end it
    /// (not taken, it continues) and forward jumps in the page are followed.
    void (*block)(riscv::block& b, code_page& page, u32 offset);
    /// A block of one instruction, to be executed alone.
    void (*single)(riscv::block& b, const decoded& instruction, u32 offset, isa extensions);
    /// Executes from virtual address `acc` on, in any page.
    handler jump;
};

/// The code of a 4 KiB page with this content, decoded as far as it was executed. Pages are
/// identified by content and breakpoints: harts that execute pages with equal bytes and breakpoints
/// share one, at any address.
class code_page {
public:
    static constexpr u64 size = 4096;
    using bytes = std::array<u8, size>;

    /// Blocks end before the offsets `stops`, in ascending order; the instruction there is executed
    /// alone. `translator` may be null.
    code_page(const u8* content, isa extensions, std::vector<u16> stops, const predecoder& decoder,
              std::shared_ptr<back_end> translator);

    /// The block that begins `offset` bytes into the page; decoded on first use.
    const op* block_at(u32 offset);
    /// Like at(), but returns nullptr if the block is not decoded.
    const op* find(u32 offset) const { return entry_[offset / 2]; }
    const bytes& content() const { return content_; }
    isa extensions() const { return isa_; }
    const std::vector<u16>& stops() const { return stops_; }
    bool has_back_end() const { return back_end_ != nullptr; }
    bool is_of(const u8* content, isa extensions, const std::vector<u16>& stops) const;

    /// Records executed instructions in `all` from now on; the page is at `address`.
    void record(coverage& all, u64 address);
    /// The marks of the instruction at `offset`; nullptr if its coverage is not recorded.
    u8* marks(u32 offset, u32 bits) const {
        return program_ == nullptr ? nullptr : program_->marks(address_ + offset, bits);
    }

    /// Reports entries of functions from now on; the page is at `address`.
    void name_functions(const function_names& all, u64 address);
    /// The function that begins at `offset`, or nullptr.
    const std::string* function(u32 offset) const {
        if (functions_ == nullptr) return nullptr;
        const auto found = functions_->find(functions_at_ + offset);
        return found == functions_->end() ? nullptr : &found->second;
    }

    /// The function that contains `offset`, or nullptr.
    const std::string* function_around(u32 offset) const {
        if (functions_ == nullptr) return nullptr;
        const auto next = functions_->upper_bound(functions_at_ + offset);
        return next == functions_->begin() ? nullptr : &std::prev(next)->second;
    }

private:
    bytes content_;
    isa isa_;
    const std::vector<u16> stops_;
    const predecoder& decoder_;
    const std::shared_ptr<back_end> back_end_;
    coverage::program* program_ = nullptr;  // the program of this code, and its address
    u64 address_ = 0;
    const function_names::by_address* functions_ = nullptr;  // functions at that address
    u64 functions_at_ = 0;
    std::array<const op*, size / 2> entry_{};
    std::vector<std::unique_ptr<block>> blocks_;
};

/// All pages of decoded code; shared by the harts of a chip. Bounded: unused pages are dropped.
class code_cache {
public:
    static constexpr std::size_t max_pages = 2048;

    explicit code_cache(const predecoder& decoder) : decoder_(decoder) {}

    std::shared_ptr<code_page> find(const u8* content, isa extensions, std::vector<u16> stops = {});
    const predecoder& decoder() const { return decoder_; }
    const back_end* translator() const { return back_end_.get(); }
    std::size_t pages() const { return pages_.size(); }

private:
    static constexpr std::size_t max_recent = 512;

    void drop_unused();

    const predecoder& decoder_;
    std::shared_ptr<back_end> back_end_;  // common to all pages
    std::unordered_multimap<u64, std::shared_ptr<code_page>> pages_;
    /// By their place in memory: most pages are sought again there, with the same content.
    std::vector<std::shared_ptr<code_page>> recent_;
};

}  // namespace trn::riscv
