// SPDX-License-Identifier: Apache-2.0
#include "platform/framework/kernel/streamed_file.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <filesystem>
#include <system_error>
#include <utility>

#include "platform/framework/config/file.h"
#include "platform/framework/kernel/time_text.h"

namespace trn {

streamed_file::streamed_file(std::string path, mode opening) : path_(std::move(path)) {
    check_not_read(path_);
    open(opening == mode::append ? O_APPEND : O_TRUNC);
}

streamed_file::~streamed_file() {
    flush();
    if (file_ >= 0) ::close(file_);
}

void streamed_file::open(int flag) {
    if (path_.empty()) return;
    // O_NONBLOCK: opening a FIFO would otherwise wait for a reader.
    file_ = ::open(path_.c_str(), O_WRONLY | O_CREAT | O_CLOEXEC | O_NONBLOCK | flag, 0666);
    if (file_ < 0 && errno == ENXIO)
        throw file_error(fmt::format(
            "cannot write {}: no process reads this FIFO; start its reader first", path_));
    if (file_ < 0) throw std::system_error(errno, std::generic_category(), path_);
    fcntl(file_, F_SETFL, fcntl(file_, F_GETFL) & ~O_NONBLOCK);
}

void streamed_file::flush() {
    for (std::string_view left = buffer_; !left.empty() && file_ >= 0;) {
        const auto done = ::write(file_, left.data(), left.size());
        if (done >= 0)
            left.remove_prefix(static_cast<std::size_t>(done));
        else if (errno != EINTR)
            fail(std::strerror(errno));
    }
    buffer_.clear();
}

void streamed_file::fail(std::string_view why) {
    failure_ = fmt::format("{} ends before {}: {}", path_, to_text(sc_core::sc_time_stamp()), why);
    ::close(std::exchange(file_, -1));
}

void streamed_file::continue_in(const std::string& path) {
    if (file_ < 0) return;
    ::close(std::exchange(file_, -1));
    std::filesystem::copy_file(path_, path, std::filesystem::copy_options::overwrite_existing);
    path_ = path;
    open(O_APPEND);
}

}  // namespace trn
