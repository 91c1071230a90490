// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstdint>
#include <vector>

#include "models/cards/nvme/queues/command.h"

namespace trn::nvme {

/// The features of the controller (NVM Express 5.21.1), as set by software since a reset.
class features {
public:
    struct limits {
        unsigned pairs = 0;  ///< I/O queues per direction
        unsigned vectors = 0;
        bool has_write_cache = false;
    };

    explicit features(const limits& supported) : limits_(supported) { reset(); }

    void reset();
    status set(const entry& command, std::uint32_t& result);
    status get(const entry& command, std::uint32_t& result) const;

    bool write_cache() const {
        return limits_.has_write_cache &&
               (values_[nvme_entry_regs::feature::id_write_cache] & 1) != 0;
    }
    /// Upper threshold of the composite temperature, kelvin.
    std::uint16_t hot() const { return thresholds_[0]; }
    std::uint16_t cold() const { return thresholds_[1]; }
    /// Bit mask of the critical warnings that are reported as events.
    std::uint8_t reported_warnings() const {
        return static_cast<std::uint8_t>(values_[nvme_entry_regs::feature::id_events]);
    }

private:
    std::uint32_t queues() const { return (limits_.pairs - 1) << 16 | (limits_.pairs - 1); }
    bool has(std::uint32_t id) const;

    const limits limits_;
    std::array<std::uint32_t, 12> values_{};     // by feature id
    std::array<std::uint16_t, 2> thresholds_{};  // over, under
    std::vector<bool> coalescing_disabled_;      // by vector
};

}  // namespace trn::nvme
