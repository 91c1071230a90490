// SPDX-License-Identifier: Apache-2.0
#include "platform/framework/config/wildcards.h"

namespace trn {

bool matches_wildcards(std::string_view pattern, std::string_view text) {
    const auto npos = std::string_view::npos;
    std::size_t p = 0, t = 0, star = npos, resume = 0;
    while (t < text.size()) {
        if (p < pattern.size() && pattern[p] == '*') {
            star = p++;
            resume = t;
        } else if (p < pattern.size() && (pattern[p] == text[t] || pattern[p] == '?')) {
            ++p, ++t;
        } else if (star != npos) {
            p = star + 1;
            t = ++resume;
        } else {
            return false;
        }
    }
    return pattern.find_first_not_of('*', p) == npos;
}

}  // namespace trn
