// SPDX-License-Identifier: Apache-2.0
#include "platform/framework/loader/device_tree_blob.h"

#include <libfdt.h>

namespace trn {

bool is_device_tree(std::span<const std::uint8_t> blob) {
    return fdt_check_full(blob.data(), blob.size()) == 0;
}

}  // namespace trn
