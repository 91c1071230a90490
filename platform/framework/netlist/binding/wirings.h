// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <unordered_map>
#include <vector>

#include "platform/framework/netlist/document/planning.h"

namespace trn {

/// The bindings and exported ports of one instance of an assembly. Ends are relative: `module`
/// counts from the assembly's own module.
struct wiring {
    struct line {
        plan::endpoint source;
        std::optional<plan::endpoint> target;  ///< nullopt: `source` stays unbound
        std::optional<plan::range> window;
        config::node node;
    };
    struct exported {
        std::string name;
        plan::endpoint inner;
        config::node node;
    };
    std::vector<line> lines;
    std::vector<exported> ports;
};

/// Wirings of the assemblies planned so far, so that equal instances are resolved once: the 144
/// chips of a rack. Instances are equal if the same file gave them modules of the same names, kinds
/// and wirings, and the variables in `bind:` and `ports:` have the same values.
class wirings {
public:
    explicit wirings(planning& all) : all_(all) {}

    /// The wiring of an earlier instance that equals this one, or nullptr. The modules of `here`
    /// are planned.
    const wiring* find(const scope& here);
    /// Keeps the wiring of an instance that equals no earlier one.
    void keep(const scope& here, wiring made);

private:
    std::optional<std::string> description_of(const scope& here);
    const std::vector<std::string>& variables_of(const assembly& file);
    bool has_ends(const wiring& known, std::uint32_t container) const;

    planning& all_;
    std::vector<wiring> known_;
    std::unordered_map<std::string, std::size_t> by_description_;  ///< index in known_
    std::unordered_map<std::uint32_t, std::size_t> by_container_;  ///< the same
    std::unordered_map<const assembly*, std::vector<std::string>> variables_;
};

}  // namespace trn
