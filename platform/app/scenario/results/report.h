// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>

#include "platform/app/scenario/results/description.h"
#include "platform/app/scenario/results/outcome.h"

namespace trn::scenario {

/// Formats a time: "1.5625 ms".
std::string milliseconds(std::uint64_t nanoseconds);

/// The last `count` lines of a log.
std::string_view last_lines(std::string_view log, std::size_t count);

/// The name of a verdict: "passed", "timed out".
std::string_view word(outcome::verdict result);

/// The end of the text of the log's line after a boot that succeeded.
inline constexpr std::string_view booted_line = "scenario: booted\n";

/// The log without the lines of a boot that succeeded, and the number of these lines.
struct folded_log {
    std::string_view log;
    std::size_t lines = 0;
};
folded_log without_boot(std::string_view log);

/// The place of the step that failed: "x.yaml:7:5".
std::string place_text(const description& run, const outcome& run_outcome);

/// The step that failed and its message: "copy 1 KiB: byte 0 differs".
std::string failure_text(const outcome& run_outcome);

/// The state of the board at the failure, one line each, after a margin; the first line is
/// "state at 2 ms:"; "" without a state.
std::string state_text(const outcome& run_outcome, std::string_view margin);

/// Escapes UTF-8 for XML or HTML. Control characters, most of which XML 1.0 cannot represent, and
/// bytes that are not UTF-8 become question marks.
std::string escaped(std::string_view text);

/// One line for a passed scenario; for a failed one the place, the message and the end of the log.
std::string to_text(const description& run, const outcome& run_outcome);

/// Quotes a word for a shell; as $'...' if it contains characters that are not printable.
std::string in_quotes(std::string_view text);

/// The same, without quotation marks where none are needed.
std::string shell_word(std::string_view text);

/// Whether a text is any number of words as shell_word() writes them, each after a space.
bool is_shell_words(std::string_view text);

/// The command that repeats only this scenario.
std::string repeat_command(const description& run);

/// "12 passed, 1 failed"
std::string summary(std::span<const outcome> all);
std::string summary(std::size_t passed, std::size_t failed);

/// "00000000deadbeef"
std::string digest_text(const outcome& run_outcome);

/// "37 of 150, 2 failed, 0:12, 0:40 left"; the remaining time is extrapolated from the ended
/// scenarios.
std::string progress_text(const run_progress& now, double elapsed_s);

}  // namespace trn::scenario
