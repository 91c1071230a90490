// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <functional>
#include <map>
#include <string>
#include <string_view>
#include <utility>

namespace trn {

/// Prints the output of a board's consoles: a single console's unchanged; several consoles' line by
/// line with the console's name, since they print at the same time.
class console_writer {
public:
    using sink = std::function<void(std::string_view)>;
    /// A sink that prints to standard output and flushes it.
    static void print(std::string_view text);

    /// `whole_lines`: prints also a single console's output line by line, for a log that has other
    /// lines too.
    console_writer(sink out, bool several, bool whole_lines = false)
        : out_(std::move(out)), several_(several), whole_lines_(several || whole_lines) {}

    void write(std::string_view module, std::string_view text);
    /// Prints incomplete lines; call it at the end of the run.
    void finish();

private:
    const sink out_;
    std::string line_of(std::string_view module, std::string_view line) const;

    const bool several_, whole_lines_;
    std::map<std::string, std::string, std::less<>> unfinished_;
    bool at_line_start_ = true;  ///< of a single console's output
};

}  // namespace trn
