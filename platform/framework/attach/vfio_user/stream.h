// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <sys/socket.h>

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <optional>
#include <span>
#include <stdexcept>
#include <utility>
#include <vector>

#include "platform/framework/attach/vfio_user/protocol.h"
#include "platform/framework/unique_fd.h"

namespace trn::vfio_user {

/// The peer sent an invalid message: the connection must be closed.
struct protocol_error : std::runtime_error {
    using std::runtime_error::runtime_error;
};

/// A received message; the payload stays valid until the stream receives again.
struct message {
    header head;
    std::span<const std::uint8_t> payload;
    std::vector<unique_fd> descriptors;
    bool lost_descriptors = false;  ///< the process has too many open files
};

/// The first bytes of a payload as a T; nothing when the payload is shorter.
template <typename T>
std::optional<T> leading(const message& request) {
    if (request.payload.size() < sizeof(T)) return std::nullopt;
    T value;
    std::memcpy(&value, request.payload.data(), sizeof value);
    return value;
}

/// Copies `value` into a payload.
template <typename T>
void put(std::span<std::uint8_t> payload, const T& value, std::size_t offset = 0) {
    std::memcpy(&payload[offset], &value, sizeof value);
}

/// Messages with descriptors over a connected, non-blocking Unix stream socket: one recvmsg for
/// header and payload, one sendmsg for a reply, no allocation per message.
class stream {
public:
    /// The caller owns the socket.
    explicit stream(int socket);

    /// Calls recvmsg once. Returns false at the end of the stream. Throws protocol_error,
    /// std::system_error.
    bool receive();
    /// The next complete message; throws protocol_error for an invalid size.
    std::optional<message> next();

    /// Payload of a reply with `size` bytes, which the next flush() sends before posted messages.
    /// `error`: errno of an error reply. Precondition: !pending().
    std::span<std::uint8_t> reply(const header& request, std::size_t size, int error = 0);
    void reply_error(const header& request, int error, std::span<const std::uint8_t> text = {});
    /// Takes out the reply, for post_reply(); its bytes stay where they are.
    std::vector<std::uint8_t> take_reply() { return std::exchange(reply_, {}); }
    /// Queues a reply that was taken out.
    void post_reply(const std::vector<std::uint8_t>& reply) {
        posted_.insert(posted_.end(), reply.begin(), reply.end());
    }
    /// Drops the reply of a request that wants none.
    void drop_reply();
    /// Sends `descriptor`, which the caller owns, with the reply.
    void attach(int descriptor) { reply_descriptor_ = descriptor; }
    /// Queues a request of the server or a delayed response, and returns its payload to fill in.
    std::span<std::uint8_t> post(const header& head);

    /// Sends what the socket accepts; returns true when nothing is left.
    bool flush();
    bool pending() const { return sent_ < reply_.size() + posted_.size(); }

private:
    void take_descriptors(msghdr& received);

    int socket_;
    std::vector<std::uint8_t> input_;
    std::size_t begin_ = 0, end_ = 0;  // unread bytes: [begin_, end_) of input_
    std::uint64_t position_ = 0;       // position of begin_ in the whole stream
    struct received_fd {
        std::uint64_t position;  // of the last byte received with the descriptors
        unique_fd fd;
    };
    std::vector<received_fd> descriptors_;
    std::optional<std::uint64_t> lost_at_;  // where descriptors were lost
    std::vector<std::uint8_t> reply_, posted_;
    std::size_t sent_ = 0;  // bytes sent of reply_, then of posted_
    int reply_descriptor_ = -1;
};

}  // namespace trn::vfio_user
