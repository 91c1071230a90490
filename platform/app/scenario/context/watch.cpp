// SPDX-License-Identifier: Apache-2.0
#include "platform/app/scenario/context/watch.h"

#include <fmt/format.h>

namespace trn::scenario {

std::string range::text() const {
    if (min == max) return fmt::format("{}", min);
    return max == ~std::uint64_t{0} ? fmt::format("at least {}", min)
                                    : fmt::format("{} to {}", min, max);
}

}  // namespace trn::scenario
