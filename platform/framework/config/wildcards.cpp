// SPDX-License-Identifier: Apache-2.0
#include "platform/framework/config/wildcards.h"

namespace trn {

namespace {

/// A mismatch is mended by the last star alone: earlier ones took as little as they could, and a
/// dot that no star matches keeps each of them within its part.
bool matches(std::string_view pattern, std::string_view text, bool dots) {
    const auto npos = std::string_view::npos;
    const auto taken = [dots](char c) { return dots || c != '.'; };
    std::size_t p = 0, t = 0, star = npos, resume = 0;
    while (t < text.size()) {
        if (p < pattern.size() && pattern[p] == '*') {
            star = p++;
            resume = t;
        } else if (p < pattern.size() &&
                   (pattern[p] == text[t] || (pattern[p] == '?' && taken(text[t])))) {
            ++p, ++t;
        } else if (star != npos && taken(text[resume])) {
            p = star + 1;
            t = ++resume;
        } else {
            return false;
        }
    }
    return pattern.find_first_not_of('*', p) == npos;
}

}  // namespace

bool matches_wildcards(std::string_view pattern, std::string_view text) {
    return matches(pattern, text, true);
}

bool matches_name(std::string_view pattern, std::string_view name) {
    return matches(pattern, name, false);
}

}  // namespace trn
