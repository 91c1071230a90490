// SPDX-License-Identifier: Apache-2.0
#include "platform/framework/snapshots/snapshots.h"

#include <fmt/format.h>
#include <poll.h>
#include <signal.h>
#include <sys/signalfd.h>
#include <sys/socket.h>
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
#include "platform/framework/process/throw_errno.h"
#include "platform/framework/process/uninterrupted.h"

namespace trn {

namespace {

using nlohmann::json;

/// Exit status of a process replaced by another state.
constexpr int superseded = 121;
/// Maximum number of descriptors in a message (SCM_MAX_FD in Linux is 253).
constexpr std::size_t per_message = 250;
/// Maximum number of bytes in a message; the smallest send buffers of Linux hold one.
constexpr std::size_t bytes_per_message = 2048;

void call(const std::function<void()>& hook) {
    if (hook) hook();
}

/// While it exists, termination signals stay pending for the process that continues, and the ends
/// of copies for this one.
class signals_held {
public:
    signals_held() {
        const auto all = set();
        sigprocmask(SIG_BLOCK, &all, &earlier_);
    }
    ~signals_held() { sigprocmask(SIG_SETMASK, &earlier_, nullptr); }
    signals_held(const signals_held&) = delete;
    signals_held& operator=(const signals_held&) = delete;

    static sigset_t set() {
        auto all = snapshots::requests_to_end();
        sigaddset(&all, SIGCHLD);
        return all;
    }

private:
    sigset_t earlier_;
};

/// Ends with the successor's status, for the parent of this process.
[[noreturn]] void end_like(int status) {
    if (WIFSIGNALED(status)) {
        sigset_t killing;
        sigemptyset(&killing);
        sigaddset(&killing, WTERMSIG(status));
        signal(WTERMSIG(status), SIG_DFL);
        sigprocmask(SIG_UNBLOCK, &killing, nullptr);
        raise(WTERMSIG(status));
    }
    _exit(WEXITSTATUS(status));
}

/// Both ends of a socket that keeps the borders of messages.
std::pair<unique_fd, unique_fd> channel() {
    int ends[2];
    if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, ends) != 0) throw_errno("socketpair");
    return {unique_fd(ends[0]), unique_fd(ends[1])};
}

/// Sends one message. False when that fails, mostly because no receiver is left.
bool send_message(int socket, std::span<const std::uint8_t> bytes) {
    return uninterrupted([&] { return send(socket, bytes.data(), bytes.size(), MSG_NOSIGNAL); }) >=
           0;
}

/// Receives one message; empty when no sender is left.
std::span<std::uint8_t> receive_message(int socket, std::span<std::uint8_t> buffer) {
    const auto size = uninterrupted([&] { return recv(socket, buffer.data(), buffer.size(), 0); });
    return buffer.first(size < 0 ? 0 : static_cast<std::size_t>(size));
}

/// The bytes of a number, to be sent or received.
template <class T>
std::span<std::uint8_t> bytes_of(T& number) {
    return {reinterpret_cast<std::uint8_t*>(&number), sizeof number};
}

/// Reports that this process exists, or the error for which there is none.
void report(int socket, int error = 0) {
    send_message(socket, bytes_of(error));
}

/// Waits for a report. \throws std::system_error when it is an error, or does not come
void expect_report(int socket) {
    int error = 0;
    if (receive_message(socket, bytes_of(error)).size() != sizeof error)
        throw std::system_error(ESRCH, std::generic_category(), "there is no copy");
    if (error != 0)
        throw std::system_error(error, std::generic_category(), "cannot copy the process");
}

}  // namespace

sigset_t snapshots::requests_to_end() {
    sigset_t set;
    sigemptyset(&set);
    for (const int signal : {SIGINT, SIGTERM}) sigaddset(&set, signal);
    return set;
}

// --- The request for a copy

/// The descriptors of the copy, in messages: a channel to the process that asks, the sockets of all
/// snapshots, and those of prepare().
struct snapshots::request {
    enum part : std::uint8_t { more, last, given_up };

    std::vector<unique_fd> descriptors = {};
    bool complete = true;  ///< false: given up, or this process has too few descriptors

    static void send(int socket, std::span<const int> descriptors);
    /// nullopt if no sender is left.
    static std::optional<request> receive(int socket);
    int channel() const { return descriptors.front().get(); }

private:
    static void send(int socket, part kind, std::span<const int> descriptors);
    bool receive_part(int socket, part& kind);
};

