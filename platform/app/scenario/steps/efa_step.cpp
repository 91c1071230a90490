// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <optional>
#include <string>
#include <vector>

#include "platform/app/scenario/context/measure.h"
#include "platform/app/scenario/context/scenario_context.h"
#include "platform/app/scenario/language/bounds.h"
#include "platform/app/scenario/language/step_table.h"
#include "platform/app/scenario/steps/all_chips.h"
#include "platform/app/scenario/steps/network.h"

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
                                     choice<scenario::network_pattern>{"half", half},
                                     choice<scenario::network_pattern>{"first", first}};
};

/// Status codes of EFA contract 12.
enum class efa_status : std::uint32_t {
    ok = TRN_RDMA_OK,
    flushed = TRN_RDMA_FLUSHED,
    local_qp_internal = TRN_RDMA_LOCAL_QP_INTERNAL,
    local_unsupported = TRN_RDMA_LOCAL_UNSUPPORTED,
    local_bad_ah = TRN_RDMA_LOCAL_BAD_AH,
    local_bad_lkey = TRN_RDMA_LOCAL_BAD_LKEY,
    local_bad_length = TRN_RDMA_LOCAL_BAD_LENGTH,
    remote_bad_address = TRN_RDMA_REMOTE_BAD_ADDRESS,
    remote_abort = TRN_RDMA_REMOTE_ABORT,
    remote_bad_qp = TRN_RDMA_REMOTE_BAD_QP,
    remote_not_ready = TRN_RDMA_REMOTE_NOT_READY,
    remote_bad_length = TRN_RDMA_REMOTE_BAD_LENGTH,
    remote_bad_status = TRN_RDMA_REMOTE_BAD_STATUS,
    unresponsive = TRN_RDMA_UNRESPONSIVE,
    unknown_peer = TRN_RDMA_UNKNOWN_PEER,
    unreachable = TRN_RDMA_UNREACHABLE,
    feature_mismatch = TRN_RDMA_FEATURE_MISMATCH,
};

template <>
struct choices<efa_status> {
    using enum efa_status;
    static constexpr std::array list{
        choice<efa_status>{"ok", ok},
        choice<efa_status>{"flushed", flushed},
        choice<efa_status>{"local_qp_internal", local_qp_internal},
        choice<efa_status>{"local_unsupported", local_unsupported},
        choice<efa_status>{"local_bad_ah", local_bad_ah},
        choice<efa_status>{"local_bad_lkey", local_bad_lkey},
        choice<efa_status>{"local_bad_length", local_bad_length},
        choice<efa_status>{"remote_bad_address", remote_bad_address},
        choice<efa_status>{"remote_abort", remote_abort},
        choice<efa_status>{"remote_bad_qp", remote_bad_qp},
        choice<efa_status>{"remote_not_ready", remote_not_ready},
        choice<efa_status>{"remote_bad_length", remote_bad_length},
        choice<efa_status>{"remote_bad_status", remote_bad_status},
        choice<efa_status>{"unresponsive", unresponsive},
        choice<efa_status>{"unknown_peer", unknown_peer},
        choice<efa_status>{"unreachable", unreachable},
        choice<efa_status>{"feature_mismatch", feature_mismatch},
    };
};

}  // namespace trn::config

namespace trn::scenario {

using config::efa_status;

namespace {

struct efa_spec : rate_bounds {
    std::optional<network_pattern> pattern = {};
    std::string requester = {}, partner = {};
    network_operation operation{};
    bytes size = {};
    byte_offset block{network::load{}.block};
    std::vector<efa_status> status{efa_status::ok};

    figure wanted = {};
    void finish(const reader& r) {
        if (!r.has("block")) block.value = std::min(size.value, block.value);
        check_parts(r, "size", size.value, block.value);
        if (std::ranges::find(status, efa_status::ok) == status.end())
            r.refuse({"at_least", "at_most"}, "requests that fail have no rate");
        wanted = rate_bounds::wanted(
            r, fmt::format("{}: EFA {}", pattern ? "all cards" : requester + " and " + partner,
                           operation == network_operation::write ? "writes" : "reads"));
    }
    void run(scenario_context& ctx) const {
        machine_of(ctx);  // its HBM is the source and destination
        auto& cards = ctx.kept.get<network>(ctx.hosts, ctx.seed);
        const network::load transfer{operation, size.value, block.value};
        const auto pairs = pattern ? cards.all(*pattern)
                                   : network::pairs{{cards.find(requester), cards.find(partner)}};
        const auto [ns, found] = cards.run(pairs, transfer);
        if (std::ranges::find(status, efa_status{found}) == status.end())
            throw step_failure(fmt::format("the status is {}", found));
        if (efa_status{found} != efa_status::ok) return;
        cards.check(pairs, transfer);
        if (!at_least && !at_most) return;
        auto figure = wanted;
        figure.value = cards.sustained(pairs, transfer);
        measure_rate(ctx, figure);
    }
    std::string text() const { return wanted.name; }
};

}  // namespace

std::vector<step_kind> efa_steps() {
    using e = efa_spec;
    constexpr size_bounds some{.min = 1, .max = max_held};
    return {step_of<e>(
        "efa", "cards move bytes between HBMs; bounds are rates of the machine",
        {key("pattern", &e::pattern, "pairs of cards, in place of `from` and `to`")
             .not_with({"from", "to"}),
         key("from", &e::requester, "a card").required_without({"pattern"}).not_with({"pattern"}),
         key("to", &e::partner, "a card").required_without({"pattern"}).not_with({"pattern"}),
         key("operation", &e::operation, "RDMA write or read").required(),
         key("size", &e::size, "bytes of all requests of a pair").required().within(some),
         key("block", &e::block, "bytes of a request").within(some),
         key("status", &e::status, "that the completions may have"),
         key("at_least", &e::at_least, "bound of the rate"),
         key("at_most", &e::at_most, "bound of the rate")})};
}

}  // namespace trn::scenario
