// SPDX-License-Identifier: Apache-2.0
#include <termios.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <csignal>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include "platform/app/telemetry/host_usage.h"
#include "platform/app/telemetry/sources/state_source.h"
#include "platform/app/telemetry/state_json.h"
#include "platform/app/telemetry/views/top_screen.h"
#include "platform/app/telemetry_program/tool.h"
#include "platform/framework/config/json.h"
#include "platform/framework/output.h"

namespace {

using namespace trn;
using namespace trn::telemetry;

struct options {
    source_choice source;
    bool once = false, json = false;
    double interval = 1;
    unsigned columns = 0;
};

/// The terminal without echo and line editing, on its second screen, until the destructor.
class raw_terminal {
public:
    raw_terminal() {
        is_changed_ = tcgetattr(STDIN_FILENO, &before_) == 0;
        if (is_changed_) {
            auto raw = before_;
            raw.c_lflag &= ~static_cast<tcflag_t>(ICANON | ECHO);
            raw.c_cc[VMIN] = 0;
            raw.c_cc[VTIME] = 0;
            // They would leave the terminal as it is here.
            for (const int key : {VQUIT, VSUSP}) raw.c_cc[key] = _POSIX_VDISABLE;
            tcsetattr(STDIN_FILENO, TCSANOW, &raw);
        }
        print_raw(stdout, "\033[?1049h\033[?25l");
    }
    ~raw_terminal() {
        print_raw(stdout, "\033[?25h\033[?1049l");
        std::fflush(stdout);
        if (is_changed_) tcsetattr(STDIN_FILENO, TCSANOW, &before_);
    }
    raw_terminal(const raw_terminal&) = delete;
    raw_terminal& operator=(const raw_terminal&) = delete;

private:
    termios before_{};
    bool is_changed_ = false;
};

/// Returns false for the key that ends the program.
bool press(std::string_view keys, top_view& view, const top_text& shown) {
    const auto page = std::max<std::size_t>(view.rows / 2, 1);
    const auto scroll = [&](long lines) {
        const auto wanted = static_cast<long>(view.scrolled) + lines;
        view.scrolled =
            static_cast<std::size_t>(std::clamp(wanted, 0L, static_cast<long>(shown.last_scroll)));
    };
    const std::array<std::pair<std::string_view, long>, 6> arrows{
        {{"\033[A", -1},
         {"\033[B", 1},
         {"\033OA", -1},
         {"\033OB", 1},
         {"\033[5~", -static_cast<long>(page)},
         {"\033[6~", static_cast<long>(page)}}};
    while (!keys.empty()) {
        const auto arrow = std::ranges::find_if(
            arrows, [&](const auto& each) { return keys.starts_with(each.first); });
        if (arrow != arrows.end()) {
            scroll(arrow->second);
            keys.remove_prefix(arrow->first.size());
            continue;
        }
        const char key = keys.front();
        keys.remove_prefix(1);
        if (key == '\033') return true;  // an unknown sequence: the rest is not keys
        if (key == 'q' || key == 'Q') return false;
        if (key == 'j') scroll(1);
        if (key == 'k') scroll(-1);
        if (key == 'f') view.shows_flops = !view.shows_flops;
        if (key == 's') view.order = static_cast<top_order>((static_cast<int>(view.order) + 1) % 4);
        if (key == 'a') view.tab = (view.tab + shown.tabs - 1) % shown.tabs;
        if (key == 'd') view.tab = (view.tab + 1) % shown.tabs;
        if (key >= '1' && key <= '9' && static_cast<std::size_t>(key - '1') < shown.tabs)
            view.tab = static_cast<std::size_t>(key - '1');
    }
    return true;
}

int print_once(const options& chosen, state_source& source) {
    const auto state = source.read(detail::all);
    if (chosen.json) {
        print_raw(stdout, config::to_ascii(to_json(state)) + "\n");
        return 0;
    }
    constexpr std::size_t usual_columns = 100;
    const auto terminal = size_of_terminal();
    top_view view;
    view.columns = chosen.columns     ? chosen.columns
                   : terminal.columns ? terminal.columns
                                      : usual_columns;
    view.rows = 0;
    view.coloured = is_coloured();
    host_usage host;
    host.now = read_host(state, source.proc());
    print_raw(stdout, top_screen(view, nullptr, state, host).text);
    return 0;
}

int show(const options& chosen, state_source& source) {
    end_on_signals();
    struct sigaction resized {};
    resized.sa_handler = [](int) {};  // ends the wait for keys
    sigaction(SIGWINCH, &resized, nullptr);
    std::optional<machine_state> before;
    auto now = source.read(detail::all);
    host_usage host;
    host.now = read_host(now, source.proc());
    const raw_terminal terminal;
    top_view view;
    view.coloured = is_coloured();
    double rest = chosen.interval;
    while (!should_end()) {
        const auto size = size_of_terminal();
        view.columns = chosen.columns ? chosen.columns : size.columns;
        view.rows = size.rows > 1 ? size.rows - 1 : 1;
        const auto shown = top_screen(view, before ? &*before : nullptr, now, host);
        std::string text = "\033[H";
        std::string_view lines = shown.text;
        while (!lines.empty()) {  // each line replaces the one before it
            const auto end = lines.find('\n');
            text.append(lines.substr(0, end)).append("\033[K\r\n");
            lines.remove_prefix(end + 1);
        }
        print_raw(stdout, text + "\033[J");
        std::fflush(stdout);
        if (lost_output != 0) return 1;
        const auto start = wall_ms_now();
        if (wait_for(rest, STDIN_FILENO)) {
            std::array<char, 64> keys{};
            const auto count = read(STDIN_FILENO, keys.data(), keys.size());
            if (count <= 0) return 0;  // the terminal has gone
            if (!press({keys.data(), static_cast<std::size_t>(count)}, view, shown)) return 0;
        }
        rest -= static_cast<double>(wall_ms_now() - start) / 1000;
        if (rest > 0.001) continue;
        rest = chosen.interval;
        before = std::exchange(now, source.read(detail::all));
        host.before = std::exchange(host.now, read_host(now, source.proc()));
    }
    return 0;
}

}  // namespace

int main(int argc, char** argv) {
    cli::command app{"shows Neuron devices and their processes live, as neuron-top does",
                     "trn-top"};
    options chosen;
    app.add_flag("--once", chosen.once, "print one screen (the default unless on a terminal)");
    app.add_flag("--json", chosen.json, "print all that is known, once, as JSON");
    app.add_option("--interval", chosen.interval, "seconds from update to update")
        ->check(cli::in_range(0.05, 3600.0))
        ->capture_default_str();
    app.add_option("--columns", chosen.columns, "width instead of the terminal's")
        ->check(cli::in_range(20u, 1000u));
    add_source_options(app, chosen.source);
    app.group_options("Output", {"--once", "--json", "--interval", "--columns"});
    app.examples({{"trn-top --connect sockets", "a platform that runs with --listen sockets"},
                  {"trn-top --file run.jsonl --at 3 --once", "one screen of a recording"}});
    return run_tool(app, "trn-top", argc, argv, [&] {
        const auto source = open_source(chosen.source);
        const bool on_terminal = isatty(STDIN_FILENO) != 0 && isatty(STDOUT_FILENO) != 0;
        return chosen.once || chosen.json || !on_terminal ? print_once(chosen, *source)
                                                          : show(chosen, *source);
    });
}
