// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <unordered_map>

#include "models/cards/nvme/media/block_store.h"

namespace trn::nvme {

/// A disk in memory: extents exist from their first write until they are cleared.
class sparse_store : public block_store {
public:
    static constexpr std::uint64_t extent_bytes = 64 << 10;

    bool read(std::uint64_t offset, std::span<std::uint8_t> bytes) override;
    bool write(std::uint64_t offset, std::span<const std::uint8_t> bytes) override;
    std::optional<std::uint64_t> clear(std::uint64_t offset, std::uint64_t size) override;
    std::uint64_t used() const override { return extents_.size() * extent_bytes; }

protected:
    using extent = std::array<std::uint8_t, extent_bytes>;

    /// Number of bytes from `offset` to the end of its extent, at most `size`.
    static std::uint64_t in_extent(std::uint64_t offset, std::uint64_t size) {
        return std::min(size, extent_bytes - offset % extent_bytes);
    }
    /// Reads bytes of an extent that does not exist; false if the storage has failed.
    virtual bool read_unwritten(std::uint64_t offset, std::span<std::uint8_t> bytes);
    /// The extent in memory, with its content; null if the storage has failed.
    extent* writable(std::uint64_t number);

    std::unordered_map<std::uint64_t, std::unique_ptr<extent>> extents_;  // null: zeros
};

}  // namespace trn::nvme
