// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <systemc>

namespace trn::metadata {

/// Tokens of IMDSv2 sessions. A token contains its own end and a check number, so tokens are not
/// stored. The format is invented.
class sessions {
public:
    static constexpr std::uint32_t max_seconds = 21600;  ///< six hours

    explicit sessions(std::uint64_t seed) : seed_(seed) {}

    /// Returns a token. Precondition: 1 <= seconds <= max_seconds.
    std::string open(std::uint32_t seconds);
    /// Whether this service has issued the token, and its session has not ended.
    bool accepts(std::string_view token) const;

private:
    std::string text_of(std::uint64_t end, std::uint64_t number) const;

    const std::uint64_t seed_;
    std::uint64_t opened_ = 0;
};

}  // namespace trn::metadata
