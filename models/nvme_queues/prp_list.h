// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <span>

#include "models/nvme_queues/command.h"

namespace trn::nvme {

/// The pages of a command's data: two pointers, or one and a list in memory (NVM Express 4.3). A
/// list ends with the data that it is for, so one that points to itself ends too.
class prp_list {
public:
    static constexpr std::uint64_t page = 4096;
    struct piece {
        std::uint64_t address = 0, length = 0;
    };

    prp_list() = default;
    /// `prp1` and `prp2`: as the command has them.
    prp_list(std::uint64_t prp1, std::uint64_t prp2, std::uint64_t length);

    /// Not success: a pointer has an offset that is not allowed.
    status how() const { return how_; }
    /// The part of the list that has to be read (take()) before there is a next piece.
    std::optional<piece> needs() const;
    void take(std::span<const std::uint64_t> entries);
    /// Contiguous bus addresses; length 0: the data ends here. Precondition: needs() has nothing.
    piece next() const { return now_; }
    /// The next `bytes` are done. Precondition: not more than next() has.
    void advance(std::uint64_t bytes);

private:
    std::uint32_t slots() const {
        return static_cast<std::uint32_t>((page - list_ % page) / sizeof(std::uint64_t));
    }
    void refill();

    status how_ = status::success;
    piece now_;
    std::uint64_t left_ = 0;  // bytes after now_
    std::uint64_t list_ = 0;  // address of the next part of the list
    std::array<std::uint64_t, page / sizeof(std::uint64_t)> entries_;
    std::uint32_t count_ = 0, at_ = 0;  // of entries_
};

}  // namespace trn::nvme
