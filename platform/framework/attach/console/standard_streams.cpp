// SPDX-License-Identifier: Apache-2.0
#include "platform/framework/attach/console/standard_streams.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <poll.h>
#include <sys/stat.h>
#include <sys/types.h>
#include <unistd.h>

#include <algorithm>
#include <boost/asio/posix/stream_descriptor.hpp>
#include <cassert>
#include <cerrno>
#include <cstdint>
#include <cstdio>
#include <ext/stdio_sync_filebuf.h>
#include <iostream>
#include <optional>
#include <string_view>
#include <system_error>
#include <utility>

#include "platform/framework/config/file.h"

namespace trn {

namespace {

// A pipe or a socket that is ready accepts this many bytes without blocking (pipe(7): PIPE_BUF),
// and a terminal that is ready mostly fewer.
constexpr std::size_t pipe_piece = 4096, terminal_piece = 64;

bool is_ready(int fd, int milliseconds) {
    pollfd wanted{fd, POLLOUT, 0};
    int count = 0;
    do count = poll(&wanted, 1, milliseconds);
    while (count < 0 && errno == EINTR);
    return count > 0;
}

}  // namespace

/// A file that receives the text of one or both streams. The flags of its descriptor are not
/// changed: other processes share them.
class standard_streams::outlet {
public:
    outlet(boost::asio::io_context& io, std::string name, std::FILE* original, std::size_t limit)
        : ready_(io),
          limit_(limit),
          name_(std::move(name)),
          original_(original),
          fd_(fileno(original)),
          piece_(isatty(fd_) != 0 ? terminal_piece : pipe_piece) {
        struct stat about {};
        never_blocks_ = fstat(fd_, &about) == 0 && S_ISREG(about.st_mode);
    }
    ~outlet() { finish(grace); }
    outlet(const outlet&) = delete;
    outlet& operator=(const outlet&) = delete;

    const std::string& name() const { return name_; }

    void write(std::string_view text) {
        if (kept().empty()) text.remove_prefix(put(text));
        const auto room = std::min(text.size(), limit_ - std::min(limit_, kept().size()));
        kept_ += text.substr(0, room);
        dropped_ += text.size() - room;
        wait_for_room();
    }

    /// Returns the number of dropped bytes.
    std::uint64_t finish(std::optional<std::chrono::milliseconds> limit) {
        const int timeout = limit ? static_cast<int>(limit->count()) : -1;
        while (!kept().empty() && is_ready(fd_, timeout)) write_kept();
        dropped_ += give().text.size();
        return dropped_;
    }

    unread give() {
        unread all{std::move(kept_), dropped_};
        all.text.erase(0, std::exchange(written_, 0));
        kept_.clear();
        return all;
    }
    void take(unread all) {
        kept_ = std::move(all.text);
        written_ = 0;
        dropped_ = all.dropped;
        wait_for_room();
    }

private:
    std::string_view kept() const { return std::string_view(kept_).substr(written_); }

    /// Writes what the file accepts now. Returns the number of bytes.
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

    /// Repeats a failed write on the original stream, whose error flag then reports it to the
    /// caller of finish_standard_output().
    void fail(std::string_view text) {
        std::fwrite(text.data(), 1, text.size(), original_);
        std::fflush(original_);
    }

    void write_kept() {
        written_ += put(kept());
        if (written_ < kept_.size() / 2) return;  // each byte is moved once at most
        kept_.erase(0, std::exchange(written_, 0));
    }

    void wait_for_room() {
        if (kept().empty() || is_waiting_) return;
        boost::system::error_code refused;
        if (!ready_.is_open()) ready_.assign(fcntl(fd_, F_DUPFD_CLOEXEC, 0), refused);
        if (refused) return;  // retried with the next text
        is_waiting_ = true;
        ready_.async_wait(boost::asio::posix::descriptor_base::wait_write, [this](auto error) {
            if (error == boost::asio::error::operation_aborted) return;
            is_waiting_ = false;
            write_kept();
            wait_for_room();
        });
    }

    boost::asio::posix::stream_descriptor ready_;  // a duplicate; does not own the stream
    const std::size_t limit_;
    const std::string name_;
    std::FILE* const original_;
    const int fd_;
    const std::size_t piece_;
    bool never_blocks_ = false;
    bool is_waiting_ = false;
    std::string kept_;
    std::size_t written_ = 0;    // bytes at the beginning of kept_
    std::uint64_t dropped_ = 0;  // bytes
};

/// Replaces one stream of the C library.
class standard_streams::replacement {
public:
    replacement(std::FILE*& variable, outlet& target) : variable_(variable), original_(variable) {
        std::fflush(original_);
        cookie_io_functions_t functions{};
        functions.write = [](void* outlet_of, const char* text, std::size_t size) {
            static_cast<outlet*>(outlet_of)->write({text, size});
            return static_cast<ssize_t>(size);
        };
        stream_ = fopencookie(&target, "w", functions);
        if (stream_ == nullptr)
            throw std::system_error(errno, std::generic_category(), "fopencookie");
        const int fd = fileno(original_);
        std::setvbuf(stream_, nullptr,
                     fd == STDERR_FILENO ? _IONBF
                     : isatty(fd) != 0   ? _IOLBF
                                         : _IOFBF,
                     BUFSIZ);
        variable_ = stream_;
    }
    ~replacement() {
        variable_ = original_;
        std::fclose(stream_);
    }
    replacement(const replacement&) = delete;
    replacement& operator=(const replacement&) = delete;

    std::FILE* stream() const { return stream_; }

private:
    std::FILE*& variable_;
    std::FILE* const original_;
    std::FILE* stream_ = nullptr;
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

standard_streams::standard_streams(boost::asio::io_context& io, std::size_t limit) {
    const std::string out = "standard output", err = "standard error";
    // Streams into the same file have one order.
    if (is_same_file(fileno(stdout), fileno(stderr))) {
        outlets_.push_back(std::make_unique<outlet>(io, out + " and " + err, stdout, limit));
    } else {
        outlets_.push_back(std::make_unique<outlet>(io, out, stdout, limit));
        outlets_.push_back(std::make_unique<outlet>(io, err, stderr, limit));
    }
    out_ = std::make_unique<replacement>(stdout, *outlets_.front());
    err_ = std::make_unique<replacement>(stderr, *outlets_.back());
    cpp_streams_ = std::make_unique<output_buffers>(out_->stream(), err_->stream());
}

standard_streams::~standard_streams() = default;

void standard_streams::flush() {
    for (const auto* stream : {&out_, &err_}) std::fflush((*stream)->stream());
}

std::string standard_streams::finish(std::optional<std::chrono::milliseconds> limit) {
    flush();
    std::uint64_t dropped = 0;
    std::vector<std::string> names;
    for (const auto& each : outlets_) {
        const auto of_this = each->finish(limit);
        dropped += of_this;
        if (of_this != 0) names.push_back(each->name());
    }
    if (names.empty()) return {};
    return fmt::format("{} bytes of {} were dropped: they were not read", dropped,
                       fmt::join(names, " and "));
}

std::vector<standard_streams::unread> standard_streams::give() {
    flush();
    std::vector<unread> all;
    for (const auto& each : outlets_) all.push_back(each->give());
    return all;
}

void standard_streams::take(std::vector<unread> all) {
    assert(all.size() == outlets_.size());
    for (std::size_t i = 0; i < outlets_.size(); ++i) outlets_[i]->take(std::move(all[i]));
}

}  // namespace trn
