// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

namespace trn {

/// The tables of an image are missing or not consistent; what() is a sentence without the file.
class kernel_image_error : public std::runtime_error {
public:
    using std::runtime_error::runtime_error;
};

/// The symbols of a Linux kernel from the tables that it has for its own messages (kallsyms), in
/// the order of Linux 6.5 and later: number of symbols, compressed names, markers, token table,
/// token index, offsets, relative base (the kernel's scripts/kallsyms.c). They are found by their
/// content: an `Image` has no headers that name them.
class kallsyms {
public:
    static constexpr std::uint32_t max_symbols = 1 << 20;

    struct symbol {
        std::uint64_t address;
        char type;  ///< as of nm: 't' and 'T' are functions
        std::string name;

        bool is_function() const { return type == 't' || type == 'T' || is_weak(); }

    private:
        bool is_weak() const { return type == 'w' || type == 'W'; }
    };

    /// Reads the tables of `image`. \throws kernel_image_error
    explicit kallsyms(std::span<const std::uint8_t> image);

    /// By ascending address.
    const std::vector<symbol>& all() const { return symbols_; }
    /// The address of the first symbol of this name.
    std::optional<std::uint64_t> find(std::string_view name) const;
    /// The last symbol at or before `address`; of several at one address, the first. Null when
    /// there is none, or when `address` is beyond the kernel (_end).
    const symbol* at(std::uint64_t address) const;
    /// The kernel has been relocated: adds `slide` to all addresses.
    void move(std::uint64_t slide);

private:
    std::vector<symbol> symbols_;
};

}  // namespace trn
