// SPDX-License-Identifier: Apache-2.0
#include "models/cards/nvme/media/image_file.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>
#include <stdexcept>

#include "models/cards/nvme/media/image_access.h"
#include "platform/framework/log.h"

namespace trn::nvme {

image_file::image_file(const std::string& path, std::uint64_t size)
    : path_(path), file_(open(path.c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0600)) {
    struct stat now {};
    if (!file_ || fstat(file_.get(), &now) != 0)
        throw std::runtime_error(
            fmt::format("disk image '{}' cannot be opened: {}", path, std::strerror(errno)));
    if (flock(file_.get(), LOCK_EX | LOCK_NB) != 0)
        throw std::runtime_error(
            fmt::format("disk image '{}' is in use by another disk or run", path));
    if (now.st_size == 0) {
        if (ftruncate(file_.get(), static_cast<off_t>(size)) != 0)
            throw std::runtime_error(fmt::format("disk image '{}' cannot have {} bytes: {}", path,
                                                 size, std::strerror(errno)));
    }
    check_image_size(path, static_cast<std::uint64_t>(now.st_size), size);
}

bool image_file::failed(const char* operation) {
    if (!reported_)
        log::error("disk image", "{}: cannot {}: {}", path_, operation, std::strerror(errno));
    reported_ = true;
    return false;
}

bool image_file::read(std::uint64_t offset, std::span<std::uint8_t> bytes) {
    return read_image(file_.get(), offset, bytes) || failed("read");
}

bool image_file::write(std::uint64_t offset, std::span<const std::uint8_t> bytes) {
    while (!bytes.empty()) {
        const auto count =
            pwrite(file_.get(), bytes.data(), bytes.size(), static_cast<off_t>(offset));
        if (count < 0 && errno == EINTR) continue;
        if (count <= 0) return failed("write");
        offset += static_cast<std::uint64_t>(count);
        bytes = bytes.subspan(static_cast<std::size_t>(count));
    }
    return true;
}

std::optional<std::uint64_t> image_file::clear(std::uint64_t offset, std::uint64_t size) {
    constexpr int mode = FALLOC_FL_PUNCH_HOLE | FALLOC_FL_KEEP_SIZE;
    if (fallocate(file_.get(), mode, static_cast<off_t>(offset), static_cast<off_t>(size)) == 0)
        return size;
    // The file system does not make holes: writes zeros where the file is not a hole already.
    if (const auto hole = hole_at(offset); hole != 0) return std::min(hole, size);
    static constexpr std::array<std::uint8_t, 64 << 10> zeros{};
    if (const auto now = sc_core::sc_time_stamp(); now != zeros_at_) {
        zeros_at_ = now;
        zeros_ = 0;
    }
    const auto count = std::min(size, max_zeros - zeros_);
    zeros_ += count;
    for (std::uint64_t done = 0; done < count;) {
        const auto part = std::min<std::uint64_t>(zeros.size(), count - done);
        if (!write(offset + done, std::span(zeros).first(part))) return std::nullopt;
        done += part;
    }
    return count;
}

/// Number of bytes of the hole that begins at `offset`; 0 if there is none.
std::uint64_t image_file::hole_at(std::uint64_t offset) const {
    const auto data = lseek(file_.get(), static_cast<off_t>(offset), SEEK_DATA);
    if (data < 0)
        return errno == ENXIO ? ~std::uint64_t{0} : 0;  // a hole up to the end, or unknown
    return static_cast<std::uint64_t>(data) - offset;
}

std::uint64_t image_file::used() const {
    struct stat now {};
    return fstat(file_.get(), &now) == 0 ? static_cast<std::uint64_t>(now.st_blocks) * 512 : 0;
}

}  // namespace trn::nvme
