// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "platform/app/in_process/in_process.h"
#include "sw-stubs/host/host_set.h"

namespace trn {

/// One host CPU per function of a platform in this process, made when it is first needed: a chip or
/// card that no driver uses has no host.
class in_process_hosts {
public:
    /// `functions`: of the platform, each with `name`, `server`, `port`, and whether it is a chip
    /// or an EFA card; others are not used.
    template <class Functions>
    explicit in_process_hosts(const Functions& functions) {
        for (const auto& one : functions)
            if (one.chip || one.efa)
                (one.chip ? chips_ : cards_)
                    .push_back({one.name, one.server, one.port, one.product, {}});
    }

    std::vector<std::string> chips() const;
    /// Attaches the chip's host to it now, where it is not. Only between elaboration and the first
    /// work is the function certain to be free.
    void attach(std::size_t chip) { host_of(chips_.at(chip)); }
    /// Starts a process on the host of each; `does` is called with the chip's device.
    void start(const std::vector<std::size_t>& which, const host_set::work& does);
    /// Whether all that was started is over.
    bool idle() const { return running_ == 0; }
    /// Throws what the first failed work ended with, if one did.
    void rethrow();

    std::vector<host_set::card> cards() const;
    void start_cards(const std::vector<std::size_t>& which, const host_set::card_work& does);

private:
    struct function;
    struct host {
        explicit host(const function& of);
        host_cpu cpu;
        trn_transport transport;
        trn_options options;
        std::optional<device> chip;  // its memory is the CPU's; calls after the last work are frees
    };
    struct function {
        std::string name, server;
        function_port* port;
        std::string product;
        std::unique_ptr<host> by;
    };
    static host& host_of(function& of);
    void start(host& on, std::function<void()> does);

    std::vector<function> chips_, cards_;
    std::size_t running_ = 0;
    std::exception_ptr failure_;
};

}  // namespace trn
