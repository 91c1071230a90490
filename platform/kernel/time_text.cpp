// SPDX-License-Identifier: Apache-2.0
#include "platform/kernel/time_text.h"

#include <fmt/format.h>

#include <array>
#include <charconv>
#include <cmath>

namespace trn {
namespace {

struct unit {
    std::string_view name;
    sc_core::sc_time_unit si;
    std::uint64_t picoseconds;
};
constexpr std::array units{unit{"s", sc_core::SC_SEC, 1'000'000'000'000},
                           unit{"ms", sc_core::SC_MS, 1'000'000'000},
                           unit{"us", sc_core::SC_US, 1'000'000}, unit{"ns", sc_core::SC_NS, 1'000},
                           unit{"ps", sc_core::SC_PS, 1}};

}  // namespace

std::string to_text(const sc_core::sc_time& time) {
    const std::uint64_t ps = time.value();  // the kernel's resolution is 1 ps
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

std::optional<sc_core::sc_time> parse_time(std::string_view text) {
    double number = 0;
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
    if (error != std::errc{} || !std::isfinite(number) || number < 0) return std::nullopt;
    std::string_view rest(end, static_cast<std::size_t>(text.data() + text.size() - end));
    if (rest.starts_with(' ')) rest.remove_prefix(1);
    for (const auto& u : units) {
        if (rest != u.name) continue;
        if (number * static_cast<double>(u.picoseconds) > 1.8e19) return std::nullopt;
        return sc_core::sc_time(number, u.si);
    }
    return std::nullopt;
}

}  // namespace trn
