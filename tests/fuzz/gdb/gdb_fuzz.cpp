// SPDX-License-Identifier: Apache-2.0
// Debuggers connect, set breakpoints, step, interrupt and leave in random states of two chips with
// busy drivers: afterwards no hart is halted, simulated time runs, and the drivers' next calls
// succeed.
//
//     fuzz_gdb [--seconds N] [--seed S] [--only INPUT]
//
// Each input is a list of actions, executed in a copy (fork) of one booted platform. The shortest
// list that fails is printed.
#include <fmt/format.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <boost/asio/io_context.hpp>
#include <cstdlib>
#include <iterator>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "models/kinds.h"
#include "models/misuse_rules.h"
#include "models/processor/riscv/riscv_hart.h"
#include "platform/app/endpoints/endpoints.h"
#include "platform/app/in_process/in_process.h"
#include "platform/framework/debug/gdb/packet.h"
#include "platform/framework/log.h"
#include "platform/framework/misuse/misuse.h"
#include "sw-stubs/host/machine/device.h"
#include "tests/support/fuzz.h"
#include "tests/support/scratch_folder.h"
#include "tests/support/vfio_user_peer.h"

namespace {

using namespace trn;
using sc_core::sc_time;
using test::fuzz_random;

constexpr unsigned chips = 2, debuggers = 2;

struct action {
    enum class kind { connect, send, leave, run, work, control } what;
    unsigned number = 0;    ///< of the debugger or chip; of `run`: microseconds
    std::string text = {};  ///< bytes to send, or name of the work or method
};
using script = std::vector<action>;

std::string to_text(const script& actions) {
    static constexpr const char* names[] = {"connect", "send", "leave", "run", "work", "control"};
    std::string all;
    for (const auto& a : actions)
        all += fmt::format("    {} {} {}\n", names[static_cast<int>(a.what)], a.number,
                           a.text == "\x03"
                               ? "Ctrl-C"
                               : a.text.substr(0, std::min<std::size_t>(a.text.size(), 80)));
    return all;
}

/// Makes packets of GDB, mostly valid, on the harts and at the addresses that the board uses.
class packet_maker {
public:
    packet_maker(std::vector<debug_hart> harts, std::vector<std::uint64_t> addresses)
        : harts_(std::move(harts)), addresses_(std::move(addresses)) {}

    std::string make(fuzz_random& random) const {
        if (random.below(6) == 0) return "\x03";
        if (random.below(60) == 0) return "$c#0" + std::string(1, static_cast<char>(random.next()));
        return gdb::frame(body(random));
    }

private:
    std::string body(fuzz_random& random) const {
        const auto& hart = harts_[random.below(random.below(2) == 0 ? 2 : harts_.size())];
        const auto id = fmt::format("p{:x}.{:x}", hart.process, hart.thread);
        const auto address = addresses_[random.below(addresses_.size())];
        switch (random.below(20)) {
        case 0:
        case 1:
            return "vCont;c";
        case 2:
        case 3:
            return "vCont;s:" + id;
        case 4:
        case 5:
            return "vCont;s:" + id + ";c";
        case 6:
            return fmt::format("vCont;c:p{:x}.-1", hart.process);
        case 7:
            return "vCont;s";
        case 8:
            return "s";
        case 9:
            return "Hg" + id;
        case 10:
            return "Hc" + id;
        case 11:
        case 12:
            return fmt::format("Z{},{:x},4", random.below(2), address);
        case 13:
            return fmt::format("z{},{:x},4", random.below(2), address);
        case 14:
            return fmt::format("{}{},{:x},8", random.below(3) == 0 ? 'z' : 'Z', 2 + random.below(3),
                               0x4000'0000 + 8 * random.below(0x4000));
        case 15:
            return random.below(2) == 0 ? "D" : fmt::format("D;{:x}", 1 + random.below(chips));
        case 16:
            return fmt::format("vAttach;{:x}", 1 + random.below(chips));
        case 17:
            return "?";
        case 18:
            return random.below(2) == 0 ? "g" : "qXfer:features:read:target.xml:0,fff";
        default:
            return "qSupported:multiprocess+;swbreak+;hwbreak+";
        }
    }

    const std::vector<debug_hart> harts_;
    const std::vector<std::uint64_t> addresses_;
};

script make_script(fuzz_random& random, const packet_maker& packets) {
    using enum action::kind;
    static constexpr std::array works{"copy", "mailbox", "reset"};
    static constexpr std::array methods{"pause", "run", "step"};
    script all;
    for (auto n = 2 + random.below(40); n > 0; --n) {
        const auto number = static_cast<unsigned>(random.below(debuggers));
        switch (random.below(16)) {
        case 0:
        case 1:
            all.push_back({connect, number});
            all.push_back({send, number, gdb::frame("qSupported:multiprocess+;swbreak+")});
            break;
        case 2:
            all.push_back({leave, number});
            break;
        case 3:
        case 4:
        case 5:
        case 6:
            all.push_back({run, 1u << (2 * random.below(6))});
            break;
        case 7:
            all.push_back({work, number, works[random.below(works.size())]});
            break;
        case 8:
            if (random.below(3) == 0)
                all.push_back({control, 0, methods[random.below(methods.size())]});
            break;
        default:
            all.push_back({send, number, packets.make(random)});
        }
    }
    return all;
}

/// A driver of one chip.
class driver {
public:
    explicit driver(const platform::function& function) : cpu_(*function.port, {}) {}

