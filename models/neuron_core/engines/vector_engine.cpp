// SPDX-License-Identifier: Apache-2.0
#include "models/neuron_core/engines/vector_engine.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstring>
#include <limits>
#include <numeric>

#include "models/neuron_isa/numerics/activation.h"
#include "models/neuron_isa/numerics/mx.h"
#include "models/neuron_isa/numerics/rules.h"

namespace trn {

using isa::accumulator_command;
using isa::opcode;
using numerics::alu;
using numerics::element;

vector_engine::vector_engine(isa::core_memory& memory, isa::generation generation)
    : lane_engine(memory, generation) {
    vector_engine::reset();
}

void vector_engine::reset() {
    lane_engine::reset();
    for (auto& m : match_) m.fill(0);
    for (unsigned p = 0; p < lanes; ++p) {
        lfsr_[p] = numerics::lfsr(p);
        for (unsigned g = 0; g < 4; ++g) xorwow_[p][g] = numerics::xorwow(p, g);
    }
}

/// Whether an instruction leaves the accumulators undefined when it does not use them (spec 3.5).
static bool has_accumulators(opcode o) {
    return o == opcode::tensor_scalar_reduce || o == opcode::exponential ||
           o == opcode::range_select || o == opcode::select_reduce;
}

void vector_engine::run(execution& e) {
    if (e.command() == accumulator_command::idle && has_accumulators(e.i.opcode))
        undefined_accumulators_ = true;  // their values stay; later reductions on them are counted
    switch (e.i.opcode) {
    case opcode::copy:
        return copy(e);
    case opcode::memset:
        return memset(e);
    case opcode::copy_predicated:
        return copy_predicated(e);
    case opcode::tensor_tensor:
        return tensor_tensor(e);
    case opcode::tensor_scalar:
    case opcode::tensor_scalar_reduce:
        return tensor_scalar(e);
    case opcode::scalar_tensor_tensor:
        return scalar_tensor_tensor(e);
    case opcode::tensor_reduce:
        return e.is_bitvec() ? bitvec_reduce(e) : tensor_reduce(e);
    case opcode::tensor_scalar_cumulative:
        return tensor_scalar_cumulative(e);
    case opcode::tensor_tensor_scan:
        return tensor_tensor_scan(e);
    case opcode::read_accumulator:
        return read_accumulator(e);
    case opcode::transpose_32:
        return transpose_32(e);
    case opcode::shuffle:
        return shuffle(e);
    case opcode::reciprocal:
        return elementwise(e, [n = e.i.a.elements()](unsigned, float* x) {
            numerics::activate(numerics::activation::reciprocal, x, n);
        });
    case opcode::exponential:
        return exponential(e);
    case opcode::bn_stats:
        return bn_stats(e);
    case opcode::bn_aggr:
        return bn_aggr(e);
    case opcode::max8:
        return max8(e);
    case opcode::match_load:
        return match_load(e);
    case opcode::find_index8:
        return find_index8(e);
    case opcode::match_replace8:
        return match_replace8(e);
    case opcode::range_select:
        return range_select(e);
    case opcode::select_reduce:
        return select_reduce(e);
    case opcode::dropout:
        return dropout(e);
    case opcode::rng:
        return rng(e);
    case opcode::rand2:
        return rand2(e);
    case opcode::set_rng_seed:
        return set_rng_seed(e);
    case opcode::rand_set_state:
        return rand_set_state(e);
    case opcode::rand_get_state:
        return rand_get_state(e);
    case opcode::quantize_mx:
        return quantize_mx(e);
    default:
        throw isa::fault_of(isa::error::illegal_instruction, isa::reason::opcode);
    }
}

// ---- rows 25 to 32

void vector_engine::copy_predicated(execution& e) {
    const tile predicate = e.source_b();
    tile dst = e.destination();
    const std::size_t n = dst.elements();
    const bool from_tile = e.i.a.present();
    if (!from_tile && dst.type() > element::uint32)  // no conversion makes such an element
        throw isa::fault_of(isa::error::bad_operand, isa::reason::type, isa::operand::dst);
    const tile a = from_tile ? e.source_a() : predicate;
    const scalar_values s0 = e.s0(dst.partitions());
    std::vector<std::uint8_t> row(n * dst.element_bytes()), mask(n);
    std::vector<std::uint32_t> y(n);
    std::vector<float> filler(n);
    const bool wanted = !e.has_mode(isa::mode::predicate_reversed);
    for (unsigned p = 0; p < dst.partitions(); ++p) {
        predicate.read(p, y.data());
        for (std::size_t k = 0; k < n; ++k) mask[k] = (y[k] != 0) == wanted;
        if (from_tile) {
            a.read(p, row.data());
        } else {
            std::ranges::fill(filler, s0[p]);
            e.convert(dst.type(), p, n, filler.data(), row.data());
        }
        e.put_where(dst, p, row.data(), mask.data());
    }
}

void vector_engine::scalar_tensor_tensor(execution& e) {
    const tile b = e.source_b();
    const scalar_values s0 = e.s0(b.partitions());
    const std::size_t n = b.elements();
    row_buffer y(n);
    elementwise(e, [&](unsigned p, float* x) {
        b.read(p, y.data());
        numerics::apply(e.op0(), x, s0[p], n);
        numerics::apply(e.op1(), x, y.data(), n);
    });
}

/// Number of elements that TENSOR_REDUCE reduces to one result.
static std::size_t run_length(const isa::instruction& i) {
    std::size_t run = 1;
    for (unsigned d = 0; d < i.subdim; ++d) run *= i.a.pattern[d].count;
    return run;
}

void vector_engine::tensor_reduce(execution& e) {
    const tile a = e.source_a();
    tile dst = e.destination();
    const std::size_t n = a.elements(), run = run_length(e.i), results = n / run;
    std::vector<float> rows(n * lanes_at_once), out(results * lanes_at_once);
    for (unsigned first = 0; first < a.partitions(); first += lanes_at_once) {
        const unsigned count = std::min(lanes_at_once, a.partitions() - first);
        for (unsigned j = 0; j < count; ++j) a.read(first + j, rows.data() + j * n);
        for (std::size_t r = 0; r < count * results; ++r) out[r] = rows[r * run];
        numerics::fold(e.op0(), out.data(), rows.data() + 1, run, count * results, run - 1);
        if (e.has_mode(isa::mode::negate))
            for (float& x : out) x *= -1;
        for (unsigned j = 0; j < count; ++j) e.put(dst, first + j, out.data() + j * results);
    }
}

void vector_engine::bitvec_reduce(execution& e) {
    const tile a = e.source_a();
    tile dst = e.destination();
    const std::size_t run = run_length(e.i), results = a.elements() / run;
    std::vector<std::uint32_t> row(a.elements()), out(results);
    for (unsigned p = 0; p < a.partitions(); ++p) {
        a.read(p, row.data());
        for (std::size_t r = 0; r < results; ++r)
            out[r] = numerics::fold(e.op0(), row[r * run], &row[r * run] + 1, run - 1);
        e.put_bits(dst, p, out.data());
    }
}

void vector_engine::tensor_scalar_cumulative(execution& e) {
    const tile a = e.source_a();
    tile dst = e.destination();
    const scalar_values s0 = e.s0(a.partitions());
    const scalar_values start = e.s1(a.partitions(), numerics::start_value(e.op1()));
    if (e.command() == accumulator_command::reduce)
        misuse_.reduce_without_reset += undefined_accumulators_ ? 1 : 0;
    undefined_accumulators_ = false;
    std::vector<float> row(a.elements());
    for (unsigned p = 0; p < a.partitions(); ++p) {
        float& acc = accumulators_[p];
        if (e.command() != accumulator_command::reduce) acc = start[p];
        a.read(p, row.data());
        numerics::apply(e.op0(), row.data(), s0[p], row.size());
        acc = numerics::scan(e.op1(), acc, row.data(), row.size());
        e.put(dst, p, row.data());
    }
}

void vector_engine::tensor_tensor_scan(execution& e) {
    const tile b = e.source_b();
    const scalar_values s0 = e.s0(b.partitions());
    std::vector<float> y(b.elements());
    elementwise(e, [&](unsigned p, float* x) {
        b.read(p, y.data());
        numerics::scan({e.op0(), e.has_mode(isa::mode::reverse0)},
                       {e.op1(), e.has_mode(isa::mode::reverse1)}, s0[p], x, y.data(), y.size());
    });
}

// ---- rows 34 to 43

void vector_engine::transpose_32(execution& e) {
    const tile a = e.source_a();
    tile dst = e.destination();
    const unsigned size = a.element_bytes();
    const std::size_t n = a.elements(), out_n = dst.elements();
    const auto input = a.read_all<std::uint8_t>();
    std::vector<std::uint8_t> out(dst.partitions() * out_n * size);
    for (std::size_t p = 0; p < dst.partitions(); ++p)
        for (std::size_t k = 0; k < out_n; ++k) {
            const std::size_t source = p / 32 * 32 + k % 32, element = k / 32 * 32 + p % 32;
            std::memcpy(out.data() + (p * out_n + k) * size,
                        input.data() + (source * n + element) * size, size);
        }
    for (unsigned p = 0; p < dst.partitions(); ++p)
        e.put_bits(dst, p, out.data() + p * out_n * size);
}

void vector_engine::shuffle(execution& e) {
    constexpr unsigned quadrant = 32;
    constexpr std::uint8_t unchanged = 255;
    // Partitions of the last quadrant after the tile's last are sources too.
    isa::tile_operand whole = e.i.a;
    whole.partitions =
        static_cast<std::uint16_t>((whole.partitions + quadrant - 1) / quadrant * quadrant);
    const tile a = e.source(whole, isa::operand::a);
    tile dst = e.destination();
    const std::size_t bytes = a.elements() * a.element_bytes();
    const auto input = a.read_all<std::uint8_t>();
    for (unsigned p = 0; p < dst.partitions(); ++p) {
        const std::uint8_t source = e.i.shuffle[p % quadrant];
        if (source == unchanged) continue;
        e.put_bits(dst, p, input.data() + (p / quadrant * quadrant + source) * bytes);
    }
}

void vector_engine::exponential(execution& e) {
    const scalar_values s0 = e.s0(e.i.a.partitions);
    elementwise(e, [&, n = e.i.a.elements()](unsigned p, float* x) {
        if (e.i.s0.present()) numerics::apply(alu::subtract, x, s0[p], n);
        numerics::activate(numerics::activation::exp, x, n);
    });
}

/// Calls compute(destination, p, row) with the elements of each partition of A.
template <class Compute>
static void for_rows(execution& e, Compute&& compute) {
    const tile a = e.source_a();
    tile dst = e.destination();
    std::vector<float> row(a.elements());
    for (unsigned p = 0; p < a.partitions(); ++p) {
        a.read(p, row.data());
        compute(dst, p, row);
    }
}

void vector_engine::bn_stats(execution& e) {
    for_rows(e, [&](tile& dst, unsigned p, const std::vector<float>& row) {
        std::array<float, 6> out{};
        for (std::size_t half = 0; half < 2; ++half) {
            float sum = 0, count = 0, m2 = 0;
            for (std::size_t k = half; k < row.size(); k += 2) sum += row[k], ++count;
            const float mean = sum / count;
            for (std::size_t k = half; k < row.size(); k += 2)
                m2 += (row[k] - mean) * (row[k] - mean);
            out[3 * half] = count;
            out[3 * half + 1] = mean;
            out[3 * half + 2] = m2;
        }
        e.put(dst, p, out.data());
    });
}

void vector_engine::bn_aggr(execution& e) {
    for_rows(e, [&](tile& dst, unsigned p, const std::vector<float>& row) {
        float n = 0, sum = 0, m2 = 0, spread = 0;
        for (std::size_t t = 0; t < row.size(); t += 3) {
            n += row[t];
            sum += row[t] * row[t + 1];
        }
        const float mean = sum / n;
        for (std::size_t t = 0; t < row.size(); t += 3) {
            m2 += row[t + 2];
            spread += row[t] * ((row[t + 1] - mean) * (row[t + 1] - mean));
        }
        std::array<float, 2> out{mean, (m2 + spread) / n};
        e.put(dst, p, out.data());
    });
}

void vector_engine::max8(execution& e) {
    for_rows(e, [&](tile& dst, unsigned p, const std::vector<float>& row) {
        std::array<float, matches> best;
        best.fill(std::numeric_limits<float>::quiet_NaN());
        for (const float x : row) {
            // Insert after the last value that is not smaller; NaN is smaller than every number.
            unsigned place = matches;
            while (place > 0 &&
                   (x > best[place - 1] || (std::isnan(best[place - 1]) && !std::isnan(x))))
                --place;
            if (place == matches) continue;
            std::shift_right(best.begin() + place, best.end(), 1);
            best[place] = x;
        }
        e.put(dst, p, best.data());
    });
}

void vector_engine::match_load(execution& e) {
    const tile a = e.source_a();
    for (unsigned p = 0; p < a.partitions(); ++p) a.read(p, match_[p].data());
}

/// Returns the first index of `value` in `row` that is not taken yet, and marks it as taken.
static std::uint32_t find_match(const std::vector<float>& row, float value,
                                std::vector<bool>& taken) {
    for (std::uint32_t k = 0; k < row.size(); ++k)
        if (row[k] == value && !taken[k]) {
            taken[k] = true;
            return k;
        }
    return ~0u;
}

void vector_engine::find_index8(execution& e) {
    for_rows(e, [&](tile& dst, unsigned p, const std::vector<float>& row) {
        std::vector<bool> taken(row.size());
        std::array<std::uint32_t, matches> found;
        for (unsigned j = 0; j < matches; ++j) found[j] = find_match(row, match_[p][j], taken);
        e.put_bits(dst, p, found.data());
    });
}

void vector_engine::match_replace8(execution& e) {
    const tile a = e.source_a();
    tile dst = e.destination();
    const bool keeps_bits = a.type() == dst.type(), wants_indices = e.i.b.present();
    tile indices(memory_, wants_indices ? e.i.b : e.i.dst, isa::operand::b);
    const unsigned size = dst.element_bytes();
    const std::size_t n = a.elements();
    std::vector<float> row(n);
    std::vector<std::uint8_t> bits(n * size), filler(n * size);
    std::vector<float> value(n, std::bit_cast<float>(e.i.imm));
    for (unsigned p = 0; p < a.partitions(); ++p) {
        a.read(p, row.data());
        e.convert(dst.type(), p, n, value.data(), filler.data());
        if (keeps_bits) {
            a.read(p, bits.data());
        } else {
            e.convert(dst.type(), p, n, row.data(), bits.data());
        }
        std::vector<bool> taken(n);
        std::array<std::uint32_t, matches> found;
        for (unsigned j = matches; j-- > 0;) {
            found[j] = find_match(row, match_[p][j], taken);
            if (found[j] != ~0u)
                std::memcpy(bits.data() + found[j] * size, filler.data() + found[j] * size, size);
        }
        e.put_bits(dst, p, bits.data());
        if (wants_indices) e.put_bits(indices, p, found.data());
    }
}

// ---- rows 44 to 46: choice between elements of A and another value

template <class Choose>
void vector_engine::select(execution& e, const scalar_values& other, Choose&& choose) {
    const tile a = e.source_a();
    tile dst = e.destination();
    prepare_accumulators(e, a.partitions());
    const std::size_t n = a.elements();
    std::vector<float> x(n);
    std::vector<std::uint8_t> taken(n);
    for (unsigned p = 0; p < a.partitions(); ++p) {
        a.read(p, x.data());
        choose(p, x.data(), taken.data());
        for (std::size_t k = 0; k < n; ++k)
            if (taken[k] == 0) x[k] = other[p];
        e.put_selected(dst, a, p, x.data(), taken.data());
        accumulate(e, p, 1, x.data(), n);
    }
}

void vector_engine::range_select(execution& e) {
    const unsigned count = e.i.dst.partitions;
    const scalar_values s0 = e.s0(count), s1 = e.s1(count);
    const scalar_values other(memory_, {}, isa::operand::none, count,
                              numerics::rules::out_of_range);
    const std::size_t n = e.i.a.elements();
    std::vector<float> index(n), low(n), high(n);
    const auto first = static_cast<float>(static_cast<std::int32_t>(e.i.imm));
    for (std::size_t k = 0; k < n; ++k) index[k] = static_cast<float>(k) + first;
    select(e, other, [&](unsigned p, const float*, std::uint8_t* taken) {
        low = high = index;
        numerics::apply(e.op0(), low.data(), s0[p], n);
        numerics::apply(e.op1(), high.data(), s1[p], n);
        for (std::size_t k = 0; k < n; ++k) taken[k] = low[k] != 0 && high[k] != 0;
    });
}

void vector_engine::select_reduce(execution& e) {
    const tile predicate = e.source_b();
    const scalar_values s0 = e.s0(predicate.partitions());
    const bool wanted = !e.has_mode(isa::mode::predicate_reversed);
    std::vector<std::uint32_t> y(predicate.elements());
    select(e, s0, [&](unsigned p, const float*, std::uint8_t* taken) {
        predicate.read(p, y.data());
        for (std::size_t k = 0; k < y.size(); ++k) taken[k] = (y[k] != 0) == wanted;
    });
}

void vector_engine::dropout(execution& e) {
    const scalar_values rate = e.s0(e.i.dst.partitions);
    const scalar_values zero(memory_, {}, isa::operand::none, e.i.dst.partitions);
    const bool keeps_below = e.has_mode(isa::mode::keep_rate);
    select(e, zero, [&, n = e.i.a.elements()](unsigned p, const float*, std::uint8_t* taken) {
        const bool keeps_all = std::isnan(rate[p]);  // spec 20.52
        for (std::size_t k = 0; k < n; ++k) {
            const bool below = numerics::rules::below_rate(random(p, k), rate[p]);
            taken[k] = keeps_all || below == keeps_below;
        }
    });
}

// ---- rows 47 to 50: random numbers

std::uint32_t vector_engine::random(unsigned lane, std::size_t j) {
    return has_xorwow() ? xorwow_[lane][j % 4].next() : lfsr_[lane].next();
}

void vector_engine::rng(execution& e) {
    tile dst = e.destination();
    std::vector<std::uint32_t> row(dst.elements());
    for (unsigned p = 0; p < dst.partitions(); ++p) {
        for (std::size_t k = 0; k < row.size(); ++k) row[k] = random(p, k);
        e.put_bits(dst, p, row.data());
    }
}

void vector_engine::rand2(execution& e) {
    tile dst = e.destination();
    const scalar_values low = e.s0(dst.partitions()), high = e.s1(dst.partitions());
    std::vector<float> row(dst.elements());
    for (unsigned p = 0; p < dst.partitions(); ++p) {
        const float range = high[p] - low[p];
        for (std::size_t k = 0; k < row.size(); ++k)
            row[k] = low[p] + numerics::rules::unit_interval(random(p, k)) * range;
        e.put(dst, p, row.data());
    }
}

void vector_engine::set_rng_seed(execution& e) {
    std::uint32_t seed;
    e.source_a().read(0, &seed);
    for (unsigned p = 0; p < lanes; ++p) {
        lfsr_[p].seed(seed, p);
        for (unsigned g = 0; g < 4; ++g) xorwow_[p][g] = numerics::xorwow(p, g, seed);
    }
}

void vector_engine::rand_set_state(execution& e) {
    const tile a = e.source_a();
    std::array<numerics::xorwow::state, 4> words;
    for (unsigned p = 0; p < a.partitions(); ++p) {
        a.read(p, words[0].data());
        for (unsigned g = 0; g < 4; ++g) xorwow_[p][g].set(words[g]);
    }
}

void vector_engine::rand_get_state(execution& e) {
    tile dst = e.destination();
    std::array<numerics::xorwow::state, 4> words;
    for (unsigned p = 0; p < dst.partitions(); ++p) {
        for (unsigned g = 0; g < 4; ++g) words[g] = xorwow_[p][g].get();
        e.put_bits(dst, p, words[0].data());
    }
}

// ---- row 51

void vector_engine::quantize_mx(execution& e) {
    constexpr unsigned block_partitions = 8, packed = 4;
    const tile a = e.source_a();
    tile dst = e.destination();
    tile scales(memory_, e.i.b, isa::operand::b);
    const std::size_t columns = dst.elements();
    const auto input = a.read_all<float>();
    std::vector<std::uint8_t> scale_row(columns);
    std::vector<std::uint8_t> rows(block_partitions * columns * packed);
    for (unsigned first = 0; first < a.partitions(); first += block_partitions) {
        for (std::size_t f = 0; f < columns; ++f) {
            std::array<float, numerics::mx_block> values;
            for (unsigned r = 0; r < block_partitions; ++r)
                std::copy_n(input.data() + (first + r) * a.elements() + f * packed, packed,
                            values.data() + r * packed);
            const auto block = numerics::quantise(dst.type(), values, e.has_mode(isa::mode::ocp));
            scale_row[f] = block.scale;
            for (unsigned r = 0; r < block_partitions; ++r)
                std::copy_n(block.values + r * packed, packed, &rows[(r * columns + f) * packed]);
        }
        for (unsigned r = 0; r < block_partitions; ++r)
            e.put_bits(dst, first + r, rows.data() + r * columns * packed);
        e.put_bits(scales, numerics::scale_partition(first), scale_row.data());
    }
}

}  // namespace trn
