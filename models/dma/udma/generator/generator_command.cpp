// SPDX-License-Identifier: Apache-2.0
#include "models/dma/udma/generator/generator_command.h"

#include <algorithm>

#include "models/dma/udma/descriptors/make_descriptor.h"
#include "models/dma/udma/descriptors/operation.h"
#include "models/dma/udma/dma_generator_regs.h"

namespace trn {

namespace regs = dma_generator_regs;
namespace words = dma_descriptor_regs;
using regs::reg;

namespace {

constexpr std::uint32_t signal_bytes = 4;

}  // namespace

generator_command::generator_command(const register_bank& registers, unsigned queue,
                                     unsigned instance) {
    const auto get = [&](reg r, unsigned index) {
        return static_cast<std::uint32_t>(registers.get(r, index, instance));
    };
    const auto whole = [&](reg low, reg high) {
        return get(low, queue) | std::uint64_t{get(high, queue)} << 32;
    };
    const std::uint32_t mode = get(reg::mode, queue);
    const bool own_counts = regs::mode::own_counts.get(mode) != 0;
    source_.base = whole(reg::source_lo, reg::source_hi);
    source_.first = whole(reg::source_first_lo, reg::source_first_hi);
    source_.end = whole(reg::source_end_lo, reg::source_end_hi);
    destination_.base = whole(reg::destination_lo, reg::destination_hi);
    destination_.first = whole(reg::destination_first_lo, reg::destination_first_hi);
    destination_.end = whole(reg::destination_end_lo, reg::destination_end_hi);
    for (unsigned d = 0; d < dimensions; ++d) {
        const unsigned index = queue * dimensions + d;
        source_.counts[d] = get(reg::count, index) & 0xffff;
        destination_.counts[d] =
            own_counts ? get(reg::destination_count, index) & 0xffff : source_.counts[d];
        source_.strides[d] = static_cast<std::int32_t>(get(reg::source_stride, index));
        destination_.strides[d] = static_cast<std::int32_t>(get(reg::destination_stride, index));
    }
    bytes_ = static_cast<std::uint32_t>(regs::piece::bytes.get(get(reg::piece, queue)));
    write_barrier_ = regs::last::write_barrier.get(get(reg::last, queue)) != 0;
    interrupt_ = regs::last::interrupt.get(get(reg::last, queue)) != 0;
    signal_ = whole(reg::signal_lo, reg::signal_hi);
    signal_source_ = whole(reg::signal_source_lo, reg::signal_source_hi);
    transposes_ = regs::mode::transpose.get(mode) != 0;
    accumulates_ = regs::mode::accumulate.get(mode) != 0;
    bf16_ = regs::mode::bf16.get(mode) != 0;
    skips_ = regs::mode::skip.get(mode) != 0;
    priority_ = static_cast<unsigned>(regs::mode::priority.get(mode));
    if (transposes_) rows_ = source_.counts[0];

    const std::uint64_t pieces = source_.pieces();
    valid_ = bytes_ >= 1 && bytes_ <= dma_operation::max_operand_bytes && pieces > 0 &&
             pieces == destination_.pieces() && !(transposes_ && accumulates_);
    if (transposes_)
        valid_ = valid_ && rows_ <= max_rows && rows_ == destination_.counts[0] &&
                 std::uint64_t{rows_} * bytes_ <= dma_operation::max_operand_bytes &&
                 bytes_ % 2 == 0;
    if (!valid_) return;
    const bool part = regs::mode::part.get(mode) != 0;
    valid_ = choose_units(part ? get(reg::part_first, queue) : 0,
                          part ? get(reg::part_count, queue) : pieces / rows_);
}

/// Returns false if the units do not exist or are too many.
bool generator_command::choose_units(std::uint64_t first, std::uint64_t count) {
    const std::uint64_t all = source_.pieces() / rows_;
    if (first > all || count > all - first || count * rows_ > max_pieces) return false;
    if (count == 0 && signal_ == 0) return false;
    first_unit_ = first;
    units_ = static_cast<std::uint32_t>(count);
    if (!skips_) return true;
    for (std::uint64_t unit = first; unit < first + count; ++unit)
        if (is_inside(unit)) kept_.push_back(unit);
    units_ = static_cast<std::uint32_t>(kept_.size());
    return true;
}

bool generator_command::is_inside(std::uint64_t unit) const {
    for (std::uint64_t piece = unit * rows_; piece < (unit + 1) * rows_; ++piece)
        if (!source_.holds(source_.address(piece), bytes_) ||
            !destination_.holds(destination_.address(piece), bytes_))
            return false;
    return true;
}

/// The product of four 16-bit numbers.
std::uint64_t generator_command::side::pieces() const {
    std::uint64_t product = 1;
    for (const std::uint32_t count : counts) product *= count;
    return product;
}

std::uint64_t generator_command::side::address(std::uint64_t piece) const {
    std::uint64_t sum = base;
    for (unsigned d = 0; d < dimensions; ++d) {
        sum += (piece % counts[d]) * static_cast<std::uint64_t>(std::int64_t{strides[d]});
        piece /= counts[d];
    }
    return sum;
}

std::uint32_t generator_command::descriptors(dma_side side) const {
    return units_ * per_unit(side) + (signal_ != 0 ? 1 : 0);
}

dma_descriptor generator_command::descriptor(dma_side side, std::uint32_t n,
                                             unsigned ring_id) const {
    const bool last = n + 1 == descriptors(side), reads = side == dma_side::m2s;
    const std::uint32_t index = n / per_unit(side);
    dma_descriptor d;
    if (index < units_) {
        const std::uint64_t unit = skips_ ? kept_[index] : first_unit_ + index;
        d = reads ? source(unit, n % per_unit(side), ring_id)
                  : destination(unit, n % per_unit(side), ring_id);
    } else if (reads) {
        namespace control = words::m2s_control;
        const std::uint64_t word = control::first.mask() | control::last.mask() | signal_bytes;
        d = make_descriptor(control::ring_id.set(word, ring_id), m2s_meta_of(0), signal_source_);
    } else {
        d = make_descriptor(words::s2m_control::ring_id.set(signal_bytes, ring_id), 0, signal_);
    }
    if (last && reads && write_barrier_)
        d.words[1] |= static_cast<std::uint32_t>(words::m2s_meta::write_barrier.mask());
    if (last && !reads && interrupt_)
        d.words[0] |= static_cast<std::uint32_t>(words::s2m_control::interrupt.mask());
    return d;
}

dma_descriptor generator_command::source(std::uint64_t unit, std::uint32_t n,
                                         unsigned ring_id) const {
    namespace control = words::m2s_control;
    const bool computes = per_unit(dma_side::m2s) != rows_;
    if (computes && n == 0) return operation(ring_id);
    const std::uint32_t row = computes ? n - 1 : n;
    std::uint64_t word = control::ring_id.set(bytes_ & 0xffff, ring_id);
    if (!computes) word |= control::first.mask();
    if (row + 1 == rows_) word |= control::last.mask();
    return make_descriptor(word, m2s_meta_of(0), source_.address(unit * rows_ + row));
}

dma_descriptor generator_command::destination(std::uint64_t unit, std::uint32_t n,
                                              unsigned ring_id) const {
    return make_descriptor(words::s2m_control::ring_id.set(bytes_ & 0xffff, ring_id), 0,
                           destination_.address(unit * rows_ + n));
}

/// The COMPUTE descriptor of one unit.
dma_descriptor generator_command::operation(unsigned ring_id) const {
    namespace control = words::m2s_control;
    namespace op = words::compute_operation;
    namespace parameter = words::compute_parameter;
    constexpr unsigned compute = 1, add = 2, transpose = 6, fp32 = 0, bf16 = 2, uint16 = 11;
    const unsigned type = transposes_ ? uint16 : bf16_ ? bf16 : fp32;
    std::uint64_t word = op::operation.set(0, transposes_ ? transpose : add);
    word = op::operands.set(op::to.set(op::from.set(word, type), type), 1);
    if (accumulates_) word |= op::accumulate.mask();
    const std::uint64_t shape =
        transposes_ ? parameter::columns.set(parameter::rows_.set(0, rows_), bytes_ / 2) : 0;
    return make_descriptor(control::ring_id.set(control::first.mask(), ring_id),
                           m2s_meta_of(compute), word | shape << 32);
}

}  // namespace trn
