// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <memory>
#include <unordered_map>
#include <unordered_set>
#include <utility>
#include <vector>

#include "models/processor/riscv/decode/code_cache.h"
#include "models/processor/riscv/translate/code_region.h"
#include "models/processor/riscv/translate/options.h"
#include "models/processor/riscv/translate/perf_map.h"
#include "models/processor/riscv/translate/reference.h"
#include "models/processor/riscv/translate/shared_code.h"

namespace trn::riscv::translate {

class translator;
struct translated_block;

/// A block that executions are counted of, and later its host code.
class hot_block final : public host_code {
public:
    hot_block(translator& maker, block& translated, u32 counter)
        : owner(maker), b(translated), first(translated.ops[1].run), number(counter) {}
    ~hot_block() override;

    translator& owner;
    block& b;
    const handler first;  ///< function of the first operation without host code
    const u32 number;     ///< of its counter of executions
    u64 start = 0;        ///< address of its host code; 0: none
    std::vector<std::pair<u8, handler>> replaced;  ///< functions of operations, by slot
    // In check mode:
    std::vector<handler> entries;            ///< host code that replaces them; index: slot
    std::unique_ptr<reference_block> again;  ///< created when it is first executed again
    u8 runs = 0;                             ///< that began here; only the first ones are counted
};

/// The back end: counts executions of blocks, translates frequent ones and owns their code. When
/// the bounded region is full, all code is dropped and counting restarts. One thread executes all
/// harts, and no host code is on its stack during translation.
class translator final : public back_end {
public:
    /// Check mode: `checked` is installed instead of host code; it executes a run of it twice and
    /// compares.
    struct check_mode {
        handler checked;
        reference::finder find;
    };
    explicit translator(const options& chosen, const check_mode* check = nullptr);

    /// Whether this host allows processes to create code.
    bool usable() const { return region_.usable() && shared_.leave != 0; }
    void adopt(block& b) override;
    void expect_watched_bytes() override;
    bool repeats_accesses() const override { return second_execution_ != nullptr; }
    std::size_t blocks() const override { return translated_.size(); }

    /// Translates a block that is executed in the page at virtual address `page`.
    void translate(hot_block& hot, u64 page);
    void forget(hot_block& hot);
    /// Counts an execution. Returns whether the block is now to be translated.
    bool count(const hot_block& hot) { return ++executions_[hot.number] >= options_.threshold; }

    // In check mode:
    /// Exit of checked code, and its stores.
    outcome& result() { return result_; }
    std::array<outcome::stored, outcome::max_stores>& stores() { return *stores_; }
    reference& second_execution() { return *second_execution_; }
    /// Host code that begins at `from` and leaves before `end`, valid until the next call or
    /// translation; null: there is none.
    handler translate_part(const hot_block& hot, u8 entry, unsigned end);

    // For tests.
    std::size_t code_size() const { return region_.used(); }
    u64 drops() const { return drops_; }

private:
    translated_block make(const hot_block& hot, unsigned end);
    void drop_all();
    void refuse();
    static const u8* place_of(const block& b, u16 start) { return &b.owner->content()[start]; }
    void join_links_to(const hot_block& hot);
    void count_anew(hot_block& hot);
    u32 unused_counter();

    const options options_;
    const handler checked_;
    code_region region_;
    shared_code shared_;
    std::size_t kept_ = 0;  // bytes of shared_
    bool refused_ = false;  // the host has refused new code
    perf_map perf_map_;
    /// Of all blocks, together: a forked process writes to few pages as it counts.
    std::vector<u32> executions_;
    std::vector<u32> unused_;  // numbers of counters without a block
    std::unordered_set<hot_block*> translated_;
    /// Code to patch into a jump once the block at this location of a page has host code.
    std::unordered_multimap<const u8*, const u8*> waiting_;
    u64 drops_ = 0;
    outcome result_;
    std::unique_ptr<std::array<outcome::stored, outcome::max_stores>> stores_;  // in check mode
    std::unique_ptr<reference> second_execution_;                               // in check mode
};

}  // namespace trn::riscv::translate
