// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <string_view>

namespace trn {

/// A file that is written piece by piece during a run. Write errors do not end the run: failure()
/// returns the reason, and further text is dropped.
class streamed_file {
public:
    enum class mode { replace, append };
    /// "": writes nothing. \throws std::system_error, file_error (check_not_read())
    explicit streamed_file(std::string path, mode opening = mode::replace);
    ~streamed_file();
    streamed_file(const streamed_file&) = delete;
    streamed_file& operator=(const streamed_file&) = delete;

    bool is_open() const { return file_ >= 0; }
    void put(std::string_view bytes) {
        buffer_ += bytes;
        if (buffer_.size() >= piece) flush();
    }
    void flush();
    /// Continues in another file, which begins with a copy of the text so far.
    void continue_in(const std::string& path);
    /// The reason why the file is incomplete, with its name; "" when it is complete.
    const std::string& failure() const { return failure_; }
    void fail(std::string_view why);

private:
    static constexpr std::size_t piece = 64 << 10;

    void open(int flag);

    std::string path_, buffer_, failure_;
    int file_ = -1;
};

}  // namespace trn
