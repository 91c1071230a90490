// SPDX-License-Identifier: Apache-2.0
#include "platform/app/trnvp/run.h"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <boost/asio/signal_set.hpp>
#include <boost/asio/steady_timer.hpp>
#include <csignal>
#include <cstdio>
#include <memory>
#include <optional>
#include <utility>
#include <vector>

#include "models/kinds.h"
#include "platform/app/commands/board_options.h"
#include "platform/app/commands/coverage_option.h"
#include "platform/app/commands/growing_file.h"
#include "platform/app/commands/misuse_option.h"
#include "platform/app/commands/wave_options.h"
#include "platform/app/disk_images.h"
#include "platform/app/endpoints/endpoints.h"
#include "platform/app/fidelity_report.h"
#include "platform/app/hart_option.h"
#include "platform/app/platform.h"
#include "platform/app/report_file.h"
#include "platform/app/telemetry/views/prometheus_text.h"
#include "platform/app/telemetry_model/device_states.h"
#include "platform/app/telemetry_model/metrics_server.h"
#include "platform/app/trnvp/event_recording.h"
#include "platform/app/trnvp/states.h"
#include "platform/framework/attach/console/console_writer.h"
#include "platform/framework/attach/console/standard_streams.h"
#include "platform/framework/config/json.h"
#include "platform/framework/config/refusal_text.h"
#include "platform/framework/config/units.h"
#include "platform/framework/kernel/boot_failure.h"
#include "platform/framework/kernel/power_off.h"
#include "platform/framework/kernel/time_text.h"
#include "platform/framework/kernel/time_value.h"
#include "platform/framework/misuse/report.h"
#include "platform/framework/output.h"
#include "platform/framework/tlm/base_protocol.h"

namespace trn {

namespace {

using rpc::json;
using namespace std::chrono_literals;

struct run_options {
    board_options board;
    std::string until, max_time;
    std::string listen, gdb, uart, control_tcp, token_file, metrics;
    std::filesystem::path coverage;
    hart_choice hart;
    bool allow_remote = false;
    bool paused = false;
    bool json = false;
};

sc_core::sc_time time_option(std::string_view name, const std::string& text) {
    const auto parsed = config::parse_time(text);
    if (const auto* ps = std::get_if<picoseconds>(&parsed))
        return sc_core::sc_time::from_value(ps->value);
    throw user_error(
        fmt::format("{}: {}", name, config::refusal_text(std::get<config::refusal>(parsed))));
}

/// Checks all options that can be checked before the board is read.
platform_options build_options(const run_options& chosen) {
    if (!chosen.max_time.empty()) time_option("--max-time", chosen.max_time);
    if (!chosen.until.empty() && chosen.until != "off")
        moment_option("--until", chosen.until, " 'off',");
    output_files files;
    chosen.board.add_outputs(files);
    files.add("--coverage", chosen.coverage);
    if (chosen.uart != "stdout" && chosen.uart != "socket" && chosen.uart != "none")
        files.add("--uart", chosen.uart);
    check_report(chosen.coverage);
    if (chosen.uart == "socket" && chosen.listen.empty())
        throw user_error("--uart socket needs --listen DIR");
    if (!chosen.board.record.empty() && !chosen.gdb.empty())
        throw user_error(recording::no_debugger);
    return chosen.board.checked();
}

/// One execution of `trnvp run`, from the options to the exit status.
class session {
public:
    explicit session(const run_options& chosen)
        : chosen_(chosen),
          platform_(kinds(), build_options(chosen)),
          streams_(io()),
          recorder_(recording::recorder_for(platform_, build_options(chosen),
                                            {chosen.board.misuse_texts(), chosen.hart.mode},
                                            chosen.board.record)),
          endpoints_(platform_, recorder_.get()),
          devices_(platform_, [this] { return endpoints_.clients(); }),
          events_(platform_.methods()),
          states_(platform_.methods(), endpoints_, streams_, events_, state_options()),
          signals_(io(), SIGINT, SIGTERM),
          tick_(io()) {
        devices_.add_method();
    }

