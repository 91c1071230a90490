// SPDX-License-Identifier: Apache-2.0
#include "platform/scenario/execution.h"

#include <fmt/format.h>

#include <cstdio>
#include <memory>
#include <optional>

#include "platform/fidelity_report.h"
#include "platform/kernel/time_text.h"
#include "platform/kernel/trace.h"
#include "platform/platform.h"
#include "platform/scenario/play.h"
#include "sw-stubs/transports/in_process_hosts.h"

namespace trn::scenario {

namespace {

/// A file beside the scenario, else what a board takes: an image's name or a path.
std::string find_firmware(const scenario& what) {
    namespace fs = std::filesystem;
    const auto beside = fs::path(what.file).parent_path() / what.firmware;
    return !what.firmware.empty() && fs::is_regular_file(beside) ? beside.string() : what.firmware;
}

platform_options build_options(const scenario& what, const execution_options& options) {
    platform_options build{.board = what.board, .set = what.set};
    build.firmware = find_firmware(what);
    build.timing = options.timing;
    build.seed = what.seed;
    build.trace = options.trace;
    return build;
}

/// The hosts of the board's chips, for steps: these run in a process of the first chip's host.
class scenario_hosts final : public crew {
public:
    explicit scenario_hosts(const platform& board) : hosts_(board.chip_functions()) {
        if (chips().empty()) throw std::runtime_error("the board has no PCIe function to drive");
        hosts_.attach(0);
    }

    void play(const crew::work& steps) { hosts_.start({0}, steps); }
    bool idle() const { return hosts_.idle(); }

    std::vector<std::string> chips() override { return hosts_.chips(); }
    void run_each(const std::vector<std::size_t>& which, const crew::work& does) override {
        std::size_t left = which.size();
        sc_core::sc_event done;
        hosts_.start(which, [&](std::size_t chip, device& on) {
            // Told on every way out.
            const std::shared_ptr<void> out(nullptr, [&](void*) {
                if (--left == 0) done.notify(sc_core::SC_ZERO_TIME);
            });
            does(chip, on);
        });
        while (left > 0) sc_core::wait(done);
        hosts_.rethrow();
    }

private:
    in_process_hosts hosts_;
};

/// What a scenario expects to see broken does not fail it.
void set_misuse_policies(const scenario& what, const execution_options& options) {
    for (const auto* list : {&what.misuse, &options.misuse})
        for (const auto& choice : *list) choice.apply();
    for (const auto* list : {&what.steps, &what.expectations})
        for (const auto& one : *list)
            if (one.provokes && misuse::policy_of(*one.provokes) == misuse::policy::fail)
                misuse::set_policy(*one.provokes, misuse::policy::log);
}

std::string broken_rules() {
    std::string text;
    for (const auto& e : misuse::summary())
        if (misuse::policy_of(e.broken) == misuse::policy::fail)
            text += fmt::format("{}{} {} ({} times by {})", text.empty() ? "" : ", ", e.broken.id,
                                e.broken.name, e.count, e.module);
    return text;
}

std::uint64_t now_ns() {
    return sc_core::sc_time_stamp().value() / sc_core::sc_time(1, sc_core::SC_NS).value();
}

}  // namespace

void execute(const scenario& what, const kind_list& kinds, const execution_options& options,
             progress& to) {
    set_misuse_policies(what, options);
    std::optional<fidelity_report> touched;
    if (!options.fidelity_report.empty()) touched.emplace(options.fidelity_report);
    platform board(kinds, build_options(what, options));
    board.methods().consoles().listen([](std::string_view module, std::string_view text) {
        std::fwrite(text.data(), 1, text.size(), stdout);
        if (trace::on()) trace::event(module, "printed", {{"text", text}});
    });
    scenario_hosts hosts(board);
    std::optional<std::string> failure;
    hosts.play([&](std::size_t, device& chip) {
        world all(chip, hosts, board.methods(), what.seed);
        try {
            play(what, all, to);
        } catch (const std::exception& wrong) {
            failure = wrong.what();
        }
        board.loop().pause("the steps are done");  // the run ends here, not at the next slice
    });
    run_loop::goal goal{"the scenario", "its steps"};
    goal.ends_on_pause = true;
    goal.until = sc_core::sc_time(static_cast<double>(what.time_limit_ns), sc_core::SC_NS);
    const auto how = board.loop().run(std::move(goal));
    if (!failure && !hosts.idle())
        failure = how.what == stop_reason::kind::time_limit
                      ? fmt::format("not done after {} simulated (time_limit)",
                                    to_text(sc_core::sc_time_stamp()))
                      : fmt::format("{}: {}", to_string(how.what), how.text);
    if (touched) touched->write(board.modules().board());
    if (!failure && misuse::failed()) failure = "misuse: " + broken_rules();
    if (failure)
        to.failed(*failure, now_ns());
    else
        to.passed(now_ns());
}

}  // namespace trn::scenario
