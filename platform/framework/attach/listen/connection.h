// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <memory>
#include <string>
#include <string_view>

#include "platform/framework/attach/listen/listener.h"

namespace trn {

/// One client of an endpoint, with asynchronous input and output. Input is read when the io_context
/// runs, output that the client has not accepted is buffered here. No byte is ever inside the
/// io_context, so that a connection can be handed to another process at any time.
class connection : public std::enable_shared_from_this<connection> {
public:
    /// A client with more unread bytes is disconnected.
    connection(listener::stream socket, std::size_t largest_backlog);
    virtual ~connection() = default;
    connection(const connection&) = delete;
    connection& operator=(const connection&) = delete;

    /// Begins to read; a connection from another process continues with its unsent bytes.
    void start(std::string_view unsent = {});
    void send(std::string_view text);
    /// Closes at once: nothing is read or sent afterwards.
    void close();
    /// Ends the output once the client has accepted all of it. Input is read further, since a
    /// close() before its end would lose the last output.
    void end_sending();
    bool open() const { return open_; }

    std::string_view unsent() const { return std::string_view(output_).substr(sent_); }
    int socket() { return socket_.native_handle(); }

protected:
    /// After start(), and once more after each read().
    virtual void received(std::string_view bytes) = 0;
    /// Once, by close() or because the client has disconnected; also during received().
    virtual void closed() {}
    void read();
    /// Calls `later` from a handler of its own, unless the connection is closed by then.
    void post(std::function<void()> later);

private:
    void write();
    void close_later();

    listener::stream socket_;
    const std::size_t largest_backlog_;
    std::string output_;
    std::size_t sent_ = 0;  // of output_
    bool open_ = true, ending_ = false, awaiting_ = false;
};

}  // namespace trn
