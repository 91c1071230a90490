// SPDX-License-Identifier: Apache-2.0
#include "platform/app/scenario/language/expression.h"

#include <fmt/format.h>
#include <re2/re2.h>

namespace trn::scenario {

namespace {

constexpr std::int64_t max_memory = 1 << 20;  // bytes of the compiled expression and of a search

}  // namespace

std::optional<expression> expression::parse(std::string_view text, std::string& fault) {
    if (text.size() > max_length) {
        fault = fmt::format("a regular expression has at most {} bytes", max_length);
        return std::nullopt;
    }
    RE2::Options options;
    options.set_log_errors(false);
    options.set_encoding(RE2::Options::EncodingLatin1);  // consoles print bytes, not UTF-8
    options.set_max_mem(max_memory);
    const auto compiled =
        std::make_shared<const RE2>(re2::StringPiece(text.data(), text.size()), options);
    if (compiled->ok()) return expression(compiled);
    constexpr std::size_t shown = 40;
    fault = fmt::format("no regular expression: {}: '{}'", compiled->error(),
                        compiled->error_arg().substr(0, shown));
    return std::nullopt;
}

std::size_t expression::groups() const {
    return static_cast<std::size_t>(compiled_->NumberOfCapturingGroups());
}

std::optional<expression::match> expression::search(std::string_view text,
                                                    std::size_t wanted) const {
    const re2::StringPiece input(text.data(), text.size());
    std::vector<re2::StringPiece> parts(wanted + 1);  // element 0 is the whole match
    if (!compiled_->Match(input, 0, input.size(), RE2::UNANCHORED, parts.data(),
                          static_cast<int>(parts.size())))
        return std::nullopt;
    match found{.end = static_cast<std::size_t>(parts[0].end() - input.begin()), .groups = {}};
    for (std::size_t i = 1; i < parts.size(); ++i) found.groups.emplace_back(parts[i]);
    return found;
}

}  // namespace trn::scenario
