// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <memory>
#include <string>
#include <string_view>

#include "platform/framework/attach/listen/listener.h"

namespace trn {

/// One client of a door, which sends bytes and takes bytes in its own time. What it sends is read
/// when the io_context runs, what it has not taken yet waits here: no byte is ever under way in the
/// io_context, so that a connection can be handed to another process in between.
class connection : public std::enable_shared_from_this<connection> {
public:
    /// A client that has not read so many bytes is let go.
    connection(listener::stream socket, std::size_t largest_backlog);
    virtual ~connection() = default;
    connection(const connection&) = delete;
    connection& operator=(const connection&) = delete;

    /// Begins to read; a connection of another process goes on with what that had not sent.
    void start(std::string_view unsent = {});
    void send(std::string_view text);
    /// At once: nothing is read or sent any more.
    void close();
    /// Tells the client, when it has taken all, that nothing more comes. What it still sends is
    /// read on: a close() in the middle of it would cost the client the last of what was sent.
    void end_sending();
    bool open() const { return open_; }

    std::string_view unsent() const { return std::string_view(output_).substr(sent_); }
    int socket() { return socket_.native_handle(); }

protected:
    /// After start(), and once more after each read().
    virtual void received(std::string_view bytes) = 0;
    /// Once, by close() or because the client has gone; also in the middle of received().
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
