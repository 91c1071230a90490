// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <filesystem>
#include <functional>
#include <string>

namespace trn::regression {

/// Writes one of several reports, unless `file` is empty: "" or why it is lost, as a line. The
/// others are written all the same.
std::string write_one(const std::filesystem::path& file, const std::function<std::string()>& text);

}  // namespace trn::regression
