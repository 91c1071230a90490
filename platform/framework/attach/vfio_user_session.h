// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cerrno>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <nlohmann/json_fwd.hpp>
#include <span>
#include <string>
#include <vector>

#include "platform/framework/attach/host_mapping.h"
#include "platform/framework/attach/listen/listener.h"
#include "platform/framework/attach/vfio_user_dma.h"
#include "platform/framework/attach/vfio_user_server.h"
#include "platform/framework/attach/vfio_user_stream.h"
#include "platform/framework/tlm/function_port.h"
#include "platform/framework/unique_fd.h"

namespace trn {

/// One connected vfio-user client, from its version message to its end.
class vfio_user_session : public std::enable_shared_from_this<vfio_user_session> {
public:
    using socket = listener::stream;

    struct events {
        /// Once, after a matching version message. Empty: the client now owns the function. Else
        /// the reason for the refusal, for the client's user.
        std::function<std::string(vfio_user_session&)> introduced;
        /// Once, with the reason in words, when the client has disconnected or must be
        /// disconnected.
        std::function<void(vfio_user_session&, const std::string& why)> ended;
    };
    vfio_user_session(socket client, function_port& function, const vfio_user_server::config& cfg,
                      const vfio_user_server::hooks& hooks, events to);

    void start();
    /// Serves the remaining requests of a client that has hung up, so that the next can connect.
    void finish_if_hung_up();
    /// Detaches the client from the function; later handlers do nothing.
    void close();

private:
    using message = vfio_user::message;
    struct client_range {
        std::uint64_t size;                     // bytes
        std::unique_ptr<host_mapping> mapping;  // null: reached by messages
    };

    void await();
    void await_writable();
    void serve(bool readable);
    void release();
    void dispatch(message& request);
    /// 0 when a reply has been built, else the errno of the reply.
    int answer(message& request);
    /// Logs a refusal and its reason; only the first few of a client.
    void say_refused(const message& request, int error);
    void flush();

    int version(const message& request);
    int refuse_version(const message& request, const std::string& why, int error = EPROTO);
    std::string mismatch(const nlohmann::json& expected) const;
    int map_dma(message& request);
    int unmap_dma(const message& request);
    bool unmap(std::uint64_t iova, std::uint64_t size);
    int send_device_info(const message& request);
    int send_region_info(const message& request);
    int send_interrupt_info(const message& request);
    std::uint32_t vectors(std::uint32_t kind) const;
    int set_interrupts(message& request);
    int read_region(const message& request);
    int write_region(const message& request);
    void show_large_bars(std::uint64_t offset, std::span<std::uint8_t> data) const;
    int reset(const message& request);
    int send_time(const message& request);
    int wait(const message& request);
    /// Checks an access against its region, then `make(delay)`s it between the platform's hooks.
    template <typename Make>
    int access(const vfio_user::region_access& at, const Make& make);

    socket client_;
    vfio_user::stream stream_;
    function_port& function_;
    const vfio_user_server::config& cfg_;
    const vfio_user_server::hooks& hooks_;
    const events to_;

    std::string why_;        // reason of the refusal of the current request, in addition to errno
    unsigned refusals_ = 0;  // in the log
    bool negotiated_ = false, dispatching_ = false, closed_ = false;
    bool awaiting_read_ = false, awaiting_write_ = false, waiting_ = false;
    bool held_ = false;  // the reply is built, and waits for the work that the request started
    std::map<std::uint64_t, client_range> ranges_;  // by iova
    std::array<std::uint64_t, 10> region_sizes_{};  // constant, read once
    vfio_user::dma_messages dma_;
};

}  // namespace trn
