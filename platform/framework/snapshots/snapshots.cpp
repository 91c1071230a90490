// SPDX-License-Identifier: Apache-2.0
#include "platform/framework/snapshots/snapshots.h"

#include <fmt/format.h>
#include <poll.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/signalfd.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cassert>
#include <cerrno>
#include <cstdint>
#include <cstdio>
#include <cstring>
#include <span>
#include <stdexcept>
#include <system_error>
#include <utility>

#include "platform/framework/process/bound_fork.h"

namespace trn {

namespace {

using nlohmann::json;

/// Exit status of a process replaced by another state.
constexpr int superseded = 121;
/// Maximum number of descriptors in a message (SCM_MAX_FD in Linux is 253).
constexpr std::size_t per_message = 250;

[[noreturn]] void cannot(const char* operation) {
    throw std::system_error(errno, std::generic_category(), operation);
}

void call(const std::function<void()>& hook) {
    if (hook) hook();
}

/// While it exists, termination signals stay pending for the process that continues.
class requests_held {
public:
    requests_held() {
        const auto requests = snapshots::requests_to_end();
        sigprocmask(SIG_BLOCK, &requests, &earlier_);
    }
    ~requests_held() { sigprocmask(SIG_SETMASK, &earlier_, nullptr); }
    requests_held(const requests_held&) = delete;
    requests_held& operator=(const requests_held&) = delete;

private:
    sigset_t earlier_;
};

/// Ends with the successor's status, for the parent of this process.
[[noreturn]] void end_like(int status) {
    if (WIFSIGNALED(status)) {
        sigset_t it;
        sigemptyset(&it);
        sigaddset(&it, WTERMSIG(status));
        signal(WTERMSIG(status), SIG_DFL);
        sigprocmask(SIG_UNBLOCK, &it, nullptr);
        raise(WTERMSIG(status));
    }
    _exit(WEXITSTATUS(status));
}

/// Sends `text` and descriptors through a SOCK_SEQPACKET socket.
void send_message(int socket, std::span<const std::byte> text, std::span<const int> descriptors) {
    iovec bytes{const_cast<std::byte*>(text.data()), text.size()};
    alignas(cmsghdr) std::array<char, CMSG_SPACE(per_message * sizeof(int))> control{};
    msghdr message{};
    message.msg_iov = &bytes;
    message.msg_iovlen = 1;
    message.msg_control = control.data();
    message.msg_controllen = CMSG_SPACE(descriptors.size_bytes());
    cmsghdr* const header = CMSG_FIRSTHDR(&message);
    header->cmsg_level = SOL_SOCKET;
    header->cmsg_type = SCM_RIGHTS;
    header->cmsg_len = CMSG_LEN(descriptors.size_bytes());
    std::memcpy(CMSG_DATA(header), descriptors.data(), descriptors.size_bytes());
    if (sendmsg(socket, &message, MSG_NOSIGNAL) < 0) cannot("snapshot");
}

/// False if no sender is left.
bool receive_message(int socket, std::span<std::byte> text, std::vector<int>& descriptors) {
    iovec bytes{text.data(), text.size()};
    alignas(cmsghdr) std::array<char, CMSG_SPACE(per_message * sizeof(int))> control{};
    msghdr message{};
    message.msg_iov = &bytes;
    message.msg_iovlen = 1;
    message.msg_control = control.data();
    message.msg_controllen = control.size();
    if (recvmsg(socket, &message, MSG_CMSG_CLOEXEC) <= 0) return false;
    const cmsghdr* const header = CMSG_FIRSTHDR(&message);
    if (header == nullptr || (message.msg_flags & MSG_CTRUNC) != 0)
        throw std::logic_error("a snapshot lost its descriptors");
    const auto size = header->cmsg_len - CMSG_LEN(0);
    const auto before = descriptors.size();
    descriptors.resize(before + size / sizeof(int));
    std::memcpy(descriptors.data() + before, CMSG_DATA(header), size);
    return true;
}

}  // namespace

sigset_t snapshots::requests_to_end() {
    sigset_t set;
    sigemptyset(&set);
    for (const int one : {SIGINT, SIGTERM}) sigaddset(&set, one);
    return set;
}

/// Message to the process that continues: the names of all snapshots with the sockets of their
/// processes, and the handover_state. The text is in a memfd, the first of the descriptors, because
/// clients' unread data may be long.
struct snapshots::order {
    std::map<std::string, kept, std::less<>> all;
    handover_state carry;

