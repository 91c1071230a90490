// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cerrno>

namespace trn {

/// Repeats a system call until no signal interrupts it; returns its result.
template <class Call>
auto uninterrupted(Call call) {
    auto result = call();
    while (result < 0 && errno == EINTR) result = call();
    return result;
}

}  // namespace trn
