// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <string_view>

namespace trn {

/// A file that a run writes as it goes on: in pieces, so that it takes no memory, and never at the
/// run's expense: what cannot be written is said by failure(), and the rest is dropped.
class streamed_file {
public:
    /// No path: nothing is written. \throws std::system_error, file_error (check_not_read())
    explicit streamed_file(std::string path);
    ~streamed_file();
    streamed_file(const streamed_file&) = delete;
    streamed_file& operator=(const streamed_file&) = delete;

    bool is_open() const { return file_ >= 0; }
    void put(std::string_view bytes) {
        buffer_ += bytes;
        if (buffer_.size() >= piece) flush();
    }
    void flush();
    /// Goes on in another file that begins with what was written so far.
    void continue_in(const std::string& path);
    /// Why the file ends too early, with its name; empty: it does not.
    const std::string& failure() const { return failure_; }
    void fail(std::string_view why);

private:
    static constexpr std::size_t piece = 64 << 10;

    void open(int how);

    std::string path_, buffer_, failure_;
    int file_ = -1;
};

}  // namespace trn
