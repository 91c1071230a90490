// SPDX-License-Identifier: Apache-2.0
#include "models/cards/nvme/media/unchanged_image.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/file.h>
#include <sys/stat.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <stdexcept>
#include <utility>

#include "models/cards/nvme/media/image_access.h"
#include "platform/framework/log.h"

namespace trn::nvme {

unchanged_image::unchanged_image(const std::string& path, std::uint64_t size)
    : path_(path), file_(open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK)) {
    if (!file_ && errno == ENOENT) return;
    struct stat now {};
    if (!file_ || fstat(file_.get(), &now) != 0)
        throw std::runtime_error(
            fmt::format("disk image '{}' cannot be opened: {}", path, std::strerror(errno)));
    if (flock(file_.get(), LOCK_SH | LOCK_NB) != 0)
        throw std::runtime_error(fmt::format("disk image '{}' is in use by another run", path));
    check_image_size(path, static_cast<std::uint64_t>(now.st_size), size);
}

bool unchanged_image::read_unwritten(std::uint64_t offset, std::span<std::uint8_t> bytes) {
    if (!file_) return sparse_store::read_unwritten(offset, bytes);
    if (read_image(file_.get(), offset, bytes)) return true;
    if (!std::exchange(reported_, true))
        log::error("disk image", "{}: cannot read: {}", path_, std::strerror(errno));
    return false;
}

/// A few extents at a time: each of them has an entry afterwards.
std::optional<std::uint64_t> unchanged_image::clear(std::uint64_t offset, std::uint64_t size) {
    constexpr std::uint64_t max_extents = 1 << 16;
    const std::uint64_t end =
        std::min(offset + size, (offset / extent_bytes + max_extents) * extent_bytes);
    for (auto position = offset; position < end;) {
        const auto count = in_extent(position, end - position);
        if (count == extent_bytes) {
            extents_[position / extent_bytes] = nullptr;
        } else {
            auto* const stored = writable(position / extent_bytes);
            if (stored == nullptr) return std::nullopt;
            std::memset(stored->data() + position % extent_bytes, 0, count);
        }
        position += count;
    }
    return end - offset;
}

}  // namespace trn::nvme
