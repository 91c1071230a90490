// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <boost/asio/io_context.hpp>
#include <chrono>
#include <iosfwd>
#include <memory>
#include <optional>
#include <string>

namespace trn {

/// For its lifetime, printing to stdout, stderr, std::cout, std::cerr and std::clog does not wait
/// for a reader, so that a full pipe does not stop the event loop. Text for which a stream has no
/// room is kept and written when the reader has made room; at the limit, further text is dropped.
class standard_streams {
public:
    static constexpr std::size_t max_kept = 16 << 20;  ///< bytes per stream

    explicit standard_streams(boost::asio::io_context& io, std::size_t limit = max_kept);
    /// Restores the streams. Without finish(), kept text has `grace` to be read.
    ~standard_streams();
    standard_streams(const standard_streams&) = delete;
    standard_streams& operator=(const standard_streams&) = delete;

    static constexpr auto grace = std::chrono::seconds(1);
    /// Waits until all text is read; with a limit, drops the rest when nothing was read for that
    /// time. Returns a sentence on dropped text, or "".
    std::string finish(std::optional<std::chrono::milliseconds> limit);

private:
    class outlet;
    class output_buffers;
    std::unique_ptr<outlet> out_, err_;
    std::unique_ptr<output_buffers> cpp_streams_;
};

}  // namespace trn
