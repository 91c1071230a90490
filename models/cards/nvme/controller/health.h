// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstdint>
#include <deque>
#include <vector>

#include "models/cards/nvme/queues/queue_set.h"

namespace trn::nvme {

class features;

/// Content of the logs (NVM Express 5.14.1): health counters, which survive resets and power loss,
/// and failed commands, which survive resets.
class health {
public:
    std::uint64_t media_errors = 0, power_cycles = 1, unsafe_shutdowns = 0;
    std::uint16_t temperature = 310;  ///< kelvin; invented

    void count_read(std::uint64_t bytes) {
        ++reads_;
        bytes_read_ += bytes;
    }
    void count_write(std::uint64_t bytes) {
        ++writes_;
        bytes_written_ += bytes;
    }
    void note_error(const completion& result, const command& request);
    void forget_errors() { errors_.clear(); }

    /// Bits of the critical warning field.
    std::uint8_t warnings(const features& limits) const;

    std::vector<std::uint8_t> error_page() const;
    std::vector<std::uint8_t> health_page(const features& limits) const;
    static std::vector<std::uint8_t> firmware_page();

private:
    struct failure {
        std::uint64_t number = 0;
        completion result;
        std::uint64_t block = 0;
        std::uint32_t name = 0;
    };

    std::uint64_t reads_ = 0, writes_ = 0, bytes_read_ = 0, bytes_written_ = 0;
    std::uint64_t failures_ = 0;
    std::deque<failure> errors_;  // newest first
};

}  // namespace trn::nvme
