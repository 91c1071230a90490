// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <array>
#include <optional>
#include <utility>

#include "platform/app/scenario/context/board_access.h"
#include "platform/app/scenario/context/scenario_context.h"
#include "platform/app/scenario/language/bounds.h"
#include "platform/app/scenario/language/step_table.h"
#include "sw-stubs/host/values/compute_reference.h"
#include "sw-stubs/host/values/elements.h"

namespace trn::config {

template <>
struct choices<trn_compute_operation> {
    static constexpr std::array list{
        choice<trn_compute_operation>{"copy", TRN_COMPUTE_COPY},
        choice<trn_compute_operation>{"cast", TRN_COMPUTE_CAST},
        choice<trn_compute_operation>{"add", TRN_COMPUTE_ADD},
        choice<trn_compute_operation>{"min", TRN_COMPUTE_MIN},
        choice<trn_compute_operation>{"max", TRN_COMPUTE_MAX},
        choice<trn_compute_operation>{"scaled_add", TRN_COMPUTE_SCALED_ADD},
        choice<trn_compute_operation>{"transpose", TRN_COMPUTE_TRANSPOSE},
        choice<trn_compute_operation>{"gather", TRN_COMPUTE_GATHER},
        choice<trn_compute_operation>{"scatter", TRN_COMPUTE_SCATTER},
    };
};

}  // namespace trn::config

namespace trn::scenario {

namespace {

constexpr std::uint32_t max_side = 0xffff;  // rows or columns of a transpose

struct compute_spec {
    trn_compute_operation operation{};
    trn_element from_type{}, to_type{};
    std::optional<trn_element> given_to_type = {};
    location source = {}, destination = {};
    std::optional<location> also = {}, table = {};
    std::uint32_t engine = 0, queue = 0, elements = 0, operands = 1, seed = 0, rows = 1,
                  entries = 1, first_index = 0;
    byte_offset apart{1 << 20};
    std::int32_t scale_percent = 100;
    bool accumulate = false, stochastic = false, saturate = false, skip = false;

    void finish(const reader& r) {
        to_type = given_to_type.value_or(from_type);
        if (gathers() || scatters()) {
            r.node().at("table");
            r.refuse({"operands", "apart", "to_type"}, "a gather or scatter moves one table");
        } else {
            r.refuse({"table", "entries", "first_index"}, "only a gather or scatter has a table");
        }
        if (operation == TRN_COMPUTE_COPY) r.refuse({"to_type"}, "a copy does not convert");
        if (operation != TRN_COMPUTE_SCALED_ADD)
            r.refuse({"scale_percent"}, "only a scaled_add has scales");
        if (operation != TRN_COMPUTE_TRANSPOSE)
            r.refuse({"rows"}, "only a transpose has rows");
        else if (elements / std::max(rows, 1u) > max_side)
            r.node()
                .at("elements")
                .report(mistake::out_of_range,
                        fmt::format("a transpose has at most {} columns, 'elements' / 'rows'",
                                    max_side));
        for (const auto& [key, count] : {std::pair{"entries", entries}, {"operands", operands}})
            if (count == 0) r.node().at(key).report(mistake::out_of_range, "at least 1 is needed");
        if (needs_packets())
            r.refuse({"also", "to_type", "accumulate", "stochastic", "saturate", "skip", "seed"},
                     "more than 64 KiB are reduced in packets, which have no such option");
        rows = std::max(rows, 1u);
    }
    action plan() const;

