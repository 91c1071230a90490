// SPDX-License-Identifier: Apache-2.0
#include "platform/app/disk_images.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <any>
#include <cerrno>
#include <system_error>
#include <vector>

#include "models/cards/nvme/controller/nvme_controller.h"
#include "platform/framework/process/throw_errno.h"
#include "platform/framework/unique_fd.h"

namespace trn {

namespace {

/// Copies the bytes [at, end), for which both files have offsets of their own.
void copy_bytes(int source, int destination, off_t offset, off_t end) {
    std::vector<char> bytes(1 << 20);
    while (offset < end) {
        const auto wanted = std::min<off_t>(end - offset, static_cast<off_t>(bytes.size()));
        const auto got = pread(source, bytes.data(), static_cast<std::size_t>(wanted), offset);
        if (got < 0 && errno == EINTR) continue;
        if (got < 0) throw_errno("read");
        if (got == 0) return;  // truncated meanwhile
        for (ssize_t done = 0; done < got;) {
            const auto put = pwrite(destination, bytes.data() + done,
                                    static_cast<std::size_t>(got - done), offset + done);
            if (put < 0 && errno == EINTR) continue;
            if (put < 0) throw_errno("write");
            done += put;
        }
        offset += got;
    }
}

}  // namespace

bool is_disk(const plan::module& m) {
    return std::any_cast<nvme_controller::config>(&m.config) != nullptr;
}

std::set<std::string> disk_images_of(const plan& board) {
    std::set<std::string> names;
    for (const auto& m : board.modules)
        if (const auto* disk = std::any_cast<nvme_controller::config>(&m.config))
            if (!disk->image.empty()) names.insert(disk->image);
    return names;
}

void replace_disk_images(plan& board,
                         const std::function<std::string(const std::string&)>& file_for) {
    for (auto& m : board.modules) {
        auto* const disk = std::any_cast<nvme_controller::config>(&m.config);
        if (disk != nullptr && !disk->image.empty()) disk->image = file_for(disk->image);
    }
}

void protect_disk_images(plan& board) {
    for (auto& m : board.modules)
        if (auto* const disk = std::any_cast<nvme_controller::config>(&m.config))
            disk->read_only_image = true;
}

void copy_disk_image(const std::filesystem::path& source, int destination) {
    const unique_fd image(open(source.c_str(), O_RDONLY | O_CLOEXEC));
    struct stat about {};
    if (!image || fstat(image.get(), &about) != 0) throw_errno(source.string());
    if (!S_ISREG(about.st_mode))
        throw std::system_error(EINVAL, std::generic_category(), source.string());
    if (ftruncate(destination, about.st_size) != 0) throw_errno("write");
    for (off_t offset = 0; offset < about.st_size;) {
        const off_t data = lseek(image.get(), offset, SEEK_DATA);
        if (data < 0 && errno == ENXIO) return;  // no more data
        const off_t hole = data < 0 ? -1 : lseek(image.get(), data, SEEK_HOLE);
        if (hole < 0)
            return copy_bytes(image.get(), destination, offset, about.st_size);  // unknown holes
        copy_bytes(image.get(), destination, data, hole);
        offset = hole;
    }
}

}  // namespace trn
