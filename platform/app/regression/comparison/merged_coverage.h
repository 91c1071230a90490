// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <map>
#include <string>
#include <string_view>

#include "platform/framework/loader/lcov.h"

namespace trn::regression {

/// The union of several tracefiles made by to_lcov().
class merged_coverage {
public:
    /// \throws file_error that begins with `place` and the line of the text
    void add(std::string_view text, const std::string& place);
    /// "" when nothing was added.
    std::string text() const;

private:
    static bool add_line(source_coverage& source, std::string_view line);

    std::map<std::string, source_coverage> sources_;
};

}  // namespace trn::regression
