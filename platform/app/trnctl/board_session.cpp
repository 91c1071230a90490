// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <stdexcept>
#include <string>

#include "models/kinds.h"
#include "models/misuse_rules.h"
#include "platform/app/in_process/in_process_hosts.h"
#include "platform/app/platform.h"
#include "platform/app/trnctl/sessions.h"
#include "platform/framework/misuse/misuse.h"
#include "platform/framework/misuse/policy.h"

namespace trn {

namespace {

/// A platform in this process. It boots at its first use and ends with the session.
class own_platform : public session {
public:
    explicit own_platform(const session_options& options)
        : platform_(kinds(), {.board = options.board,
                              .set = options.set,
                              .firmware = options.firmware,
                              .timing = options.functional ? timing_mode::functional
                                                           : timing_mode::contended,
                              .seed = options.seed,
                              .trace = options.trace}),
          chip_(options.chip),
          hosts_(platform_.functions()) {
        platform_.methods().consoles().listen(
            [this](std::string_view module, std::string_view text) {
                if (listener_) (*listener_)(std::string(module), std::string(text));
            });
    }

    void run(const std::function<void(device&)>& work) override {
        const auto all = chips();
        const auto name = choose_chip(chip_, all, platform_.about().board);
        const auto number = std::ranges::find(all, name) - all.begin();
        run_each({static_cast<std::size_t>(number)},
                 [&](std::size_t, device& chip) { work(chip); });
    }

    std::vector<std::string> chips() override {
        auto known = hosts_.chips();
        if (known.empty())
            throw user_error(
                fmt::format("board '{}' has no PCIe function", platform_.about().board));
        return known;
    }

    void run_each(const std::vector<std::size_t>& chips, const host_set::work& does) override {
        for (const auto chip : chips) hosts_.attach(chip);
        wait_ready(std::chrono::minutes(1));
        hosts_.start(chips, does);
        finish();
    }

    std::vector<host_set::card> cards() override { return hosts_.cards(); }

    void run_each_card(const std::vector<std::size_t>& cards,
                       const host_set::card_work& does) override {
        hosts_.start_cards(cards, does);
        finish();
    }

    json call(std::string_view method, const json& params) override {
        try {
            return platform_.methods().call(method, params);
        } catch (const rpc::error& wrong) {
            if (is_of_user(static_cast<int>(wrong.number))) throw user_error(wrong.what());
            throw std::runtime_error(wrong.what());
        }
    }

    void wait_ready(std::chrono::milliseconds limit) override {
        if (ready_) return;
        run_loop::goal goal{"trnctl", "the board to be ready"};
        goal.condition = ready_condition();
        goal.wall_limit = limit;
        const auto reason = platform_.loop().run(std::move(goal));
        if (reason.cause != stop_reason::kind::condition)
            throw std::runtime_error(
                fmt::format("the board did not boot: {} {}", to_string(reason.cause), reason.text));
        ready_ = true;
    }

    bool watch(std::chrono::milliseconds span, const uart_listener& listener) override {
        listener_ = &listener;
        const auto end = std::chrono::steady_clock::now() + span;
        run_loop::goal goal{"trnctl", "the time between two lines"};
        goal.wall_limit = span;
        auto reason = platform_.loop().run(goal);
        if (reason.cause == stop_reason::kind::stalled) {  // an idle board must not end the wait
            goal.background = true;
            goal.wall_limit = end - std::chrono::steady_clock::now();
            reason = platform_.loop().run(goal);
        }
        listener_ = nullptr;
        return reason.cause != stop_reason::kind::quit;
    }

private:
    void finish() {
        run_loop::goal goal{"trnctl", "its command"};
        goal.condition = [&] { return hosts_.idle(); };
        const auto reason = platform_.loop().run(std::move(goal));
        hosts_.rethrow();
        if (!hosts_.idle()) throw std::runtime_error(reason.text);
    }

    platform platform_;
    const std::string chip_;
    in_process_hosts hosts_;
    const uart_listener* listener_ = nullptr;
    bool ready_ = false;
};

void choose_misuse(const std::string& text) {
    try {
        const auto choice = misuse::policy_choice::parse(text);
        if (choice.chosen == misuse::policy::fail)
            throw std::invalid_argument("trnctl logs or counts; trnvp test fails");
        choice.apply();
    } catch (const std::invalid_argument& wrong) {
        throw user_error(fmt::format("--misuse {}: {}", text, wrong.what()));
    }
}

}  // namespace

std::unique_ptr<session> board_session(const session_options& options) {
    options.hart.apply();
    options.protocol.apply();
    misuse::set_rules(misuse::all_rules);
    for (const std::string& text : options.misuse) choose_misuse(text);
    return std::make_unique<own_platform>(options);
}

}  // namespace trn
