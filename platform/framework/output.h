// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <fmt/format.h>

#include <cstdio>
#include <utility>

namespace trn {

/// What a command says when it catches std::bad_alloc.
inline constexpr auto out_of_memory =
    "the operating system gives no more memory (ulimit -v shows a limit)";

/// Prints to stdout or stderr. Unlike fmt::print() it does not throw when the stream takes nothing
/// (a full disk): the stream keeps that as its error, for finish_standard_output().
template <class... Args>
void print_to(std::FILE* out, fmt::format_string<Args...> text, Args&&... args) {
    const auto written_out = fmt::format(text, std::forward<Args>(args)...);
    std::fwrite(written_out.data(), 1, written_out.size(), out);
}

}  // namespace trn
