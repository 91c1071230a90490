// SPDX-License-Identifier: Apache-2.0
#include "platform/app/scenario/run/execution.h"

#include <fmt/format.h>

#include <algorithm>
#include <boost/asio/io_context.hpp>
#include <iostream>
#include <memory>
#include <new>
#include <optional>
#include <utility>

#include "platform/app/disk_images.h"
#include "platform/app/fidelity_report.h"
#include "platform/app/host_software/host_software.h"
#include "platform/app/in_process/absent_function.h"
#include "platform/app/in_process/in_process_hosts.h"
#include "platform/app/platform.h"
#include "platform/app/scenario/context/failure_state.h"
#include "platform/app/scenario/context/inside_hosts.h"
#include "platform/app/scenario/run/client.h"
#include "platform/app/scenario/run/scenario_play.h"
#include "platform/framework/attach/console/console_writer.h"
#include "platform/framework/kernel/time_text.h"
#include "platform/framework/kernel/trace.h"
#include "platform/framework/log.h"
#include "platform/framework/log_reports.h"
#include "platform/framework/misuse/report.h"
#include "platform/framework/tlm/base_protocol.h"

namespace trn::scenario {

namespace {

platform_options build_options(const scenario& run, const execution_options& options) {
    platform_options build{.board = run.board, .set = run.set};
    add_host_software(build.set);
    build.firmware = find_firmware(run);
    build.timing = options.timing;
    build.seed = run.seed;
    build.trace = options.trace;
    build.digest = options.digest;
    build.waves = options.waves;
    build.misuse = run.misuse;
    build.misuse.add(options.misuse);
    // Steps wait in simulated time under any policy; with lockstep, time also advances only when a
    // client waits.
    build.time.policy.mode = time_policy::kind::lockstep;
    build.prepare = protect_disk_images;  // no run changes what another one reads
    return build;
}

/// Waits for several processes that were started together.
class wait_group {
public:
    explicit wait_group(std::size_t count) : left_(count) {}
    /// An object to destroy at the end of one process, also after an exception.
    std::shared_ptr<void> completion_guard() {
        return {nullptr, [this](void*) {
                    if (--left_ == 0) done_.notify(sc_core::SC_ZERO_TIME);
                }};
    }
    void wait() {
        while (left_ > 0) sc_core::wait(done_);
    }

private:
    std::size_t left_;
    sc_core::sc_event done_;
};

/// A host without a function.
struct lonely_host {
    absent_function function = {};
    host_cpu cpu{function, {.name = "steps"}};
    trn_transport transport = cpu.transport();

    void start(std::size_t number, const host_set::work& does) {
        cpu.run([this, number, does] {
            device none(transport);
            does(number, none);
        });
    }
};

/// Hosts of the board's chips for steps, which run in a process of the first chip's host. With a
/// host inside, which has the chips, they run in that of a host without a function.
class scenario_hosts final : public host_set {
public:
    explicit scenario_hosts(const platform& board) : hosts_(board.functions()) {
        if (!chips().empty()) {
            hosts_.attach(0);
            return;
        }
        bool inside = false;
        for_each_module<byte_channel>([&](const auto&, const auto&) { inside = true; });
        if (!inside) throw std::runtime_error("the board has no PCIe function to drive");
        alone_.emplace();
    }

    void play(const host_set::work& steps) {
        if (!alone_) return hosts_.start({0}, steps);
        alone_->start(0, steps);
    }
    bool idle() const { return hosts_.idle(); }

    std::vector<std::string> chips() override { return hosts_.chips(); }
    void run_each(const std::vector<std::size_t>& numbers, const host_set::work& does) override {
        wait_group all(numbers.size());
        const host_set::work counted = [&](std::size_t chip, device& chip_device) {
            const auto end = all.completion_guard();
            does(chip, chip_device);
        };
        if (alone_)
            for (const auto number : numbers) alone_->start(number, counted);
        else
            hosts_.start(numbers, counted);
        all.wait();
        alone_ ? alone_->cpu.rethrow() : hosts_.rethrow();
    }
    std::vector<host_set::card> cards() override { return hosts_.cards(); }
    void run_each_card(const std::vector<std::size_t>& numbers,
                       const host_set::card_work& does) override {
        wait_group all(numbers.size());
        hosts_.start_cards(numbers, [&](std::size_t card, const trn_transport& transport) {
            const auto end = all.completion_guard();
            does(card, transport);
        });
        all.wait();
        hosts_.rethrow();
    }

private:
    in_process_hosts hosts_;
    std::optional<lonely_host> alone_;
};

/// Sets the policy of the rules whose violation is expected from `fail` to `log`.
void excuse_what_is_expected(const scenario& run) {
    for (const auto* list : {&run.steps, &run.expectations})
        for (const auto& checked : *list)
            for (const auto& [rule, violated] : checked.rules)
                if (violated && misuse::policy_of(rule) == misuse::policy::fail)
                    misuse::set_policy(rule, misuse::policy::log);
}

std::uint64_t now_ns() {
    return sc_core::sc_time_stamp().value() / sc_core::sc_time(1, sc_core::SC_NS).value();
}

/// The board of a group with its hosts, and the host's process that runs the steps.
class session {
public:
    session(const kind_list& kinds, const platform_options& options, std::uint64_t seed,
            const progress& report);

