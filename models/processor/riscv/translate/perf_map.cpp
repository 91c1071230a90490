// SPDX-License-Identifier: Apache-2.0
#include "models/processor/riscv/translate/perf_map.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>

#include "platform/framework/log.h"

namespace trn::riscv::translate {

void perf_map::add(std::span<const std::uint8_t> code, const std::string& name) {
    const std::string line = fmt::format(
        "{:x} {:x} {}\n", reinterpret_cast<std::uintptr_t>(code.data()), code.size(), name);
    lines_ += line;
    const bool continues = process_ == getpid();
    if (!continues) open_file();
    process_ = getpid();
    put(continues ? line : lines_);
}

/// A file of this process only: other users could have made a link of this name in /tmp.
void perf_map::open_file() {
    const auto path = fmt::format("/tmp/perf-{}.map", getpid());
    unlink(path.c_str());  // of an ended process with this number; fails for another user's file
    constexpr int flags = O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC | O_APPEND;
    file_ = unique_fd(open(path.c_str(), flags, 0644));
    if (!file_) log::error("perf map", "cannot make {}: {}", path, std::strerror(errno));
}

void perf_map::put(std::string_view text) {
    while (file_ && !text.empty()) {
        const auto done = write(file_.get(), text.data(), text.size());
        if (done < 0 && errno == EINTR) continue;
        if (done < 0) file_ = unique_fd();
        text.remove_prefix(done < 0 ? text.size() : static_cast<std::size_t>(done));
    }
}

}  // namespace trn::riscv::translate
