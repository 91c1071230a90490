// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "sw-stubs/host/crew.h"
#include "sw-stubs/transports/in_process.h"

namespace trn {

/// One host CPU per function of a platform in this process, made when it is first needed: a chip
/// that nobody drives has no host.
class in_process_hosts {
public:
    /// `functions`: of the platform, each with `name` and `port`.
    template <class Functions>
    explicit in_process_hosts(const Functions& functions) {
        for (const auto& one : functions) functions_.push_back({one.name, one.port});
        hosts_.resize(functions_.size());
    }

    std::vector<std::string> chips() const;
    /// Attaches the chip's host to it now, where it is not. Only between elaboration and the first
    /// work is it certain that nobody else has the function.
    void attach(std::size_t chip) { host_of(chip); }
    /// Starts a process on the host of each; `does` is called with the chip's device.
    void start(const std::vector<std::size_t>& which, const crew::work& does);
    /// Whether all that was started is over.
    bool idle() const { return running_ == 0; }
    /// Throws what the first failed work ended with, if one did.
    void rethrow();

private:
    struct function {
        std::string name;
        function_port* port;
    };
    struct host {
        explicit host(function_port& port) : cpu(port, {}) {}
        host_cpu cpu;
        std::optional<device> chip;  // its memory is the CPU's; calls after the last work are frees
    };
    host& host_of(std::size_t chip);

    std::vector<function> functions_;
    std::vector<std::unique_ptr<host>> hosts_;  // by chip
    std::size_t running_ = 0;
    std::exception_ptr failure_;
};

}  // namespace trn
