// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "platform/app/in_process/in_process.h"
#include "sw-stubs/host/machine/host_set.h"

namespace trn {

/// Host CPUs for the functions of a platform in this process. A host is made at its first use: a
/// chip or card that no driver uses has none.
class in_process_hosts {
public:
    /// `functions`: those of the platform, each with `name`, `server` and `port`. Only chips and
    /// EFA cards are used.
    template <class Functions>
    explicit in_process_hosts(const Functions& functions) {
        for (const auto& function : functions)
            if (function.chip || function.efa)
                (function.chip ? chips_ : cards_)
                    .push_back(
                        {function.name, function.server, function.port, function.product, {}});
    }

    std::vector<std::string> chips() const;
    /// Attaches a host to the chip unless it has one. Call it between elaboration and the first
    /// work: later, another client may have the function.
    void attach(std::size_t chip) { host_of(chips_.at(chip)); }
    /// Starts a process on the host of each chip in `which`; it calls `does` with the chip's
    /// device.
    void start(const std::vector<std::size_t>& chips, const host_set::work& does);
    /// Whether all started work has ended.
    bool idle() const { return running_ == 0; }
    /// Throws the exception of the first work that failed, if any.
    void rethrow();

    std::vector<host_set::card> cards() const;
    void start_cards(const std::vector<std::size_t>& cards, const host_set::card_work& does);

private:
    struct function;
    struct host {
        explicit host(const function& device);
        host_cpu cpu;
        trn_transport transport;
        trn_options options;
        // Its memory is the CPU's; after the last work, it is only freed.
        std::optional<device> chip;
    };
    struct function {
        std::string name, server;
        function_port* port;
        std::string product;
        std::unique_ptr<host> attached;
    };
    static host& host_of(function& served);
    void start(host& started, std::function<void()> does);

    std::vector<function> chips_, cards_;
    std::size_t running_ = 0;
    std::exception_ptr failure_;
};

}  // namespace trn
