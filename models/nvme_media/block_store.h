// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <span>

namespace trn::nvme {

/// The bytes of a disk. Ranges are within its size. False: the storage behind it has failed.
class block_store {
public:
    virtual ~block_store() = default;
    virtual bool read(std::uint64_t offset, std::span<std::uint8_t> into) = 0;
    virtual bool write(std::uint64_t offset, std::span<const std::uint8_t> from) = 0;
    /// Bytes that read zero afterwards and cost as little storage as possible.
    virtual bool clear(std::uint64_t offset, std::uint64_t size) = 0;
    /// Bytes of storage in use.
    virtual std::uint64_t used() const = 0;
};

}  // namespace trn::nvme
