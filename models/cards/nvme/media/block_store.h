// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>
#include <span>

namespace trn::nvme {

/// The bytes of a disk. Precondition: ranges are within its size. Functions return false or nothing
/// if the storage has failed.
class block_store {
public:
    virtual ~block_store() = default;
    virtual bool read(std::uint64_t offset, std::span<std::uint8_t> bytes) = 0;
    virtual bool write(std::uint64_t offset, std::span<const std::uint8_t> bytes) = 0;
    /// Makes the first bytes of a range read zero and use as little storage as possible: as many as
    /// bounded work at the present simulated time allows. Precondition: size is not 0. \returns
    /// their number; 0: none before time advances
    virtual std::optional<std::uint64_t> clear(std::uint64_t offset, std::uint64_t size) = 0;
    /// Number of bytes of storage in use.
    virtual std::uint64_t used() const = 0;
};

}  // namespace trn::nvme
