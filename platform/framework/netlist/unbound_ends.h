// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <set>
#include <string>
#include <unordered_map>
#include <unordered_set>
#include <utility>

#include "platform/framework/netlist/planning.h"

namespace trn {

/// Which ends are bound, and the report of those that are not. What a line with a mistake would
/// have bound is excused.
class unbound_ends {
public:
    explicit unbound_ends(planning& all) : all_(all) {}

    /// Where it was bound first; null: it is not.
    const config::node* bound_at(const plan::endpoint& end) const;
    void bind(const plan::endpoint& end, const config::node& where) {
        bound_.try_emplace(end.key(), where);
    }
    /// A port of an assembly shows the end: it is named in the report.
    void show(const plan::endpoint& end, std::uint32_t assembly, const std::string& port) {
        outermost_[end.key()] = {assembly, port};
    }

    void excuse(const plan::endpoint& end) { excused_.insert(end.key()); }
    /// With all that is inside.
    void excuse_module(std::uint32_t module) { excused_modules_.insert(module); }
    /// Ports of this name, of any module in the container.
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
    std::unordered_map<std::uint64_t, config::node> bound_;  ///< by key of the end
    std::unordered_map<std::uint64_t, shown> outermost_;     ///< likewise
    std::unordered_set<std::uint64_t> excused_;              ///< likewise
    std::unordered_set<std::uint32_t> excused_modules_;
    std::set<std::pair<std::uint32_t, std::string>> misnamed_;  ///< container and port
};

}  // namespace trn
