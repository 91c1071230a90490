// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <optional>

#include "models/neuron_isa/instructions/codec.h"

namespace trn {

/// The instruction buffer of a sequencer, with its decoded instructions: 4 blocks of 64 words (spec
/// 5.2).
class program_buffer {
public:
    static constexpr unsigned block_words = 64;
    static constexpr unsigned block_bytes = block_words * isa::word_bytes;
    static constexpr unsigned blocks = 4;
    static constexpr unsigned ahead = 2;  ///< blocks fetched before they are needed

    struct block {
        std::uint32_t number = 0;  ///< pc / 64
        bool used = false;
        bool readable = false;
        std::uint64_t ready = 0;  ///< cycle at which the block has arrived
        std::array<std::uint8_t, block_bytes> bytes{};
    };
    /// A decoded instruction with the results of its checks, computed once if they cannot change.
    struct entry {
        isa::decoded d;
        std::optional<isa::fault> header_fault, fault;
        bool by_register = false;  ///< `fault` must be checked at each execution
        bool local = false;        ///< touches registers only
    };

    const block* find(std::uint32_t number) const {
        for (const auto& b : blocks_)
            if (b && b->used && b->number == number) return b.get();
        return nullptr;
    }
    /// Replaces the block farthest from `current` by an empty block `number`.
    block& replace(std::uint32_t number, std::uint32_t current);
    void drop();

    /// The decoded instruction at `pc`; null until decode() has been called.
    entry* decoded(std::uint32_t pc) {
        auto& e = entries_[pc % entries_.size()];
        return e && tags_[pc % entries_.size()] == pc ? e.get() : nullptr;
    }
    const entry* decoded(std::uint32_t pc) const {
        const auto& e = entries_[pc % entries_.size()];
        return e && tags_[pc % entries_.size()] == pc ? e.get() : nullptr;
    }
    entry& keep(std::uint32_t pc, entry added);

private:
    std::array<std::unique_ptr<block>, blocks> blocks_;
    std::array<std::unique_ptr<entry>, blocks * block_words> entries_;
    std::array<std::uint32_t, blocks * block_words> tags_{};
};

}  // namespace trn
