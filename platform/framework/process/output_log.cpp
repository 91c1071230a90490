// SPDX-License-Identifier: Apache-2.0
#include "platform/framework/process/output_log.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <fstream>

namespace trn {

namespace {

constexpr off_t log_kept = 256 * 1024;
constexpr off_t trimmed_by = 16 * 1024 * 1024;

}  // namespace

void write_all(int file, std::string_view text) {
    while (!text.empty()) {
        const auto count = write(file, text.data(), text.size());
        if (count < 0 && errno != EINTR) return;
        if (count > 0) text.remove_prefix(static_cast<std::size_t>(count));
    }
}

std::string read_log(int file) {
    const auto size = std::max<off_t>(lseek(file, 0, SEEK_END), 0);
    const auto kept = std::min(size, log_kept);
    std::string text(static_cast<std::size_t>(kept), '\0');
    const auto got = pread(file, text.data(), text.size(), size - kept);
    text.resize(static_cast<std::size_t>(std::max<ssize_t>(got, 0)));
    return text;
}

void trim_log(int file) {
    struct stat about {};
    if (fstat(file, &about) != 0 || about.st_blocks * 512 < trimmed_by + log_kept) return;
    const off_t page = sysconf(_SC_PAGESIZE);
    fallocate(file, FALLOC_FL_PUNCH_HOLE | FALLOC_FL_KEEP_SIZE, 0,
              (about.st_size - log_kept) / page * page);
}

std::uint64_t resident_memory(pid_t process) {
    std::uint64_t size = 0, pages = 0;
    std::ifstream("/proc/" + std::to_string(process) + "/statm") >> size >> pages;
    return pages * static_cast<std::uint64_t>(sysconf(_SC_PAGESIZE));
}

}  // namespace trn
