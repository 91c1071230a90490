// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <thread>
#include <vector>

#include "platform/app/commands/board_options.h"
#include "platform/app/fidelity_report.h"
#include "platform/app/hart_option.h"
#include "platform/app/library/function.h"
#include "platform/app/library/simulation.h"
#include "platform/app/platform.h"

namespace trn::library {

/// What trnvp_create() was given. \throws user_error
struct machine_options {
    machine_options(const std::string& board_name, std::vector<std::string> words);

    board_options board;
    hart_choice hart;
};

/// A platform whose caller owns the thread. All functions but the const ones throw failure and the
/// exceptions of the platform.
class machine {
public:
    explicit machine(const machine_options& options);
    ~machine();
    machine(const machine&) = delete;
    machine& operator=(const machine&) = delete;

    /// Completes the files. \throws failure when one of them is incomplete
    void finish();

    bool is_of_this_thread() const { return std::this_thread::get_id() == thread_; }
    simulation& time() { return simulation_; }

    /// Calls a control method, and waits for its answer.
    rpc::json call(std::string_view method, const rpc::json& parameters);

    address_space& space(std::string_view name);
    std::byte* pointer(std::string_view space, std::uint64_t address, std::uint64_t size,
                       bool writable);

    /// Sets the receiver of consoles; empty: none.
    void on_console(std::function<void(std::string_view, std::string_view)> receiver) {
        console_ = std::move(receiver);
    }
    function& find_function(std::string_view name);
    bool has(const function* handle) const;

    /// \throws failure when copies of this process would share state
    void check_fork() const;
    boost::asio::io_context& io() { return platform_.loop().io(); }

private:
    const std::thread::id thread_ = std::this_thread::get_id();
    const board_options chosen_;
    platform platform_;
    simulation simulation_{platform_.loop()};
    std::function<void(std::string_view, std::string_view)> console_;
    std::vector<std::unique_ptr<function>> functions_;
    std::optional<fidelity_report> touched_;
};

}  // namespace trn::library
