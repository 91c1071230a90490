// SPDX-License-Identifier: Apache-2.0
#include "models/neuron_core/sequencer/timing/footprint.h"

namespace trn::isa {

namespace {

/// The first `used` of every `step` partitions of a tile.
partition_set some_of(const tile_operand& t, unsigned step, unsigned used) {
    partition_set set;
    for (unsigned first = 0; first < t.partitions; first += step)
        set = set | partition_set(t.place.partition + first,
                                  std::min<unsigned>(used, t.partitions - first));
    return set;
}

/// SHUFFLE: the partitions of DST whose entry in the mask is not 255.
partition_set shuffled(const instruction& i) {
    constexpr unsigned quadrant = 32;
    constexpr std::uint8_t unchanged = 255;
    partition_set set;
    for (unsigned p = 0; p < i.dst.partitions; ++p)
        if (i.shuffle[p % quadrant] != unchanged) set.add(i.dst.place.partition + p);
    return set;
}

}  // namespace

footprint footprint_of(const tile_operand& t, const partition_sizes& sizes) {
    if (!t.present()) return {};
    const auto [low, high] = t.reach();
    footprint f{t.place.space,
                {t.place.partition, t.partitions},
                t.place.offset + low,
                t.place.offset + high + numerics::size_of(t.type) - 1};
    if (t.indirect) {  // the elements may be anywhere in their partitions
        f.first_byte = 0;
        f.last_byte = std::int64_t{t.place.space == space::psum ? sizes.psum : sizes.sbuf} - 1;
    }
    return f;
}

operand_footprints footprints_of(const instruction& i, const partition_sizes& sizes) {
    operand_footprints f{footprint_of(i.dst, sizes), footprint_of(i.a, sizes),
                         footprint_of(i.b, sizes)};
    if (i.opcode == opcode::quantize_mx || i.has_mode(mode::mx)) {
        f.b.partitions = some_of(i.b, 32, 4);  // scales
    } else if (i.opcode == opcode::nonzero_count) {
        f.dst.partitions = some_of(i.dst, 16, 1);
        f.a.partitions = some_of(i.a, 16, 1);
    } else if (i.opcode == opcode::shuffle) {
        f.dst.partitions = shuffled(i);
        f.a.partitions = {i.a.place.partition, (i.a.partitions + 31u) / 32 * 32};
    }
    return f;
}

}  // namespace trn::isa
