// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <span>

namespace trn {

/// Hears of every byte that models move in some memory, by transactions or through a direct
/// pointer: how a recording learns what a device read from its host, and how a replay, which has no
/// host, provides it.
class traffic_watcher {
public:
    /// `bytes` were read at `address` and are where their reader wants them; they may be replaced.
    virtual void has_read(std::uint64_t address, std::span<std::uint8_t> bytes) = 0;
    /// `bytes` are written at `address`.
    virtual void has_written(std::uint64_t address, std::span<const std::uint8_t> bytes) = 0;

protected:
    ~traffic_watcher() = default;
};

}  // namespace trn
