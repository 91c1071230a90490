// SPDX-License-Identifier: Apache-2.0
#include "models/neuron_core/engine_checks/engine_checks.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>
#include <vector>

#include "models/misuse_rules.h"
#include "models/neuron_isa/assembler/assembler.h"
#include "models/neuron_isa/instructions/native_functions.h"
#include "platform/framework/misuse/misuse.h"

namespace trn {

namespace {

using isa::opcode;
namespace mode = isa::mode;

/// Whether an instruction reads every element of A. Other instructions select elements by mask,
/// index or partition, so unselected ones may be unwritten.
bool reads_all_of_a(const isa::instruction& i) {
    switch (i.opcode) {
    case opcode::copy_predicated:
    case opcode::select_reduce:
    case opcode::range_select:
    case opcode::affine_select:
    case opcode::shuffle:
    case opcode::local_gather:
    case opcode::gather_n:
    case opcode::nonzero_count:
    case opcode::sequence_bounds:
    case opcode::topk:
    case opcode::pool_call:
    case opcode::dma_gather:
    case opcode::dma_scatter:
    case opcode::dma_gather_transpose:
        return false;
    case opcode::multiply:  // a transpose does not use its moving operand's values
        return !i.has_mode(mode::transpose);
    default:
        return true;
    }
}

/// Whether every element of B is read: not of scales, which use only some partitions, or results.
bool reads_all_of_b(const isa::instruction& i) {
    switch (i.opcode) {
    case opcode::tensor_tensor:
    case opcode::scalar_tensor_tensor:
    case opcode::tensor_tensor_scan:
        return true;
    default:
        return false;
    }
}

isa::tile_operand column(const isa::scalar_operand& s, unsigned partitions) {
    isa::tile_operand t;
    if (s.kind != isa::scalar_kind::tile) return t;
    t.place = s.place;
    t.type = s.type;
    t.dimensions = 1;
    t.partitions = static_cast<std::uint16_t>(partitions);
    t.pattern[0] = {1, 1};
    return t;
}

/// The index tiles of an operand, one per group of partitions (NeuronCore spec 2.4): whole columns,
/// and the first partitions of the last column. Empty unless indirect.
std::vector<isa::tile_operand> index_tiles(isa::engine e, const isa::tile_operand& operand) {
    constexpr unsigned all_partitions = 128;
    constexpr std::uint32_t index_bytes = 4;
    std::vector<isa::tile_operand> tiles;
    if (!operand.present() || !operand.indirect) return tiles;
    const unsigned group = e == isa::engine::tensor ? 32 : 16;
    const auto columns = static_cast<std::uint16_t>(operand.pattern[0].count / group);
    const unsigned rest = operand.pattern[0].count % group;
    for (unsigned first = 0; first < operand.partitions; first += group) {
        isa::tile_operand t;
        t.place = operand.index;
        t.place.partition =
            static_cast<std::uint8_t>((operand.index.partition + first) % all_partitions);
        t.type = numerics::element::uint32;
        t.dimensions = 1;
        t.partitions = static_cast<std::uint16_t>(group);
        t.pattern[0] = {1, columns};
        if (columns != 0) tiles.push_back(t);
        t.place.offset += index_bytes * columns;
        t.partitions = static_cast<std::uint16_t>(rest);
        t.pattern[0] = {1, 1};
        if (rest != 0) tiles.push_back(t);
    }
    return tiles;
}

unsigned lanes_of(const isa::instruction& i) {
    return std::max<unsigned>(i.dst.present() ? i.dst.partitions : i.a.partitions, 1);
}

}  // namespace

engine_checks::engine_checks(const sc_core::sc_object& owner, const isa::partition_sizes& sizes,
                             const contents& memories, const program_lines* lines)
    : owner_(owner), sizes_(sizes), memories_(memories), lines_(lines) {
    memories_.sbuf.poison();
    memories_.psum.poison();
}

/// The checker; null while both of its rules are disabled.
race_checker* engine_checks::races() {
    if (revision_ != misuse::revision()) {
        revision_ = misuse::revision();
        const bool wanted =
            misuse::wanted(misuse::tile_race) || misuse::wanted(misuse::psum_collision);
        if (!wanted)
            races_.reset();
        else if (!races_)
            races_.emplace(sizes_);
    }
    return races_ ? &*races_ : nullptr;
}

void engine_checks::report(const misuse::rule& broken, const place& location,
                           std::string_view detail) {
    const std::string text =
        location.instruction != nullptr ? isa::text_of(*location.instruction) : "register access";
    misuse::report(broken, owner_,
                   fmt::format("{} engine at {}: {}{}{}", name_of(location.engine),
                               describe_pc(lines_, location.engine, location.pc), text,
                               detail.empty() ? "" : "; ", detail));
}

// ---- content

/// Reports the first unwritten byte of a tile that is read. \returns whether it reported one.
bool engine_checks::check_content(const place& location, const isa::tile_operand& t) {
    if (!t.present() || t.indirect) return false;
    std::optional<unsigned> found;
    for (unsigned p = 0; p < t.partitions; ++p)  // no early exit: each read poisons
        if (has_unwritten(t, p) && !found) found = t.place.partition + p;
    if (found)
        report(misuse::sram_read_unwritten, location,
               fmt::format("partition {} of {}", *found,
                           t.place.space == isa::space::psum ? "PSUM" : "SBUF"));
    return found.has_value();
}

bool engine_checks::has_unwritten(const isa::tile_operand& t, unsigned partition) {
    const bool psum = t.place.space == isa::space::psum;
    sram_content& memory = psum ? memories_.psum : memories_.sbuf;
    const std::uint32_t pitch = psum ? sizes_.psum : sizes_.sbuf;
    const std::uint64_t base = std::uint64_t{t.place.partition + partition} * pitch;
    const isa::footprint bounds = isa::footprint_of(t, sizes_);
    const auto check = [&](std::int64_t first, std::int64_t bytes) {
        return memory.has_unwritten(base + static_cast<std::uint64_t>(first),
                                    static_cast<std::uint64_t>(bytes));
    };
    if (!check(bounds.first_byte, bounds.last_byte - bounds.first_byte + 1)) return false;
    bool found = false;
    const std::int64_t size = numerics::size_of(t.type);
    t.for_elements([&](std::int64_t first) { found = found || check(first, size); });
    return found;
}

// ---- races

/// Names the other agent of a conflict.
std::string engine_checks::describe(const race_checker::conflict& c) const {
    if (c.other_kind == race_checker::agent_kind::other_dma)
        return "DMA that no engine of the core started";
    if (c.other_kind == race_checker::agent_kind::queue)
        return fmt::format("queue {} of DMA engine {} of the core",
                           c.queue % race_checker::queues_per_engine,
                           c.queue / race_checker::queues_per_engine);
    return fmt::format("the {} engine at {}", name_of(c.other),
                       describe_pc(lines_, c.other, c.other_pc));
}

bool engine_checks::check_races(const place& location, std::vector<race_checker::access> accesses,
                                const sc_core::sc_time& complete) {
    race_checker* const checker = races();
    if (checker == nullptr) return false;
    const auto found = checker->issued(location.engine, location.pc, std::move(accesses), complete);
    if (!found) return false;
    const bool collision = found->nature == race_checker::conflict::kind::collision;
    const auto& rule = collision ? misuse::psum_collision : misuse::tile_race;
    if (misuse::wanted(rule))
        report(rule, location,
               fmt::format("with {}, {} partition {} byte {}", describe(*found),
                           found->first.space == isa::space::psum ? "PSUM" : "SBUF",
                           found->first.partition, found->first.offset));
    return collision && misuse::wanted(rule);
}

void engine_checks::moved(const race_checker::transfer& t) {
    race_checker* const checker = races();
    if (checker == nullptr || !misuse::wanted(misuse::tile_race)) return;
    if (const auto found = checker->moved(t))
        misuse::report(misuse::tile_race, owner_,
                       fmt::format("DMA {} what {} uses, {} partition {} byte {}",
                                   t.writes ? "writes" : "reads", describe(*found),
                                   t.space == isa::space::psum ? "PSUM" : "SBUF",
                                   found->first.partition, found->first.offset));
}

// ---- events of engines

void engine_checks::started(isa::engine e) {
    if (race_checker* const checker = races()) checker->started(e);
}

void engine_checks::ended(isa::engine e) {
    if (race_checker* const checker = races()) checker->ended(e);
}

bool engine_checks::issues(isa::engine e, std::uint32_t pc, const isa::instruction& i,
                           const sc_core::sc_time& complete) {
    const place location{e, pc, &i};
    const isa::tile_operand s0 = column(i.s0, lanes_of(i)), s1 = column(i.s1, lanes_of(i));
    if (reads_all_of_a(i)) check_content(location, i.a);
    if (reads_all_of_b(i)) check_content(location, i.b);
    check_content(location, s0);
    check_content(location, s1);
    if (i.opcode == opcode::multiply && i.has_mode(mode::accumulate))
        check_content(location, i.dst);
    std::vector<isa::tile_operand> indices;
    for (const isa::tile_operand* const t : {&i.dst, &i.a, &i.b}) {
        const auto tiles = index_tiles(e, *t);
        std::ranges::any_of(
            tiles, [&](const auto& index_tile) { return check_content(location, index_tile); });
        indices.insert(indices.end(), tiles.begin(), tiles.end());
    }

    if (races() == nullptr) return false;
    std::vector<race_checker::access> accesses;
    const auto add = [&](const isa::tile_operand& t, const isa::footprint& bounds, bool writes) {
        if (t.present() && !t.indirect) accesses.push_back({t, bounds, writes});
    };
    const auto read = [&](const isa::tile_operand& t) {
        add(t, isa::footprint_of(t, sizes_), false);
    };
    const isa::operand_footprints footprints = isa::footprints_of(i, sizes_);
    add(i.dst, footprints.dst, true);
    add(i.a, footprints.a, false);
    add(i.b, footprints.b, writes_b(i));
    read(s0);
    read(s1);
    for (const isa::tile_operand& t : indices) read(t);
    return check_races(location, std::move(accesses), complete);
}

void engine_checks::computed(isa::engine e, std::uint32_t pc, const isa::instruction& i,
                             const isa::mistakes& m) {
    const place location{e, pc, &i};
    if (m.activation_out_of_range) report(misuse::activation_out_of_range, location, {});
    if (m.reduce_without_reset) report(misuse::reduce_without_reset, location, {});
    if (m.psum_accumulate_undefined) report(misuse::psum_accumulate_undefined, location, {});
}

void engine_checks::accesses(isa::engine e, std::uint32_t pc, const isa::location& first,
                             std::uint32_t bytes, bool writes) {
    isa::tile_operand t;
    t.place = first;
    t.type = numerics::element::uint8;
    t.dimensions = 1;
    t.partitions = 1;
    t.pattern[0] = {1, static_cast<std::uint16_t>(bytes)};
    const place location{e, pc};
    if (!writes) check_content(location, t);
    if (races() == nullptr) return;
    check_races(location, {{t, isa::footprint_of(t, sizes_), writes}}, sc_core::sc_time_stamp());
    if (!writes) races_->learned_all(e);  // it may have polled a flag in memory
}

void engine_checks::polled(isa::engine e) {
    if (race_checker* const checker = races()) checker->learned_all(e);
}

void engine_checks::posts(isa::engine e, unsigned index, bool at_issue) {
    if (race_checker* const checker = races()) checker->posted(e, index, at_issue);
}

void engine_checks::waited(isa::engine e, unsigned index) {
    if (race_checker* const checker = races()) checker->waited(e, index);
}

void engine_checks::rings(isa::engine e, unsigned dma_engine, unsigned queue) {
    if (race_checker* const checker = races())
        checker->rang(e, dma_engine * race_checker::queues_per_engine + queue);
}

void engine_checks::posted_from_outside(unsigned index, std::optional<unsigned> queue) {
    if (race_checker* const checker = races()) checker->posted_from_outside(index, queue);
}

}  // namespace trn