    int run() {
        std::optional<fidelity_report> touched;
        if (!chosen_.board.fidelity_report.empty()) touched.emplace(chosen_.board.fidelity_report);
        std::optional<coverage> executed;
        if (!chosen_.coverage.empty()) {
            const auto programs = programs_of(platform_.modules().board());
            executed.emplace(std::vector(programs.begin(), programs.end()));
        }
        if (chosen_.paused) platform_.loop().pause("--paused");
        signals_.async_wait([this](auto error, int) {
            if (!error) platform_.loop().quit("interrupted");
        });
        show_consoles();
        open_endpoints();
        announce();
        show_progress();
        const auto reason = platform_.loop().run(goal());
        states_.ends();
        if (recorder_) recorder_->finish();
        tick_.cancel();
        clear_progress();
        if (writer_) writer_->finish();
        lost_ = platform_.finish_records();
        if (uart_file_) lost_ += uart_file_->finish();
        if (touched) touched->write(platform_.modules().board());
        if (executed) {
            write_coverage(*executed, chosen_.coverage);
            warn_of_unknown_code(*executed);
        }
        return finish_streams(conclude(reason), reason);
    }

private:
    boost::asio::io_context& io() { return platform_.loop().io(); }

    states::config state_options() {
        return {.never = why_no_snapshots(), .flush = [this] {
                    if (uart_file_) uart_file_->flush();
                }};
    }

    std::string why_no_snapshots() const {
        if (recorder_)
            return "this session is recorded (--record), and a recording has a single continuation";
        if (const auto images = disk_images_of(platform_.modules().board()); !images.empty())
            return fmt::format(
                "a disk has an image file, {}, which would keep what was written: run without it",
                *images.begin());
        if (!chosen_.board.build.waves.file.empty())
            return "waveforms cannot go back in time: run without --vcd";
        return {};
    }

    void open_endpoints() {
        if (!chosen_.listen.empty()) endpoints_.open_folder(chosen_.listen);
        if (!chosen_.control_tcp.empty()) {
            std::optional<std::string> token;
            if (!chosen_.token_file.empty()) token = read_token(chosen_.token_file);
            endpoints_.open_control({chosen_.control_tcp, chosen_.allow_remote, token});
        }
        if (chosen_.uart == "socket") endpoints_.open_consoles(chosen_.listen);
        if (!chosen_.gdb.empty()) endpoints_.open_gdb(chosen_.gdb);
        if (!chosen_.metrics.empty())
            metrics_.emplace(io(), chosen_.metrics,
                             [this] { return scrapes_.page(devices_.read(true)); });
    }

    void show_consoles() {
        auto& consoles = platform_.methods().consoles();
        if (chosen_.uart == "socket" || chosen_.uart == "none") return;
        console_writer::sink out = console_writer::print;
        if (chosen_.uart != "stdout") {
            auto& file = uart_file_.emplace("--uart", chosen_.uart);
            out = [&file](std::string_view text) { file.write(text); };
        }
        writer_.emplace(std::move(out), consoles.all().size() > 1);
        consoles.listen([this](std::string_view module, std::string_view text) {
            clear_progress();
            writer_->write(module, text);
        });
    }

    void announce() {
        const auto& about = platform_.about();
        const auto policy = platform_.loop().settings().policy.text();
        if (chosen_.json) {
            json sockets = json::array();
            for (const auto& d : endpoints_.all())
                sockets.push_back({{"purpose", d.purpose}, {"address", d.address}});
            if (metrics_)
                sockets.push_back({{"purpose", "metrics"}, {"address", metrics_->address()}});
            return print_json({{"event", "started"},
                               {"version", about.version},
                               {"board", about.board},
                               {"digest", about.digest},
                               {"timing", chosen_.board.timing},
                               {"time_policy", policy},
                               {"seed", chosen_.board.build.seed},
                               {"sockets", sockets}});
        }
        print_to(stderr, "trnvp {}: board {}, digest {}, timing {}, time policy {}, seed {}\n",
                 about.version, about.board, about.digest, chosen_.board.timing, policy,
                 chosen_.board.build.seed);
        for (const auto& d : endpoints_.all())
            print_to(stderr, "  {:<14} {}\n", d.purpose, d.address);
        if (metrics_) print_to(stderr, "  {:<14} {}\n", "metrics", metrics_->address());
    }

    static void print_json(const json& line) {
        print_raw(stdout, config::to_ascii(line) + "\n");
        std::fflush(stdout);
    }

    static bool software_powers_off() { return any_module<reports_power_off>(); }

