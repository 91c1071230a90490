// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <fmt/format.h>

#include <cstdio>
#include <utility>

namespace trn {

/// Message for std::bad_alloc.
inline constexpr auto out_of_memory =
    "the operating system gives no more memory (ulimit -v shows a limit)";

/// Prints to stdout or stderr. Unlike fmt::print(), it does not throw on a write error (a full
/// disk): finish_standard_output() checks the stream's error flag.
template <class... Args>
void print_to(std::FILE* out, fmt::format_string<Args...> text, Args&&... args) {
    const auto written_out = fmt::format(text, std::forward<Args>(args)...);
    std::fwrite(written_out.data(), 1, written_out.size(), out);
}

}  // namespace trn
