// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <filesystem>
#include <string>
#include <system_error>

#include "platform/framework/process/temporary_folder.h"

namespace trn::test {

/// A temporary folder of this test, removed by the destructor.
class scratch_folder {
public:
    /// \throws std::system_error
    scratch_folder() : path_(make_temporary_folder("trnvp")) {}
    ~scratch_folder() {
        std::error_code ignored;
        std::filesystem::remove_all(path_, ignored);
    }
    scratch_folder(const scratch_folder&) = delete;
    scratch_folder& operator=(const scratch_folder&) = delete;

    operator const std::filesystem::path&() const { return path_; }
    std::string operator/(const std::string& file) const { return path_ / file; }
    std::string text() const { return path_; }

private:
    const std::filesystem::path path_;
};

}  // namespace trn::test
