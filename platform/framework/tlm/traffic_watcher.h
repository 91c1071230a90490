// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <span>

namespace trn {

/// Notified of all bytes that models access in a memory, by transactions or through direct
/// pointers. A recording stores the bytes that a device read from its host; a replay, which has no
/// host, replaces them.
class traffic_watcher {
public:
    /// `bytes` were read at `address` into the reader's buffer; the watcher may replace them.
    virtual void has_read(std::uint64_t address, std::span<std::uint8_t> bytes) = 0;
    /// `bytes` are written at `address`.
    virtual void has_written(std::uint64_t address, std::span<const std::uint8_t> bytes) = 0;

protected:
    ~traffic_watcher() = default;
};

}  // namespace trn
