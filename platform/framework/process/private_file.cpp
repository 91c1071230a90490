// SPDX-License-Identifier: Apache-2.0
#include "platform/framework/process/private_file.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <system_error>

#include "platform/framework/unique_fd.h"

namespace trn {

namespace fs = std::filesystem;

namespace {

[[noreturn]] void fail(const fs::path& path) {
    throw std::system_error(errno, std::generic_category(), path.string());
}

}  // namespace

void make_private_folder(const fs::path& folder) {
    std::error_code unreadable;
    if (folder.empty() || fs::is_directory(folder, unreadable)) return;
    make_private_folder(folder.parent_path());
    if (!folder.has_filename()) return;  // "a/" is made as "a"
    if (mkdir(folder.c_str(), S_IRWXU) == 0) return;
    const int why = errno == EEXIST ? ENOTDIR : errno;
    if (fs::is_directory(folder, unreadable)) return;  // made meanwhile
    errno = why;
    fail(folder);
}

void write_private_file(const fs::path& file, std::string_view bytes) {
    if (unlink(file.c_str()) != 0 && errno != ENOENT) fail(file);
    constexpr int how = O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC;
    const unique_fd out(open(file.c_str(), how, S_IRUSR | S_IWUSR));
    if (!out) fail(file);
    while (!bytes.empty()) {
        const auto done = write(out.get(), bytes.data(), bytes.size());
        if (done < 0 && errno == EINTR) continue;
        if (done < 0) fail(file);
        bytes.remove_prefix(static_cast<std::size_t>(done));
    }
}

}  // namespace trn
