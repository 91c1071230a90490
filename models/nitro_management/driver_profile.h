// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <cstring>
#include <span>
#include <string>

namespace trn::nitro {

/// What a driver says to its card: which groups of events it wants, and the release of its kernel.
class driver_profile {
public:
    static constexpr std::uint32_t release_bytes = 128;  ///< of the text in memory

    /// `offered`: groups of events that the card has, a bit each.
    explicit driver_profile(std::uint32_t offered) : offered_(offered) {}

    std::uint32_t offered_events() const { return offered_; }
    std::uint32_t wanted_events() const { return wanted_; }
    /// Groups that the card does not have are left out.
    void want_events(std::uint32_t groups) { wanted_ = groups & offered_; }
    /// The text ends at its first zero. False, without effect: fewer than release_bytes.
    bool set_kernel(std::span<const std::uint8_t> text) {
        if (text.size() < release_bytes) return false;
        const auto* const first = reinterpret_cast<const char*>(text.data());
        kernel_.assign(first, strnlen(first, release_bytes));
        return true;
    }
    const std::string& kernel() const { return kernel_; }
    void forget() { *this = driver_profile(offered_); }

private:
    std::uint32_t offered_, wanted_ = 0;
    std::string kernel_;
};

}  // namespace trn::nitro
