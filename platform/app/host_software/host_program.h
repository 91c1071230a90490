// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <filesystem>
#include <stdexcept>
#include <string>
#include <vector>

namespace trn {

/// A program could not be compiled; the text has what the compiler says.
struct compile_error : std::runtime_error {
    using std::runtime_error::runtime_error;
};

/// Compiles a C program for hosts inside: static, with the driver stub, whose headers it finds by
/// their names. Returns the program. \throws compile_error
std::string compile_host_program(const std::filesystem::path& source);

/// The words as a command line for the host's shell.
std::string host_command(const std::vector<std::string>& words);

}  // namespace trn
