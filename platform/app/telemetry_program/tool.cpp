// SPDX-License-Identifier: Apache-2.0
#include "platform/app/telemetry_program/tool.h"

#include <poll.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <csignal>
#include <cstdlib>
#include <exception>

#include "platform/framework/command_line/command_line.h"
#include "platform/framework/config/diagnostics.h"
#include "platform/framework/output.h"

namespace trn::telemetry {

namespace {

volatile std::sig_atomic_t ended = 0;

}  // namespace

void add_source_options(cli::command& app, source_choice& chosen) {
    app.add_option("--connect", chosen.connect,
                   "folder of a running platform's sockets, or its control address");
    app.add_option("--token-file", chosen.token_file, "token for a remote control address")
        ->needs("--connect");
    app.add_option("--sysfs", chosen.sysfs,
                   "root folder of a machine with the Neuron driver (default: /, if it has one)");
    app.add_option("--file", chosen.file, "recording of `trn-monitor --record`");
    app.add_option("--at", chosen.time,
                   "time in the recording: seconds since its start, a simulated time like '10 ms', "
                   "or 'end'")
        ->needs("--file");
    app.group_options("Source", {"--connect", "--token-file", "--sysfs", "--file", "--at"});
}

int run_tool(cli::command& app, const std::string& name, int argc, char** argv,
             const std::function<int()>& work) {
    bool chosen = false;
    app.callback([&] { chosen = true; });
    if (const int mistaken = parse_command_line(app, argc, argv); mistaken != 0) return mistaken;
    if (!chosen) return 0;          // --help, --version
    std::signal(SIGPIPE, SIG_IGN);  // a reader that ends is a failed write
    try {
        const int status = work();
        if (std::fflush(stdout) == 0 && lost_output == 0) return status;
        return 1;
    } catch (const source_usage& wrong) {
        print_to(stderr, "{}: {}\n", name, wrong.what());
        return 2;
    } catch (const std::exception& wrong) {
        std::fflush(stdout);
        print_to(stderr, "{}: {}\n", name, wrong.what());
        return 1;
    }
}

terminal_size size_of_terminal() {
    winsize size{};
    if (isatty(STDOUT_FILENO) == 0) return {};
    if (ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) == 0 && size.ws_col != 0 && size.ws_row != 0)
        return {size.ws_col, size.ws_row};
    return {80, 24};
}

bool is_coloured() {
    return isatty(STDOUT_FILENO) != 0 && std::getenv("NO_COLOR") == nullptr;
}

bool should_end() {
    return ended != 0;
}

void end_on_signals() {
    struct sigaction action {};
    action.sa_handler = [](int) { ended = 1; };  // without SA_RESTART: poll() returns
    for (const int signal : {SIGINT, SIGTERM, SIGHUP}) sigaction(signal, &action, nullptr);
}

bool wait_for(double seconds, int keys) {
    using clock = std::chrono::steady_clock;
    const auto end = clock::now() + std::chrono::duration_cast<clock::duration>(
                                        std::chrono::duration<double>(seconds));
    while (!should_end()) {
        const auto left = std::chrono::ceil<std::chrono::milliseconds>(end - clock::now()).count();
        if (left <= 0) return false;
        pollfd readable{keys, POLLIN, 0};
        const int count = poll(&readable, keys >= 0 ? 1 : 0,
                               static_cast<int>(std::min<long long>(left, 1'000'000)));
        if (count > 0) return true;
        if (count < 0 && errno == EINTR && keys >= 0) return false;  // the terminal has a new size
    }
    return false;
}

}  // namespace trn::telemetry
