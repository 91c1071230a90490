// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "platform/app/scenario/language/parameters.h"
#include "platform/app/scenario/results/figure.h"

// Limits of the values of steps, and bounds of what steps measure.

namespace trn::scenario {

inline constexpr std::uint64_t any = ~std::uint64_t{0};

/// Limit of the bytes that a step copies into this process. Copies between memories of chips that
/// are not compared may be longer.
inline constexpr std::uint64_t max_held = 4ull << 30;
inline constexpr size_bounds held{.min = 0, .max = max_held};
inline constexpr size_bounds not_empty{.min = 1};
/// Limit of the requests or descriptors of a step.
inline constexpr std::uint64_t max_parts = 1 << 22;

/// Error message for a location that a step cannot address; else "".
std::string address_fault(const location& place);
/// Reports at `key` when `size` has more than `max_parts` parts of `part` bytes.
void check_parts(const reader& r, std::string_view key, std::uint64_t size, std::uint64_t part);

/// The keys `at_least` and `at_most` of steps that measure a rate.
struct rate_bounds {
    std::optional<data_rate> at_least = {}, at_most = {};
    /// The figure with these bounds; reports at `at_most` when the bounds exclude every value.
    figure wanted(const reader& r, std::string name) const;
};
/// Reports at `at_most` when the bounds exclude every value.
void check_bounds(const reader& r, const figure& wanted);

}  // namespace trn::scenario