    void start(const std::string& work) {
        if (!cpu_.idle()) return;
        cpu_.run([this, work] {
            if (!device_) device_.emplace(cpu_.transport());
            // Work that a debugger has disturbed may fail.
            succeeded_ = do_work(work) == TRN_OK;
        });
    }
    bool idle() const { return cpu_.idle(); }
    bool succeeded() const { return succeeded_; }

private:
    trn_status do_work(const std::string& work) {
        auto& d = *device_;
        if (work == "reset") return trn_reset_device(d);
        if (work == "mailbox") {
            std::uint32_t version = 0;
            return trn_get_api_version(d, &version);
        }
        if (work == "probe") {
            device_.emplace(cpu_.transport());
            if (const auto status = trn_probe(*device_); status != TRN_OK) return status;
            if (const auto status = trn_reset_device(*device_); status != TRN_OK) return status;
        }
        return trn_memset(*device_, 0, 0, 7, 4096);
    }

    host_cpu cpu_;
    std::optional<device> device_;
    bool succeeded_ = false;
};

/// The booted platform of all inputs.
class fixture {
public:
    fixture() : board_(kinds(), {.board = "trn3-chip", .set = {fmt::format("devices={}", chips)}}) {
        for (const auto& f : board_.chip_functions())
            drivers_.push_back(std::make_unique<driver>(f));
        if (board_.boot(sc_time(1, sc_core::SC_SEC)).cause != stop_reason::kind::condition)
            std::abort();
        for (const auto& d : drivers_) d->start("probe");
        // Addresses of breakpoints: where the firmware is while it works.
        auto& management = *harts_.front().target;
        for (int i = 0; i < 200; ++i) {
            addresses_.push_back(management.read_register(debug_target::pc).value_or(0));
            advance(5);
        }
        for (int i = 0; i < 10 && !std::ranges::all_of(drivers_, is_idle); ++i) advance(100'000);
        for (const auto& d : drivers_)
            if (!d->succeeded()) std::abort();
    }

    packet_maker packets() const { return {harts_, addresses_}; }

    /// Executes the actions in a copy of the platform. Returns what is wrong afterwards, or "".
    std::string run(const script& actions) {
        int ends[2];
        if (pipe(ends) != 0) std::abort();
        auto& io = board_.loop().io();
        io.notify_fork(boost::asio::execution_context::fork_prepare);
        const pid_t copy = fork();
        if (copy == 0) {
            io.notify_fork(boost::asio::execution_context::fork_child);
            alarm(120);
            const auto wrong = execute(actions);
            if (write(ends[1], wrong.data(), wrong.size()) < 0) _exit(1);
            _exit(0);
        }
        io.notify_fork(boost::asio::execution_context::fork_parent);
        close(ends[1]);
        std::array<char, 4096> buffer;
        const auto size = read(ends[0], buffer.data(), buffer.size());
        close(ends[0]);
        int status = 0;
        waitpid(copy, &status, 0);
        if (status != 0) return fmt::format("status {:#x}", status);
        return {buffer.data(), static_cast<std::size_t>(std::max<ssize_t>(size, 0))};
    }

private:
    void advance(unsigned microseconds) {
        auto& loop = board_.loop();
        while (loop.io().poll() != 0) {
        }
        run_loop::goal moment{"fuzz", "a moment"};
        moment.until = sc_core::sc_time_stamp() + sc_time(microseconds, sc_core::SC_US);
        moment.ends_on_pause = true;
        if (!loop.paused()) loop.run(moment);
        while (loop.io().poll() != 0) {
        }
    }

    std::string execute(const script& actions) {
        const test::scratch_folder folder;
        endpoints sockets(board_);
        const std::string socket = folder / "gdb.sock";
        sockets.open_gdb(socket);
        bool controlled = false;
        {
            std::array<std::unique_ptr<test::raw_peer>, debuggers> peers;
            for (const auto& a : actions) {
                switch (a.what) {
                case action::kind::connect:
                    peers[a.number] = std::make_unique<test::raw_peer>(socket);
                    break;
                case action::kind::send:
                    if (peers[a.number]) peers[a.number]->send_bytes(a.text.data(), a.text.size());
                    break;
                case action::kind::leave:
                    peers[a.number].reset();
                    break;
                case action::kind::run:
                    advance(a.number);
                    break;
                case action::kind::work:
                    drivers_[a.number]->start(a.text);
                    break;
                case action::kind::control:
                    board_.methods().call(a.text);
                    controlled = true;
                    break;
                }
                while (board_.loop().io().poll() != 0) {
                }
            }
        }
        return inspect(controlled);
    }

    /// All debuggers have left.
    std::string inspect(bool controlled) {
        auto& loop = board_.loop();
        while (loop.io().poll() != 0) {
        }
        if (controlled) loop.resume();
        for (int i = 0; i < 100; ++i) {
            if (loop.paused()) return "paused: " + loop.pause_text();
            for (const auto& h : harts_)
                if (h.target->halted()) return h.name + " is halted";
            if (std::ranges::all_of(drivers_, is_idle)) break;
            advance(100'000);
        }
        for (const auto& d : drivers_) d->start("probe");
        for (int i = 0; i < 10 && !std::ranges::all_of(drivers_, is_idle); ++i) advance(100'000);
        if (loop.paused()) return "paused: " + loop.pause_text();
        for (const auto& h : harts_)
            if (h.target->halted()) return h.name + " is halted";
        for (const auto& d : drivers_)
            if (!d->idle() || !d->succeeded()) return "a driver's calls fail";
        if (loop.attached() != 0) return "a client is attached";
        return {};
    }
    static bool is_idle(const std::unique_ptr<driver>& d) { return d->idle(); }

    platform board_;
    const std::vector<debug_hart> harts_ = find_harts();
    std::vector<std::unique_ptr<driver>> drivers_;
    std::vector<std::uint64_t> addresses_;
};

/// Removes actions as long as the rest fails.
script shrink(fixture& platform, script actions) {
    for (std::size_t piece = actions.size() / 2; piece > 0; piece /= 2)
        for (std::size_t at = 0; at + piece <= actions.size();) {
            script fewer = actions;
            const auto first = fewer.begin() + static_cast<std::ptrdiff_t>(at);
            fewer.erase(first, first + static_cast<std::ptrdiff_t>(piece));
            if (platform.run(fewer).empty()) {
                at += piece;
            } else {
                actions = std::move(fewer);
            }
        }
    return actions;
}

}  // namespace

int sc_main(int argc, char** argv) {
    misuse::set_rules(misuse::all_rules);
    log::replace_sink({});
    fixture platform;
    const auto packets = platform.packets();
    return test::fuzz(argc, argv, [&](fuzz_random& random) {
        const auto actions = make_script(random, packets);
        if (platform.run(actions).empty()) return;
        const auto fewer = shrink(platform, actions);
        std::fprintf(stderr, "%s\n%s", platform.run(fewer).c_str(), to_text(fewer).c_str());
        std::abort();
    });
}

int main(int argc, char** argv) {
    setenv("SYSTEMC_DISABLE_COPYRIGHT_MESSAGE", "1", 1);
    return sc_core::sc_elab_and_sim(argc, argv);
}
