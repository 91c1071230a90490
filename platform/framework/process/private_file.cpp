// SPDX-License-Identifier: Apache-2.0
#include "platform/framework/process/private_file.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>

#include "platform/framework/process/throw_errno.h"
#include "platform/framework/unique_fd.h"

namespace trn {

namespace fs = std::filesystem;

void make_private_folder(const fs::path& folder) {
    std::error_code unreadable;
    if (folder.empty() || fs::is_directory(folder, unreadable)) return;
    make_private_folder(folder.parent_path());
    if (!folder.has_filename()) return;  // "a/" is made as "a"
    if (mkdir(folder.c_str(), S_IRWXU) == 0) return;
    const int why = errno == EEXIST ? ENOTDIR : errno;
    if (fs::is_directory(folder, unreadable)) return;  // made meanwhile
    errno = why;
    throw_errno(folder.string());
}

void write_private_file(const fs::path& file, std::string_view bytes) {
    if (unlink(file.c_str()) != 0 && errno != ENOENT) throw_errno(file.string());
    constexpr int flags = O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC;
    const unique_fd out(open(file.c_str(), flags, S_IRUSR | S_IWUSR));
    if (!out) throw_errno(file.string());
    while (!bytes.empty()) {
        const auto done = write(out.get(), bytes.data(), bytes.size());
        if (done < 0 && errno == EINTR) continue;
        if (done < 0) throw_errno(file.string());
        bytes.remove_prefix(static_cast<std::size_t>(done));
    }
}

}  // namespace trn
