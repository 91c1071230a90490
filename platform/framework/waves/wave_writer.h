// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace trn {

/// A variable of a waveform file.
struct wave_variable {
    enum class kind : std::uint8_t { bits, state, real, text };

    std::string path;  ///< scopes and a name separated by dots
    kind type;
    unsigned width;                   ///< bits
    std::vector<std::string> states;  ///< of a state: names of the values 0, 1, ...
};

/// Writes a waveform file with 1 ps resolution; base class of the formats. Variables are numbered
/// in the order of declare().
class wave_writer {
public:
    virtual ~wave_writer() = default;
    wave_writer() = default;
    wave_writer(const wave_writer&) = delete;
    wave_writer& operator=(const wave_writer&) = delete;

    /// Called once, before all others, with the variables sorted by path.
    virtual void declare(std::span<const wave_variable> all) = 0;

    enum class section : std::uint8_t {
        initial,  ///< first values of all variables
        on,       ///< all values, after a time without changes
        off,      ///< from here on the values are unknown
    };
    virtual void begin(section) {}
    virtual void end_section() {}

    virtual void time(std::uint64_t picoseconds) = 0;  ///< increases from call to call
    virtual void number(std::size_t variable, std::uint64_t value) = 0;  ///< of bits or a state
    virtual void words(std::size_t variable, std::span<const std::uint32_t> value) = 0;
    virtual void real(std::size_t variable, double value) = 0;
    virtual void text(std::size_t variable, std::string_view value) = 0;
    /// Of bits or a state.
    virtual void unknown(std::size_t variable) = 0;

    /// Completes the file.
    virtual void finish() = 0;
    /// The reason why the file is incomplete, with its name; "" when it is complete.
    virtual const std::string& failure() const = 0;
};

}  // namespace trn
