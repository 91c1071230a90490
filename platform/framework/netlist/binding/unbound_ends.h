// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <set>
#include <string>
#include <unordered_map>
#include <unordered_set>
#include <utility>

#include "platform/framework/netlist/document/planning.h"

namespace trn {

/// Records bound ends, and reports unbound ones except those of lines with errors.
class unbound_ends {
public:
    explicit unbound_ends(planning& all) : all_(all) {}

    /// Location of its first binding; nullptr: unbound.
    const config::node* bound_at(const plan::endpoint& end) const;
    void bind(const plan::endpoint& end, const config::node& node) {
        const port& p = all_.result.port_of(end);
        if (p.many && p.may_be_unbound) return;  // nothing depends on it
        bound_.try_emplace(end.key(), node);
    }
    /// Records that an assembly's port exports the end: the report then names that port.
    void show(const plan::endpoint& end, std::uint32_t assembly, const std::string& port) {
        outermost_[end.key()] = {assembly, port};
    }

    void excuse(const plan::endpoint& end) { excused_.insert(end.key()); }
    /// Excuses a module and everything inside it.
    void excuse_module(std::uint32_t module) { excused_modules_.insert(module); }
    /// Excuses ports of this name in all modules of the container.
    void excuse_name(std::uint32_t container, const std::string& port) {
        misnamed_.emplace(container, port);
    }

    void report() const;

private:
    struct shown {
        std::uint32_t assembly;
        std::string port;
    };

    bool excused(const plan::endpoint& end) const;
    void check(const plan::endpoint& end) const;

    planning& all_;
    std::unordered_map<std::uint64_t, config::node> bound_;  ///< by endpoint key
    std::unordered_map<std::uint64_t, shown> outermost_;     ///< by endpoint key
    std::unordered_set<std::uint64_t> excused_;              ///< by endpoint key
    std::unordered_set<std::uint32_t> excused_modules_;
    std::set<std::pair<std::uint32_t, std::string>> misnamed_;  ///< container and port
};

}  // namespace trn
