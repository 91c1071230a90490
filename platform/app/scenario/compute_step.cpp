// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <array>
#include <optional>

#include "platform/app/scenario/action.h"
#include "platform/app/scenario/scenario.h"
#include "sw-stubs/host/compute_reference.h"
#include "sw-stubs/host/elements.h"

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

/// The step as it was written.
struct compute_spec {
    trn_compute_operation operation;
    trn_element from_type, to_type;
    location from, into;
    std::optional<location> also, table;
    std::uint32_t engine, queue, elements, operands, flags, seed, rows, entries, first_index;
    std::uint64_t apart;
    float scale;

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
};

/// The packet with what it points to.
struct packet_memory {
    std::vector<trn_dma_piece> sources, destinations;
    std::vector<location> source_places;
    std::vector<float> scales;
    trn_compute_packet packet{};
};

void fill_indices(world& w, const compute_spec& c) {
    std::vector<std::uint8_t> bytes(c.index_bytes());
    for (std::uint32_t i = 0; i < c.elements; ++i) {
        const std::uint32_t index =
            c.first_index + static_cast<std::uint32_t>(std::uint64_t{i} * 7919 % c.entries);
        for (unsigned b = 0; b < 4; ++b)
            bytes[i * 4 + b] = static_cast<std::uint8_t>(index >> (8 * b));
    }
    write_memory(w, c.from, bytes);
}

packet_memory build(world& w, const compute_spec& c) {
    packet_memory m;
    const auto source = [&](const location& place, std::uint32_t size) {
        m.sources.push_back({place.address(w.device, size), size});
        m.source_places.push_back(place);
    };
    const auto destination = [&](const location& place, std::uint32_t size) {
        m.destinations.push_back({place.address(w.device, size), size});
    };
    auto& p = m.packet;
    p.operation = c.operation;
    p.operands = c.operands;
    p.flags = c.flags | (c.also ? TRN_COMPUTE_DUPLICATE : 0u);
    p.parameter = c.seed;
    if (c.gathers() || c.scatters()) {
        source(c.from, c.index_bytes());
        source(*c.table, c.gathers() ? c.element_bytes() : c.from_bytes());
        destination(c.into, c.gathers() ? c.from_bytes() : c.element_bytes());
        p.parameter = c.entries;
    } else {
        location operand = c.from;
        for (std::uint32_t k = 0; k < c.operands; ++k) {
            if (k != 0) operand = operand.plus(c.apart);
            source(operand, c.from_bytes());
        }
        destination(c.into, c.to_bytes());
        if (c.operation != TRN_COMPUTE_COPY) p.from = c.from_type, p.to = c.to_type;
        if (c.operation == TRN_COMPUTE_TRANSPOSE)
            p.parameter = c.rows | (c.elements / c.rows) << 16;
    }
    if (c.also) destination(*c.also, c.to_bytes());
    m.scales.assign(c.operands, c.scale);
    p.scales = m.scales.data();
    p.sources = m.sources.data();
    p.source_count = static_cast<std::uint32_t>(m.sources.size());
    p.destinations = m.destinations.data();
    p.destination_count = static_cast<std::uint32_t>(m.destinations.size());
    return m;
}

/// Bytes of the sources one behind the other; of a gather with the whole table.
std::vector<std::uint8_t> read_sources(world& w, const compute_spec& c, const packet_memory& m) {
    std::vector<std::uint8_t> all;
    for (std::size_t k = 0; k < m.sources.size(); ++k) {
        const bool table = c.gathers() && k == 1;
        const auto one = read_memory(w, m.source_places[k],
                                     m.sources[k].size * std::uint64_t{table ? c.entries : 1});
        all.insert(all.end(), one.begin(), one.end());
    }
    return all;
}

void expect_result(world& w, const compute_spec& c, const location& place,
                   const std::vector<std::uint8_t>& expected) {
    const auto found = read_memory(w, place, expected.size());
    const auto type = c.gathers() || c.scatters() ? c.from_type : c.to_type;
    if (const auto wrong = reference::difference(type, expected, found))
        throw step_failure(fmt::format("{}: {}", place.text(), *wrong));
}

void reduce_in_packets(world& w, const compute_spec& c, const packet_memory& m) {
    std::vector<std::uint64_t> addresses;
    for (const auto& each : m.sources) addresses.push_back(each.address);
    w.device.check(trn_dma_reduce(w.device, c.engine, c.queue, c.operation, c.from_type,
                                  addresses.data(), c.operands, m.destinations.front().address,
                                  c.from_bytes()));
}

void compute(world& w, const compute_spec& c) {
    if (c.gathers() || c.scatters()) fill_indices(w, c);
    const packet_memory m = build(w, c);
    const auto sources = read_sources(w, c, m);
    const std::uint64_t result_bytes =
        c.scatters() ? std::uint64_t{c.entries} * c.element_bytes() : c.to_bytes();
    const auto before = read_memory(w, c.into, result_bytes);
    const auto expected = reference::result_of(m.packet, sources, before);
    if (c.needs_packets())
        reduce_in_packets(w, c, m);
    else
        w.device.check(trn_compute(w.device, c.engine, c.queue, &m.packet));
    expect_result(w, c, c.into, expected);
    if (c.also) expect_result(w, c, *c.also, expected);
}

std::uint32_t read_flags(const reader& r) {
    return (r.flag("accumulate", false) ? TRN_COMPUTE_ACCUMULATE : 0u) |
           (r.flag("stochastic", false) ? TRN_COMPUTE_STOCHASTIC : 0u) |
           (r.flag("saturate", false) ? TRN_COMPUTE_SATURATE : 0u) |
           (r.flag("skip", false) ? TRN_COMPUTE_SKIP : 0u);
}

}  // namespace

action read_compute(const reader& r) {
    r.only({"operation", "from",        "into",  "also",          "type",       "to_type",
            "elements",  "operands",    "apart", "scale_percent", "rows",       "table",
            "entries",   "first_index", "seed",  "accumulate",    "stochastic", "saturate",
            "skip",      "engine",      "queue"});
    compute_spec c{};
    const auto word = [&](std::string_view key, std::uint64_t otherwise) {
        return static_cast<std::uint32_t>(r.number(key, word_max, otherwise));
    };
    c.operation = r.choice<trn_compute_operation>("operation");
    c.from_type = r.choice<trn_element>("type");
    c.to_type = r.has("to_type") ? r.choice<trn_element>("to_type") : c.from_type;
    c.from = r.place("from", address_fault);
    c.into = r.place("into", address_fault);
    if (r.has("also")) c.also = r.place("also", address_fault);
    if (r.has("table") || c.gathers() || c.scatters()) c.table = r.place("table", address_fault);
    c.elements = static_cast<std::uint32_t>(r.number("elements", 1 << 20));
    c.operands = static_cast<std::uint32_t>(r.number("operands", 1 << 10, 1));
    c.apart = r.offset("apart", 1 << 20);
    c.scale =
        static_cast<float>(r.has("scale_percent") ? r.signed_number("scale_percent") : 100) / 100;
    c.rows = std::max(word("rows", 1), 1u);
    c.entries = std::max(static_cast<std::uint32_t>(r.number("entries", 1 << 24, 1)), 1u);
    c.first_index = word("first_index", 0);
    c.seed = word("seed", 0);
    c.flags = read_flags(r);
    c.engine = word("engine", 0);
    c.queue = word("queue", 0);
    return {fmt::format("{} {} elements of {} to {}", r.text("operation"), c.elements,
                        c.from.text(), c.into.text()),
            [c](world& w) { compute(w, c); }};
}

}  // namespace trn::scenario
