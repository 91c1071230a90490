// SPDX-License-Identifier: Apache-2.0
#include "platform/framework/attach/console/standard_streams.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <poll.h>
#include <sys/stat.h>
#include <sys/types.h>
#include <unistd.h>

#include <algorithm>
#include <boost/asio/posix/stream_descriptor.hpp>
#include <cerrno>
#include <cstdint>
#include <cstdio>
#include <ext/stdio_sync_filebuf.h>
#include <iostream>
#include <optional>
#include <string_view>
#include <system_error>
#include <utility>

namespace trn {

namespace {

// A pipe or a socket that is ready accepts this many bytes without blocking (pipe(7): PIPE_BUF),
// and a terminal that is ready mostly fewer.
constexpr std::size_t pipe_piece = 4096, terminal_piece = 64;

bool is_ready(int fd, int milliseconds) {
    pollfd wanted{fd, POLLOUT, 0};
    return poll(&wanted, 1, milliseconds) > 0;
}

}  // namespace

/// The replacement of one stream. The flags of its descriptor are not changed: other processes
/// share them.
class standard_streams::outlet {
public:
    outlet(boost::asio::io_context& io, std::FILE*& stream, std::size_t limit)
        : ready_(io),
          limit_(limit),
          variable_(stream),
          original_(stream),
          fd_(fileno(stream)),
          piece_(isatty(fd_) != 0 ? terminal_piece : pipe_piece) {
        std::fflush(original_);
        struct stat about {};
        never_blocks_ = fstat(fd_, &about) == 0 && S_ISREG(about.st_mode);
        cookie_io_functions_t functions{};
        functions.write = [](void* self, const char* text, std::size_t size) {
            return static_cast<outlet*>(self)->write({text, size});
        };
        replacement_ = fopencookie(this, "w", functions);
        if (replacement_ == nullptr)
            throw std::system_error(errno, std::generic_category(), "fopencookie");
        const bool whole_lines = isatty(fd_) != 0;
        std::setvbuf(replacement_, nullptr,
                     fd_ == STDERR_FILENO ? _IONBF
                     : whole_lines        ? _IOLBF
                                          : _IOFBF,
                     BUFSIZ);
        variable_ = replacement_;
    }
    ~outlet() {
        finish(grace);
        variable_ = original_;
        std::fclose(replacement_);
    }
    outlet(const outlet&) = delete;
    outlet& operator=(const outlet&) = delete;

    std::FILE* stream() const { return replacement_; }

    std::uint64_t finish(std::optional<std::chrono::milliseconds> limit) {
        std::fflush(replacement_);
        forget_text_of_original();
        const int patience = limit ? static_cast<int>(limit->count()) : -1;
        while (!kept_.empty() && is_ready(fd_, patience)) write_kept();
        dropped_ += std::exchange(kept_, {}).size();
        return dropped_;
    }

private:
    ssize_t write(std::string_view text) {
        const auto size = static_cast<ssize_t>(text.size());
        forget_text_of_original();
        if (kept_.empty()) text.remove_prefix(put(text));
        const auto room = std::min(text.size(), limit_ - std::min(limit_, kept_.size()));
        kept_ += text.substr(0, room);
        dropped_ += text.size() - room;
        wait_for_room();
        return size;
    }

    /// In a copy of the process (a restored snapshot): the original prints the text that it kept.
    void forget_text_of_original() {
        if (owner_ == getpid()) return;
        owner_ = getpid();
        kept_.clear();
    }

    /// Writes what the stream accepts now. Returns the number of bytes.
    std::size_t put(std::string_view text) {
        std::size_t done = 0;
        while (done < text.size()) {
            if (!never_blocks_ && !is_ready(fd_, 0)) break;
            const auto here = text.substr(done, never_blocks_ ? text.npos : piece_);
            const auto count = ::write(fd_, here.data(), here.size());
            if (count < 0 && errno == EINTR) continue;
            if (count < 0 && errno == EAGAIN) break;
            if (count < 0) {
                fail(here);
                return text.size();
            }
            done += static_cast<std::size_t>(count);
        }
        return done;
    }

    /// Repeats a failed write on the original stream, whose error flag then tells it to the caller
    /// of finish_standard_output().
    void fail(std::string_view text) {
        std::fwrite(text.data(), 1, text.size(), original_);
        std::fflush(original_);
    }

    void write_kept() { kept_.erase(0, put(kept_)); }

    void wait_for_room() {
        if (kept_.empty() || is_waiting_) return;
        boost::system::error_code refused;
        if (!ready_.is_open()) ready_.assign(fcntl(fd_, F_DUPFD_CLOEXEC, 0), refused);
        if (refused) return;  // retried with the next text
        is_waiting_ = true;
        ready_.async_wait(boost::asio::posix::descriptor_base::wait_write, [this](auto error) {
            if (error == boost::asio::error::operation_aborted) return;
            is_waiting_ = false;
            forget_text_of_original();
            write_kept();
            wait_for_room();
        });
    }

    boost::asio::posix::stream_descriptor ready_;  // a duplicate; does not own the stream
    const std::size_t limit_;
    std::FILE*& variable_;
    std::FILE* const original_;
    std::FILE* replacement_ = nullptr;
    const int fd_;
    const std::size_t piece_;
    bool never_blocks_ = false;
    bool is_waiting_ = false;
    pid_t owner_ = getpid();
    std::string kept_;
    std::uint64_t dropped_ = 0;  // bytes
};

/// Lets the C++ streams print through the replacements.
class standard_streams::output_buffers {
public:
    output_buffers(std::FILE* out, std::FILE* err)
        : out_(out),
          err_(err),
          cout_(std::cout.rdbuf(&out_)),
          cerr_(std::cerr.rdbuf(&err_)),
          clog_(std::clog.rdbuf(&err_)) {}
    ~output_buffers() {
        std::cout.rdbuf(cout_);
        std::cerr.rdbuf(cerr_);
        std::clog.rdbuf(clog_);
    }
    output_buffers(const output_buffers&) = delete;
    output_buffers& operator=(const output_buffers&) = delete;

private:
    __gnu_cxx::stdio_sync_filebuf<char> out_, err_;
    std::streambuf *cout_, *cerr_, *clog_;
};

standard_streams::standard_streams(boost::asio::io_context& io, std::size_t limit)
    : out_(std::make_unique<outlet>(io, stdout, limit)),
      err_(std::make_unique<outlet>(io, stderr, limit)),
      cpp_streams_(std::make_unique<output_buffers>(out_->stream(), err_->stream())) {}

standard_streams::~standard_streams() = default;

std::string standard_streams::finish(std::optional<std::chrono::milliseconds> limit) {
    const auto out = out_->finish(limit);
    const auto err = err_->finish(limit);
    if (out == 0 && err == 0) return {};
    return fmt::format("{} bytes of standard {} were dropped: nobody read them", out + err,
                       out == 0   ? "error"
                       : err == 0 ? "output"
                                  : "output and standard error");
}

}  // namespace trn
