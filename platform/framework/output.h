// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <fmt/format.h>

#include <cerrno>
#include <cstdio>
#include <string_view>
#include <utility>

#include "platform/framework/terminal_text.h"

namespace trn {

/// Message for std::bad_alloc.
inline constexpr auto out_of_memory =
    "the operating system gives no more memory (ulimit -v shows a limit)";

/// errno of the first write to stdout that failed, or 0.
inline int lost_output = 0;

/// Prints bytes to stdout or stderr as they are, such as the output of a console. Unlike
/// fmt::print(), it does not throw on a write error (a full disk): finish_standard_output() checks
/// the stream's error flag.
inline void print_raw(std::FILE* out, std::string_view bytes) {
    const bool written = std::fwrite(bytes.data(), 1, bytes.size(), out) == bytes.size();
    if (!written && out == stdout && lost_output == 0) lost_output = errno;
}

/// As print_raw(), with terminal_text().
template <class... Args>
void print_to(std::FILE* out, fmt::format_string<Args...> text, Args&&... args) {
    print_raw(out, terminal_text(fmt::format(text, std::forward<Args>(args)...)));
}

}  // namespace trn
