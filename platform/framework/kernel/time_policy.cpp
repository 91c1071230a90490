// SPDX-License-Identifier: Apache-2.0
#include "platform/framework/kernel/time_policy.h"

#include <fmt/format.h>

#include "platform/framework/config/units.h"

namespace trn {

std::optional<time_policy> time_policy::parse(std::string_view text) {
    if (text == "lockstep") return time_policy{kind::lockstep};
    if (text == "free") return time_policy{kind::free};
    if (text == "realtime") return time_policy{kind::realtime};
    constexpr std::string_view prefix = "realtime:";
    if (!text.starts_with(prefix)) return std::nullopt;
    text.remove_prefix(prefix.size());
    const auto parsed = config::parse_real(text);
    const auto* factor = std::get_if<double>(&parsed);
    if (factor == nullptr || *factor < min_factor || *factor > max_factor) return std::nullopt;
    return time_policy{kind::realtime, *factor};
}

std::string time_policy::text() const {
    switch (mode) {
    case kind::lockstep:
        return "lockstep";
    case kind::free:
        return "free";
    case kind::realtime:
        return fmt::format("realtime:{}", factor);
    }
    return {};
}

}  // namespace trn
