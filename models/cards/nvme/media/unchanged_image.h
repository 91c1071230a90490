// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <unordered_map>

#include "models/cards/nvme/media/block_store.h"
#include "platform/framework/unique_fd.h"

namespace trn::nvme {

/// A disk whose first content is a file of the host that stays unchanged: written data stays in
/// memory, which each copy of the process has for itself.
class unchanged_image final : public block_store {
public:
    /// Without the file, or with an empty one, the disk is empty. \throws std::runtime_error if the
    /// file cannot be read, is in use by a run that writes it, or has another size
    unchanged_image(const std::string& path, std::uint64_t size);

    bool read(std::uint64_t offset, std::span<std::uint8_t> bytes) override;
    bool write(std::uint64_t offset, std::span<const std::uint8_t> bytes) override;
    std::optional<std::uint64_t> clear(std::uint64_t offset, std::uint64_t size) override;
    std::uint64_t used() const override { return extents_.size() * extent_bytes; }

private:
    static constexpr std::uint64_t extent_bytes = 64 << 10;
    using extent = std::array<std::uint8_t, extent_bytes>;

    static std::uint64_t in_extent(std::uint64_t offset, std::uint64_t size);
    bool read_file(std::uint64_t offset, std::span<std::uint8_t> bytes);
    extent* writable(std::uint64_t number);

    const std::string path_;
    unique_fd file_;
    bool reported_ = false;
    std::unordered_map<std::uint64_t, std::unique_ptr<extent>> extents_;  // null: zeros
};

}  // namespace trn::nvme
