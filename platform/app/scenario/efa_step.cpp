// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "platform/app/scenario/action.h"
#include "platform/app/scenario/scenario.h"

namespace trn::config {

template <>
struct choices<scenario::network_operation> {
    using enum scenario::network_operation;
    static constexpr std::array list{choice<scenario::network_operation>{"write", write},
                                     choice<scenario::network_operation>{"read", read}};
};

template <>
struct choices<scenario::network_pattern> {
    using enum scenario::network_pattern;
    static constexpr std::array list{choice<scenario::network_pattern>{"next", next},
                                     choice<scenario::network_pattern>{"half", half}};
};

enum class efa_status : std::uint32_t {
    ok = TRN_EFA_OK,
    bad_request = TRN_EFA_BAD_REQUEST,
    local_access = TRN_EFA_LOCAL_ACCESS,
    remote_access = TRN_EFA_REMOTE_ACCESS,
    unreachable = TRN_EFA_UNREACHABLE,
};

template <>
struct choices<efa_status> {
    using enum efa_status;
    static constexpr std::array list{
        choice<efa_status>{"ok", ok},
        choice<efa_status>{"bad_request", bad_request},
        choice<efa_status>{"local_access", local_access},
        choice<efa_status>{"remote_access", remote_access},
        choice<efa_status>{"unreachable", unreachable},
    };
};

}  // namespace trn::config

namespace trn::scenario {

using config::efa_status;

action read_efa(const reader& r) {
    r.only(
        {"pattern", "from", "to", "operation", "size", "block", "status", "at_least", "at_most"});
    network::load how;
    how.what = r.choice<network_operation>("operation");
    how.bytes = r.size("size", {.least = 1, .most = max_held});
    how.block = r.offset("block", std::min(how.bytes, how.block), {.least = 1, .most = max_held});
    check_parts(r, "size", how.bytes, how.block);
    const bool all = r.has("pattern");
    const auto pattern = all ? r.choice<network_pattern>("pattern") : network_pattern::next;
    const auto from = all ? "" : r.text("from"), to = all ? "" : r.text("to");
    const auto status = r.has("status") ? r.choice<efa_status>("status") : efa_status::ok;
    const bool bounded = r.has("at_least") || r.has("at_most");
    const auto who = all ? "all cards" : from + " and " + to;
    const auto wanted = read_rate_figure(
        r,
        fmt::format("{}: EFA {}", who, how.what == network_operation::write ? "writes" : "reads"));
    return {wanted.name, [=](world& w) {
                if (!w.chips) w.chips.emplace(w.hosts);  // whose memories are used
                if (!w.cards) w.cards.emplace(w.hosts, w.seed);
                const auto pairs = all ? w.cards->all(pattern)
                                       : network::pairs{{w.cards->find(from), w.cards->find(to)}};
                const auto [ns, found] = w.cards->run(pairs, how);
                if (found != static_cast<std::uint32_t>(status))
                    throw step_failure(fmt::format("the status is {}", found));
                if (status != efa_status::ok) return;
                w.cards->check(pairs, how);
                if (!bounded) return;
                auto figure = wanted;
                figure.value = w.cards->sustained(pairs, how);
                measure(w, figure);
            }};
}

}  // namespace trn::scenario
