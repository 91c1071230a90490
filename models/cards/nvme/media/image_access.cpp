// SPDX-License-Identifier: Apache-2.0
#include "models/cards/nvme/media/image_access.h"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <stdexcept>

namespace trn::nvme {

void check_image_size(const std::string& path, std::uint64_t found, std::uint64_t size) {
    if (found != 0 && found != size)
        throw std::runtime_error(
            fmt::format("disk image '{}' has {} bytes, the disk {}: set its capacity, or name "
                        "another file",
                        path, found, size));
}

bool read_image(int file, std::uint64_t offset, std::span<std::uint8_t> bytes) {
    while (!bytes.empty()) {
        const auto count = pread(file, bytes.data(), bytes.size(), static_cast<off_t>(offset));
        if (count < 0 && errno == EINTR) continue;
        if (count < 0) return false;
        if (count == 0) break;
        offset += static_cast<std::uint64_t>(count);
        bytes = bytes.subspan(static_cast<std::size_t>(count));
    }
    std::ranges::fill(bytes, std::uint8_t{0});
    return true;
}

}  // namespace trn::nvme
