// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <optional>
#include <string>

namespace trn::telemetry {

/// The first `limit` bytes of a file that the kernel makes, which has no size. Nothing if it cannot
/// be read.
std::optional<std::string> small_file(const std::string& path, std::size_t limit = 4096);

}  // namespace trn::telemetry
