// SPDX-License-Identifier: Apache-2.0
#include "platform/framework/debug/gdb/libraries.h"

#include <algorithm>
#include <array>
#include <utility>

namespace trn::gdb {

std::string escape_xml(std::string_view text) {
    constexpr std::array<std::pair<char, std::string_view>, 4> escapes{
        {{'<', "&lt;"}, {'>', "&gt;"}, {'&', "&amp;"}, {'"', "&quot;"}}};
    std::string out;
    for (const char& c : text) {
        const auto* const escape =
            std::ranges::find(escapes, c, &decltype(escapes)::value_type::first);
        out += escape == escapes.end() ? std::string_view(&c, 1) : escape->second;
    }
    return out;
}

}  // namespace trn::gdb
