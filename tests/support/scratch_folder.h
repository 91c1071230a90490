// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cerrno>
#include <cstdlib>
#include <filesystem>
#include <string>
#include <system_error>

namespace trn::test {

/// A temporary folder of this test, removed by the destructor.
class scratch_folder {
public:
    /// Throws std::filesystem::filesystem_error when the folder cannot be created.
    scratch_folder() {
        std::string name = std::filesystem::temp_directory_path() / "trnvp-XXXXXX";
        if (mkdtemp(name.data()) == nullptr)
            throw std::filesystem::filesystem_error("mkdtemp", name,
                                                    {errno, std::generic_category()});
        path_ = name;
    }
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
    std::filesystem::path path_;
};

}  // namespace trn::test
