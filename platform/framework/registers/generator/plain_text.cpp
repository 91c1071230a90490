// SPDX-License-Identifier: Apache-2.0
#include "platform/framework/registers/generator/plain_text.h"

#include <algorithm>

namespace trn::registers {

std::string one_line(std::string_view text) {
    std::string out(text);
    std::ranges::replace_if(
        out, [](char c) { return static_cast<unsigned char>(c) < 0x20 || c == 0x7f; }, ' ');
    return out;
}

std::string comment(std::string_view text) {
    std::string out;
    for (const char c : one_line(text)) {
        const char before = out.empty() ? ' ' : out.back();
        if ((c == '/' && before == '*') || (c == '*' && before == '/')) out += ' ';
        out += c;
    }
    while (!out.empty() && (out.back() == '\\' || out.back() == ' ')) out.pop_back();
    return out;
}

std::string holes_name(hole_policy holes) {
    return holes == hole_policy::ram ? "ram" : holes == hole_policy::zero ? "zero" : "error";
}

}  // namespace trn::registers
