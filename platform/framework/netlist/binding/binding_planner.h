// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <map>
#include <optional>
#include <string>
#include <unordered_map>
#include <utility>

#include "platform/framework/netlist/binding/bind_entry.h"
#include "platform/framework/netlist/binding/end_resolver.h"
#include "platform/framework/netlist/binding/unbound_ends.h"
#include "platform/framework/netlist/binding/wirings.h"

namespace trn {

/// Reads the `bind:` and `ports:` sections of each instantiated file; checks that each end exists,
/// is of a suitable type, and is not bound more often than permitted.
class binding_planner {
public:
    explicit binding_planner(planning& all) : all_(all), ends_(all), unbound_(all), wirings_(all) {}

    /// Plans the bindings and exported ports of an instance, whose modules are planned.
    void connect(const scope& here);
    /// Reports errors that need the whole board: overlaps, lanes, and unbound ends.
    void check_whole();

private:
    void repeat(const scope& here, const wiring& known);
    void bind(const scope& here);
    void export_ports(const scope& here);
    bool bind_once(const scope& here, bind_entry& e, std::uint64_t k);
    void add(const plan::endpoint& source, const plan::endpoint& target,
             const std::optional<plan::range>& window, const config::node& node);
    bool may_bind(const plan::endpoint& end, const config::node& node);
    void leave_unbound(const plan::endpoint& source, const config::node& node);
    void export_one(const scope& here, const std::string& name, std::string_view inner,
                    const config::node& node);
    void show(const scope& here, const std::string& name, const plan::endpoint& inner,
              const config::node& node);

    void open(const std::string& name, plan::endpoint inner, bool is_one, const config::node& node);
    void open_one(const std::string& name, const plan::endpoint& inner, const config::node& node);

    void excuse(const scope& here, bind_entry& e, std::uint64_t k);
    void excuse_end(const scope& here, const bind_line::end& end, const config::node& node);
    void excuse_broken(const scope& here);

    planning& all_;
    end_resolver ends_;
    unbound_ends unbound_;
    wirings wirings_;
    wiring made_;  // of the instance being connected
    /// Number of router ports in use, by end.
    std::unordered_map<std::uint64_t, std::uint32_t> router_ports_;
    /// Router ports that already connect two ends.
    std::map<std::pair<std::uint64_t, std::uint64_t>, std::uint32_t> pairs_;
};

}  // namespace trn
