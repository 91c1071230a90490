// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>

namespace trn {

/// A time or a state of a run, as options name it (doc/waveforms.md): "2 ms", "ready",
/// "chip0.nc0.vector.state == halted".
struct moment {
    enum class relation : std::uint8_t { equal, not_equal, at_least, at_most, more, less };

    std::optional<std::uint64_t> picoseconds = {};  ///< a simulated time
    std::string signal = {}, value = {};            ///< else a comparison; "": ready
    relation compared = relation::equal;

    static constexpr std::size_t max_text = 1024;
};

/// \throws std::invalid_argument with `option` and, for a text of no form, with `others`: further
/// words that the option takes
moment parse_moment(std::string_view option, std::string_view text, std::string_view others = {});

/// Whether a moment is reached; to be called after elaboration. \throws std::invalid_argument
/// when the board has no such signal, or the signal no such value
std::function<bool()> moment_condition(const moment& awaited);

}  // namespace trn
