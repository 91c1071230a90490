// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <filesystem>
#include <functional>
#include <string>

namespace trn::regression {

/// Writes one of several reports; does nothing when `file` is empty. \returns "", or a line with
/// the reason why it could not be written
std::string write_one(const std::filesystem::path& file, const std::function<std::string()>& text);

}  // namespace trn::regression
