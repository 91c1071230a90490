// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <systemc>
#include <unordered_map>
#include <unordered_set>
#include <vector>

#include "platform/framework/netlist/plan/plan.h"

namespace trn {

/// Whether a foreign model is behind the kind: one of its ends is a foreign socket or signal.
bool is_foreign(const kind& type);
/// The report's message, with its type.
std::string text_of(const sc_core::sc_report& why);

/// What stands for the sockets and signals of a board's foreign models: bridges, beside each model.
/// Empty in a board without foreign models.
class foreign_ends {
public:
    explicit foreign_ends(const plan& board) : board_(board) {}

    /// Creates the stand-ins of a module that is just constructed: siblings of it, in the scope of
    /// the constructor that is running. Returns false if the module's class does not match the
    /// table.
    bool add(std::uint32_t index, sc_core::sc_module& module);
    /// The object that the board binds for a foreign end.
    sc_core::sc_object& find(const plan::endpoint& end) const { return *ends_.at(end.key()); }
    /// The foreign module of which a message has the name; nullptr: none.
    const plan::module* named_by(const sc_core::sc_report& why) const;
    void clear();

private:
    const std::unordered_set<std::uint64_t>& bound();
    std::string unused_name(const plan::module& m, const std::string& name);

    const plan& board_;
    std::optional<std::unordered_set<std::uint64_t>> bound_;  // keys of ends, if any is foreign
    std::unordered_set<std::string> names_;                   // full names of modules and parts
    std::unordered_map<std::uint64_t, sc_core::sc_object*> ends_;
    std::vector<std::shared_ptr<sc_core::sc_object>> parts_;  // in the order of construction
};

}  // namespace trn
