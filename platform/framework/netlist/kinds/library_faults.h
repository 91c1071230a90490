// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <filesystem>

namespace trn {

/// From now on a crash in the code of this library, or below it, prints one line that names the
/// library, its address and the process of SystemC, and is then handled as before; an exit() there
/// prints one too, and the status is 1. `inside`: an address in the library. Not under a sanitizer,
/// whose report is better.
void report_faults_of(const std::filesystem::path& library, const void* inside);

/// The same, without an address, while a library's constructors run.
class library_loading {
public:
    explicit library_loading(const std::filesystem::path& library);
    ~library_loading();
    library_loading(const library_loading&) = delete;
    library_loading& operator=(const library_loading&) = delete;
};

}  // namespace trn
