// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <map>
#include <set>
#include <string>
#include <string_view>

#include "platform/framework/attach/control/console_log.h"
#include "platform/framework/attach/control/debug_spaces.h"
#include "platform/framework/attach/control/rpc.h"
#include "platform/framework/kernel/run_loop.h"

namespace trn {

/// Properties that both sides of a connection compare.
struct identity {
    std::string version;
    std::string board;
    std::string digest;  ///< of the board, its images and the timing
};

/// The control methods (doc/control-socket.md), for the socket, the debugger's monitor and
/// scenarios. Finds modules by walking the SystemC hierarchy. Construct it after the modules and
/// before elaboration.
class control {
public:
    static constexpr unsigned protocol = 1;
    static constexpr std::size_t largest_peek = 1 << 20;  ///< limit in bytes per call
    static constexpr std::size_t waits_per_caller = 64;

    control(run_loop& loop, identity about);
    control(const control&) = delete;
    control& operator=(const control&) = delete;

    /// The table of methods, to which other parts add theirs.
    rpc::method_table& methods() { return methods_; }
    const rpc::method_table& methods() const { return methods_; }
    /// Adds a list to the method `list`.
    void add_list(std::string name, std::function<rpc::json()> list);

    /// The functions that execute `peek`, `poke` and `deposit` with a parameter `register`, since
    /// this folder does not depend on registers.
    struct register_methods {
        std::function<rpc::json(const rpc::parameters&)> peek, poke, deposit;
    };
    void reach_registers(register_methods methods) { registers_ = std::move(methods); }

    /// A call from inside the process, between two slices. Throws rpc::error. Refuses methods that
    /// wait (run and wait with a condition): use the run_loop instead.
    rpc::json call(std::string_view method, const rpc::json& params = rpc::json::object(),
                   std::string_view caller_name = "the platform itself");

    /// Call when a caller disconnects: ends its waits and subscriptions.
    void forget(rpc::caller& gone);
    /// Ends the waits of all callers with this reason.
    void end_waits(const stop_reason& why);
    void subscribe(rpc::caller& client, const rpc::json& topics);
    /// Subscriptions of a caller.
    rpc::json topics(rpc::caller& client) const;
    /// Sends a notification to every caller that subscribed to `topic`.
    void publish(std::string_view topic, const rpc::json& params);
    /// Whether `topic` has subscribers, so that costly notifications can be skipped.
    bool subscribed(std::string_view topic) const;

    const identity& about() const { return about_; }
    run_loop& loop() { return loop_; }
    debug_spaces& spaces() { return spaces_; }
    console_log& consoles() { return consoles_; }

private:
    void add_session_methods();
    void add_run_methods();
    void add_memory_methods();
    void add_module_methods();

    rpc::json hello(const rpc::parameters& p, rpc::caller& client);
    rpc::json status();
    void wait(const rpc::parameters& p, rpc::caller& client, const rpc::answer& done,
              bool then_pause);
    run_loop::goal goal_of(const rpc::parameters& p, const rpc::caller& client);
    std::function<bool()> condition_of(const rpc::parameters& p, std::string& description);
    address_space& space(const rpc::parameters& p);
    rpc::json peek(const rpc::parameters& p);
    /// `access`: how the bytes are written.
    rpc::json write(const rpc::parameters& p,
                    std::size_t (address_space::*access)(std::uint64_t,
                                                         std::span<const std::byte>));
    rpc::json bus_access(const rpc::parameters& p, bool write);

    run_loop& loop_;
    const identity about_;
    debug_spaces spaces_;
    console_log consoles_;
    rpc::method_table methods_;
    std::map<std::string, std::function<rpc::json()>> lists_;
    register_methods registers_;
    std::map<rpc::caller*, std::set<run_loop::goal_id>> waits_;
    std::map<std::string, std::set<rpc::caller*>, std::less<>> subscribers_;
    std::function<bool()> ready_;  ///< readiness of the modules that exist
};

}  // namespace trn
