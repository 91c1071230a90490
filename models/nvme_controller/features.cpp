// SPDX-License-Identifier: Apache-2.0
#include "models/nvme_controller/features.h"

#include <cstddef>
#include <optional>

namespace trn::nvme {

namespace words = nvme_entry_regs;
namespace names = nvme_entry_regs::feature;

namespace {

constexpr std::uint16_t hottest = 358, coldest = 0;  // kelvin; default thresholds

/// Index of a threshold: 0 for over, 1 for under. Bits of `asked`: 15:0 temperature; 19:16 sensor
/// (0: composite, 15: all); 21:20 index.
std::optional<std::size_t> threshold(std::uint32_t asked) {
    const std::uint32_t sensor = asked >> 16 & 0xf, kind = asked >> 20 & 3;
    if ((sensor != 0 && sensor != 0xf) || kind > 1) return std::nullopt;
    return kind;
}

}  // namespace

void features::reset() {
    values_ = {};
    values_[names::id_write_cache] = 1;
    thresholds_ = {hottest, coldest};
}

status features::set(const entry& command, std::uint32_t& result) {
    const std::uint32_t id = command.get(names::id);
    const std::uint32_t wanted = command.get(words::reg::feature_value);
    if (command.get(names::save) != 0) return status::feature_not_saveable;
    switch (id) {
    case names::id_temperature_threshold: {
        const auto which = threshold(wanted);
        if (!which) return status::invalid_field;
        thresholds_[*which] = static_cast<std::uint16_t>(wanted);
        return status::success;
    }
    case names::id_queues:
        if ((wanted & 0xffff) == 0xffff || wanted >> 16 == 0xffff) return status::invalid_field;
        result = queues();
        return status::success;
    case names::id_power:  // there is one power state
        return (wanted & 0x1f) == 0 ? status::success : status::invalid_field;
    case names::id_vector:
        return (wanted & 0xffff) < vectors_ ? status::success : status::invalid_vector;
    case names::id_arbitration:
    case names::id_error_recovery:
    case names::id_write_cache:
    case names::id_coalescing:
    case names::id_atomicity:
    case names::id_events:
        values_[id] = wanted;
        return status::success;
    default:
        return status::invalid_field;
    }
}

status features::get(const entry& command, std::uint32_t& result) const {
    const std::uint32_t id = command.get(names::id);
    const std::uint32_t asked = command.get(words::reg::feature_value);
    switch (id) {
    case names::id_temperature_threshold: {
        const auto which = threshold(asked);
        if (!which) return status::invalid_field;
        result = thresholds_[*which];
        return status::success;
    }
    case names::id_queues:
        result = queues();
        return status::success;
    case names::id_vector:
        result = asked & 0xffff;
        return result < vectors_ ? status::success : status::invalid_vector;
    case names::id_power:
    case names::id_arbitration:
    case names::id_error_recovery:
    case names::id_write_cache:
    case names::id_coalescing:
    case names::id_atomicity:
    case names::id_events:
        result = values_[id];
        return status::success;
    default:
        return status::invalid_field;
    }
}

}  // namespace trn::nvme
