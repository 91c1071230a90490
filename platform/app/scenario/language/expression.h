// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace re2 {
class RE2;
}

namespace trn::scenario {

/// A regular expression of a scenario, in RE2 syntax: search time is linear in the text's length
/// for every expression, and memory is bounded. It matches bytes.
class expression {
public:
    static constexpr std::size_t max_length = 64 * 1024;

    /// Nothing, and the reason in `fault`, for an invalid expression or one that needs too much
    /// memory.
    static std::optional<expression> parse(std::string_view text, std::string& fault);

    std::size_t groups() const;
    struct match {
        std::size_t end = 0;              ///< position after the match in the text
        std::vector<std::string> groups;  ///< text of each group; "" for a group without a match
    };
    /// The first match, with the texts of the first `wanted` groups.
    std::optional<match> search(std::string_view text, std::size_t wanted) const;

private:
    explicit expression(std::shared_ptr<const re2::RE2> compiled)
        : compiled_(std::move(compiled)) {}

    std::shared_ptr<const re2::RE2> compiled_;
};

}  // namespace trn::scenario
