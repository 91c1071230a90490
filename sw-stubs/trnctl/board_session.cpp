// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <algorithm>
#include <exception>
#include <iterator>
#include <optional>

#include "models/kinds.h"
#include "platform/platform.h"
#include "sw-stubs/transports/in_process.h"
#include "sw-stubs/trnctl/session.h"

namespace trn {

namespace {

/// A platform in this process, which boots at the first use and ends with the session.
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
          chip_(options.chip) {
        platform_.methods().consoles().listen(
            [this](std::string_view module, std::string_view text) {
                if (heard_) (*heard_)(std::string(module), std::string(text));
            });
    }

    void run(const std::function<void(device&)>& work) override {
        if (!cpu_) cpu_.emplace(function_of(chip_), host_cpu::config{});
        wait_ready(std::chrono::minutes(1));
        std::exception_ptr failure;
        cpu_->run([&] {
            try {
                if (!host_) host_.emplace(cpu_->transport());
                work(*host_);
            } catch (const std::exception&) {
                failure = std::current_exception();
            }
        });
        run_loop::goal goal{"trnctl", "its command"};
        goal.condition = [&] { return cpu_->idle(); };
        const auto how = platform_.loop().run(std::move(goal));
        if (failure) std::rethrow_exception(failure);
        if (!cpu_->idle()) throw std::runtime_error(how.text);
    }

    json call(std::string_view method, const json& params) override {
        try {
            return platform_.methods().call(method, params);
        } catch (const rpc::error& wrong) {
            throw std::runtime_error(wrong.what());
        }
    }

    void wait_ready(std::chrono::milliseconds limit) override {
        if (ready_) return;
        run_loop::goal goal{"trnctl", "the board to be ready"};
        goal.condition = ready_condition();
        goal.wall_limit = limit;
        const auto how = platform_.loop().run(std::move(goal));
        if (how.what != stop_reason::kind::condition)
            throw std::runtime_error(
                fmt::format("the board did not boot: {} {}", to_string(how.what), how.text));
        ready_ = true;
    }

    bool watch(std::chrono::milliseconds span, const uart_listener& heard) override {
        heard_ = &heard;
        run_loop::goal goal{"trnctl", "somebody to look at"};
        goal.wall_limit = span;
        const auto how = platform_.loop().run(std::move(goal));
        heard_ = nullptr;
        return how.what != stop_reason::kind::quit;
    }

private:
    function_port& function_of(const std::string& chip) const {
        const auto all = platform_.chip_functions();
        const auto& board = platform_.about().board;
        if (all.empty()) throw user_error(fmt::format("board '{}' has no PCIe function", board));
        std::vector<std::string> known;
        std::ranges::transform(all, std::back_inserter(known), &platform::function::name);
        const auto chosen = choose_chip(chip, known, board);
        return *std::ranges::find(all, chosen, &platform::function::name)->port;
    }

    platform platform_;
    const std::string chip_;
    std::optional<host_cpu> cpu_;  // when something needs the device
    // In this order: the device's memory is the CPU's. Its calls after the last run() are frees.
    std::optional<device> host_;
    const uart_listener* heard_ = nullptr;
    bool ready_ = false;
};

}  // namespace

std::unique_ptr<session> board_session(const session_options& options) {
    return std::make_unique<own_platform>(options);
}

}  // namespace trn
