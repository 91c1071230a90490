// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <list>
#include <optional>
#include <string>
#include <string_view>
#include <systemc>

#include "platform/app/scenario/context/waits.h"
#include "platform/framework/attach/control/console_log.h"
#include "platform/framework/kernel/byte_channel.h"
#include "platform/framework/tlm/memory.h"

namespace trn::scenario {

/// The Linux of a server whose processors are in the simulation, as steps use it: by the agent that
/// its initramfs starts (platform/app/host_software), over a byte channel.
///
/// A request is a line "run LENGTH -" and LENGTH bytes, the command, or "put LENGTH PATH" or "get 0
/// PATH", whose file is in the memory `exchange` of the server. The response is a line "done STATUS
/// LENGTH" and LENGTH bytes: output, a message, or the length of the file. The agent's first line
/// is "ready".
class inside_host {
public:
    static constexpr std::uint64_t max_answer = 4 << 20;  ///< bytes of output
    struct answer {
        int status = 0;
        std::string bytes;
    };

    /// Memories of the server; null: it has none.
    struct memories {
        memory* exchange = nullptr;
        memory* ram = nullptr;
    };

    /// `name`: of the assembly, "server0"; its console is NAME.uart.
    inside_host(std::string name, byte_channel& agent, const memories& its);
    inside_host(const inside_host&) = delete;
    inside_host& operator=(const inside_host&) = delete;

    const std::string& name() const { return name_; }
    /// Notes what the console prints: a kernel that ends says so there.
    void printed(std::string_view module, std::string_view text);
    /// Waits until the agent runs. \throws step_failure after `within` nanoseconds, or when the
    /// kernel ends
    void await_ready(waits& passing, std::uint64_t within);
    /// Runs a command by the shell; the answer has the output. \throws step_failure as above, and
    /// if the agent does not run
    answer run(const std::string& command, waits& passing, std::uint64_t within);
    answer put(const std::string& path, std::string_view bytes, waits& passing,
               std::uint64_t within);
    answer get(const std::string& path, waits& passing, std::uint64_t within);
    bool is_ready() const { return ready_; }
    /// Returns memory to the machine that Linux has cleared and does not use.
    void release_zeroes();

private:
    class response;

    void release_when_grown();
    void receive(std::string_view bytes);
    bool complete() const;
    answer ask(const std::string& request, waits& passing, std::uint64_t within);
    void await(bool (inside_host::*met)() const, const std::string& text, waits& passing,
               std::uint64_t within);
    [[noreturn]] void fail(const std::string& why) const;

    const std::string name_;
    byte_channel& agent_;
    const memories memories_;
    sc_core::sc_event changed_;
    std::string received_;   // since the request
    std::string line_;       // of the console, not yet complete
    std::string last_line_;  // of the console
    std::string ended_;      // the line with which the kernel has ended; "": it runs
    bool ready_ = false, busy_ = false;
};

/// All of a board, in its order. Make it before the first slice.
class inside_hosts {
public:
    explicit inside_hosts(console_log& consoles);

    bool empty() const { return hosts_.empty(); }
    /// "": the first one. \throws step_failure if there is none of this name
    inside_host& find(const std::string& name);
    /// Waits until the agent of each runs. \throws step_failure
    void await_ready(waits& passing, std::uint64_t within);

private:
    std::string others_not_ready(const inside_host& first) const;

    std::list<inside_host> hosts_;
};

}  // namespace trn::scenario
