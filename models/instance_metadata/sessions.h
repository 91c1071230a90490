// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <systemc>

namespace trn::metadata {

/// Tokens of IMDSv2 sessions. A token holds its own end and a check number, so that no list of
/// them is kept. Its text is invented.
class sessions {
public:
    static constexpr std::uint32_t max_seconds = 21600;  ///< six hours

    explicit sessions(std::uint64_t seed) : seed_(seed) {}

    /// Precondition: 1 <= seconds <= max_seconds.
    std::string open(std::uint32_t seconds);
    /// Whether the token is one of this service's, and not over.
    bool accepts(std::string_view token) const;

private:
    std::string text_of(std::uint64_t end, std::uint64_t number) const;

    const std::uint64_t seed_;
    std::uint64_t opened_ = 0;
};

}  // namespace trn::metadata
