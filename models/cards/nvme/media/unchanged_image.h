// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>

#include "models/cards/nvme/media/sparse_store.h"
#include "platform/framework/unique_fd.h"

namespace trn::nvme {

/// A disk whose first content is a file of the host that stays unchanged: written data stays in
/// memory, which each copy of the process has for itself.
class unchanged_image final : public sparse_store {
public:
    /// Without the file, or with an empty one, the disk is empty. \throws std::runtime_error if the
    /// file cannot be read, is in use by a run that writes it, or has another size
    unchanged_image(const std::string& path, std::uint64_t size);

    std::optional<std::uint64_t> clear(std::uint64_t offset, std::uint64_t size) override;

private:
    bool read_unwritten(std::uint64_t offset, std::span<std::uint8_t> bytes) override;

    const std::string path_;
    unique_fd file_;
    bool reported_ = false;
};

}  // namespace trn::nvme
