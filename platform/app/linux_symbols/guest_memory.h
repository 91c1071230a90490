// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>

#include "platform/framework/kernel/debug_target.h"

namespace trn {

/// Virtual memory of a kernel, through a hart that runs it, in any mode of the hart. The content is
/// not trusted: callers limit every length and every list.
class guest_memory {
public:
    explicit guest_memory(debug_target& hart) : hart_(hart) {}

    /// False when not all of it is mapped.
    bool read(std::uint64_t address, std::span<std::uint8_t> bytes) const;
    template <typename Number>
    std::optional<Number> number(std::uint64_t address) const {
        Number value = 0;
        const std::span bytes(reinterpret_cast<std::uint8_t*>(&value), sizeof value);
        return read(address, bytes) ? std::optional(value) : std::nullopt;
    }
    /// A text of at most `limit` bytes, which ends at its first zero; bytes that are not printable
    /// are '?'.
    std::string text(std::uint64_t address, std::size_t limit) const;

private:
    bool peek(std::uint64_t address, std::span<std::uint8_t> bytes) const;
    std::optional<std::uint64_t> physical(std::uint64_t address) const;

    debug_target& hart_;
};

}  // namespace trn
