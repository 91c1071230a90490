// SPDX-License-Identifier: Apache-2.0
#include "platform/kernel/trace_writer.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <filesystem>
#include <system_error>
#include <utility>

#include "platform/kernel/time_text.h"

namespace trn::trace {

writer::writer(std::string path) : path_(std::move(path)) {
    open(O_TRUNC);
}

writer::~writer() {
    flush();
    if (file_ >= 0) ::close(file_);
}

void writer::open(int how) {
    if (path_.empty()) return;
    file_ = ::open(path_.c_str(), O_WRONLY | O_CREAT | O_CLOEXEC | how, 0666);
    if (file_ < 0) throw std::system_error(errno, std::generic_category(), path_);
}

void writer::flush() {
    for (std::string_view left = buffer_; !left.empty() && file_ >= 0;) {
        const auto done = ::write(file_, left.data(), left.size());
        if (done >= 0) {
            left.remove_prefix(static_cast<std::size_t>(done));
        } else if (errno != EINTR) {
            failure_ = fmt::format("{}: the trace ends before {}: {}", path_,
                                   to_text(sc_core::sc_time_stamp()), std::strerror(errno));
            ::close(std::exchange(file_, -1));
        }
    }
    buffer_.clear();
}

void writer::continue_in(const std::string& path) {
    if (file_ < 0) return;
    ::close(std::exchange(file_, -1));
    std::filesystem::copy_file(path_, path, std::filesystem::copy_options::overwrite_existing);
    path_ = path;
    open(O_APPEND);
}

}  // namespace trn::trace
