// SPDX-License-Identifier: Apache-2.0
#include <array>
#include <optional>
#include <string>

#include "models/cards/instance_metadata/instance_metadata.h"
#include "models/kind_tables.h"
#include "platform/framework/config/document.h"
#include "platform/framework/netlist/kinds/kind_table.h"

template <>
struct trn::config::choices<trn::instance_metadata::tokens> {
    using tokens = trn::instance_metadata::tokens;
    static constexpr std::array list{trn::config::choice<tokens>{"optional", tokens::optional},
                                     trn::config::choice<tokens>{"required", tokens::required}};
};

namespace trn::kind_tables {

namespace {
constexpr auto role_letters =
    "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+=,.@_-";
}

kind instance_metadata_kind() {
    using c = instance_metadata::config;
    auto made = kind_of<instance_metadata>(
        "instance_metadata", "The instance metadata service, between a network card and its cable.",
        {{"product", &c::product, "the instance's type"},
         {"serial", &c::serial, unit::address, any_number, "the instance id is made from it"},
         {"region", &c::region, "of the instance"},
         {"zone", &c::zone, "of the instance"},
         {"user_data", &c::user_data, "of the instance"},
         {"role", &c::role, "whose credentials the instance gets"},
         {"tokens", &c::tokens, "required: no IMDSv1"},
         {"hop_limit", &c::hop_limit, within(1, 64), "of packets with a token"},
         {"latency", &c::latency, any_time, "of an answer"}},
        {port::plug("card", "to an ena_card"),
         port::plug("net", "to an ethernet_switch").optional()},
        [](const c& cfg) -> std::optional<std::string> {
            if (cfg.role.find_first_not_of(role_letters) != std::string::npos)
                return "a role has letters, digits and +=,.@_-";
            if (metadata::domain_of(cfg.region).size() > 200) return "the region is too long";
            return std::nullopt;
        });
    made.statistics = {
        {"requests", "", "of HTTP"},       {"refused_requests", "", "answered with an error"},
        {"tokens", "", "of IMDSv2 given"}, {"leases", "", "of DHCP given"},
        {"refused_leases", "", ""},        {"dropped_packets", "", "while too many waited"}};
    return made;
}

}  // namespace trn::kind_tables
