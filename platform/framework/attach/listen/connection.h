// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <memory>
#include <string>
#include <string_view>

#include "platform/framework/attach/listen/listener.h"

namespace trn {

/// One client of an endpoint, with asynchronous input and output. Input is read when the io_context
/// runs; output that the socket does not accept is buffered here. No data is kept inside the
/// io_context, so a connection can be handed over to another process between handlers.
class connection : public std::enable_shared_from_this<connection> {
public:
    /// Disconnects a client with more than `largest_backlog` unread bytes.
    connection(listener::stream socket, std::size_t largest_backlog);
    virtual ~connection() = default;
    connection(const connection&) = delete;
    connection& operator=(const connection&) = delete;

    /// Starts reading. `unsent`: output of a process that handed the connection over.
    void start(std::string_view unsent = {});
    void send(std::string_view text);
    /// Closes immediately: nothing is read or sent afterwards.
    void close();
    /// Ends the output once the client has accepted all of it. Input is still read, since closing
    /// with unread input would discard the last output.
    void end_sending();
    bool open() const { return open_; }

    std::string_view unsent() const { return std::string_view(output_).substr(sent_); }
    int socket() { return socket_.native_handle(); }

protected:
    /// Called with input. Reading continues after start() and after each read().
    virtual void received(std::string_view bytes) = 0;
    /// Called once: by close(), or when the client has disconnected; possibly during received().
    virtual void closed() {}
    void read();
    /// Calls `later` from its own handler, unless the connection is closed by then.
    void post(std::function<void()> later);

private:
    void write();
    void close_later();

    listener::stream socket_;
    const std::size_t largest_backlog_;
    std::string output_;
    std::size_t sent_ = 0;  // bytes of output_ that were sent
    bool open_ = true, ending_ = false, awaiting_ = false;
};

}  // namespace trn
