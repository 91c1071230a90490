// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <map>
#include <string>
#include <string_view>
#include <utility>

namespace trn::regression {

/// The union of several tracefiles made by to_lcov().
class merged_coverage {
public:
    /// \throws file_error that begins with `place` and the line of the text
    void add(std::string_view text, const std::string& place);
    /// "" when nothing was added.
    std::string text() const;

private:
    struct source {
        std::map<std::string, std::pair<int, bool>> functions;  // line, ran
        /// By line, block and branch number; -1 is the mark "-" (the condition was never
        /// evaluated).
        std::map<std::pair<int, std::pair<unsigned, unsigned>>, int> branches;
        std::map<int, bool> lines;
    };

    static bool add_line(source& to, std::string_view line);

    std::map<std::string, source> sources_;
};

}  // namespace trn::regression