    /// Runs `part` in the steps' process, for at most `limit_ns` of simulated time. Returns "" in
    /// case of success, else an error message.
    std::string run(const std::function<void(scenario_context&)>& part, std::uint64_t limit_ns);
    platform& board() { return board_; }
    /// Prints lines of consoles that have no end.
    void finish_consoles() { printed_->finish(); }
    /// After a failure: what happened on the board.
    std::vector<std::string> state() const {
        if (context_ == nullptr) return {};
        return context_->run.state ? *context_->run.state : state_at_failure(*context_);
    }

private:
    void play(device& chip, std::uint64_t seed, const progress& report);
    void receive(client_run& client);
    stop_reason drive(const sc_core::sc_time& limit);
    stop_reason serve(client_run& served, const sc_core::sc_time& limit);

    platform board_;
    scenario_hosts hosts_;
    std::function<void(scenario_context&)> part_;
    std::optional<std::string> failure_;
    const scenario_context* context_ = nullptr;
    std::optional<console_writer> printed_;
    bool begun_ = false;
    sc_core::sc_event next_;
    client_run* client_run_ = nullptr;  // the client that a step waits for
    sc_core::sc_event client_ended_;
};

session::session(const kind_list& kinds, const platform_options& options, std::uint64_t seed,
                 const progress& report)
    : board_(kinds, options), hosts_(board_) {
    auto& consoles = board_.methods().consoles();
    printed_.emplace(console_writer::print, consoles.all().size() > 1, true);
    consoles.listen([this](std::string_view module, std::string_view text) {
        printed_->write(module, text);
        if (trace::on()) trace::event(module, "printed", {{"text", text}});
    });
    hosts_.play([this, seed, &report](std::size_t, device& chip) { play(chip, seed, report); });
}

void session::play(device& chip, std::uint64_t seed, const progress& report) {
    scenario_context all(chip, hosts_, board_.methods(), seed, report, &board_);
    all.serve_client = [this](client_run& client) { receive(client); };
    context_ = &all;
    if (hosts_.chips().empty()) all.kept.get<inside_hosts>(board_.methods().consoles());
    while (part_) {
        try {
            std::exchange(part_, {})(all);
        } catch (const std::bad_alloc&) {
            failure_ = "the operating system gives no more memory";
        } catch (const std::exception& wrong) {
            failure_ = log::sentence(wrong);
        }
        // Ends the run now instead of at the end of the slice.
        board_.loop().pause("the steps are done");
        sc_core::wait(next_);
    }
}

/// Called in a process of the host; the client itself is served outside of the simulation.
void session::receive(client_run& client) {
    client_run_ = &client;
    board_.loop().pause("a client comes");
    sc_core::wait(client_ended_);
    if (!client.refused.empty()) throw step_failure(client.refused);
}

stop_reason session::drive(const sc_core::sc_time& limit) {
    run_loop::goal goal{"the scenario", "its steps"};
    goal.ends_on_pause = true;
    goal.until = limit;
    return board_.loop().run(std::move(goal));
}

/// Serves the client until it ends; simulated time advances as the client's accesses and waits
/// demand.
stop_reason session::serve(client_run& served, const sc_core::sc_time& limit) {
    auto& loop = board_.loop();
    loop.resume();
    client here(board_, served);
    run_loop::goal goal{"the scenario", "its client to end"};
    goal.background = true;
    goal.condition = [&] { return here.has_ended(); };
    goal.until = limit;
    auto reason = loop.run(std::move(goal));
    here.finish();
    loop.resume();  // in case the client has paused it
    return reason;
}

std::string session::run(const std::function<void(scenario_context&)>& part,
                         std::uint64_t limit_ns) {
    part_ = part;
    board_.loop().resume();
    if (std::exchange(begun_, true)) next_.notify(sc_core::SC_ZERO_TIME);
    const sc_core::sc_time limit(static_cast<double>(limit_ns), sc_core::SC_NS);
    auto reason = drive(limit);
    while (client_run_ != nullptr && reason.cause == stop_reason::kind::paused) {
        client_run& client = *std::exchange(client_run_, nullptr);
        try {
            reason = serve(client, limit);
            if (reason.cause != stop_reason::kind::condition) break;
        } catch (const std::exception& wrong) {
            client.refused = wrong.what();  // also when sockets cannot be opened
        }
        client_ended_.notify(sc_core::SC_ZERO_TIME);
        reason = drive(limit);
    }
    if (!failure_ && reason.cause == stop_reason::kind::paused) return {};
    finish_consoles();
    if (failure_) return *failure_;
    if (context_->run.branch_failure)
        return *context_->run.branch_failure;  // another branch still waits
    return reason.cause == stop_reason::kind::time_limit
               ? fmt::format("not done after {} simulated (time_limit)",
                             trn::to_text(sc_core::sc_time_stamp()))
               : fmt::format("{}: {}", to_string(reason.cause), reason.text);
}

/// The trace file of steps that a group shares; each member continues in a file of its own.
std::filesystem::path shared_trace(std::filesystem::path first, std::size_t members) {
    if (!first.empty() && members > 1)
        first.replace_filename("shared." + first.filename().string());
    return first;
}

}  // namespace

void divide_trace(std::span<const std::size_t> members,
                  const std::function<execution_options(std::size_t)>& options_of) {
    const auto shared = shared_trace(options_of(members.front()).trace, members.size());
    if (shared.empty() || members.size() == 1) return;
    std::error_code lost;
    for (const auto number : members)
        std::filesystem::copy_file(shared, options_of(number).trace,
                                   std::filesystem::copy_options::overwrite_existing, lost);
    if (!lost) std::filesystem::remove(shared, lost);
}

void execute(std::span<const scenario> all, const kind_list& kinds,
             const std::function<execution_options(std::size_t)>& options_of, group& scenarios) {
    const auto members = scenarios.members();
    const scenario& first = all[members.front()];
    auto common = options_of(members.front());
    std::optional<fidelity_report> touched;
    if (!common.fidelity_report.empty()) touched.emplace(common.fidelity_report);
    const auto shared = common.trace = shared_trace(common.trace, members.size());
    if (common.digest && shared.empty()) trace::open({});
    // One stream for lines of the log and of consoles, so that they stay in order.
    log::replace_sink(
        [](const log::record& record) { console_writer::print(log::to_line(record) + "\n"); });
    // Never destroyed: the process exits, and destroying a rack takes longer than most scenarios.
    session& here =
        *new session(kinds, build_options(first, common), first.seed, scenarios.report());
    std::size_t done = 0;
    auto failure = here.run(
        [&](scenario_context& ctx) {
            while (done < first.shared_steps) {
                play(first.steps[done++], ctx);
                if (misuse::failed()) break;  // members may expect it: each goes on alone
            }
        },
        first.time_limit_ns);
    if (!failure.empty()) {
        const auto digest = trace::digest();
        trace::close();
        return scenarios.report().failed(failure, now_ns(), digest, here.state());
    }

    if (first.shared_steps > 0) log::info("scenario", "booted");  // booted_line
    auto& io = here.board().loop().io();
    const bool alone = members.size() == 1;
    trace::flush();
    io.notify_fork(boost::asio::execution_context::fork_prepare);
    const auto number = scenarios.branch([&] {
        if (!shared.empty()) std::filesystem::remove(shared);
    });
    const scenario& mine = all[number];
    const auto options = options_of(number);
    if (!alone) {
        io.notify_fork(boost::asio::execution_context::fork_child);
        if (!shared.empty()) trace::continue_in(options.trace.string());
    }
    excuse_what_is_expected(mine);
    if (!options.waves.file.empty() && std::ranges::any_of(mine.steps, [](const auto& planned) {
            return !planned.returns_to.empty();
        }))
        return scenarios.report().failed("waveforms cannot go back in time", now_ns());
    failure = here.run([&](scenario_context& ctx) { play(mine, ctx, done); }, mine.time_limit_ns);
    here.finish_consoles();
    const auto digest = trace::digest();
    if (const auto lost = here.board().finish_records(); failure.empty()) failure = lost;
    if (touched) touched->write(here.board().modules().board());
    if (failure.empty() && misuse::failed()) failure = "misuse: " + broken_rules();
    const auto violations = base_protocol::summary();
    if (failure.empty() && base_protocol::failed()) failure = violations.front();
    for (const auto& line : violations) scenarios.report().noted(line);
    for (const auto& line : misuse::allowed_lines()) scenarios.report().noted(line);
    if (failure.empty())
        scenarios.report().passed(now_ns(), digest);
    else
        scenarios.report().failed(failure, now_ns(), digest, here.state());
}

}  // namespace trn::scenario
