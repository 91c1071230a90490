// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <filesystem>
#include <nlohmann/json.hpp>
#include <string_view>

namespace trn::regression {

/// Identifies a JSON file format of this project: its key, whose value is the version, and a
/// description.
struct file_format {
    std::string_view key;      ///< "trnvp durations"
    std::string_view content;  ///< "durations"
    std::uint64_t version = 1;
};

/// Reads the file's object and checks kind and version; other keys are not checked. \throws
/// file_error with the file's name: unreadable, longer than 64 MiB, truncated, of another kind or
/// version
nlohmann::json read_versioned(const std::filesystem::path& file, const file_format& format);

}  // namespace trn::regression
