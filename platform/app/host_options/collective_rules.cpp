// SPDX-License-Identifier: Apache-2.0
#include "platform/app/host_options/collective_rules.h"

#include <fmt/format.h>

#include "platform/app/host_options/host_choices.h"
#include "sw-stubs/host/collectives/collective.h"

namespace trn {

namespace {

trn_coll_rule read_rule(const config::node& row) {
    row.only({"op", "topology", "ranks_up_to", "size_up_to", "algorithm"}, "a rule");
    trn_coll_rule rule{};
    rule.op = row.require<trn_coll_op>("op");
    rule.algorithm = row.require<trn_coll_algorithm>("algorithm");
    if (const auto kind = row.find("topology"))
        rule.topologies = 1u << static_cast<unsigned>(kind.as<trn_topology_kind>());
    rule.max_ranks = row.get<std::uint32_t>("ranks_up_to", 0);
    rule.max_bytes = row.get<bytes>("size_up_to", {}).value;
    if (!trn_coll_has_algorithm(rule.op, rule.algorithm))
        row.at("algorithm")
            .report(mistake::not_a_choice,
                    fmt::format("{} has no algorithm {}", trn_coll_op_text(rule.op),
                                trn_coll_algorithm_text(rule.algorithm)));
    return rule;
}

}  // namespace

std::vector<trn_coll_rule> read_collective_rules(const std::filesystem::path& file) {
    diagnostics problems;
    const auto document = config::document::load(file, problems);
    const auto root = document.root();
    std::vector<trn_coll_rule> rules;
    root.only({"algorithms"}, "a table of algorithms");
    for (const auto& row : root.at("algorithms").items()) rules.push_back(read_rule(row));
    problems.throw_if_any();
    return rules;
}

}  // namespace trn
