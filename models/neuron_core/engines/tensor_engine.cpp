// SPDX-License-Identifier: Apache-2.0
#include "models/neuron_core/engines/tensor_engine.h"

#include <algorithm>
#include <cstring>

#include "models/neuron_isa/numerics/matmul.h"
#include "models/neuron_isa/numerics/mx.h"

namespace trn {

using isa::error;
using isa::fault_of;
using isa::opcode;
using isa::reason;
using numerics::element;
namespace mode = isa::mode;

namespace {

/// Modes that MULTIPLY must share with LOAD_STATIONARY.
constexpr std::uint16_t shared_modes = mode::transpose | mode::mx | mode::double_row | mode::sparse;

unsigned compression(const isa::instruction& i) {
    return i.has_mode(mode::sparse) ? (i.mode >> mode::sparse_shift & 3) + 1u : 1u;
}

bool may_meet(element a, element b) {
    const auto is_32_bit = [](element e) { return e <= element::tf32; };
    if (is_32_bit(a) != is_32_bit(b)) return false;
    return !(std::min(a, b) == element::fp8_e4m3 && std::max(a, b) == element::fp8_e4m3fn);
}

}  // namespace

// ---- written PSUM banks

/// First and last byte of a tile in its partition.
static std::pair<std::uint32_t, std::uint32_t> extent(const isa::tile_operand& t) {
    constexpr std::int64_t psum_bytes = 8 * 2048;
    if (t.indirect) return {t.place.offset, psum_bytes - 1};
    const auto [low, high] = t.reach();
    return {static_cast<std::uint32_t>(t.place.offset + low),
            static_cast<std::uint32_t>(t.place.offset + high)};
}

template <class Visit>
void tensor_engine::for_banks(const isa::tile_operand& t, Visit&& visit) {
    const auto [low, high] = extent(t);
    for (unsigned p = 0; p < t.partitions; ++p)
        for (unsigned bank = low / bank_bytes; bank <= high / bank_bytes; ++bank)
            visit((t.place.partition + p) * psum_banks + bank);
}

void tensor_engine::note_written(const isa::tile_operand& dst) {
    for_banks(dst, [this](unsigned bank) { written_.set(bank); });
}

void tensor_engine::note_accumulated(const isa::tile_operand& dst) {
    bool undefined = false;
    for_banks(dst, [&](unsigned bank) { undefined |= !written_.test(bank); });
    misuse_.psum_accumulate_undefined += undefined ? 1 : 0;
}

isa::outcome tensor_engine::execute(const isa::instruction& i,
                                    const isa::number_settings& numbers) {
    execution e(memory_, i, numbers, index_group);
    const engine_misuse before = misuse_;
    try {
        if (i.opcode == opcode::load_stationary)
            load_stationary(e);
        else if (i.opcode == opcode::multiply)
            multiply(e);
        else
            throw fault_of(error::illegal_instruction, reason::opcode);
    } catch (const isa::fault& f) {
        return {f};
    }
    return {std::nullopt, e.numerical(), misuse_.since(before)};
}

void tensor_engine::reset() {
    stationary_ = {};
    written_.reset();
}

/// Large buffers without values between instructions: one set for all engines of a thread.
struct tensor_engine::scratch {
    matrix moving;
    std::vector<float> out;
    std::vector<float> kept;  // sparse
    std::vector<std::uint16_t> partners;

