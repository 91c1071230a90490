// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <map>
#include <ostream>
#include <string>
#include <string_view>

namespace trn {

/// Shows what a board's consoles print: a single one as it comes, several line by line with their
/// names, because they speak at the same time.
class console_writer {
public:
    console_writer(std::ostream& out, bool several) : out_(out), several_(several) {}

    void write(std::string_view module, std::string_view text);
    /// The platform can end in the middle of a guest's line.
    void finish();

private:
    std::ostream& out_;
    const bool several_;
    std::map<std::string, std::string, std::less<>> unfinished_;
    bool at_line_start_ = true;  ///< of the only console
};

}  // namespace trn