void snapshots::request::send(int socket, part kind, std::span<const int> descriptors) {
    iovec bytes{&kind, sizeof kind};
    alignas(cmsghdr) std::array<char, CMSG_SPACE(per_message * sizeof(int))> control{};
    msghdr message{};
    message.msg_iov = &bytes;
    message.msg_iovlen = 1;
    if (!descriptors.empty()) {
        message.msg_control = control.data();
        message.msg_controllen = CMSG_SPACE(descriptors.size_bytes());
        cmsghdr* const header = CMSG_FIRSTHDR(&message);
        header->cmsg_level = SOL_SOCKET;
        header->cmsg_type = SCM_RIGHTS;
        header->cmsg_len = CMSG_LEN(descriptors.size_bytes());
        std::memcpy(CMSG_DATA(header), descriptors.data(), descriptors.size_bytes());
    }
    if (uninterrupted([&] { return sendmsg(socket, &message, MSG_NOSIGNAL); }) < 0)
        throw_errno("cannot pass descriptors");
}

void snapshots::request::send(int socket, std::span<const int> descriptors) {
    try {
        while (descriptors.size() > per_message) {
            send(socket, more, descriptors.first(per_message));
            descriptors = descriptors.subspan(per_message);
        }
        send(socket, last, descriptors);
    } catch (const std::system_error&) {
        send(socket, given_up, {});
        throw;
    }
}

bool snapshots::request::receive_part(int socket, part& kind) {
    iovec bytes{&kind, sizeof kind};
    alignas(cmsghdr) std::array<char, CMSG_SPACE(per_message * sizeof(int))> control{};
    msghdr message{};
    message.msg_iov = &bytes;
    message.msg_iovlen = 1;
    message.msg_control = control.data();
    message.msg_controllen = control.size();
    if (uninterrupted([&] { return recvmsg(socket, &message, MSG_CMSG_CLOEXEC); }) <= 0)
        return false;
    if (const cmsghdr* const header = CMSG_FIRSTHDR(&message)) {
        std::vector<int> received((header->cmsg_len - CMSG_LEN(0)) / sizeof(int));
        std::memcpy(received.data(), CMSG_DATA(header), received.size() * sizeof(int));
        for (const int descriptor : received) descriptors.emplace_back(descriptor);
    }
    if ((message.msg_flags & MSG_CTRUNC) != 0 || kind == given_up) complete = false;
    return true;
}

std::optional<snapshots::request> snapshots::request::receive(int socket) {
    request all;
    for (part kind = more; kind == more;)
        if (!all.receive_part(socket, kind)) return std::nullopt;
    return all;
}

// --- The state that the copy continues with

namespace {

/// Sends the length of `state`, then its bytes. False when that fails.
bool send_state(int socket, const json& state) {
    const auto words = json::to_cbor(state);
    std::uint64_t size = words.size();
    if (!send_message(socket, bytes_of(size))) return false;
    for (auto left = std::span(words); !left.empty();) {
        const auto now = left.first(std::min(left.size(), bytes_per_message));
        if (!send_message(socket, now)) return false;
        left = left.subspan(now.size());
    }
    return true;
}

/// nullopt when the sender has ended, or has closed the socket.
std::optional<json> receive_state(int socket) {
    std::uint64_t size = 0;
    if (receive_message(socket, bytes_of(size)).size() != sizeof size) return std::nullopt;
    std::array<std::uint8_t, bytes_per_message> bytes{};
    std::vector<std::uint8_t> words;
    while (words.size() < size) {
        const auto now = receive_message(socket, bytes);
        if (now.empty()) return std::nullopt;
        words.insert(words.end(), now.begin(), now.end());
    }
    return json::from_cbor(words);
}

}  // namespace

// --- Processes

/// Forks a copy that is killed with this process; returns 0 in the copy. A copy that cannot use its
/// resources ends after a report.
pid_t snapshots::copy_of_this(int report_to) {
    trace::flush();
    call(around_.before);
    const pid_t pid = fork_bound();
    if (pid != 0) {
        const int why = errno;
        call(around_.in_original);
        errno = why;
        if (pid < 0) throw_errno("fork");
        return pid;
    }
    try {
        call(around_.in_copy);
    } catch (const std::system_error& why) {
        report(report_to, why.code().value());
        _exit(superseded);
    }
    return 0;
}

std::optional<snapshots::handover_state> snapshots::keep(const std::string& name,
                                                         const json& about) {
    if (kept_.size() >= max_snapshots && !has(name))
        throw std::runtime_error(fmt::format("there are {} snapshots already", max_snapshots));
    auto [theirs, ours] = channel();  // for the process that continues, and for this one
    const signals_held for_the_copy;
    const auto held = signals_held::set();
    unique_fd signals(signalfd(-1, &held, SFD_CLOEXEC | SFD_NONBLOCK));
    if (!signals) throw_errno("signalfd");
    if (const pid_t successor = copy_of_this(theirs.get())) {
        theirs = {};
        try {
            expect_report(ours.get());
        } catch (const std::system_error&) {
            waitpid(successor, nullptr, 0);
            throw;
        }
        call(around_.waits);
        return wait(std::move(ours), std::move(signals), successor);
    }
    report(theirs.get());
    if (const auto older = kept_.find(name); older != kept_.end()) close(older->second.socket);
    kept_[name] = {theirs.release(), about};
    return std::nullopt;
}