    static scratch& of_this_thread() {
        static thread_local scratch own;
        return own;
    }
};

void tensor_engine::matrix::widen() {
    if (wide.empty()) wide.assign(narrow.begin(), narrow.end());
}

void tensor_engine::read_matrix(const execution& e, matrix& m) {
    const tile a = e.source_a();
    const isa::instruction& i = e.i;
    m.narrow.clear();
    m.wide.clear();
    m.partitions = a.partitions();
    const bool mx = i.has_mode(mode::mx);
    m.products = mx ? 4 : i.has_mode(mode::double_row) ? 2 : compression(i);
    if (i.has_mode(mode::sparse) && i.opcode == opcode::load_stationary) m.products = 1;
    m.columns = mx ? a.elements() : a.elements() / m.products;
    m.is_wide = mx || i.has_mode(mode::double_row) || a.type() == element::fp32;

    const std::size_t n = m.products * m.columns;
    if (!mx) {
        m.narrow.resize(m.partitions * n);
        for (unsigned p = 0; p < m.partitions; ++p) a.read(p, &m.narrow[p * n]);
        return;
    }
    const tile scales = e.source_b();
    std::vector<std::uint8_t> packed(m.columns * a.element_bytes()), scale(m.columns);
    std::vector<float> values(n);
    m.wide.resize(m.partitions * n);
    for (unsigned p = 0; p < m.partitions; ++p) {
        a.read(p, packed.data());
        numerics::unpack(a.type(), packed.data(), values.data(), m.columns);
        scales.read(numerics::scale_partition(p), scale.data());
        for (std::size_t c = 0; c < m.columns; ++c)
            for (std::size_t j = 0; j < 4; ++j)  // exact: a power of two
                m.wide[p * n + j * m.columns + c] =
                    double{values[4 * c + j]} * double{numerics::scale_value(scale[c])};
    }
}

/// Reads `partners`: the value in row k with position t belongs to dense row (k div m) n + t.
void tensor_engine::read_tags(const execution& e, stationary& s) const {
    constexpr unsigned positions_per_tag = 4;
    const tile tags = e.source_b();
    const unsigned kept = e.i.imm, dense = kept * compression(e.i);
    std::vector<std::uint32_t> row(tags.elements());
    s.partners.resize(s.values.partitions * s.values.columns);
    for (unsigned k = 0; k < s.values.partitions; ++k) {
        tags.read(k, row.data());
        for (std::size_t c = 0; c < s.values.columns; ++c) {
            const unsigned position =
                row[c / positions_per_tag] >> (c % positions_per_tag * 4) & 15;
            if (position >= dense)
                throw fault_of(error::bad_operand, reason::value, isa::operand::b);
            s.partners[k * s.values.columns + c] =
                static_cast<std::uint16_t>(k / kept * dense + position);
        }
    }
}

void tensor_engine::load_stationary(execution& e) {
    stationary s;
    s.loaded = true;
    s.mode = e.i.mode & shared_modes;
    s.tile = e.i.tile;
    s.partition = e.i.a.place.partition;
    s.kept = e.i.imm;
    s.type = e.i.a.type;
    if (e.has_mode(mode::transpose)) {
        const tile a = e.source_a();
        s.values.partitions = a.partitions();
        s.values.columns = a.elements();
        s.bits = a.read_all<std::uint8_t>();
    } else {
        read_matrix(e, s.values);
        if (e.has_mode(mode::sparse)) read_tags(e, s);
    }
    stationary_ = std::move(s);
}

void tensor_engine::require_matching(const execution& e, const stationary& s) const {
    const auto refuse = [](reason why, isa::operand name) {
        throw fault_of(error::bad_operand, why, name);
    };
    if (!s.loaded || s.mode != (e.i.mode & shared_modes) || s.tile != e.i.tile || s.kept != e.i.imm)
        refuse(reason::mode, isa::operand::none);
    if (e.i.dst.partitions != s.values.columns) refuse(reason::shape, isa::operand::dst);
    if (e.i.dst.indirect && e.i.dst.index.partition != s.partition)  // spec 2.4
        refuse(reason::partitions, isa::operand::dst);
    if (e.has_mode(mode::transpose)) {
        const element result = numerics::size_of(s.type) == 1 ? element::uint16 : s.type;
        if (e.i.dst.type != result) refuse(reason::type, isa::operand::dst);
        if (e.i.dst.elements() != s.values.partitions) refuse(reason::shape, isa::operand::dst);
    }
    if (!may_meet(s.type, e.i.a.type)) refuse(reason::type, isa::operand::a);
}

void tensor_engine::transpose(execution& e, const stationary& s) {
    tile dst = e.destination();
    const unsigned from_size = numerics::size_of(s.type), size = dst.element_bytes();
    std::vector<std::uint8_t> row(dst.elements() * size);  // the upper byte of FP8 stays zero
    for (unsigned f = 0; f < dst.partitions(); ++f) {
        for (unsigned p = 0; p < dst.elements(); ++p)
            std::memcpy(&row[p * size], &s.bits[(p * s.values.columns + f) * from_size], from_size);
        e.put_bits(dst, f, row.data());
    }
    note_written(e.i.dst);
}

void tensor_engine::product(stationary& s, scratch& work) {
    matrix& moving = work.moving;
    const std::size_t n = moving.columns;
    work.out.resize(s.values.columns * n);
    // Rows that only one of the operands has contribute nothing.
    numerics::matmul_shape shape{std::min(s.values.partitions, moving.partitions),
                                 s.values.columns,
                                 n,
                                 s.values.columns,
                                 n,
                                 n};
    if (!s.partners.empty()) {
        shape.k = s.values.partitions;
        const std::size_t dense_rows = moving.partitions * moving.products;
        // A dense row beyond the moving rows: acc + (+0 x -0) leaves acc unchanged.
        moving.narrow.resize((dense_rows + 1) * n, -0.0f);
        work.kept = s.values.narrow;
        work.partners = s.partners;
        for (std::size_t c = 0; c < work.partners.size(); ++c)
            if (work.partners[c] >= dense_rows) {
                work.partners[c] = static_cast<std::uint16_t>(dense_rows);
                work.kept[c] = 0;
            }
        numerics::matmul_sparse(shape, work.kept.data(), work.partners.data(), moving.narrow.data(),
                                work.out.data());
    } else if (s.values.is_wide || moving.is_wide) {
        s.values.widen();
        moving.widen();
        numerics::matmul_wide(shape, moving.products, s.values.wide.data(), moving.wide.data(),
                              work.out.data());
    } else {
        numerics::matmul_narrow(shape, s.values.narrow.data(), moving.narrow.data(),
                                work.out.data());
    }
}

void tensor_engine::multiply(execution& e) {
    stationary& s = stationary_;
    require_matching(e, s);
    if (e.has_mode(mode::transpose)) {
        e.source_a();  // its values are not used, but the read is checked
        return transpose(e, s);
    }
    scratch& work = scratch::of_this_thread();
    const matrix& moving = work.moving;
    read_matrix(e, work.moving);
    tile dst = e.destination();
    const bool accumulates = e.has_mode(mode::accumulate);
    if (accumulates) dst.require_readable();
    product(s, work);
    std::vector<float> old(moving.columns);
    if (accumulates && generation_ != isa::generation::v4) note_accumulated(e.i.dst);
    for (unsigned m = 0; m < dst.partitions(); ++m) {
        float* const row = &work.out[m * moving.columns];
        if (accumulates) {
            dst.read(m, old.data());
            numerics::apply(numerics::alu::add, row, old.data(), moving.columns, true);
        }
        e.put(dst, m, row);
    }
    note_written(e.i.dst);
}

}  // namespace trn
