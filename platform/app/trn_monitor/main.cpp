// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <cerrno>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <system_error>
#include <utility>

#include "platform/app/telemetry/host_usage.h"
#include "platform/app/telemetry/sources/state_source.h"
#include "platform/app/telemetry/state_json.h"
#include "platform/app/telemetry/views/monitor_json.h"
#include "platform/app/telemetry/views/prometheus_text.h"
#include "platform/app/telemetry_program/metrics_port.h"
#include "platform/app/telemetry_program/tool.h"
#include "platform/framework/config/file.h"
#include "platform/framework/config/json.h"
#include "platform/framework/output.h"

namespace {

using namespace trn;
using namespace trn::telemetry;

struct options {
    source_choice source;
    std::string config, prometheus, record;
    std::optional<double> period;
    std::uint64_t count = 0;
    bool json = false;
};

monitor_choice read_choice(const options& chosen) {
    constexpr std::uint64_t largest_file = 1 << 20;
    monitor_choice choice;
    if (!chosen.config.empty()) try {
            const auto bytes = read_file(chosen.config, largest_file);
            choice = monitor_choice_of({bytes.begin(), bytes.end()});
        } catch (const std::runtime_error& why) {
            throw source_usage(fmt::format("{}: {}", chosen.config, why.what()));
        }
    if (chosen.period) choice.period_s = *chosen.period;
    return choice;
}

/// Reports in neuron-monitor's form, or a recording.
class reporter {
public:
    /// `proc`: see read_host().
    reporter(const options& chosen, monitor_choice choice, std::string proc)
        : choice_(std::move(choice)),
          proc_(std::move(proc)),
          count_(chosen.count),
          file_(chosen.record) {
        if (file_.empty()) return;
        note_inputs(chosen);
        out_.open(file_, std::ios::binary);
        if (!out_)
            throw source_usage(fmt::format("cannot write {}: {}", file_, std::strerror(errno)));
    }

    /// Returns false after the last report.
    bool report(machine_state now) {
        if (!file_.empty()) {
            out_ << config::to_ascii(to_json(now)) << '\n' << std::flush;
            if (!out_) throw source_error(fmt::format("cannot write {}", file_));
        } else {
            host_.now = read_host(now, proc_);
            for (const auto& machine : now.instances)
                print_raw(stdout,
                          config::to_ascii(monitor_json(choice_, before_ ? &*before_ : nullptr, now,
                                                        machine, host_)) +
                              "\n");
            host_.before = std::move(host_.now);
            if (std::fflush(stdout) != 0 || lost_output != 0) return false;
        }
        before_ = std::move(now);
        return count_ == 0 || --count_ != 0;
    }

private:
    static void note_inputs(const options& chosen) {
        std::error_code missing;  // one of them: they are not the same
        if (std::filesystem::equivalent(chosen.source.file, chosen.record, missing))
            throw source_usage("--record would replace the recording that --file reads");
    }

    const monitor_choice choice_;
    const std::string proc_;
    std::uint64_t count_;
    const std::string file_;
    std::ofstream out_;
    std::optional<machine_state> before_;
    host_usage host_;
};

int monitor(const options& chosen) {
    auto choice = read_choice(chosen);
    const double period = choice.period_s;
    if (!chosen.prometheus.empty() && !chosen.source.file.empty())
        throw source_usage("--prometheus needs a source that goes on: not --file");
    if (!chosen.prometheus.empty() &&
        (!chosen.config.empty() || chosen.period || chosen.count || !chosen.record.empty()))
        throw source_usage(
            "--prometheus has all groups whenever a client asks: without --config-file, --period, "
            "--count and --record");
    std::optional<metrics_port> port;
    if (!chosen.prometheus.empty()) port.emplace(chosen.prometheus);
    const auto source = open_source(chosen.source);
    if (port) source->read(detail::devices);  // says now what is wrong with it
    end_on_signals();
    if (port) {
        print_to(stderr, "trn-monitor: /metrics on port {}\n", port->port());
        scrapes kept;
        std::string ended;
        while (!should_end() && ended.empty())
            port->serve(0.2, [&] {
                try {
                    return kept.page(source->read(detail::all), source->proc());
                } catch (const source_error& why) {
                    ended = why.what();
                    throw;
                }
            });
        if (!ended.empty()) throw source_error(ended);
        return 0;
    }
    reporter out(chosen, std::move(choice), source->proc());
    while (!should_end()) {
        machine_state now;
        try {
            now = source->read(detail::all);
        } catch (const source_error&) {
            if (source->is_recorded()) return 0;  // its end
            throw;
        }
        if (!out.report(std::move(now))) break;
        if (!source->is_recorded()) wait_for(period);
    }
    return 0;
}

}  // namespace

int main(int argc, char** argv) {
    cli::command app{"reports the state of Neuron devices, as neuron-monitor does", "trn-monitor"};
    options chosen;
    app.add_option("-c,--config-file", chosen.config,
                   "neuron-monitor's configuration: period, groups");
    app.add_option("--period", chosen.period,
                   "seconds from report to report, instead of the file's")
        ->check(cli::in_range(0.05, 3600.0));
    app.add_option("--count", chosen.count, "number of reports (default: until a signal)")
        ->check(cli::in_range(std::uint64_t{1}, std::uint64_t{1'000'000'000}));
    app.add_flag("--json", chosen.json, "reports are always JSON, one per line; for symmetry");
    app.add_option("--prometheus", chosen.prometheus,
                   "serve /metrics on this port of loopback (0 chooses one), or HOST:PORT");
    app.add_option("--record", chosen.record, "write states to this file instead, for --file");
    add_source_options(app, chosen.source);
    app.group_options(
        "Output", {"--config-file", "--period", "--count", "--json", "--prometheus", "--record"});
    app.examples({{"trn-monitor -c monitor.json", "of this machine, by the driver's sysfs"},
                  {"trn-monitor --connect sockets --prometheus 8000 &",
                   "metrics of a platform that runs with --listen sockets"},
                  {"trn-monitor --connect sockets --record run.jsonl --period 0.5 --count 20",
                   "states for --file"}});
    return run_tool(app, "trn-monitor", argc, argv, [&] { return monitor(chosen); });
}
