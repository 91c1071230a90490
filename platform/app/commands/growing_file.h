// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <string_view>

#include "platform/framework/kernel/streamed_file.h"

namespace trn {

/// A file of an option, such as --uart, that is written while a command runs.
class growing_file : public streamed_file {
public:
    /// \throws user_error when it cannot be opened
    growing_file(std::string_view option, const std::string& path);

    /// Writes `text` immediately.
    void write(std::string_view text) {
        put(text);
        flush();
    }
    /// Closes the file. Prints and returns the reason why it is incomplete; "" when it is complete.
    const std::string& finish();
};

}  // namespace trn
