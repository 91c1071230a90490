// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <memory>
#include <nlohmann/json.hpp>
#include <optional>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

#include "sw-stubs/host/machine/host_set.h"

namespace trn {

/// An invalid request of the user: exit status 2.
class user_error : public std::runtime_error {
public:
    using std::runtime_error::runtime_error;
};

/// A platform that trnctl uses: in another process, or its own.
class session : public host_set {
public:
    using json = nlohmann::json;
    using uart_listener = std::function<void(const std::string& module, const std::string& text)>;

    /// Runs `work` where calls of the driver stub are allowed. Rethrows its exceptions.
    virtual void run(const std::function<void(device&)>& work) = 0;
    /// Calls a control method, except methods that wait: see wait_ready().
    virtual json call(std::string_view method, const json& params = json::object()) = 0;
    /// Waits until every chip's firmware has published its routing id. \throws std::runtime_error
    /// after `limit` of wall time
    virtual void wait_ready(std::chrono::milliseconds limit) = 0;
    /// Lets the platform run for `span` of wall time and forwards its UART output. False once
    /// the platform has ended.
    virtual bool watch(std::chrono::milliseconds span, const uart_listener& listener) = 0;
};

/// Whether a control method refused a wrong name or parameter, by the error's code
/// (doc/control-socket.md).
constexpr bool is_of_user(int code) {
    constexpr int invalid_params = -32602, not_found = -32001;
    return code == invalid_params || code == not_found;
}

/// Runs `work` on the probed chip, where calls of the driver stub are allowed.
inline void run_probed(session& platform, const std::function<void(device&)>& work) {
    platform.run([&](device& chip) {
        chip.check(trn_probe(chip));
        work(chip);
    });
}

/// A session on a platform in another process: `address` is its folder of sockets, or the address
/// of its control socket, which suffices for commands without a device. `token` may be "".
/// `limit`: of each wait for the platform, instead of the usual ones. \throws user_error,
/// control_error
std::unique_ptr<session> connect_session(const std::string& address, const std::string& chip,
                                         const std::string& token,
                                         std::optional<std::chrono::milliseconds> limit = {});

/// `chip`, or if it is "" the only one of `known`. \throws user_error for an unknown or missing
/// chip
std::string choose_chip(const std::string& chip, const std::vector<std::string>& known,
                        const std::string& place);

}  // namespace trn