    run_loop::goal goal() {
        run_loop::goal g{"the command line", "the end"};
        if (!chosen_.max_time.empty()) g.until = time_option("--max-time", chosen_.max_time);
        if (chosen_.until == "ready") {
            if (!any_module<reports_ready>())
                throw user_error("--until ready: the board has no module that reports ready");
            g.condition_text = "every chip to be ready (--until)";
            g.condition = ready_condition();
        } else if (chosen_.until == "off" || (chosen_.until.empty() && software_powers_off())) {
            if (!software_powers_off())
                throw user_error(
                    "--until off: no software of this board can power off (--set software=stock)");
            g.condition_text = "software to power every machine off";
            std::vector<const reports_power_off*> machines;
            for_each_module<reports_power_off>(
                [&](const auto&, auto& module) { machines.push_back(&module); });
            g.condition = [machines = std::move(machines)] {
                return std::ranges::all_of(machines, &reports_power_off::is_off);
            };
        } else if (!chosen_.until.empty()) {
            end_at(moment_option("--until", chosen_.until), g);
        }
        // Without --until and --max-time, time without events passes at wall-clock speed.
        g.background = chosen_.until.empty() && chosen_.max_time.empty();
        return g;
    }

    void end_at(const moment& awaited, run_loop::goal& g) {
        if (!awaited.picoseconds) {
            g.condition_text = chosen_.until + " (--until)";
            try {
                g.condition = moment_condition(awaited);
            } catch (const std::invalid_argument& wrong) {
                throw user_error(fmt::format("--until: {}", wrong.what()));
            }
            return;
        }
        const auto end = sc_core::sc_time::from_value(*awaited.picoseconds);
        until_time_ = !g.until || end <= *g.until;
        g.until = g.until ? std::min(*g.until, end) : end;
    }

    // Prints the progress of a run with --until, if standard error is a terminal.
    void show_progress() {
        if (chosen_.until.empty() || isatty(STDERR_FILENO) == 0) return;
        tick_.expires_after(500ms);
        tick_.async_wait([this](auto error) {
            if (error) return;
            const auto text = fmt::format(
                "simulated {}, {:.1f} s", to_text(sc_core::sc_time_stamp()),
                std::chrono::duration<double>(run_loop::wall_clock::now() - start_).count());
            print_raw(stderr, "\r\033[K" + text);
            progress_ = true;
            show_progress();
        });
    }
    void clear_progress() {
        if (std::exchange(progress_, false)) print_raw(stderr, "\r\033[K");
    }

    /// Waits until the output is read; a signal then ends the process. After a request to end, or
    /// when signals are blocked (states::ends()), waits only for a reader that still reads.
    int finish_streams(int status, const stop_reason& reason) {
        sigset_t blocked;
        sigprocmask(SIG_BLOCK, nullptr, &blocked);
        const bool limited =
            reason.cause == stop_reason::kind::quit || sigismember(&blocked, SIGTERM) == 1;
        if (!limited) signals_.clear();
        const auto unread =
            streams_.finish(limited ? std::optional(standard_streams::grace) : std::nullopt);
        if (unread.empty()) return status;
        print_to(stderr, "trnvp: {}\n", unread);
        return status == 0 ? 1 : status;
    }

    static std::vector<std::string> boot_failures() {
        std::vector<std::string> all;
        for_each_module<reports_boot_failure>([&](const auto& object, auto& module) {
            if (auto why = module.boot_failure(); !why.empty())
                all.push_back(module_name(object) + ": " + why);
        });
        return all;
    }

    int conclude(const stop_reason& reason) {
        using kind = stop_reason::kind;
        const bool reached =
            reason.cause == kind::condition || (reason.cause == kind::time_limit && until_time_);
        const bool ended = reason.cause == kind::quit || reason.cause == kind::time_limit;
        bool good = reached || (chosen_.until.empty() && ended);
        const double wall =
            std::chrono::duration<double>(run_loop::wall_clock::now() - start_).count();
        const auto failures = boot_failures();
        if (misuse::failed() || base_protocol::failed() || !lost_.empty() || !failures.empty())
            good = false;
        if (chosen_.json) {
            print_json({{"event", "ended"},
                        {"reason", to_string(reason.cause)},
                        {"text", reason.text},
                        {"good", good},
                        {"boot_failures", failures},
                        {"misuse", misuse::to_json(platform_.chips())},
                        {"time_ps", in_picoseconds(sc_core::sc_time_stamp())},
                        {"wall_seconds", wall}});
        } else {
            print_to(stderr, "trnvp: {}{}: {} simulated, {:.2f} s\n", to_string(reason.cause),
                     reason.text.empty() ? "" : " (" + reason.text + ")",
                     to_text(sc_core::sc_time_stamp()), wall);
            for (const auto& failure : failures) print_to(stderr, "trnvp: {}\n", failure);
            print_misuse(platform_.chips());
        }
        print_protocol_violations();
        return good ? 0 : 1;
    }

