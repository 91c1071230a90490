// SPDX-License-Identifier: Apache-2.0
#include "platform/framework/config/nearest_words.h"

#include <algorithm>
#include <utility>

namespace trn {

/// Levenshtein distance with one row of memory.
std::size_t edit_distance(std::string_view a, std::string_view b) {
    std::vector<std::size_t> row(b.size() + 1);
    for (std::size_t j = 0; j <= b.size(); ++j) row[j] = j;
    for (std::size_t i = 1; i <= a.size(); ++i) {
        std::size_t diagonal = row[0];
        row[0] = i;
        for (std::size_t j = 1; j <= b.size(); ++j) {
            const std::size_t substituted = diagonal + (a[i - 1] == b[j - 1] ? 0 : 1);
            diagonal = row[j];
            row[j] = std::min({row[j] + 1, row[j - 1] + 1, substituted});
        }
    }
    return row.back();
}

std::vector<std::string> nearest_first(std::string_view wrong, std::vector<std::string> known) {
    constexpr std::size_t max_words = 10'000, max_length = 64;
    if (wrong.size() > max_length) return known;
    if (known.size() > max_words) known.resize(max_words);
    std::vector<std::pair<std::size_t, std::string>> ranked;
    for (auto& word : known)
        ranked.emplace_back(edit_distance(wrong, std::string_view(word).substr(0, max_length)),
                            std::move(word));
    std::ranges::sort(ranked);
    known.clear();
    for (auto& [far, word] : ranked) known.push_back(std::move(word));
    return known;
}

}  // namespace trn
