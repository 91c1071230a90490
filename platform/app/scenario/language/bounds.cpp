// SPDX-License-Identifier: Apache-2.0
#include "platform/app/scenario/language/bounds.h"

#include <fmt/format.h>

#include <utility>

namespace trn::scenario {

std::string address_fault(const location& place) {
    return place.space == location::kind::host
               ? "memory of the host has no address before a copy takes it: name a memory of a chip"
               : "";
}

void check_parts(const reader& r, std::string_view key, std::uint64_t size, std::uint64_t part) {
    if (part != 0 && size / part > max_parts)
        r.node().at(key).report(
            mistake::out_of_range,
            fmt::format("{} are cut into more than {} parts of {}", to_string(bytes{size}),
                        max_parts, to_string(bytes{part})));
}

figure rate_bounds::wanted(const reader& r, std::string name) const {
    figure wanted{std::move(name), 0, "GB/s"};
    const auto gigabytes = [](data_rate rate) {
        return static_cast<double>(rate.bytes_per_second) * 1e-9;
    };
    if (at_least) wanted.min = gigabytes(*at_least);
    if (at_most) wanted.max = gigabytes(*at_most);
    check_bounds(r, wanted);
    return wanted;
}

void check_bounds(const reader& r, const figure& wanted) {
    if (wanted.min && wanted.max && *wanted.min > *wanted.max)
        r.node().at("at_most").report(mistake::out_of_range, "'at_most' is less than 'at_least'");
}

}  // namespace trn::scenario
