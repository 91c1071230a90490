// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <boost/asio/posix/stream_descriptor.hpp>
#include <cerrno>
#include <cstdint>
#include <deque>
#include <functional>
#include <memory>
#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <string>
#include <vector>

#include "platform/framework/attach/listen/listener.h"
#include "platform/framework/attach/vfio_user/device.h"
#include "platform/framework/attach/vfio_user/dma.h"
#include "platform/framework/attach/vfio_user/settings.h"
#include "platform/framework/attach/vfio_user/stream.h"
#include "platform/framework/kernel/started_work.h"
#include "platform/framework/tlm/function_port.h"
#include "platform/framework/unique_fd.h"

namespace trn {

/// One connected vfio-user client, from its version message to its end.
class vfio_user_session : public std::enable_shared_from_this<vfio_user_session> {
public:
    using socket = listener::stream;

    struct events {
        /// Called once, after a valid version message. Returns "" when the client now owns the
        /// function, else the reason for the refusal, which the client shows.
        std::function<std::string(vfio_user_session&)> introduced;
        /// Called once, with the reason, when the client has disconnected or must be disconnected.
        std::function<void(vfio_user_session&, const std::string& why)> ended;
    };
    vfio_user_session(socket client, function_port& function, const vfio_user_config& cfg,
                      const vfio_user_hooks& hooks, events observer);

    void start();
    /// Serves the remaining requests if the client has disconnected, so that the next one can
    /// connect.
    void finish_if_hung_up();
    /// Detaches the client from the function; later handlers do nothing.
    void close();
    /// The process that connected, by the kernel; nothing if it cannot be known.
    std::optional<std::uint64_t> process_id();
    /// The record that the client sent last, as it is; empty: none.
    const std::vector<std::uint8_t>& account() const { return account_; }

private:
    using message = vfio_user::message;
    enum class phase {
        introducing,  ///< until the version message: the function is not the client's
        serving,      ///< the next request may be answered
        answering,    ///< a request is being executed
        holding,      ///< the reply is built, and waits for the work that the request started
        waiting,      ///< an access waits for its target; later requests stay behind it
        closed,
    };

    /// Changes the phase; asserts that the new one may follow.
    void enter(phase next);
    /// A request that stays behind an access.
    struct kept_request {
        vfio_user::header head;
        std::vector<std::uint8_t> payload;
        std::vector<unique_fd> descriptors;
        bool lost_descriptors;
    };

    void await();
    void await_writable();
    void await_lost();
    void serve(bool readable);
    void release(std::uint64_t reply);
    std::optional<message> next();
    void dispatch(message& request);
    void keep(message& request);
    bool is_full() const;
    void wait_for_access(const message& request);
    void tell_wait();
    void access_ended();
    void finish_access();
    /// Returns 0 when a reply has been built, else the errno of the reply.
    int answer(message& request);
    /// Logs a refusal with its reason; limited to the first few of each client.
    void say_refused(const message& request, int error);
    void flush();

    int version(const message& request);
    int refuse_version(const message& request, const std::string& why, int error = EPROTO);
    std::string mismatch(const nlohmann::json& expected) const;
    int send_time(const message& request);
    int keep_account(const message& request);
    int wait(const message& request);
    void hold_until_done(const message& request, const started_work& work);

    socket client_;
    boost::asio::posix::stream_descriptor lost_;  // event of the device; closed until it has one
    vfio_user::stream stream_;
    function_port& function_;
    const vfio_user_config& cfg_;
    const vfio_user_hooks& hooks_;
    const events observer_;
    vfio_user_device device_;

    unsigned refusals_ = 0;                    // number of logged refusals
    std::uint64_t held_ = 0;                   // number of the last reply that had to wait
    std::vector<std::uint8_t> waiting_reply_;  // of the access that waits; empty: none is wanted
    std::deque<kept_request> later_;
    kept_request present_{};  // the last one taken from later_
    std::vector<std::uint8_t> account_;
    phase phase_ = phase::introducing;
    // Handlers that are outstanding, in any phase.
    bool awaiting_read_ = false, awaiting_write_ = false, awaiting_time_ = false;
    vfio_user::dma_messages dma_;
};

}  // namespace trn
