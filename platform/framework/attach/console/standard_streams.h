// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <boost/asio/io_context.hpp>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace trn {

/// For its lifetime, printing to stdout, stderr, std::cout, std::cerr and std::clog does not wait
/// for a reader, so that a full pipe does not stop the event loop. Text for which a stream has no
/// room is kept and written when the reader has made room; at the limit, further text is dropped.
/// Text of streams with the same file keeps its order.
class standard_streams {
public:
    static constexpr std::size_t max_kept = 16 << 20;  ///< bytes per file

    explicit standard_streams(boost::asio::io_context& io, std::size_t limit = max_kept);
    /// Restores the streams. Without finish(), kept text has `grace` to be read.
    ~standard_streams();
    standard_streams(const standard_streams&) = delete;
    standard_streams& operator=(const standard_streams&) = delete;

    static constexpr auto grace = std::chrono::seconds(1);
    /// Waits until all text is read; with a limit, drops the rest when nothing was read for that
    /// time. Returns a sentence on dropped text, or "".
    std::string finish(std::optional<std::chrono::milliseconds> limit);

    /// Ends the buffering of the C library.
    void flush();

    /// Text that waits for the reader of a file, and the number of bytes dropped so far.
    struct unread {
        std::string text;
        std::uint64_t dropped = 0;
    };
    /// For a process that continues instead of this one: this one no longer prints the text.
    std::vector<unread> give();
    /// Continues with the text of another process. Precondition: that process is a copy of this
    /// one, or the reverse.
    void take(std::vector<unread> all);

private:
    class outlet;
    class replacement;
    class output_buffers;

    std::vector<std::unique_ptr<outlet>> outlets_;
    std::unique_ptr<replacement> out_, err_;
    std::unique_ptr<output_buffers> cpp_streams_;
};

}  // namespace trn