    void send(int socket) const;
    /// nullopt if no sender is left.
    static std::optional<order> receive(int socket);
};

void snapshots::order::send(int socket) const {
    std::vector<int> descriptors{-1};
    json names = json::array();
    for (const auto& [name, one] : all) {
        names.push_back({{"name", name}, {"about", one.about}});
        descriptors.push_back(one.socket);
    }
    descriptors.insert(descriptors.end(), carry.descriptors.begin(), carry.descriptors.end());
    const auto words = json::to_cbor({{"names", names},
                                      {"carry", carry.state},
                                      {"digest", carry.traced.digest},
                                      {"operations", carry.traced.operations},
                                      {"returns", carry.traced.returns}});
    descriptors.front() = memfd_create("order to a snapshot", MFD_CLOEXEC);
    if (descriptors.front() < 0) cannot("snapshot");
    for (std::size_t at = 0; at < words.size();) {
        const auto written = write(descriptors.front(), words.data() + at, words.size() - at);
        if (written < 0 && errno != EINTR) cannot("snapshot");
        if (written > 0) at += static_cast<std::size_t>(written);
    }
    const std::uint64_t count = descriptors.size();
    for (auto left = std::span<const int>(descriptors); !left.empty();) {
        const auto now = left.first(std::min(left.size(), per_message));
        send_message(socket, std::as_bytes(std::span(&count, 1)), now);
        left = left.subspan(now.size());
    }
}

std::optional<snapshots::order> snapshots::order::receive(int socket) {
    std::vector<int> descriptors;
    std::uint64_t count = 1;
    while (descriptors.size() < count) {
        if (receive_message(socket, std::as_writable_bytes(std::span(&count, 1)), descriptors))
            continue;
        for (const int one : descriptors) close(one);
        return std::nullopt;
    }
    struct stat file {};
    if (fstat(descriptors.front(), &file) != 0) cannot("snapshot");
    std::vector<std::uint8_t> words(static_cast<std::size_t>(file.st_size));
    if (pread(descriptors.front(), words.data(), words.size(), 0) != file.st_size)
        throw std::logic_error("a snapshot lost its order");
    close(descriptors.front());
    const auto state = json::from_cbor(words);
    order result{
        .all = {},
        .carry = {state["carry"], {}, {state["digest"], state["operations"], state["returns"]}}};
    std::size_t next = 1;
    for (const auto& one : state["names"])
        result.all[one["name"]] = {descriptors[next++], one["about"]};
    result.carry.descriptors.assign(descriptors.begin() + static_cast<std::ptrdiff_t>(next),
                                    descriptors.end());
    return result;
}

/// Forks a copy that is killed with this process; returns 0 in the copy.
pid_t snapshots::copy_of_this() {
    trace::flush();
    call(around_.before);
    const pid_t pid = fork_bound();
    if (pid != 0) {
        const int why = errno;
        call(around_.in_original);
        errno = why;
        if (pid < 0) cannot("fork");
        return pid;
    }
    call(around_.in_copy);
    return 0;
}

std::optional<snapshots::handover_state> snapshots::keep(const std::string& name,
                                                         const json& about) {
    if (kept_.size() >= most && !has(name))
        throw std::runtime_error(fmt::format("there are {} snapshots already", most));
    int ends[2];  // for the process that continues, and for this one
    if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, ends) != 0) cannot("snapshot");
    const requests_held for_the_copy;
    pid_t successor = -1;
    try {
        successor = copy_of_this();
    } catch (...) {
        close(ends[0]);
        close(ends[1]);
        throw;
    }
    if (successor > 0) {
        close(ends[0]);
        call(around_.waits);
        return wait(ends[1], successor);
    }
    close(ends[1]);
    if (const auto older = kept_.find(name); older != kept_.end()) close(older->second.socket);
    kept_[name] = {ends[0], about};
    return std::nullopt;
}

/// Waits; ends with the status of the last successor. Returns in copies that continue.
std::optional<snapshots::handover_state> snapshots::wait(int socket, pid_t successor) {
    for (const auto& [name, one] : kept_) close(one.socket);  // an order contains new ones
    kept_.clear();
    std::vector<pid_t> successors{successor};
    bool ordered = true;  // another process may send an order to continue
    int request = 0;      // pending termination signal; copies made later get it too
    const auto requests = requests_to_end();
    const int asked_to_end = signalfd(-1, &requests, SFD_CLOEXEC | SFD_NONBLOCK);
    if (asked_to_end < 0) cannot("snapshot");
    // Ends when the snapshot is unreachable and all its copies have ended.
    while (ordered || !successors.empty()) {
        std::vector<pollfd> all{{asked_to_end, POLLIN, 0}};
        for (const auto one : successors) {
            all.push_back({static_cast<int>(syscall(SYS_pidfd_open, one, 0)), POLLIN, 0});
            if (all.back().fd < 0) cannot("snapshot");
        }
        if (ordered) all.push_back({socket, POLLIN, 0});
        while (poll(all.data(), all.size(), -1) < 0 && errno == EINTR) {
        }
        const bool asked = ordered && all.back().revents != 0;
        for (std::size_t i = 0; i < successors.size(); ++i) close(all[i + 1].fd);
        signalfd_siginfo received{};
        while (read(asked_to_end, &received, sizeof received) == sizeof received) {
            request = static_cast<int>(received.ssi_signo);
            // A terminal signals all of its processes itself.
            if (received.ssi_code != SI_KERNEL)
                for (const auto one : successors) kill(one, request);
        }
        std::erase_if(successors, [](pid_t one) {
            int status = 0;
            if (waitpid(one, &status, WNOHANG) != one) return false;
            if (!WIFEXITED(status) || WEXITSTATUS(status) != superseded) end_like(status);
            return true;
        });
        if (!asked) continue;
        auto given = order::receive(socket);
        if (!given) {
            ordered = false;
            continue;
        }
        if (const pid_t next = copy_of_this()) {
            for (const auto& [name, one] : given->all) close(one.socket);
            for (const int one : given->carry.descriptors) close(one);
            successors.push_back(next);
            if (request != 0) kill(next, request);
            continue;
        }
        close(asked_to_end);
        close(socket);
        kept_ = std::move(given->all);
        trace::resume_after(given->carry.traced);
        return std::move(given->carry);
    }
    _exit(superseded);
}

void snapshots::restore(std::string_view name, handover_state carry) {
    const auto to = kept_.find(name);
    assert(to != kept_.end());
    std::fflush(nullptr);
    trace::flush();
    carry.traced = trace::where();
    const requests_held for_the_other;
    order{kept_, std::move(carry)}.send(to->second.socket);
    _exit(superseded);
}

}  // namespace trn