    const run_options chosen_;
    const run_loop::wall_clock::time_point start_ = run_loop::wall_clock::now();
    platform platform_;
    standard_streams streams_;
    const std::unique_ptr<recording::recorder> recorder_;
    endpoints endpoints_;
    telemetry::device_states devices_;
    telemetry::scrapes scrapes_;
    std::optional<telemetry::metrics_server> metrics_;
    event_recording events_;
    states states_;
    boost::asio::signal_set signals_;
    boost::asio::steady_timer tick_;
    std::optional<growing_file> uart_file_;
    std::optional<console_writer> writer_;
    std::string lost_;  // why a trace or the UART's file is incomplete; "": complete
    bool progress_ = false;
    bool until_time_ = false;  ///< --until is a time, and ends before --max-time
};

}  // namespace

void add_run(cli::command* c, int& status) {
    auto chosen = std::make_shared<run_options>();
    chosen->board.add_to(*c);
    chosen->board.add_software_to(*c);
    c->add_option("--listen", chosen->listen, "folder for the sockets: control.sock, <chip>.sock");
    c->add_option("--gdb", chosen->gdb,
                  "serve GDB on this loopback port (0 chooses one) or Unix socket");
    c->add_option("--control-tcp", chosen->control_tcp,
                  "serve the control methods on HOST:PORT too");
    c->add_flag("--allow-remote", chosen->allow_remote,
                "--control-tcp may name an address that is not loopback");
    c->add_option("--token-file", chosen->token_file,
                  "file with the token of clients of --control-tcp");
    c->add_option("--metrics", chosen->metrics,
                  "serve /metrics for Prometheus on this loopback port (0 chooses one), or on "
                  "HOST:PORT");
    add_coverage_option(*c, chosen->coverage);
    add_hart_option(*c, chosen->hart);
    c->add_option("--until", chosen->until,
                  "end with status 0 when: 'ready', 'off', a simulated time like '10 ms', or "
                  "'SIGNAL == VALUE', as --vcd-signal names it");
    c->add_option("--max-time", chosen->max_time, "end at this simulated time");
    c->add_option("--uart", chosen->uart,
                  "stdout, none, socket (in the --listen folder), or a file");
    c->add_flag("--paused", chosen->paused,
                "start paused, until a debugger or control client resumes");
    c->add_flag("--json", chosen->json, "one JSON line at the start and one at the end");
    c->group_options(
        "Board", {"--kinds", "--firmware", "--set", "--timing", "--seed", "--hart", "--perf-map"});
    c->group_options("Stock software", {"--load", "--initrd", "--device-tree", "--bootargs"});
    c->group_options("Connections", {"--listen", "--gdb", "--control-tcp", "--allow-remote",
                                     "--token-file", "--metrics", "--uart", "--record"});
    c->group_options("Time", {"--until", "--max-time", "--time-policy", "--paused"});
    c->group_options("Reports", {"--trace", "--vcd", "--vcd-signal", "--vcd-from", "--vcd-until",
                                 "--misuse", "--misuse-allow", "--check-protocol",
                                 "--fidelity-report", "--coverage", "--json"});
    c->examples(
        {{"trnvp run trn3-chip --until ready", "boots it, and ends"},
         {"trnvp run trn3-chip --listen sockets &",
          "serves it to trnctl --connect sockets, until a signal"},
         {"trnvp run trn3-chip --max-time '200 us' --trace boot.perfetto-trace --record session",
          "the beginning, with a trace and a recording"}});
    c->callback([chosen, &status] {
        if (chosen->uart.empty()) chosen->uart = chosen->json ? "none" : "stdout";
        chosen->hart.apply();
        chosen->board.protocol.apply();
        status = session(*chosen).run();
    });
}

}  // namespace trn
