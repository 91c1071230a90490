// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <span>

#include "models/cards/nvme/queues/command.h"

namespace trn::nvme {

/// The pages of a command's data: two pointers, or one pointer and a list in memory (NVM Express
/// 4.3). The data's length bounds the list, so a cyclic list terminates.
class prp_list {
public:
    static constexpr std::uint64_t page = 4096;
    struct piece {
        std::uint64_t address = 0, length = 0;
    };

    prp_list() = default;
    /// `prp1` and `prp2`: fields of the command.
    prp_list(std::uint64_t prp1, std::uint64_t prp2, std::uint64_t length);

    /// An error if a pointer has an invalid offset.
    status outcome() const { return outcome_; }
    /// The part of the list to read and pass to take() before next(); nothing: none.
    std::optional<piece> needs() const;
    void take(std::span<const std::uint64_t> entries);
    /// Next contiguous bus addresses; length 0: end of data. Precondition: needs() returns nothing.
    piece next() const { return now_; }
    /// Consumes `bytes` bytes. Precondition: at most next()'s length.
    void advance(std::uint64_t bytes);

private:
    std::uint32_t slots() const {
        return static_cast<std::uint32_t>((page - list_ % page) / sizeof(std::uint64_t));
    }
    void refill();

    status outcome_ = status::success;
    piece now_;
    std::uint64_t left_ = 0;  // bytes after now_
    std::uint64_t list_ = 0;  // address of the next part of the list
    std::array<std::uint64_t, page / sizeof(std::uint64_t)> entries_;
    std::uint32_t count_ = 0, index_ = 0;  // number of entries_, and index of the next
};

}  // namespace trn::nvme
