// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <span>

namespace trn {

/// Whether `blob` is a complete and valid flattened device tree.
bool is_device_tree(std::span<const std::uint8_t> blob);

}  // namespace trn
