// SPDX-License-Identifier: Apache-2.0
#include "platform/scenario/snapshots.h"

#include <fmt/format.h>
#include <poll.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cassert>
#include <cerrno>
#include <cstdio>
#include <cstring>
#include <stdexcept>
#include <vector>

#include "platform/scenario/child.h"

namespace trn::scenario {

namespace {

using nlohmann::json;

/// How a process ends whose place another state took.
constexpr int superseded = 121;
/// Room for what a step carries and for the names.
constexpr std::size_t longest_order = 65536;

/// A copy of this process, which ends with it; 0 in the copy.
pid_t copy_of_this() {
    std::fflush(nullptr);  // or both would print it
    const pid_t parent = getpid(), pid = fork();
    if (pid < 0) throw_errno("fork");
    if (pid == 0) {
        prctl(PR_SET_PDEATHSIG, SIGKILL);
        if (getppid() != parent) _exit(1);  // it ended before the line above
    }
    return pid;
}

/// As its successor ended: whoever looks after this process looks after that.
[[noreturn]] void end_like(int status) {
    if (WIFSIGNALED(status)) {
        signal(WTERMSIG(status), SIG_DFL);
        raise(WTERMSIG(status));
    }
    _exit(WEXITSTATUS(status));
}

}  // namespace

/// What a process says to the one that shall go on in its place: the names of all snapshots, and
/// with them the sockets that lead there.
struct snapshots::order {
    std::map<std::string, int, std::less<>> kept;
    json carry;

    void send(int socket) const;
    /// Nothing when nobody can send any more.
    static std::optional<order> receive(int socket);
};

void snapshots::order::send(int socket) const {
    std::vector<std::string> names;
    std::vector<int> sockets;
    for (const auto& [name, to] : kept) {
        names.push_back(name);
        sockets.push_back(to);
    }
    const auto text = json{{"names", names}, {"carry", carry}}.dump();
    if (text.size() > longest_order) throw std::logic_error("too much to carry to a snapshot");
    iovec bytes{const_cast<char*>(text.data()), text.size()};
    alignas(cmsghdr) std::array<char, CMSG_SPACE(most * sizeof(int))> control{};
    msghdr message{};
    message.msg_iov = &bytes;
    message.msg_iovlen = 1;
    message.msg_control = control.data();
    message.msg_controllen = CMSG_SPACE(sockets.size() * sizeof(int));
    cmsghdr* const header = CMSG_FIRSTHDR(&message);
    header->cmsg_level = SOL_SOCKET;
    header->cmsg_type = SCM_RIGHTS;
    header->cmsg_len = CMSG_LEN(sockets.size() * sizeof(int));
    std::memcpy(CMSG_DATA(header), sockets.data(), sockets.size() * sizeof(int));
    if (sendmsg(socket, &message, MSG_NOSIGNAL) < 0) throw_errno("snapshot");
}

std::optional<snapshots::order> snapshots::order::receive(int socket) {
    std::string text(longest_order, '\0');
    iovec bytes{text.data(), text.size()};
    alignas(cmsghdr) std::array<char, CMSG_SPACE(most * sizeof(int))> control{};
    msghdr message{};
    message.msg_iov = &bytes;
    message.msg_iovlen = 1;
    message.msg_control = control.data();
    message.msg_controllen = control.size();
    const auto size = recvmsg(socket, &message, MSG_CMSG_CLOEXEC);
    if (size <= 0) return std::nullopt;
    const auto told = json::parse(std::string_view(text).substr(0, static_cast<std::size_t>(size)));
    const std::vector<std::string> names = told["names"];
    const cmsghdr* const header = CMSG_FIRSTHDR(&message);
    if (header == nullptr || header->cmsg_len != CMSG_LEN(names.size() * sizeof(int)))
        throw std::logic_error("a snapshot lost its sockets");
    std::vector<int> sockets(names.size());
    std::memcpy(sockets.data(), CMSG_DATA(header), sockets.size() * sizeof(int));
    order result{.kept = {}, .carry = told["carry"]};
    for (std::size_t i = 0; i < names.size(); ++i) result.kept[names[i]] = sockets[i];
    return result;
}

std::optional<json> snapshots::keep(const std::string& name) {
    if (kept_.size() >= most && !has(name))
        throw std::runtime_error(fmt::format("there are {} snapshots already", most));
    int ends[2];  // of whoever goes on, and of this process
    if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, ends) != 0) throw_errno("snapshot");
    const pid_t successor = copy_of_this();
    if (successor > 0) {
        close(ends[0]);
        return wait(ends[1], successor);
    }
    close(ends[1]);
    if (const auto older = kept_.find(name); older != kept_.end()) close(older->second);
    kept_[name] = ends[0];
    return std::nullopt;
}

/// Ends as the successor whose place no other state took; its copies return.
std::optional<json> snapshots::wait(int socket, pid_t successor) {
    for (const auto& [name, to] : kept_) close(to);  // an order brings them
    kept_.clear();
    std::vector<pid_t> successors{successor};
    bool ordered = true;  // somebody can order it to go on
    for (;;) {
        std::vector<pollfd> all;
        for (const auto one : successors) {
            all.push_back({static_cast<int>(syscall(SYS_pidfd_open, one, 0)), POLLIN, 0});
            if (all.back().fd < 0) throw_errno("snapshot");
        }
        if (ordered) all.push_back({socket, POLLIN, 0});
        while (poll(all.data(), all.size(), -1) < 0 && errno == EINTR) {
        }
        const bool asked = ordered && all.back().revents != 0;
        for (std::size_t i = 0; i < successors.size(); ++i) close(all[i].fd);
        std::erase_if(successors, [](pid_t one) {
            int status = 0;
            if (waitpid(one, &status, WNOHANG) != one) return false;
            if (!WIFEXITED(status) || WEXITSTATUS(status) != superseded) end_like(status);
            return true;
        });
        if (!asked) continue;
        auto told = order::receive(socket);
        if (!told) {
            ordered = false;
            continue;
        }
        if (const pid_t next = copy_of_this()) {
            for (const auto& [name, to] : told->kept) close(to);
            successors.push_back(next);
            continue;
        }
        close(socket);
        kept_ = std::move(told->kept);
        return std::move(told->carry);
    }
}

void snapshots::restore(std::string_view name, const nlohmann::json& carry) {
    const auto to = kept_.find(name);
    assert(to != kept_.end());
    std::fflush(nullptr);
    order{kept_, carry}.send(to->second);
    _exit(superseded);
}

}  // namespace trn::scenario
