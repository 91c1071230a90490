// SPDX-License-Identifier: Apache-2.0
#include "platform/framework/config/file.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <set>
#include <utility>

#include "platform/framework/config/units.h"
#include "platform/framework/unique_fd.h"

namespace trn {

namespace {

[[noreturn]] void refuse(int error) {
    throw file_error(std::strerror(error));
}

/// Files read so far or noted as inputs, by device and inode, since a file may have several names.
std::set<std::pair<dev_t, ino_t>>& files_read() {
    static std::set<std::pair<dev_t, ino_t>> all;
    return all;
}

}  // namespace

std::vector<std::uint8_t> read_file(const std::filesystem::path& file, std::uint64_t limit) {
    // O_NONBLOCK: opening a FIFO would otherwise wait for a writer.
    const unique_fd source(open(file.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK));
    if (!source) refuse(errno);
    struct stat about {};
    if (fstat(source.get(), &about) != 0) refuse(errno);
    if (S_ISDIR(about.st_mode)) refuse(EISDIR);
    if (!S_ISREG(about.st_mode)) throw file_error("not a regular file, but a device or a pipe");
    const auto size = static_cast<std::uint64_t>(about.st_size);
    if (size > limit)
        throw file_error(fmt::format("{} bytes, more than {}", size, to_string(bytes{limit})));
    std::vector<std::uint8_t> text(size);
    std::size_t done = 0;
    while (done < text.size()) {
        const auto count = read(source.get(), text.data() + done, text.size() - done);
        if (count < 0 && errno == EINTR) continue;
        if (count < 0) refuse(errno);
        if (count == 0) break;  // the file was truncated meanwhile
        done += static_cast<std::size_t>(count);
    }
    text.resize(done);
    files_read().emplace(about.st_dev, about.st_ino);
    return text;
}

void note_input(const std::filesystem::path& file) {
    struct stat about {};
    if (stat(file.c_str(), &about) == 0 && S_ISREG(about.st_mode))
        files_read().emplace(about.st_dev, about.st_ino);
}

void check_not_read(const std::filesystem::path& file) {
    struct stat about {};
    if (stat(file.c_str(), &about) == 0 && files_read().contains({about.st_dev, about.st_ino}))
        throw file_error(fmt::format("cannot write {}: this command reads it", file.string()));
}

bool is_same_file(int one, int other) {
    struct stat first {
    }, second{};
    return fstat(one, &first) == 0 && fstat(other, &second) == 0 && first.st_dev == second.st_dev &&
           first.st_ino == second.st_ino;
}

}  // namespace trn
