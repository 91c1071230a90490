// SPDX-License-Identifier: Apache-2.0
#include "models/neuron_core/sequencer/timing/issue_window.h"

#include <algorithm>

#include "models/neuron_isa/instructions/native_functions.h"

namespace trn::isa {

namespace {

constexpr unsigned bank_bytes = 2048;

std::uint8_t banks_of(const footprint& f) {
    if (f.space != space::psum) return 0;
    unsigned banks = 0;
    for (std::int64_t b = f.first_byte / bank_bytes; b <= f.last_byte / bank_bytes && b < 8; ++b)
        banks |= 1u << b;
    return static_cast<std::uint8_t>(banks);
}

/// Bit mask of the 32 x 32 blocks of the array that the tile occupies.
std::uint16_t blocks_of(std::uint8_t tile) {
    const pe_tile t = pe_tile_of(tile);
    unsigned mask = 0;
    for (unsigned r = t.row / 32; r < (t.row + t.rows) / 32 && r < 4; ++r)
        for (unsigned c = t.column / 32; c < (t.column + t.columns) / 32 && c < 4; ++c)
            mask |= 1u << (4 * r + c);
    return static_cast<std::uint16_t>(mask);
}

footprint scalar_footprint(const scalar_operand& s, unsigned partitions) {
    if (s.kind != scalar_kind::tile) return {};
    return {s.place.space,
            {s.place.partition, partitions},
            s.place.offset,
            s.place.offset + numerics::size_of(s.type) - 1};
}

}  // namespace

std::array<footprint, 4> issue_window::reads_of(const instruction& i) const {
    const unsigned lanes =
        std::max<unsigned>(i.dst.present() ? i.dst.partitions : i.a.partitions, 1);
    const operand_footprints f = footprints_of(i, sizes_);
    return {f.a, writes_b(i) ? footprint{} : f.b, scalar_footprint(i.s0, lanes),
            scalar_footprint(i.s1, lanes)};
}

std::array<footprint, 2> issue_window::writes_of(const instruction& i) const {
    const operand_footprints f = footprints_of(i, sizes_);
    return {f.dst, writes_b(i) ? f.b : footprint{}};
}

std::uint64_t issue_window::free(const instruction& i, std::uint64_t begin) const {
    std::uint64_t start = begin;
    if (i.opcode == opcode::load_stationary) {
        // The array holds two stationaries: a third waits for the multiplies of the oldest.
        start = std::max(start, next_load_);
        for (unsigned b = 0; b < blocks_.size(); ++b)
            if ((blocks_of(i.tile) >> b & 1) != 0) start = std::max(start, blocks_[b].previous);
    } else if (i.opcode == opcode::multiply) {
        for (unsigned b = 0; b < blocks_.size(); ++b)
            if ((blocks_of(i.tile) >> b & 1) != 0)
                start = std::max({start, blocks_[b].loaded, blocks_[b].multiplied});
    } else {
        start = std::max(start, next_);
    }
    return start;
}

std::uint64_t issue_window::earliest(const instruction& i, std::uint64_t begin) const {
    std::uint64_t start = free(i, begin);
    const auto reads = reads_of(i);
    const auto written = writes_of(i);
    for (const flight& f : flights_) {
        if (f.complete <= start) continue;
        const auto meets = [](const auto& reads, const auto& writes) {
            return std::ranges::any_of(reads, [&](const footprint& read) {
                return std::ranges::any_of(
                    writes, [&](const footprint& other) { return read.overlaps(other); });
            });
        };
        if (meets(reads, f.written) || meets(f.read, written)) start = f.complete;
    }
    return start;
}

void issue_window::issued(const instruction& i, const cost& c, std::uint64_t start) {
    const std::uint64_t end = start + c.interval;
    if (i.opcode == opcode::load_stationary) {
        next_load_ = end;
        for (unsigned b = 0; b < blocks_.size(); ++b)
            if ((blocks_of(i.tile) >> b & 1) != 0)
                blocks_[b] = {end, blocks_[b].multiplied, blocks_[b].multiplied};
    } else if (i.opcode == opcode::multiply) {
        for (unsigned b = 0; b < blocks_.size(); ++b)
            if ((blocks_of(i.tile) >> b & 1) != 0) blocks_[b].multiplied = end;
    } else {
        next_ = end;
    }
    std::erase_if(flights_, [&](const flight& f) { return f.complete <= start; });
    flights_.push_back({start + c.latency, writes_of(i), reads_of(i)});
}

memory_ports::use memory_ports::use_of(const instruction& i, const cost& c,
                                       const partition_sizes& sizes) {
    use u;
    const operand_footprints operands = footprints_of(i, sizes);
    for (const footprint& f : {operands.dst, operands.a, operands.b}) {
        u.sbuf |= f.space == space::sbuf;
        u.psum_banks |= banks_of(f);
    }
    u.wide = c.rate > 1;
    return u;
}

sc_core::sc_time memory_ports::free_at(engine e, generation g, const use& wanted) const {
    const auto other = [this](engine user) -> const use& {
        return uses_[static_cast<unsigned>(user)];
    };
    sc_core::sc_time free = sc_core::SC_ZERO_TIME;
    const bool v2 = g == generation::v2;
    const auto sbuf = [&](const use& vector, const use& gpsimd, const use& busy) {
        if (vector.sbuf && gpsimd.sbuf && (v2 || vector.wide)) free = std::max(free, busy.until);
    };
    const auto psum = [&](const use& busy) {
        const bool together = v2 ? wanted.psum_banks != 0 && busy.psum_banks != 0
                                 : (wanted.psum_banks & busy.psum_banks) != 0;
        if (together) free = std::max(free, busy.until);
    };
    if (e == engine::vector) {
        sbuf(wanted, other(engine::gpsimd), other(engine::gpsimd));
        psum(other(engine::scalar));
    } else if (e == engine::gpsimd) {
        sbuf(other(engine::vector), wanted, other(engine::vector));
    } else if (e == engine::scalar) {
        psum(other(engine::vector));
    }
    return free;
}

}  // namespace trn::isa
