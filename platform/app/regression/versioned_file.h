// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <filesystem>
#include <nlohmann/json.hpp>
#include <string_view>

namespace trn::regression {

/// The format of a small JSON file of ours: its key, whose value is the version, and what it is.
struct file_format {
    std::string_view key;      ///< "trnvp durations"
    std::string_view content;  ///< "durations"
    std::uint64_t version = 1;
};

/// The file's object; its other keys are not checked.
/// \throws file_error with the file's name: unreadable, longer than 64 MiB, cut, of another kind,
/// of another version
nlohmann::json read_versioned(const std::filesystem::path& file, const file_format& format);

}  // namespace trn::regression