    bool gathers() const { return operation == TRN_COMPUTE_GATHER; }
    bool scatters() const { return operation == TRN_COMPUTE_SCATTER; }
    std::uint32_t from_bytes() const { return elements * reference::element_size(from_type); }
    std::uint32_t to_bytes() const { return elements * reference::element_size(to_type); }
    std::uint32_t index_bytes() const { return elements * 4; }
    bool needs_packets() const {
        return from_bytes() > TRN_DESCRIPTOR_BYTES &&
               (operation == TRN_COMPUTE_ADD || operation == TRN_COMPUTE_MIN ||
                operation == TRN_COMPUTE_MAX);
    }
    std::uint32_t element_bytes() const { return reference::element_size(from_type); }
    std::uint32_t flags() const {
        return (also ? TRN_COMPUTE_DUPLICATE : 0u) | (accumulate ? TRN_COMPUTE_ACCUMULATE : 0u) |
               (stochastic ? TRN_COMPUTE_STOCHASTIC : 0u) | (saturate ? TRN_COMPUTE_SATURATE : 0u) |
               (skip ? TRN_COMPUTE_SKIP : 0u);
    }
};

/// A DMA compute packet with the arrays that it points to.
struct packet_memory {
    std::vector<trn_dma_piece> sources, destinations;
    std::vector<location> source_places;
    std::vector<float> scales;
    trn_compute_packet packet{};
};

void fill_indices(scenario_context& ctx, const compute_spec& c) {
    std::vector<std::uint8_t> bytes(c.index_bytes());
    for (std::uint32_t i = 0; i < c.elements; ++i) {
        const std::uint32_t index =
            c.first_index + static_cast<std::uint32_t>(std::uint64_t{i} * 7919 % c.entries);
        for (unsigned b = 0; b < 4; ++b)
            bytes[i * 4 + b] = static_cast<std::uint8_t>(index >> (8 * b));
    }
    write_memory(ctx, c.source, bytes);
}

packet_memory build(scenario_context& ctx, const compute_spec& c) {
    packet_memory m;
    const auto add_source = [&](const location& place, std::uint32_t size) {
        m.sources.push_back({place.address(ctx.device, size), size});
        m.source_places.push_back(place);
    };
    const auto add_destination = [&](const location& place, std::uint32_t size) {
        m.destinations.push_back({place.address(ctx.device, size), size});
    };
    auto& p = m.packet;
    p.operation = c.operation;
    p.operands = c.operands;
    p.flags = c.flags();
    p.parameter = c.seed;
    if (c.gathers() || c.scatters()) {
        add_source(c.source, c.index_bytes());
        add_source(*c.table, c.gathers() ? c.element_bytes() : c.from_bytes());
        add_destination(c.destination, c.gathers() ? c.from_bytes() : c.element_bytes());
        p.parameter = c.entries;
    } else {
        location operand = c.source;
        for (std::uint32_t k = 0; k < c.operands; ++k) {
            if (k != 0) operand = operand.plus(c.apart.value);
            add_source(operand, c.from_bytes());
        }
        add_destination(c.destination, c.to_bytes());
        if (c.operation != TRN_COMPUTE_COPY) p.from = c.from_type, p.to = c.to_type;
        if (c.operation == TRN_COMPUTE_TRANSPOSE)
            p.parameter = c.rows | (c.elements / c.rows) << 16;
    }
    if (c.also) add_destination(*c.also, c.to_bytes());
    m.scales.assign(c.operands, static_cast<float>(c.scale_percent) / 100);
    p.scales = m.scales.data();
    p.sources = m.sources.data();
    p.source_count = static_cast<std::uint32_t>(m.sources.size());
    p.destinations = m.destinations.data();
    p.destination_count = static_cast<std::uint32_t>(m.destinations.size());
    return m;
}

/// The bytes of the sources, concatenated; for a gather, of the whole table.
std::vector<std::uint8_t> read_sources(scenario_context& ctx, const compute_spec& c,
                                       const packet_memory& m) {
    std::vector<std::uint8_t> all;
    for (std::size_t k = 0; k < m.sources.size(); ++k) {
        const bool table = c.gathers() && k == 1;
        const auto source = read_memory(ctx, m.source_places[k],
                                        m.sources[k].size * std::uint64_t{table ? c.entries : 1});
        all.insert(all.end(), source.begin(), source.end());
    }
    return all;
}

void expect_result(scenario_context& ctx, const compute_spec& c, const location& place,
                   const std::vector<std::uint8_t>& expected) {
    const auto found = read_memory(ctx, place, expected.size());
    const auto type = c.gathers() || c.scatters() ? c.from_type : c.to_type;
    if (const auto wrong = reference::difference(type, expected, found))
        throw step_failure(fmt::format("{}: {}", place.text(), *wrong));
}

void reduce_in_packets(scenario_context& ctx, const compute_spec& c, const packet_memory& m) {
    std::vector<std::uint64_t> addresses;
    for (const auto& each : m.sources) addresses.push_back(each.address);
    ctx.device.check(trn_dma_reduce(ctx.device, c.engine, c.queue, c.operation, c.from_type,
                                    addresses.data(), c.operands, m.destinations.front().address,
                                    c.from_bytes()));
}

void compute(scenario_context& ctx, const compute_spec& c) {
    if (c.gathers() || c.scatters()) fill_indices(ctx, c);
    const packet_memory m = build(ctx, c);
    const auto sources = read_sources(ctx, c, m);
    const std::uint64_t result_bytes =
        c.scatters() ? std::uint64_t{c.entries} * c.element_bytes() : c.to_bytes();
    const auto before = read_memory(ctx, c.destination, result_bytes);
    const auto expected = reference::result_of(m.packet, sources, before);
    if (c.needs_packets())
        reduce_in_packets(ctx, c, m);
    else
        ctx.device.check(trn_compute(ctx.device, c.engine, c.queue, &m.packet));
    expect_result(ctx, c, c.destination, expected);
    if (c.also) expect_result(ctx, c, *c.also, expected);
}

action compute_spec::plan() const {
    return {fmt::format("{} {} elements of {} to {}", choice_name(operation), elements,
                        source.text(), destination.text()),
            [c = *this](scenario_context& ctx) { compute(ctx, c); }};
}

}  // namespace

std::vector<step_kind> compute_steps() {
    using c = compute_spec;
    return {step_of<c>(
        "compute",
        "one packet of [DMA compute](dma_compute.md), compared with the host's own arithmetic",
        {key("operation", &c::operation, "what the packet computes").required(),
         key("type", &c::from_type, "of the operands' elements").required(),
         key("to_type", &c::given_to_type, "`type` unless given"),
         key("elements", &c::elements, "of an operand").required().up_to(1 << 20),
         key("from", &c::source, "the first operand, or the indices")
             .required()
             .refused_by(address_fault),
         key("into", &c::destination, "the result").required().refused_by(address_fault),
         key("also", &c::also, "second destination of a duplicate write").refused_by(address_fault),
         key("operands", &c::operands, "number of operands").up_to(1 << 10),
         key("apart", &c::apart, "distance from one operand to the next").only_with({"operands"}),
         key("scale_percent", &c::scale_percent, "factor of every operand of a scaled add"),
         key("rows", &c::rows, "of a transpose").up_to(max_side),
         key("table", &c::table, "of a gather or scatter").refused_by(address_fault),
         key("entries", &c::entries, "of the table: indices are below it").up_to(1 << 24),
         key("first_index", &c::first_index, "added to every index"),
         key("seed", &c::seed, "of stochastic rounding").only_with({"stochastic"}),
         key("accumulate", &c::accumulate, "adds to what the destination holds"),
         key("stochastic", &c::stochastic, "rounds at random, by `seed`"),
         key("saturate", &c::saturate, "limits values that the result cannot hold"),
         key("skip", &c::skip, "leaves out indices beyond the table, in place of an error"),
         key("engine", &c::engine, "DMA engine that does the work"),
         key("queue", &c::queue, "of the engine")})};
}

}  // namespace trn::scenario
