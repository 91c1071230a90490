// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <map>
#include <string>
#include <string_view>
#include <utility>

namespace trn::regression {

/// The union of tracefiles that to_lcov() wrote on several machines.
class merged_coverage {
public:
    /// \throws file_error that begins with `place` and the line of the text
    void add(std::string_view text, const std::string& place);
    /// "" when nothing was added.
    std::string text() const;

private:
    struct source {
        std::map<std::string, std::pair<int, bool>> functions;  // line, ran
        /// By line, block and way; the mark "-" (the branch never ran) is -1.
        std::map<std::pair<int, std::pair<unsigned, unsigned>>, int> branches;
        std::map<int, bool> lines;
    };

    static bool add_line(source& to, std::string_view line);

    std::map<std::string, source> sources_;
};

}  // namespace trn::regression
