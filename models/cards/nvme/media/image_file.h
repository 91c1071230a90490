// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <systemc>

#include "models/cards/nvme/media/block_store.h"
#include "platform/framework/unique_fd.h"

namespace trn::nvme {

/// A disk in a sparse file of the host, which keeps its content after a run. Only one process can
/// use it at a time.
class image_file final : public block_store {
public:
    /// Bytes that clear() writes at one simulated time on a file system that makes no holes.
    static constexpr std::uint64_t max_zeros = 1 << 20;

    /// Creates the file if it does not exist. \throws std::runtime_error if the file cannot be
    /// used, is in use, or has another size
    image_file(const std::string& path, std::uint64_t size);

    bool read(std::uint64_t offset, std::span<std::uint8_t> bytes) override;
    bool write(std::uint64_t offset, std::span<const std::uint8_t> bytes) override;
    std::optional<std::uint64_t> clear(std::uint64_t offset, std::uint64_t size) override;
    std::uint64_t used() const override;

private:
    std::uint64_t hole_at(std::uint64_t offset) const;
    bool failed(const char* operation);

    const std::string path_;
    unique_fd file_;
    bool reported_ = false;
    sc_core::sc_time zeros_at_;  // time of the last zeros that clear() wrote
    std::uint64_t zeros_ = 0;    // bytes of them at that time
};

}  // namespace trn::nvme
