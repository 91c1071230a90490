// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <map>
#include <optional>
#include <string>
#include <unordered_map>

#include "platform/framework/netlist/document/bind_line.h"
#include "platform/framework/netlist/document/planning.h"

namespace trn {

/// The number of elements in a vector of sockets; bounded, like all sizes read from files.
std::uint64_t sockets_of(const port& p, const std::any& config);
/// The number of valid values of endpoint::index: sockets, or interrupt lines.
std::uint64_t elements_of(const port& p, const std::any& config);

/// Finds the ends named in `bind:` lines, in modules and in ports of assemblies.
class end_resolver {
public:
    explicit end_resolver(planning& all) : all_(all) {}

    /// nullopt after an error, which is reported.
    std::optional<plan::endpoint> find(const scope& here, const bind_line::end& end,
                                       const config::node& node);
    /// Exports an inner end as a port of its assembly; false if the name is taken.
    bool show(std::uint32_t assembly, const std::string& port, const plan::endpoint& inner) {
        return ports_[assembly].try_emplace(port, inner).second;
    }

private:
    std::optional<plan::endpoint> resolve_port(std::uint32_t module, const bind_line::end& end,
                                               const config::node& node);
    std::optional<plan::endpoint> resolve_shown(const scope& here, std::uint32_t module,
                                                const bind_line::end& end,
                                                const config::node& node);
    std::optional<plan::endpoint> pick(plan::endpoint found, const bind_line::end& end,
                                       const config::node& node);

    planning& all_;
    std::unordered_map<std::uint32_t, std::map<std::string, plan::endpoint>> ports_;
};

}  // namespace trn
