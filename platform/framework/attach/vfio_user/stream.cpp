// SPDX-License-Identifier: Apache-2.0
#include "platform/framework/attach/vfio_user/stream.h"

#include <fmt/format.h>
#include <sys/socket.h>

#include <algorithm>
#include <cassert>
#include <cerrno>
#include <cstring>
#include <iterator>
#include <system_error>

namespace trn::vfio_user {

namespace {

constexpr std::size_t first_buffer = 64 * 1024;  // grows to max_message at the first larger message

}  // namespace

stream::stream(int socket) : socket_(socket), input_(first_buffer) {}

bool stream::receive() {
    if (begin_ == end_) begin_ = end_ = 0;
    header head{};
    if (end_ - begin_ >= sizeof head) {
        std::memcpy(&head, &input_[begin_], sizeof head);
        if (head.size > input_.size()) input_.resize(max_message);
    }
    if (begin_ + std::max<std::size_t>(head.size, sizeof head) > input_.size()) {
        std::memmove(input_.data(), &input_[begin_], end_ - begin_);
        end_ -= begin_;
        begin_ = 0;
    }
    alignas(cmsghdr) char control[CMSG_SPACE(max_descriptors * sizeof(int))];
    iovec room{.iov_base = &input_[end_], .iov_len = input_.size() - end_};
    msghdr received{};
    received.msg_iov = &room;
    received.msg_iovlen = 1;
    received.msg_control = control;
    received.msg_controllen = sizeof control;
    const ssize_t got = recvmsg(socket_, &received, MSG_CMSG_CLOEXEC | MSG_DONTWAIT);
    if (got < 0) {
        if (errno == EAGAIN || errno == EINTR) return true;
        if (errno == ECONNRESET) return false;
        throw std::system_error(errno, std::generic_category(), "receive");
    }
    end_ += static_cast<std::size_t>(got);
    if (received.msg_controllen > 0 || (received.msg_flags & MSG_CTRUNC) != 0)
        take_descriptors(received);
    return got > 0;
}

void stream::take_descriptors(msghdr& received) {
    // recvmsg returns at the bytes that carried descriptors, so they belong to the message with the
    // last byte received.
    const std::uint64_t last = position_ + (end_ - begin_) - 1;
    std::size_t arrived = 0;
    for (cmsghdr* control = CMSG_FIRSTHDR(&received); control != nullptr;
         control = CMSG_NXTHDR(&received, control)) {
        if (control->cmsg_level != SOL_SOCKET || control->cmsg_type != SCM_RIGHTS) continue;
        const std::size_t count = (control->cmsg_len - CMSG_LEN(0)) / sizeof(int);
        for (std::size_t i = 0; i < count; ++i) {
            int fd = -1;
            std::memcpy(&fd, CMSG_DATA(control) + i * sizeof(int), sizeof fd);
            descriptors_.push_back({last, unique_fd(fd)});
            ++arrived;
        }
    }
    const bool truncated = (received.msg_flags & MSG_CTRUNC) != 0;
    if (truncated && arrived < max_descriptors) lost_at_ = last;  // the kernel dropped descriptors
    if ((truncated && !lost_at_) || descriptors_.size() > max_descriptors) {
        throw protocol_error(
            fmt::format("more than {} descriptors with a message", max_descriptors));
    }
}

std::optional<message> stream::next() {
    message taken;
    if (end_ - begin_ < sizeof taken.head) return std::nullopt;
    std::memcpy(&taken.head, &input_[begin_], sizeof taken.head);
    const std::size_t size = taken.head.size;
    if (size < sizeof taken.head || size > max_message) {
        throw protocol_error(
            fmt::format("a message of {} bytes (command {})", size, taken.head.command));
    }
    if (end_ - begin_ < size) return std::nullopt;
    taken.payload = {&input_[begin_] + sizeof taken.head, size - sizeof taken.head};
    begin_ += size;
    position_ += size;
    const auto mine = std::ranges::find_if(descriptors_, [this](const received_fd& received) {
        return received.position >= position_;
    });
    for (auto received = descriptors_.begin(); received != mine; ++received) {
        taken.descriptors.push_back(std::move(received->fd));
    }
    descriptors_.erase(descriptors_.begin(), mine);
    if (lost_at_ && *lost_at_ < position_) {
        taken.lost_descriptors = true;
        lost_at_.reset();
    }
    return taken;
}

std::span<std::uint8_t> stream::reply(const header& request, std::size_t size, int error) {
    assert(sent_ == 0 && reply_.empty());
    reply_.resize(sizeof(header) + size);
    const header head{.id = request.id,
                      .command = request.command,
                      .size = static_cast<std::uint32_t>(reply_.size()),
                      .flags = flag_reply | (error != 0 ? flag_error : 0),
                      .error = static_cast<std::uint32_t>(error)};
    std::memcpy(reply_.data(), &head, sizeof head);
    return std::span(reply_).subspan(sizeof head);
}

void stream::reply_error(const header& request, int error, std::span<const std::uint8_t> text) {
    drop_reply();  // an incomplete reply, built before the error
    std::ranges::copy(text, reply(request, text.size(), error).begin());
}

void stream::drop_reply() {
    reply_.clear();
    reply_descriptor_ = -1;
}

std::span<std::uint8_t> stream::post(const header& head) {
    const std::size_t start = posted_.size();
    posted_.resize(start + head.size);
    std::memcpy(&posted_[start], &head, sizeof head);
    return std::span(posted_).subspan(start + sizeof head);
}

bool stream::flush() {
    while (pending()) {
        const std::size_t of_reply = std::min(sent_, reply_.size());
        const std::size_t of_posted = sent_ - of_reply;
        iovec parts[2] = {
            {.iov_base = reply_.data() + of_reply, .iov_len = reply_.size() - of_reply},
            {.iov_base = posted_.data() + of_posted, .iov_len = posted_.size() - of_posted}};
        alignas(cmsghdr) char control[CMSG_SPACE(sizeof(int))];
        msghdr sent{};
        sent.msg_iov = parts;
        sent.msg_iovlen = 2;
        if (reply_descriptor_ >= 0) {
            sent.msg_control = control;
            sent.msg_controllen = sizeof control;
            cmsghdr* carried = CMSG_FIRSTHDR(&sent);
            carried->cmsg_level = SOL_SOCKET;
            carried->cmsg_type = SCM_RIGHTS;
            carried->cmsg_len = CMSG_LEN(sizeof(int));
            std::memcpy(CMSG_DATA(carried), &reply_descriptor_, sizeof reply_descriptor_);
        }
        const ssize_t done = sendmsg(socket_, &sent, MSG_NOSIGNAL | MSG_DONTWAIT);
        if (done < 0) {
            if (errno == EAGAIN || errno == EINTR) return false;
            throw std::system_error(errno, std::generic_category(), "send");
        }
        sent_ += static_cast<std::size_t>(done);
        reply_descriptor_ = -1;
    }
    reply_.clear();
    posted_.clear();
    sent_ = 0;
    return true;
}

}  // namespace trn::vfio_user
