// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <span>

namespace trn {

/// Is notified of every byte that models move in a memory, by transactions or through a direct
/// pointer. A recording stores the bytes that a device read from its host; a replay, which has no
/// host, supplies them.
class traffic_watcher {
public:
    /// `bytes` were read at `address` into the reader's buffer; they may be replaced.
    virtual void has_read(std::uint64_t address, std::span<std::uint8_t> bytes) = 0;
    /// `bytes` are written at `address`.
    virtual void has_written(std::uint64_t address, std::span<const std::uint8_t> bytes) = 0;

protected:
    ~traffic_watcher() = default;
};

}  // namespace trn
