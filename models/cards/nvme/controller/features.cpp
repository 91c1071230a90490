// SPDX-License-Identifier: Apache-2.0
#include "models/cards/nvme/controller/features.h"

#include <cstddef>
#include <optional>

#include "models/cards/nvme/controller/identify.h"

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

constexpr std::uint32_t vector_bits = 0xffff, coalescing_disable = 1u << 16;

/// Bits of the features whose value is only stored; software reads other bits as 0.
constexpr std::uint32_t stored_bits(std::uint32_t id) {
    switch (id) {
    case names::id_arbitration:
        return 0xffff'ff07;
    case names::id_power:
        return 0xff;
    case names::id_error_recovery:
    case names::id_coalescing:
        return 0xffff;
    case names::id_write_cache:
    case names::id_atomicity:
        return 1;
    case names::id_events:
        return 0x7fff;
    default:
        return 0;
    }
}

}  // namespace

void features::reset() {
    values_ = {};
    values_[names::id_write_cache] = 1;
    thresholds_ = {hottest, coldest};
    coalescing_disabled_.assign(limits_.vectors, false);
}

/// Whether a feature whose value is only stored exists (NVM Express 5.21.1.6: the write cache's
/// feature needs a write cache).
bool features::has(std::uint32_t id) const {
    return stored_bits(id) != 0 && (id != names::id_write_cache || limits_.has_write_cache);
}

status features::set(const entry& command, std::uint32_t& result) {
    const std::uint32_t id = command.get(names::id);
    const std::uint32_t wanted = command.get(words::reg::feature_value);
    if (command.get(names::save) != 0) return status::feature_not_saveable;
    // Only error recovery belongs to a namespace.
    const std::uint32_t name = command.get(words::reg::namespace_);
    if (name != 0 && name != all_namespaces && id != names::id_error_recovery)
        return name == the_namespace ? status::feature_of_all_namespaces
                                     : status::invalid_namespace;
    switch (id) {
    case names::id_temperature_threshold: {
        const auto index = threshold(wanted);
        if (!index) return status::invalid_field;
        thresholds_[*index] = static_cast<std::uint16_t>(wanted);
        return status::success;
    }
    case names::id_queues:
        if ((wanted & 0xffff) == 0xffff || wanted >> 16 == 0xffff) return status::invalid_field;
        result = queues();
        return status::success;
    case names::id_vector:
        if ((wanted & vector_bits) >= limits_.vectors) return status::invalid_field;
        coalescing_disabled_[wanted & vector_bits] = (wanted & coalescing_disable) != 0;
        return status::success;
    case names::id_power:  // there is one power state
        if ((wanted & 0x1f) != 0) return status::invalid_field;
        break;
    default:
        break;
    }
    if (!has(id)) return status::invalid_field;
    values_[id] = wanted & stored_bits(id);
    return status::success;
}

status features::get(const entry& command, std::uint32_t& result) const {
    const std::uint32_t id = command.get(names::id);
    const std::uint32_t asked = command.get(words::reg::feature_value);
    switch (id) {
    case names::id_temperature_threshold: {
        const auto index = threshold(asked);
        if (!index) return status::invalid_field;
        result = thresholds_[*index];
        return status::success;
    }
    case names::id_queues:
        result = queues();
        return status::success;
    case names::id_vector:
        result = asked & vector_bits;
        if (result >= limits_.vectors) return status::invalid_field;
        if (coalescing_disabled_[result]) result |= coalescing_disable;
        return status::success;
    default:
        if (!has(id)) return status::invalid_field;
        result = values_[id];
        return status::success;
    }
}

}  // namespace trn::nvme
