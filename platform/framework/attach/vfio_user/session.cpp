// SPDX-License-Identifier: Apache-2.0
#include "platform/framework/attach/vfio_user/session.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <poll.h>
#include <sys/socket.h>

#include <algorithm>
#include <array>
#include <boost/asio/post.hpp>
#include <cassert>
#include <cerrno>
#include <climits>
#include <cstring>
#include <nlohmann/json.hpp>
#include <optional>
#include <system_error>
#include <utility>

#include "platform/framework/config/diagnostics.h"
#include "platform/framework/config/json.h"

namespace trn {

using namespace vfio_user;
using boost::system::error_code;
using nlohmann::json;
using sc_core::sc_time;

namespace {

// Requests that stay behind an access; the client's later ones stay in its socket.
constexpr std::size_t max_later = 64;
constexpr std::uint32_t min_transfer = 4096;  // bytes; smaller limits of a client are refused

/// Process id of the client; 0 when unknown, e.g. in another namespace.
std::uint64_t process_of(int socket) {
    ucred client{};
    socklen_t size = sizeof client;
    const bool known = getsockopt(socket, SOL_SOCKET, SO_PEERCRED, &client, &size) == 0;
    return known ? static_cast<std::uint64_t>(client.pid) : 0;
}

std::uint64_t simulated_nanoseconds() {
    return static_cast<std::uint64_t>(sc_core::sc_time_stamp() / sc_time(1, sc_core::SC_NS));
}

/// Name of a client's command in the vfio-user specification.
std::string name_of(std::uint16_t number) {
    constexpr std::array<std::string_view, 14> names{"",
                                                     "VERSION",
                                                     "DMA_MAP",
                                                     "DMA_UNMAP",
                                                     "DEVICE_GET_INFO",
                                                     "DEVICE_GET_REGION_INFO",
                                                     "",
                                                     "DEVICE_GET_IRQ_INFO",
                                                     "DEVICE_SET_IRQS",
                                                     "REGION_READ",
                                                     "REGION_WRITE",
                                                     "",
                                                     "",
                                                     "DEVICE_RESET"};
    const auto name = number < names.size() ? names[number] : "";
    return name.empty() ? std::to_string(number) : std::string(name);
}

}  // namespace

vfio_user_session::vfio_user_session(socket client, function_port& function,
                                     const vfio_user_config& cfg, const vfio_user_hooks& hooks,
                                     events observer)
    : client_(std::move(client)),
      lost_(client_.get_executor()),
      stream_(client_.native_handle()),
      function_(function),
      cfg_(cfg),
      hooks_(hooks),
      observer_(std::move(observer)),
      device_(function, cfg, hooks, stream_, [this] { access_ended(); }),
      dma_(
          stream_,
          [this] {
              flush();
              tell_wait();
          },
          [this] { function_.host_messages_ready(); }) {
    client_.non_blocking(true);
}

void vfio_user_session::enter(phase next) {
    using enum phase;
    struct move {
        phase present, next;
        bool operator==(const move&) const = default;
    };
    static constexpr move legal_moves[] = {
        {introducing, answering},  // a valid version message
        {serving, answering},      // a request
        {answering, serving},      // its reply is built
        {answering, holding},      // its reply must wait
        {holding, serving},        // its work has finished, or the client reads no replies any more
        {answering, waiting},      // its target has deferred it
        {waiting, serving},        // the access has ended
        {introducing, closed},    {serving, closed}, {answering, closed},
        {holding, closed},        {waiting, closed},
    };
    assert(std::ranges::count(legal_moves, move{phase_, next}) == 1);
    phase_ = next;
}

void vfio_user_session::start() {
    await();
}

void vfio_user_session::finish_if_hung_up() {
    const auto self = shared_from_this();
    constexpr int max_reads = 64;  // more than a full socket buffer needs
    for (int i = 0; i < max_reads && phase_ != phase::closed; ++i) {
        pollfd end{.fd = client_.native_handle(), .events = POLLRDHUP, .revents = 0};
        if (poll(&end, 1, 0) != 1) return;
        if (phase_ == phase::holding) enter(phase::serving);
        serve(true);
    }
}

std::optional<std::uint64_t> vfio_user_session::process_id() {
    ucred peer{};
    socklen_t size = sizeof peer;
    if (getsockopt(client_.native_handle(), SOL_SOCKET, SO_PEERCRED, &peer, &size) != 0 ||
        peer.pid <= 0)
        return std::nullopt;
    return static_cast<std::uint64_t>(peer.pid);
}

void vfio_user_session::close() {
    if (phase_ == phase::closed) return;
    const bool owns_function = phase_ != phase::introducing;
    enter(phase::closed);
    error_code ignored;
    client_.close(ignored);
    lost_.close(ignored);
    if (!owns_function) return;
    function_.detach();
    device_.await_accesses(false);
    function_.carry_host_messages(nullptr);
    device_.unmap_all();
}

// --- Socket

void vfio_user_session::await() {
    if (stream_.pending()) return await_writable();
    if (std::exchange(awaiting_read_, true)) return;
    client_.async_wait(socket::wait_read, [self = shared_from_this()](const error_code& failed) {
        self->awaiting_read_ = false;
        if (!failed) self->serve(true);
    });
}

void vfio_user_session::await_writable() {
    if (std::exchange(awaiting_write_, true)) return;
    client_.async_wait(socket::wait_write, [self = shared_from_this()](const error_code& failed) {
        self->awaiting_write_ = false;
        if (!failed) self->serve(false);
    });
}

/// Unmaps ranges whose bytes are lost, also while no message of the client arrives.
void vfio_user_session::await_lost() {
    if (!lost_.is_open()) {
        const int event = fcntl(device_.lost_event(), F_DUPFD_CLOEXEC, 0);
        if (event < 0) return;
        lost_.assign(event);
    }
    lost_.async_wait(boost::asio::posix::stream_descriptor::wait_read,
                     [self = shared_from_this()](const error_code& failed) {
                         if (failed || self->phase_ == phase::closed) return;
                         for (const std::string& line : self->device_.unmap_lost())
                             self->hooks_.report(self->cfg_.name, line);
                         self->await_lost();
                     });
}

/// Sends posted messages; not while a request is being answered, whose reply is sent first.
void vfio_user_session::flush() {
    if (phase_ != phase::serving && phase_ != phase::waiting) return;
    try {
        if (!stream_.flush()) await_writable();
    } catch (const std::system_error&) {
        await_writable();  // its handler finds the broken socket and ends the session
    }
}

/// Sends the reply, then reads requests until one must wait or the client does not read its reply.
void vfio_user_session::serve(bool readable) {
    if (phase_ == phase::closed || phase_ == phase::holding) return;
    std::string why;
    try {
        bool drained = stream_.flush();
        if (drained && readable && !is_full() && !stream_.receive())
            why = "the client closed the connection";
        while (drained && why.empty()) {
            auto request = next();
            if (!request) break;
            dispatch(*request);
            if (phase_ == phase::closed || phase_ == phase::holding) return;
            drained = stream_.flush();
        }
    } catch (const protocol_error& wrong) {
        why = fmt::format("connection closed: {}", wrong.what());
    } catch (const std::system_error& failed) {
        why = fmt::format("connection lost: {}", failed.what());
    }
    if (!why.empty()) return observer_.ended(*this, why);
    if (!is_full() || stream_.pending()) await();
}

std::optional<message> vfio_user_session::next() {
    if (is_full()) return std::nullopt;
    if (phase_ == phase::waiting || later_.empty()) return stream_.next();
    present_ = std::move(later_.front());
    later_.pop_front();
    return message{present_.head, present_.payload, std::move(present_.descriptors),
                   present_.lost_descriptors};
}

bool vfio_user_session::is_full() const {
    return phase_ == phase::waiting && later_.size() >= max_later;
}

void vfio_user_session::keep(message& request) {
    later_.push_back({request.head,
                      {request.payload.begin(), request.payload.end()},
                      std::move(request.descriptors),
                      request.lost_descriptors});
}

/// Until the access has ended, the client's replies are read, since the target may need its memory,
/// and a reset, which ends the access.
void vfio_user_session::wait_for_access(const message& request) {
    waiting_reply_ = stream_.take_reply();
    if ((request.head.flags & flag_no_reply) != 0) waiting_reply_.clear();
    enter(phase::waiting);
    tell_wait();
}

/// The target may need memory that the client shares by messages: simulated time does not jump to
/// the completion timeout while the client has messages to answer.
void vfio_user_session::tell_wait() {
    if (phase_ == phase::waiting && hooks_.access_waits)
        hooks_.access_waits(dma_.outstanding() ? std::string() : device_.waits_for());
}

void vfio_user_session::access_ended() {
    const auto finish = [weak = weak_from_this()] {
        if (const auto self = weak.lock()) self->finish_access();
    };
    if (hooks_.between_slices)
        hooks_.between_slices(finish);
    else
        boost::asio::post(client_.get_executor(), finish);
}

/// Sends the reply, and continues with the requests behind the access.
void vfio_user_session::finish_access() {
    if (phase_ != phase::waiting) return;
    if (hooks_.access_waits) hooks_.access_waits({});
    device_.finish_access();
    stream_.post_reply(std::exchange(waiting_reply_, {}));
    enter(phase::serving);
    serve(false);
}

/// Sends the reply if it is still held, and continues with the client's next messages.
void vfio_user_session::release(std::uint64_t reply) {
    if (phase_ != phase::holding || reply != held_) return;
    enter(phase::serving);
    serve(false);
}

void vfio_user_session::dispatch(message& request) {
    const std::uint32_t type = request.head.flags & flag_type_mask;
    if (type == flag_reply) {
        dma_.answered(request);
        return tell_wait();
    }
    if (type != flag_request) {
        throw protocol_error(fmt::format("message flags {:#x}", request.head.flags));
    }
    const auto received = static_cast<command>(request.head.command);
    if (phase_ == phase::introducing && received != command::version) {
        throw protocol_error(fmt::format("command {} before the version", request.head.command));
    }
    if (phase_ == phase::waiting && received != command::device_reset) return keep(request);
    if (phase_ == phase::serving) enter(phase::answering);
    const int error = answer(request);
    if (phase_ == phase::answering && device_.waits()) return wait_for_access(request);
    if (phase_ == phase::answering) enter(phase::serving);
    if (!lost_.is_open() && device_.lost_event() >= 0) await_lost();
    if (error != 0) {
        stream_.reply_error(request.head, error);
        say_refused(request, error);
    }
    if ((request.head.flags & flag_no_reply) != 0) stream_.drop_reply();
}

void vfio_user_session::say_refused(const message& request, int error) {
    constexpr unsigned max_shown = 10;
    const std::string why =
        request.lost_descriptors
            ? "its descriptors did not arrive, for this process has too many files open"
            : device_.take_why();
    if (refusals_ >= max_shown) return;
    const std::string line =
        fmt::format("the client's message {} was refused: {}{}", name_of(request.head.command),
                    why.empty() ? std::generic_category().message(error) : why,
                    ++refusals_ == max_shown ? " (its further refusals are not shown)" : "");
    hooks_.report(cfg_.name, line);
}

int vfio_user_session::answer(message& request) {
    if (request.lost_descriptors) return EMFILE;
    switch (static_cast<command>(request.head.command)) {
    case command::version:
        return version(request);
    case command::region_write: {
        const int error = device_.answer(request);
        const started_work work = device_.take_started();
        if (!device_.waits()) hold_until_done(request, work);
        return error;
    }
    case command::trn_now:
        return send_time(request);
    case command::trn_wait:
        return wait(request);
    case command::trn_account:
        return keep_account(request);
    default:
        return device_.answer(request);
    }
}

/// Holds the reply of a write until the work that the write started has finished.
void vfio_user_session::hold_until_done(const message& request, const started_work& work) {
    if ((request.head.flags & flag_no_reply) != 0 || work.finished() || !hooks_.may_answer) return;
    const bool due = hooks_.may_answer(work, [weak = weak_from_this(), reply = ++held_] {
        if (const auto self = weak.lock()) self->release(reply);
    });
    if (!due && phase_ == phase::answering) enter(phase::holding);
}

// --- Version

int vfio_user_session::version(const message& request) {
    const auto offered = leading<vfio_user::version>(request);
    if (phase_ != phase::introducing || !offered) return EINVAL;
    if (offered->major != version_major) {
        return refuse_version(
            request, fmt::format("the client speaks vfio-user {}.{}, this server {}.{}",
                                 offered->major, offered->minor, version_major, version_minor));
    }
    const auto text = request.payload.subspan(sizeof *offered);
    const auto end = std::ranges::find(text, std::uint8_t{0});
    const json said = text.empty()
                          ? json::object()
                          : config::parse_json({reinterpret_cast<const char*>(text.data()),
                                                static_cast<std::size_t>(end - text.begin())});
    if (!said.is_object())
        return refuse_version(request, "the version message carries no JSON object");

    const json capabilities = said.value("capabilities", json::object());
    json answer = {{"capabilities",
                    {{"max_msg_fds", max_descriptors},
                     {"max_data_xfer_size", max_data_transfer},
                     {"max_dma_maps", max_dma_maps},
                     {"pgsizes", page_size}}}};
    if (capabilities.is_object() && capabilities.contains("max_data_xfer_size")) {
        const json& limit = capabilities["max_data_xfer_size"];
        if (!limit.is_number_unsigned() || limit < min_transfer) {
            return refuse_version(
                request, fmt::format("max_data_xfer_size is {}, at least {} is needed",
                                     limit.is_number() ? limit.dump() : "no number", min_transfer));
        }
        dma_.limit_transfer(static_cast<std::uint32_t>(
            std::min<std::uint64_t>(limit.get<std::uint64_t>(), max_data_transfer)));
    }
    if (said.contains("trnvp")) {
        if (const auto why = mismatch(said["trnvp"]); !why.empty())
            return refuse_version(request, why);
        answer["trnvp"] = {{"board", cfg_.board},
                           {"digest", cfg_.digest},
                           {"endian", "little"},
                           {"max_account", max_account}};
    }
    if (const auto why = observer_.introduced(*this); !why.empty())
        return refuse_version(request, why, EBUSY);
    enter(phase::answering);
    function_.join(process_of(client_.native_handle()));
    function_.carry_host_messages(&dma_);
    device_.await_accesses(true);
    const std::string reply = config::to_ascii(answer);
    const auto room = stream_.reply(request.head, sizeof *offered + reply.size() + 1);
    put(room, vfio_user::version{version_major, std::min(offered->minor, version_minor)});
    std::memcpy(&room[sizeof *offered], reply.c_str(), reply.size() + 1);
    return 0;
}

/// The error reply has the sentence for the client's user, the log line the one for ours.
int vfio_user_session::refuse_version(const message& request, const std::string& why, int error) {
    const std::string text = config::to_ascii({{"error", why}});
    stream_.reply_error(request.head, error,
                        {reinterpret_cast<const std::uint8_t*>(text.c_str()), text.size() + 1});
    stream_.flush();
    throw protocol_error(why);
}

std::string vfio_user_session::mismatch(const json& expected) const {
    if (!expected.is_object()) return "the client's \"trnvp\" is not an object";
    const auto differs = [&](const char* key, const std::string& mine) -> std::string {
        if (!expected.contains(key)) return {};
        const json& theirs = expected[key];
        if (theirs.is_string() && theirs.get_ref<const std::string&>() == mine) return {};
        constexpr std::size_t longest = 80;
        return fmt::format("the client expects {} {}, this platform has \"{}\"", key,
                           printable(theirs.dump().substr(0, longest)), mine);
    };
    for (const auto& [key, mine] : {std::pair<const char*, std::string>{"endian", "little"},
                                    {"board", cfg_.board},
                                    {"digest", cfg_.digest}}) {
        if (auto why = differs(key, mine); !why.empty()) return why;
    }
    return {};
}

// --- Simulated time, for clients of trnvp

int vfio_user_session::send_time(const message& request) {
    put(stream_.reply(request.head, sizeof(trn_time)), trn_time{simulated_nanoseconds()});
    return 0;
}

/// Replies when the time has passed, or with ECANCELED if it cannot pass; other requests are
/// answered meanwhile.
int vfio_user_session::wait(const message& request) {
    const auto asked = leading<trn_time>(request);
    if (!asked || asked->nanoseconds > LLONG_MAX / 1000) return EINVAL;
    if (!hooks_.wait) return ENOTSUP;
    if (std::exchange(awaiting_time_, true)) return EBUSY;
    const auto done = [weak = weak_from_this(), head = request.head](bool passed) {
        const auto self = weak.lock();
        if (self == nullptr || self->phase_ == phase::closed) return;
        self->awaiting_time_ = false;
        if ((head.flags & flag_no_reply) != 0) return;
        auto reply = head;
        reply.size = sizeof(header) + (passed ? sizeof(trn_time) : 0);
        reply.flags = flag_reply | (passed ? 0 : flag_error);
        reply.error = passed ? 0 : ECANCELED;
        const auto room = self->stream_.post(reply);
        if (passed) put(room, trn_time{simulated_nanoseconds()});
        self->flush();
    };
    hooks_.wait(sc_time::from_value(asked->nanoseconds * (sc_time(1, sc_core::SC_NS).value())),
                done);
    return 0;
}

// --- Accounts, for tools

/// No access to the function: no time passes, and nothing else happens.
int vfio_user_session::keep_account(const message& request) {
    if (request.payload.size() > max_account) return E2BIG;
    account_.assign(request.payload.begin(), request.payload.end());
    stream_.reply(request.head, 0);
    return 0;
}

}  // namespace trn
