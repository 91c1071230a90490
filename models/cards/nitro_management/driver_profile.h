// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <cstring>
#include <span>
#include <string>

namespace trn::nitro {

/// Data that a driver sends about itself: the groups of events it enables, and its kernel release.
class driver_profile {
public:
    static constexpr std::uint32_t release_bytes = 128;  ///< of the text in memory

    /// `offered`: bit mask of the groups of events that the card supports.
    explicit driver_profile(std::uint32_t offered) : offered_(offered) {}

    std::uint32_t offered_events() const { return offered_; }
    std::uint32_t wanted_events() const { return wanted_; }
    /// Enables groups of events; ignores groups that the card does not support.
    void want_events(std::uint32_t groups) { wanted_ = groups & offered_; }
    /// The text ends at its first zero. \returns false if it has fewer than release_bytes
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
