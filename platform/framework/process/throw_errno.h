// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cerrno>
#include <string>
#include <system_error>

namespace trn {

/// Throws the error of the last system call, as std::system_error.
[[noreturn]] inline void throw_errno(const std::string& operation) {
    throw std::system_error(errno, std::generic_category(), operation);
}

}  // namespace trn
