// SPDX-License-Identifier: Apache-2.0
#include "models/neuron_core/sequencer/dma/row_moves.h"

#include <algorithm>
#include <utility>

#include "models/dma/udma/descriptors/make_descriptor.h"

namespace trn {

namespace regs = dma_descriptor_regs;
namespace source = regs::m2s_control;
using isa::opcode;

namespace {

constexpr std::uint32_t max_side = 64;        // rows and columns of a matrix of one packet
constexpr std::uint32_t max_bytes = 0x10000;  // of a descriptor

}  // namespace

row_moves::row_moves(const sequencer_environment& environment, const isa::instruction& i,
                     std::vector<std::uint32_t> indices, std::uint32_t table_rows)
    : core_(environment),
      opcode_(i.opcode),
      tile_(i.opcode == opcode::dma_scatter ? i.a : i.dst),
      row_bytes_(i.imm),
      table_(i.table_base),
      table_rows_(table_rows),
      indices_(std::move(indices)) {
    const bool transposes = opcode_ == opcode::dma_gather_transpose;
    transposes ? find_blocks() : find_runs();
    const std::uint64_t units = transposes ? blocks_.size() : indices_.size();
    for (unsigned e = 0; e < engines; ++e)
        shares_[e] = {units * e / engines, units * (e + 1) / engines, 0};
}

/// Finds the contiguous runs of a row. In pattern order, elements are whole rows, one for each
/// column of indices.
void row_moves::find_runs() {
    const std::uint32_t size = numerics::size_of(tile_.type), per_row = row_bytes_ / size;
    std::uint32_t element = 0;
    tile_.for_elements([&](std::int64_t first) {
        const auto byte = static_cast<std::uint32_t>(first);
        if (element % per_row == 0) runs_.emplace_back();
        auto& runs = runs_.back();
        if (!runs.empty() && runs.back().in_partition + runs.back().bytes == byte &&
            runs.back().bytes + size <= max_bytes)
            runs.back().bytes += size;
        else
            runs.push_back({byte, element % per_row * size, size});
        ++element;
    });
}

/// Divides the indices into matrices of at most 64 x 64 elements. The indices of a matrix are
/// consecutive and inside the table.
void row_moves::find_blocks() {
    const auto n = static_cast<std::uint32_t>(indices_.size());
    for (std::uint32_t first = 0; first < n;) {
        if (indices_[first] >= table_rows_) {
            ++first;
            continue;
        }
        std::uint32_t end = first;
        while (end < n && end - first < max_side && indices_[end] < table_rows_) ++end;
        for (std::uint32_t e = 0; e < row_bytes_ / 2; e += max_side)
            blocks_.push_back({first, end - first, e, std::min(max_side, row_bytes_ / 2 - e)});
        first = end;
    }
}

std::uint64_t row_moves::table_row(std::uint64_t index) const {
    return table_ + std::uint64_t{indices_[index]} * row_bytes_;
}

std::uint64_t row_moves::in_sbuf(unsigned partition, std::uint32_t byte) const {
    return core_.id.sbuf +
           std::uint64_t{tile_.place.partition + partition} * core_.partitions.sbuf + byte;
}

std::uint32_t row_moves::max_descriptors() const {
    return opcode_ == opcode::dma_gather_transpose ? max_side + 1 : 1;
}

bool row_moves::next(unsigned engine, packet& filled) {
    filled.sources.clear();
    filled.destinations.clear();
    share& s = shares_[engine];
    if (opcode_ == opcode::dma_gather_transpose) {
        if (s.next == s.end) return false;
        transpose(blocks_[s.next++], filled);
        return true;
    }
    while (s.next < s.end && indices_[s.next] >= table_rows_) ++s.next;
    if (s.next == s.end) return false;
    const auto& runs = runs_[s.next / tile_.partitions];
    const run& r = runs[s.run];
    const std::uint64_t outside = table_row(s.next) + r.in_row;
    const std::uint64_t inside =
        in_sbuf(static_cast<unsigned>(s.next % tile_.partitions), r.in_partition);
    if (opcode_ == opcode::dma_scatter)
        copy(inside, outside, r.bytes, filled);
    else
        copy(outside, inside, r.bytes, filled);
    if (++s.run == runs.size()) {
        s.run = 0;
        ++s.next;
    }
    return true;
}

void row_moves::copy(std::uint64_t source_address, std::uint64_t destination, std::uint32_t bytes,
                     packet& p) const {
    const std::uint32_t length = bytes & 0xffff;
    p.sources.push_back(make_descriptor(source::first.mask() | source::last.mask() | length,
                                        m2s_meta_of(0), source_address));
    p.destinations.push_back(make_descriptor(length, 0, destination));
}

/// Makes a compute packet (doc/dma_compute.md) from rows of the table to rows of the result.
void row_moves::transpose(const block& b, packet& p) const {
    namespace op = regs::compute_operation;
    namespace parameter = regs::compute_parameter;
    constexpr unsigned compute = 1, transposes = 6, uint16 = 11;
    std::uint64_t word = op::operation.set(0, transposes);
    word = op::operands.set(op::to.set(op::from.set(word, uint16), uint16), 1);
    word |= parameter::columns.set(parameter::rows_.set(0, b.indices), b.elements) << 32;
    p.sources.push_back(make_descriptor(source::first.mask(), m2s_meta_of(compute), word));
    for (std::uint32_t n = 0; n < b.indices; ++n)
        p.sources.push_back(
            make_descriptor((n + 1 == b.indices ? source::last.mask() : 0) | b.elements * 2,
                            m2s_meta_of(0), table_row(b.first_index + n) + b.first_element * 2));
    for (std::uint32_t n = 0; n < b.elements; ++n)
        p.destinations.push_back(
            make_descriptor(b.indices * 2, 0,
                            in_sbuf(b.first_element + n, tile_.place.offset + b.first_index * 2)));
}

}  // namespace trn
