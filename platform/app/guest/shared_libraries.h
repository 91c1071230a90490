// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <filesystem>
#include <map>
#include <string>
#include <string_view>

namespace trn {

/// What a program needs beside itself to start on another machine.
struct shared_libraries {
    std::string loader;  ///< path of its dynamic loader; "": static, or not a program
    std::map<std::string, std::filesystem::path> files;  ///< by the name that programs ask for
};

/// Folder of libraries that the loader searches by itself, without '/' in front.
inline constexpr const char* library_folder = "lib/x86_64-linux-gnu";

/// The shared libraries of `program`, and those that they need, as the loader of this machine finds
/// them; the loader does not run the program. `bytes`: its content. \throws file_error: there is
/// none of that name, or another loader is needed
shared_libraries shared_libraries_of(const std::filesystem::path& program, std::string_view bytes);

}  // namespace trn
