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

/// A regular expression of a scenario, in the syntax of RE2: whatever the expression and the text,
/// a search takes time in proportion to the text, and memory is bounded. It works on bytes.
class expression {
public:
    static constexpr std::size_t max_length = 64 * 1024;

    /// Nothing, and the reason in `fault`, when `text` is none or takes too much memory.
    static std::optional<expression> parse(std::string_view text, std::string& fault);
    /// The names that `pattern` stands for: `*` is any part of a name between two dots.
    static std::optional<expression> of_names(std::string_view pattern, std::string& fault);

    std::size_t groups() const;
    struct match {
        std::size_t end = 0;              ///< behind it, in the text
        std::vector<std::string> groups;  ///< what each matched; "" for one that took no part
    };
    /// The first match, with what the first `wanted` groups matched.
    std::optional<match> search(std::string_view text, std::size_t wanted) const;
    /// Whether it matches all of `text`.
    bool matches(std::string_view text) const;

private:
    explicit expression(std::shared_ptr<const re2::RE2> compiled)
        : compiled_(std::move(compiled)) {}

    std::shared_ptr<const re2::RE2> compiled_;
};

}  // namespace trn::scenario
