// SPDX-License-Identifier: Apache-2.0
#include "platform/framework/kernel/time_text.h"

#include <fmt/format.h>

#include <array>
#include <cstdint>
#include <string_view>

#include "platform/framework/kernel/time_value.h"

namespace trn {
namespace {

struct unit {
    std::string_view name;
    std::uint64_t picoseconds;
};
constexpr std::array units{unit{"s", 1'000'000'000'000}, unit{"ms", 1'000'000'000},
                           unit{"us", 1'000'000}, unit{"ns", 1'000}, unit{"ps", 1}};

}  // namespace

std::string to_text(const sc_core::sc_time& time) {
    return time_text(in_picoseconds(time));
}

std::string time_text(std::uint64_t ps) {
    if (ps == 0) return "0 s";
    for (const auto& u : units) {
        if (ps < u.picoseconds) continue;
        auto text = fmt::format("{}", ps / u.picoseconds);
        if (const auto rest = ps % u.picoseconds; rest != 0) {
            auto digits = fmt::format("{}", rest + u.picoseconds).substr(1);  // with leading zeros
            digits.erase(digits.find_last_not_of('0') + 1);
            text += "." + digits;
        }
        return fmt::format("{} {}", text, u.name);
    }
    return {};
}

}  // namespace trn