/// Waits; ends with the status of the last successor. Returns in copies that continue.
std::optional<snapshots::handover_state> snapshots::wait(unique_fd requests, unique_fd signals,
                                                         pid_t successor) {
    for (const auto& [name, snapshot] : kept_)
        close(snapshot.socket);  // a request contains new ones
    kept_.clear();
    std::vector<pid_t> successors{successor};
    bool reachable = true;  // another process may send a request
    int to_end = 0;         // pending termination signal; copies made later get it too
    const auto forward_signals = [&] {
        signalfd_siginfo received{};
        while (read(signals.get(), &received, sizeof received) == sizeof received) {
            if (received.ssi_signo == SIGCHLD) continue;
            to_end = static_cast<int>(received.ssi_signo);
            // A terminal signals all of its processes itself.
            if (received.ssi_code != SI_KERNEL)
                for (const auto pid : successors) kill(pid, to_end);
        }
    };
    for (;;) {
        std::erase_if(successors, [](pid_t pid) {
            int status = 0;
            if (waitpid(pid, &status, WNOHANG) != pid) return false;
            if (!WIFEXITED(status) || WEXITSTATUS(status) != superseded) end_like(status);
            return true;
        });
        if (!reachable && successors.empty()) _exit(superseded);
        std::array<pollfd, 2> any{
            {{signals.get(), POLLIN, 0}, {reachable ? requests.get() : -1, POLLIN, 0}}};
        uninterrupted([&] { return poll(any.data(), any.size(), -1); });
        forward_signals();
        if (any[1].revents == 0) continue;
        auto asked = request::receive(requests.get());
        if (!asked) {
            reachable = false;
            continue;
        }
        pid_t copy = 0;
        if (auto resumed = serve(*asked, copy)) return resumed;
        if (copy == 0) continue;
        forward_signals();
        successors.push_back(copy);
        if (to_end != 0) kill(copy, to_end);
    }
}

/// Makes a copy, and waits until it continues or ends. Returns in the copy when it continues, and
/// here with nullopt; `copy` is then its id, or 0 when there is none.
std::optional<snapshots::handover_state> snapshots::serve(request& asked, pid_t& copy) {
    if (asked.descriptors.empty()) return std::nullopt;  // the process that asks sees its end
    std::pair<unique_fd, unique_fd> decision;            // of the copy, to continue
    pid_t made = 0;
    try {
        if (!asked.complete) throw std::system_error(EMFILE, std::generic_category());
        decision = channel();
        made = copy_of_this(asked.channel());
    } catch (const std::system_error& why) {
        report(asked.channel(), why.code().value());
        return std::nullopt;
    }
    auto& [ours, theirs] = decision;
    std::array<std::uint8_t, 1> continues{};
    if (made != 0) {
        theirs = {};
        if (receive_message(ours.get(), continues).empty()) {
            waitpid(made, nullptr, 0);
        } else {
            copy = made;
            report(asked.channel());
        }
        return std::nullopt;
    }
    report(asked.channel());
    auto state = receive_state(asked.channel());
    if (!state) _exit(superseded);
    send_message(theirs.get(), continues);
    std::size_t next = 1;
    for (const auto& snapshot : (*state)["names"])
        kept_[snapshot["name"]] = {asked.descriptors[next++].release(), snapshot["about"]};
    handover_state carried{
        (*state)["carry"], {}, {(*state)["digest"], (*state)["operations"], (*state)["returns"]}};
    for (; next < asked.descriptors.size(); ++next)
        carried.descriptors.push_back(asked.descriptors[next].release());
    trace::resume_after(carried.traced);
    return carried;
}

snapshots::successor snapshots::prepare(std::string_view name,
                                        std::span<const int> descriptors) const {
    const auto found = kept_.find(name);
    assert(found != kept_.end());
    auto [ours, theirs] = channel();
    std::vector<int> all{theirs.get()};
    for (const auto& [other, snapshot] : kept_) all.push_back(snapshot.socket);
    all.insert(all.end(), descriptors.begin(), descriptors.end());
    request::send(found->second.socket, all);
    theirs = {};
    expect_report(ours.get());
    return successor(std::move(ours));
}

void snapshots::restore(successor next, const json& carry) const {
    std::fflush(nullptr);
    trace::flush();
    const auto traced = trace::current_position();
    json names = json::array();
    for (const auto& [name, snapshot] : kept_)
        names.push_back({{"name", name}, {"about", snapshot.about}});
    const signals_held for_the_other;
    if (!send_state(next.channel_.get(), {{"names", std::move(names)},
                                          {"carry", carry},
                                          {"digest", traced.digest},
                                          {"operations", traced.operations},
                                          {"returns", traced.returns}}))
        throw_errno("the copy cannot continue");
    expect_report(next.channel_.get());
    _exit(superseded);
}

}  // namespace trn
