// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <ranges>
#include <span>
#include <type_traits>

#include "platform/framework/registers/table.h"

namespace trn {

/// An entry of a ring in memory: up to 64 bytes of 32-bit words, named by a generated table
/// (`Rows`: `<block>_regs::rows`) in which each kind of entry starts at a multiple of 64.
template <const auto& Rows>
class table_entry {
public:
    static constexpr std::size_t size = 64;

    table_entry() = default;
    explicit table_entry(std::span<const std::uint32_t, size / 4> words) {
        std::copy(words.begin(), words.end(), words_.begin());
    }

    std::uint32_t get(register_field field) const {
        return static_cast<std::uint32_t>(field.get(words_[place(field.reg)]));
    }
    void set(register_field field, std::uint64_t value) {
        std::uint32_t& word = words_[place(field.reg)];
        word = static_cast<std::uint32_t>(field.set(word, value));
    }
    template <class Reg>
    requires std::is_enum_v<Reg> std::uint32_t get(Reg reg)
    const { return words_[word(reg)]; }
    template <class Reg>
    requires std::is_enum_v<Reg>
    void set(Reg reg, std::uint64_t value) {
        words_[word(reg)] = static_cast<std::uint32_t>(value);
    }
    /// The value of two consecutive words, `low` first.
    template <class Reg>
    std::uint64_t get_wide(Reg low) const {
        return words_[word(low)] | std::uint64_t{words_[word(low) + 1]} << 32;
    }
    template <class Reg>
    void set_wide(Reg low, std::uint64_t value) {
        words_[word(low)] = static_cast<std::uint32_t>(value);
        words_[word(low) + 1] = static_cast<std::uint32_t>(value >> 32);
    }

    /// Copies an array to consecutive words.
    template <class Reg, std::ranges::contiguous_range Values>
    void set_array(Reg first, const Values& values) {
        std::memcpy(&words_[word(first)], std::ranges::data(values),
                    std::ranges::size(values) * sizeof *std::ranges::data(values));
    }

    std::array<std::uint32_t, size / 4>& words() { return words_; }
    const std::array<std::uint32_t, size / 4>& words() const { return words_; }
    /// The entry as in memory.
    std::span<const std::uint8_t> bytes() const {
        return {reinterpret_cast<const std::uint8_t*>(words_.data()), size};
    }

    /// Offset of a word in the entry, bytes.
    template <class Reg>
    static constexpr std::size_t byte(Reg reg) {
        return word(reg) * 4;
    }

private:
    static constexpr std::size_t place(std::size_t row) { return Rows[row].offset % size / 4; }
    template <class Reg>
    static constexpr std::size_t word(Reg reg) {
        return place(static_cast<std::size_t>(reg));
    }

    std::array<std::uint32_t, size / 4> words_{};
};

}  // namespace trn
