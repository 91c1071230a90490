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

/// Number of bytes from `offset` to the end of its extent, at most `size`.
std::uint64_t unchanged_image::in_extent(std::uint64_t offset, std::uint64_t size) {
    return std::min(size, extent_bytes - offset % extent_bytes);
}

bool unchanged_image::read_file(std::uint64_t offset, std::span<std::uint8_t> bytes) {
    if (!file_) {
        std::ranges::fill(bytes, std::uint8_t{0});
        return true;
    }
    if (read_image(file_.get(), offset, bytes)) return true;
    if (!std::exchange(reported_, true))
        log::error("disk image", "{}: cannot read: {}", path_, std::strerror(errno));
    return false;
}

bool unchanged_image::read(std::uint64_t offset, std::span<std::uint8_t> bytes) {
    while (!bytes.empty()) {
        const auto part = bytes.first(in_extent(offset, bytes.size()));
        const auto found = extents_.find(offset / extent_bytes);
        if (found == extents_.end()) {
            if (!read_file(offset, part)) return false;
        } else if (!found->second) {
            std::ranges::fill(part, std::uint8_t{0});
        } else {
            std::memcpy(part.data(), found->second->data() + offset % extent_bytes, part.size());
        }
        offset += part.size();
        bytes = bytes.subspan(part.size());
    }
    return true;
}

/// The extent in memory, with its content; null if the file cannot be read.
unchanged_image::extent* unchanged_image::writable(std::uint64_t number) {
    if (const auto found = extents_.find(number); found != extents_.end()) {
        if (!found->second) found->second = std::make_unique<extent>();
        return found->second.get();
    }
    auto fresh = std::make_unique<extent>();
    if (!read_file(number * extent_bytes, *fresh)) return nullptr;
    return (extents_[number] = std::move(fresh)).get();
}

bool unchanged_image::write(std::uint64_t offset, std::span<const std::uint8_t> bytes) {
    while (!bytes.empty()) {
        const auto part = bytes.first(in_extent(offset, bytes.size()));
        auto* const stored = writable(offset / extent_bytes);
        if (stored == nullptr) return false;
        std::memcpy(stored->data() + offset % extent_bytes, part.data(), part.size());
        offset += part.size();
        bytes = bytes.subspan(part.size());
    }
    return true;
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
