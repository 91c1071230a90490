// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <nlohmann/json.hpp>
#include <string>
#include <string_view>
#include <vector>

namespace trn::regression {

/// A JSON object from a file, read with checks. Every error is a file_error with the file, the
/// place and the key. Unknown keys are ignored.
class fields {
public:
    static constexpr std::size_t max_text = std::size_t{1} << 20;

    /// `place`: "run.jsonl:12". \throws file_error when `value` is not an object
    fields(const nlohmann::json& value, std::string place);

    bool has(std::string_view key) const;
    /// At most `limit` bytes.
    std::string text(std::string_view key, std::size_t limit = max_text) const;
    /// "" without the key.
    std::string text_or_empty(std::string_view key) const;
    std::uint64_t number(std::string_view key, std::uint64_t limit = ~std::uint64_t{0}) const;
    /// A finite number.
    double real(std::string_view key) const;
    bool boolean(std::string_view key) const;
    std::vector<std::string> texts(std::string_view key, std::size_t limit) const;
    /// An array of at most `limit` values.
    const nlohmann::json& list(std::string_view key, std::size_t limit) const;
    const nlohmann::json& object(std::string_view key, std::size_t limit) const;
    fields at(std::string_view key) const;

    const std::string& place() const { return place_; }
    /// \throws file_error "run.jsonl:12: 'key': why"
    [[noreturn]] void refuse(std::string_view key, std::string_view why) const;

private:
    const nlohmann::json& value(std::string_view key) const;
    /// The value of type `type`, for which `has_type` is true.
    const nlohmann::json& value(std::string_view key,
                                bool (nlohmann::json::*has_type)() const noexcept,
                                std::string_view type) const;

    const nlohmann::json& value_;
    std::string place_;
};

/// One line of JSON; bytes that are not UTF-8 (output of guests) are replaced.
std::string line_of(const nlohmann::json& value);

}  // namespace trn::regression
