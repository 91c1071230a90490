// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cerrno>
#include <string>
#include <string_view>
#include <system_error>

namespace trn {

/// Throws the error of the last system call, as std::system_error.
[[noreturn]] inline void throw_errno(std::string_view operation) {
    const int reason = errno;  // before memory is allocated
    throw std::system_error(reason, std::generic_category(), std::string(operation));
}

}  // namespace trn
