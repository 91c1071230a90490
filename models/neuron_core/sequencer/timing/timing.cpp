// SPDX-License-Identifier: Apache-2.0
#include "models/neuron_core/sequencer/timing/timing.h"

#include <algorithm>
#include <cstdlib>

#include "models/neuron_core/sequencer/timing/footprint.h"
#include "models/neuron_isa/instructions/native_functions.h"

namespace trn::isa {

namespace {

using numerics::element;

constexpr std::uint64_t min_interval = 64;       // [A] lanes and Tensor
constexpr std::uint64_t gpsimd_start = 150;      // [A]
constexpr std::uint64_t dynamic_interval = 600;  // [A] v2, operands by register
// From the interval's end to completion: Tensor [V], Scalar, GPSIMD (part of its start), Vector,
// Sync.
constexpr std::uint64_t pipeline[engine_count] = {320, 200, 0, 110, 0};

constexpr std::uint64_t megahertz[engine_count][3] = {{2800, 2400, 2400},
                                                      {1400, 1200, 1200},
                                                      {1400, 1200, 1200},
                                                      {1120, 960, 1200},
                                                      {1400, 1200, 1200}};

constexpr std::uint64_t ceil_div(std::uint64_t a, std::uint64_t b) {
    return (a + b - 1) / b;
}

bool is_16_bit_float(element t) {
    return t == element::bf16 || t == element::fp16;
}
bool is_fp8(element t) {
    return t >= element::fp8_e3m4 && t <= element::fp8_e5m2;
}
bool in_psum(const tile_operand& t) {
    return t.place.space == space::psum;
}
bool contiguous(const tile_operand& t) {
    return t.pattern[0].count == 1 || t.pattern[0].stride == 1;
}

/// Elements per partition that pass through the lanes.
std::uint64_t elements_of(const instruction& i) {
    return std::max(i.dst.elements(), i.a.elements());
}

/// Elements per cycle of COPY and TENSOR_SCALAR (spec 9.3).
unsigned copy_rate(const instruction& i, engine e, generation g) {
    if (g == generation::v2 || !i.a.present()) return 1;
    const auto fits = [&](element t) {
        return is_16_bit_float(t) || (g == generation::v4 && e == engine::vector && is_fp8(t));
    };
    if (!fits(i.dst.type) || !fits(i.a.type)) return 1;
    if (e == engine::scalar) return g == generation::v4 ? 2 : 1;
    if (e != engine::vector) return 1;
    const bool full = !in_psum(i.dst) && !in_psum(i.a) && contiguous(i.dst) && contiguous(i.a);
    if (full) return 4;
    return in_psum(i.dst) && in_psum(i.a) ? 1 : 2;
}

std::uint64_t tensor_tensor(const instruction& i, generation g, std::uint64_t n, unsigned& rate) {
    const bool sbuf = !in_psum(i.a) && !in_psum(i.b);
    const auto all = [&](auto fits) {
        return fits(i.dst.type) && fits(i.a.type) && fits(i.b.type);
    };
    if (g != generation::v2 && sbuf && all(is_16_bit_float)) {
        rate = 2;
        return ceil_div(n, 2);
    }
    const bool sums = i.op0 >= unsigned(alu::add) && i.op0 <= unsigned(alu::mult);
    const bool bf16 = all([](element t) { return t == element::bf16; });
    const bool straight = contiguous(i.dst) && contiguous(i.a) && contiguous(i.b);
    return !sbuf || (bf16 && straight && sums) ? n : 2 * n;
}

std::uint64_t tensor_engine(const instruction& i, generation g) {
    if (i.opcode == opcode::load_stationary) {
        const std::uint64_t columns = i.a.elements() / (i.has_mode(mode::double_row) ? 2 : 1);
        return std::max<std::uint64_t>(columns / 4, 16);
    }
    const std::uint64_t columns = i.dst.partitions;
    std::uint64_t cycles = std::max(i.dst.elements(), std::min<std::uint64_t>(64, columns));
    if (i.a.type == element::fp32) {
        const bool fast = i.has_mode(mode::onezero_stationary | mode::onezero_moving) ||
                          (i.has_mode(mode::transpose) && g != generation::v2);
        cycles *= fast ? 2 : 4;
    }
    return cycles;
}

std::uint64_t gpsimd(const instruction& i) {
    const std::uint64_t n = elements_of(i);
    const std::uint64_t partitions = std::max(i.dst.partitions, i.a.partitions);
    switch (i.opcode) {
    case opcode::tensor_scalar:
        if (i.op0 == unsigned(alu::rsqrt) || i.op1 == unsigned(alu::rsqrt))
            return gpsimd_start + 4 * n;
        return gpsimd_start + n;
    case opcode::local_gather: {
        // C of spec 9: (28 + 4e) / (4e) / min(4 / size, e).
        const double e = i.imm, size = numerics::size_of(i.a.type);
        const double c = (28 + 4 * e) / (4 * e) / std::min(4 / size, e);
        return gpsimd_start + static_cast<std::uint64_t>(i.s0.value * e / c);
    }
    case opcode::gather_n:
        return gpsimd_start * std::max<std::uint64_t>(ceil_div(n, 512), 1) + n;
    case opcode::topk:
        return 4 * std::uint64_t{i.imm} + i.dst.elements();
    case opcode::partition_reduce:
    case opcode::sequence_bounds:
    case opcode::nonzero_count:
    case opcode::pool_call:
        return gpsimd_start + n * partitions / 16;
    default:
        return gpsimd_start + n;
    }
}

std::uint64_t lanes(const instruction& i, engine e, generation g, unsigned& rate) {
    const std::uint64_t n = elements_of(i);
    const bool one_in_psum = in_psum(i.a) || in_psum(i.b);
    const auto bf16 = [](const tile_operand& t) { return t.type == element::bf16; };
    switch (i.opcode) {
    case opcode::copy:
    case opcode::tensor_scalar:
        rate = copy_rate(i, e, g);
        return ceil_div(n, rate);
    case opcode::memset:
        if (g == generation::v2 && i.imm == 0 && numerics::size_of(i.dst.type) == 2) rate = 2;
        return ceil_div(n, rate);
    case opcode::tensor_tensor:
        return tensor_tensor(i, g, n, rate);
    case opcode::scalar_tensor_tensor: {
        const bool fast = bf16(i.dst) && bf16(i.a) && bf16(i.b) && n % 2 == 0 &&
                          i.op0 == unsigned(alu::subtract) && i.op1 == unsigned(alu::mult);
        return fast ? n : 2 * n;
    }
    case opcode::tensor_tensor_scan:
        return 2 * n;
    case opcode::tensor_reduce:
        if (bf16(i.dst) && bf16(i.a) &&
            (i.op0 == unsigned(alu::add) || i.op0 == unsigned(alu::max)))
            rate = 2;
        return ceil_div(n, rate);
    case opcode::copy_predicated:
    case opcode::select_reduce:
        return one_in_psum ? n : 2 * n;
    case opcode::reciprocal:
        return 8 * n;
    case opcode::bn_aggr:
        return 13 * n / 3;
    case opcode::exponential:
    case opcode::rand2:
        rate = 4;
        return ceil_div(n, 4);
    case opcode::quantize_mx:
        rate = 4;
        return ceil_div(i.a.elements(), 4);
    default:
        return n;
    }
}

/// Spec 2.5: on v2, innermost strides of 16 bytes or more take twice as long.
bool strided(const tile_operand& t) {
    return t.present() && t.pattern[0].count > 1 &&
           static_cast<unsigned>(std::abs(t.pattern[0].stride)) * numerics::size_of(t.type) >= 16;
}

/// FLOPs of a matmul, weighted by its time relative to BF16 (spec 10.3).
std::uint64_t bf16_equivalent(const instruction& i, generation g, std::uint64_t flops) {
    if (i.has_mode(mode::mx)) return flops / 4;
    if (i.a.type == element::fp32) return flops * 4;
    return is_fp8(i.a.type) && g != generation::v2 ? flops / 2 : flops;
}

}  // namespace

std::uint64_t clock_of(engine e, generation g) {
    return megahertz[static_cast<unsigned>(e)][static_cast<unsigned>(g) - 2] * 1'000'000;
}

cost cost_of(const instruction& i, engine e, generation g) {
    cost c;
    const auto cycles_of_ns = [&](std::uint64_t ns) {
        return ceil_div(ns * (clock_of(e, g) / 1'000'000), 1000);
    };
    if (i.opcode >= opcode::dma_gather && i.opcode <= opcode::dma_gather_transpose)
        c.interval =
            cycles_of_ns(gather_start_ns + row_generation_ns * i.b.partitions * i.b.elements());
    else if (e == engine::tensor)
        c.interval = tensor_engine(i, g);
    else if (e == engine::gpsimd)
        c.interval = gpsimd(i);
    else
        c.interval = std::max(min_interval, lanes(i, e, g, c.rate));
    if (g == generation::v2) {
        if (e != engine::tensor && (strided(i.dst) || strided(i.a) || strided(i.b)))
            c.interval *= 2;
        if (i.dynamic_operands) c.interval = std::max(c.interval, dynamic_interval);
    }
    // A stationary tile is usable once it is loaded; results of a multiply also pass the pipeline.
    c.latency =
        c.interval + (i.opcode == opcode::load_stationary ? 0 : pipeline[static_cast<unsigned>(e)]);
    return c;
}

work work_of(const instruction& i, engine e, generation g) {
    const operand_footprints operands = footprints_of(i, {});
    const auto add = [](const tile_operand& t, const footprint& f, std::uint64_t& all,
                        std::uint64_t& psum) {
        const std::uint64_t bytes = t.elements() * f.partitions.count() * numerics::size_of(t.type);
        all += bytes;
        if (in_psum(t)) psum += bytes;
    };
    work w;
    add(i.a, operands.a, w.bytes_read, w.psum_bytes_read);
    add(i.dst, operands.dst, w.bytes_written, w.psum_bytes_written);
    if (writes_b(i))
        add(i.b, operands.b, w.bytes_written, w.psum_bytes_written);
    else
        add(i.b, operands.b, w.bytes_read, w.psum_bytes_read);
    const std::uint64_t results = i.dst.elements() * i.dst.partitions;
    if (i.opcode == opcode::multiply) {
        std::uint64_t depth = i.a.partitions;
        if (i.has_mode(mode::double_row)) depth *= 2;
        if (i.has_mode(mode::mx)) depth *= 4;
        w.flops = 2 * results * depth;
        w.bf16_flops = bf16_equivalent(i, g, w.flops);
    } else if (e == engine::vector || e == engine::scalar || e == engine::gpsimd) {
        w.flops = results;
    }
    return w;
}

}  // namespace trn::isa
