// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <deque>
#include <functional>
#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "platform/framework/debug/gdb/libraries.h"
#include "platform/framework/debug/gdb/points.h"
#include "platform/framework/debug/harts.h"
#include "platform/framework/kernel/debug_target.h"
#include "platform/framework/kernel/run_loop.h"

namespace trn::gdb {

/// One session of the GDB remote serial protocol in all-stop mode (doc/debugging.md), independent
/// of the transport: packets in, packets out. While a hart is stopped, simulated time of the whole
/// platform stands still. An invalid packet gets an error reply and changes nothing.
class stub {
public:
    struct environment {
        run_loop& loop;
        std::vector<debug_hart> harts;  ///< at least one
        std::function<std::string(std::string_view command)> monitor;
        std::function<void(std::string_view body)> send;
        std::function<void()> no_acknowledgement;
        library_source libraries = {};
    };

    /// Starts a session, and pauses the platform.
    explicit stub(environment e);
    /// Continues a session from hand_over(): sets its breakpoints. Does not pause or resume the
    /// platform.
    stub(environment e, const nlohmann::json& session);
    /// Removes the session's breakpoints and resumes the platform.
    ~stub();
    stub(const stub&) = delete;
    stub& operator=(const stub&) = delete;

    void packet(std::string_view body);
    void interrupt();
    /// Call when a hart halts at a breakpoint, watchpoint or after a step (from inside the
    /// simulation), and when the platform pauses.
    void hart_stopped(std::size_t index);
    void platform_paused(const std::string& why);
    /// Call when the program has ended.
    void exited(int status);
    /// Removes all breakpoints and resumes the platform.
    void detach();
    /// The state of the session, for the stub of another process.
    nlohmann::json hand_over() const;

private:
    enum class action { none, resume, step };
    struct thread_id {
        std::optional<unsigned> process, thread;  ///< empty: all
    };

    void reply(std::string_view body) { env_.send(body); }
    void answer(std::string_view body);
    void query(std::string_view body);
    void set(std::string_view body);
    void verbose(std::string_view body);
    void supported(std::string_view features);
    void monitor(std::string_view hex);
    void transfer(std::string_view body);
    void extra_info(std::string_view id);
    void list_threads();
    void watch_libraries(const debug_hart& hart);

    void point(std::string_view body);

    void select(std::string_view body);
    void resume_legacy(std::string_view body);
    void vcont(std::string_view actions);
    void go(const std::vector<action>& actions);
    void end_step(std::size_t index);
    void end_steps();
    std::optional<std::size_t> take_stop();
    void report(std::size_t index);
    std::string stop_reply() const;
    bool must_leave_wait(const debug_hart& hart) const;

    bool attached(unsigned process) const { return !detached_.contains(process); }
    void attach(std::string_view process);
    void detach(std::string_view process);
    void let_go(unsigned process);

    std::optional<thread_id> parse_id(std::string_view text) const;
    std::optional<std::size_t> find(const thread_id& id) const;
    bool matches(const thread_id& id, const debug_hart& h) const;
    std::string id_text(const debug_hart& h) const;
    const debug_hart& current() const { return env_.harts[general_]; }

    environment env_;
    points points_;
    bool multiprocess_ = false, swbreak_ = false, hwbreak_ = false;
    std::size_t general_ = 0;  ///< index of the hart for register and memory packets
    std::size_t continue_ = 0;
    bool running_ = false;
    std::string stop_ = "T05";         ///< last stop reply: its signal and reason
    std::vector<action> actions_;      ///< per hart, of the last resumption
    std::deque<std::size_t> pending_;  ///< halted harts that were not reported yet
    std::set<unsigned> detached_;      ///< processes from which GDB has detached
    std::string description_;
    std::string libraries_;         ///< the list that GDB reads in pieces
    std::set<unsigned> described_;  ///< processes whose description GDB has read
};

}  // namespace trn::gdb
