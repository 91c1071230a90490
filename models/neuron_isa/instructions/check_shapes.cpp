// SPDX-License-Identifier: Apache-2.0
#include "models/neuron_isa/instructions/check_shapes.h"

#include <bit>
#include <tuple>

#include "models/neuron_isa/instructions/native_functions.h"

namespace trn::isa {

namespace {

class shape_checks : instruction_checks {
public:
    shape_checks(decoded& d, const core_traits& core) : instruction_checks(d, core) {}

    finding run() const { return shapes(); }

private:
    static bool same_shape(const tile_operand& x, const tile_operand& y) {
        return x.partitions == y.partitions && x.elements() == y.elements();
    }
    static bool has(const tile_operand& t, unsigned partitions, std::uint64_t elements) {
        return t.partitions == partitions && t.elements() == elements;
    }
    /// Spec 3.9: whether the scale tile covers data of `partitions`; P/8 scale partitions are
    /// enough where P is less than a quadrant.
    static bool scales_fit(const tile_operand& scales, unsigned partitions, std::uint64_t columns) {
        return has(scales, 32 * ((partitions + 31) / 32 - 1) + 4, columns) ||
               (partitions <= 32 && has(scales, (partitions + 7) / 8, columns));
    }

    finding shapes() const {
        const tile_operand &dst = i_.dst, &a = i_.a, &b = i_.b;
        const auto fits = [](bool ok, operand name) {
            return ok ? std::nullopt : bad(reason::shape, name);
        };
        switch (kind_.shape) {
        case shape::none:
            return std::nullopt;
        case shape::native:
            return native_operands();
        case shape::elementwise:
            return elementwise();
        case shape::dst_only:
            if (is(opcode::memset) && is_x4(dst.type) && i_.imm != 0)
                return bad(reason::value, operand::dst);
            return std::nullopt;
        case shape::reduction:
            return reduction();
        case shape::column:
            return fits(dst.elements() == 1, operand::dst);
        case shape::transpose_32: {
            if (a.type != dst.type) return bad(reason::type, operand::a);
            const bool blocks = a.partitions % 32 == 0 && a.elements() % 32 == 0;
            const bool single_block = a.partitions <= 32 && a.elements() <= 32;
            return fits(
                (blocks && same_shape(a, dst)) ||
                    (single_block && has(dst, static_cast<unsigned>(a.elements()), a.partitions)),
                operand::a);
        }
        case shape::shuffle:
            if (a.type != dst.type) return bad(reason::type, operand::a);
            return fits(same_shape(a, dst), operand::a);
        case shape::bn_stats:
            if (a.elements() > 512) return bad(reason::count, operand::a);
            return fits(has(dst, a.partitions, 6), operand::dst);
        case shape::bn_aggr:
            if (a.elements() % 3 != 0) return bad(reason::count, operand::a);
            return fits(has(dst, a.partitions, 2), operand::dst);
        case shape::max8:
            if (a.elements() < 8 || a.elements() > 16'384) return bad(reason::count, operand::a);
            return fits(has(dst, a.partitions, 8), operand::dst);
        case shape::match_load:
            return fits(a.elements() == 8, operand::a);
        case shape::find_index8:
            return fits(has(dst, a.partitions, 8), operand::dst);
        case shape::match_replace8:
            if (!same_shape(a, dst)) return bad(reason::shape, operand::a);
            return fits(!b.present() || has(b, a.partitions, 8), operand::b);
        case shape::single_element:
            return fits(has(a, 1, 1), operand::a);
        case shape::rng_state: {
            const operand name = is(opcode::rand_set_state) ? operand::a : operand::dst;
            const tile_operand& t = name == operand::a ? a : dst;
            return fits(t.elements() == (on(engine::gpsimd) ? 6u : 24u), name);
        }
        case shape::quantize_mx:
            if (dst.partitions % 32 != 0) return bad(reason::partitions, operand::dst);
            if (!has(a, dst.partitions, 4 * dst.elements())) return bad(reason::shape, operand::a);
            return fits(scales_fit(b, dst.partitions, dst.elements()), operand::b);
        case shape::stationary:
            return stationary();
        case shape::multiply:
            return multiply();
        case shape::local_gather:
            return local_gather();
        case shape::gather_n:
            if (a.type != dst.type) return bad(reason::type, operand::a);
            if (a.partitions != dst.partitions) return bad(reason::shape, operand::a);
            return fits(same_shape(b, dst), operand::b);
        case shape::partition_reduce:
            if (is_bitvec())
                if (const finding f = bitvec_types()) return f;
            return fits(has(dst, 1, a.elements()), operand::dst);
        case shape::sequence_bounds:
            if (a.partitions != 1) return bad(reason::shape, operand::a);
            return fits(has(dst, 1, 2 * a.elements()), operand::dst);
        case shape::nonzero_count:
            return fits(has(dst, a.partitions, a.elements() + 1), operand::dst);
        case shape::topk:
            if (a.partitions % 16 != 0) return bad(reason::partitions, operand::a);
            if (i_.imm < 8 || i_.imm >= 65'536) return bad(reason::value);
            if (16 * a.elements() < i_.imm) return bad(reason::shape, operand::a);
            if (dst.partitions != a.partitions || dst.elements() > i_.imm)
                return bad(reason::shape, operand::dst);
            return fits(same_shape(b, dst), operand::b);
        case shape::gather_rows: {
            const bool gather = is(opcode::dma_gather);
            const tile_operand& t = gather ? dst : a;
            if (i_.imm == 0) return bad(reason::value);
            if (t.indirect || b.indirect) return bad(reason::mode);  // DMA uses addresses
            if (!has(t, b.partitions, b.elements() * i_.imm / size_of(t.type)) ||
                i_.imm % size_of(t.type) != 0)
                return bad(reason::shape, gather ? operand::dst : operand::a);
            return std::nullopt;
        }
        case shape::gather_transpose: {
            const std::uint64_t rows = b.partitions * b.elements();
            if (rows < 16 || rows > 128 || rows % 16 != 0) return bad(reason::count, operand::b);
            if (i_.imm == 0 || i_.imm % 2 != 0 || i_.imm > 256) return bad(reason::value);
            if (dst.indirect || b.indirect) return bad(reason::mode);
            if (dst.dimensions != 1 || dst.pattern[0].stride != 1)
                return bad(reason::dimensions, operand::dst);
            return fits(has(dst, i_.imm / 2, rows), operand::dst);
        }
        }
        return std::nullopt;
    }

    /// Checks the operands of POOL_CALL. Precondition: they passed the checks of all tiles.
    finding native_operands() const {
        const native_function& f = *find_native(i_.imm);
        const tile_operand &dst = i_.dst, &a = i_.a, &b = i_.b;
        for (const auto& [t, rule, name] : {std::tuple{&dst, &f.dst, operand::dst},
                                            {&a, &f.a, operand::a},
                                            {&b, &f.b, operand::b}}) {
            if (!t->present() && rule->need == need::required) return bad(reason::absent, name);
            if (!t->present()) continue;
            if (rule->need == need::unused) return illegal(reason::unused_field, name);
            if (!type_fits(t->type, rule->types)) return bad(reason::type, name);
            if (t->partitions != a.partitions) return bad(reason::shape, name);
        }
        if (i_.s0.present() && f.s0 == need::unused)
            return illegal(reason::unused_field, operand::s0);
        if (i_.s1.present() && f.s1 == need::unused)
            return illegal(reason::unused_field, operand::s1);
        if (f.equal_types && a.type != dst.type) return bad(reason::type, operand::a);
        return native_shapes(f.shape);
    }

    finding native_shapes(native_shape wanted) const {
        const tile_operand &dst = i_.dst, &a = i_.a, &b = i_.b;
        const bool same = dst.elements() == a.elements();
        switch (wanted) {
        case native_shape::elementwise:
            if (!same) return bad(reason::shape, operand::a);
            if (b.present() && b.elements() != a.elements()) return bad(reason::shape, operand::b);
            break;
        case native_shape::one_result:
            if (dst.elements() != 1) return bad(reason::shape, operand::dst);
            break;
        case native_shape::one_index:
            if (a.elements() != 1) return bad(reason::shape, operand::a);
            break;
        case native_shape::with_count:
            if (!same) return bad(reason::shape, operand::a);
            if (b.elements() != 1) return bad(reason::shape, operand::b);
            break;
        case native_shape::free:
            break;
        }
        return std::nullopt;
    }

    finding elementwise() const {
        const tile_operand &dst = i_.dst, &a = i_.a, &b = i_.b;
        const bool moves = kind_.dst.types == types::moved;
        if (a.present() && moves && a.type != dst.type &&
            (is(opcode::copy_predicated) || !is_computed(a.type) || !is_computed(dst.type)))
            return bad(reason::type, operand::a);
        if (is(opcode::tensor_scalar_cumulative))
            for (const auto& [t, which] : {std::pair{&dst, operand::dst}, {&a, operand::a}})
                if (is_32_bit_integer(t->type)) return bad(reason::type, which);
        if (kind_.operators != operators::activation &&
            kind_.operators != operators::activation_2 && is_bitvec())
            if (const finding f = bitvec_types()) return f;
        if (a.present() && !same_shape(a, dst)) return bad(reason::shape, operand::a);
        if (is(opcode::activate2))
            return !b.present() || has(b, dst.partitions, 1) ? std::nullopt
                                                             : bad(reason::shape, operand::b);
        if (b.present() && !same_shape(b, dst)) return bad(reason::shape, operand::b);
        return std::nullopt;
    }

    /// Spec 3.2: bitvec operands are integers of one size.
    finding bitvec_types() const {
        if (!is_integer(i_.dst.type)) return bad(reason::type, operand::dst);
        for (const auto& [t, which] : {std::pair{&i_.a, operand::a}, {&i_.b, operand::b}})
            if (t->present() && (!is_integer(t->type) || size_of(t->type) != size_of(i_.dst.type)))
                return bad(reason::type, which);
        return std::nullopt;
    }

    finding reduction() const {
        const tile_operand &dst = i_.dst, &a = i_.a;
        if (i_.subdim == 0 || i_.subdim > a.dimensions) return bad(reason::dimensions, operand::a);
        if (is_bitvec())
            if (const finding f = bitvec_types()) return f;
        std::uint64_t results = 1;
        for (unsigned d = i_.subdim; d < a.dimensions; ++d) results *= a.pattern[d].count;
        return has(dst, a.partitions, results) ? std::nullopt : bad(reason::shape, operand::dst);
    }

    /// The two rows of a double row are its slowest dimension.
    static bool is_double_row(const tile_operand& t) {
        return t.dimensions >= 2 && t.pattern[t.dimensions - 1u].count == 2;
    }

    /// Rules that the stationary and the moving operand share (spec 4.1, 20.29).
    finding pe_rows() const {
        const pe_tile t = pe_tile_of(i_.tile);
        const tile_operand& a = i_.a;
        if (a.partitions > t.rows || (t.rows != 128 && a.place.partition != t.row))
            return bad(reason::partitions, operand::a);
        if (i_.has_mode(mode::double_row) && !is_double_row(a))
            return bad(reason::shape, operand::a);
        if (i_.has_mode(mode::mx) && a.partitions % 32 != 0)
            return bad(reason::partitions, operand::a);
        return std::nullopt;
    }

    finding stationary() const {
        const tile_operand &a = i_.a, &b = i_.b;
        if (const finding f = pe_rows()) return f;
        const std::uint64_t columns = a.elements() / (i_.has_mode(mode::double_row) ? 2 : 1);
        if (columns > pe_tile_of(i_.tile).columns) return bad(reason::count, operand::a);
        if (i_.has_mode(mode::mx)) {
            if (columns % 2 != 0) return bad(reason::count, operand::a);
            if (!scales_fit(b, a.partitions, columns)) return bad(reason::shape, operand::b);
        }
        if (i_.has_mode(mode::sparse) && (columns % 4 != 0 || !has(b, a.partitions, columns / 4)))
            return bad(reason::shape, operand::b);
        return std::nullopt;
    }

    finding multiply() const {
        const tile_operand &dst = i_.dst, &a = i_.a;
        const bool v4 = core_.generation == generation::v4;
        const pe_tile t = pe_tile_of(i_.tile);
        if (dst.partitions > t.columns || dst.place.partition != t.column)
            return bad(reason::partitions, operand::dst);
        const std::uint64_t n = dst.elements();
        if (!v4 && !in_one_bank(dst)) return bad(reason::free_size, operand::dst);
        if (const finding f = pe_rows()) return f;
        std::uint64_t moving = n;
        if (i_.has_mode(mode::double_row)) moving *= 2;
        if (i_.has_mode(mode::sparse)) moving *= compression();
        if (a.elements() != moving) return bad(reason::shape, operand::a);
        if (i_.has_mode(mode::transpose) && a.partitions != n)  // spec 20.48
            return bad(reason::shape, operand::a);
        if (i_.has_mode(mode::mx) && !scales_fit(i_.b, a.partitions, n))
            return bad(reason::shape, operand::b);
        return std::nullopt;
    }

    static bool in_one_bank(const tile_operand& t) {
        const auto [low, high] = t.reach();
        const std::int64_t last = t.place.offset + high + size_of(t.type) - 1;
        return (t.place.offset + low) / psum_bank_bytes == last / psum_bank_bytes;
    }

    finding local_gather() const {
        const tile_operand &dst = i_.dst, &a = i_.a, &b = i_.b;
        if (a.type != dst.type) return bad(reason::type, operand::a);
        if (a.partitions % 16 != 0) return bad(reason::partitions, operand::a);
        if (i_.imm > 32 || !std::has_single_bit(i_.imm)) return bad(reason::value);
        const std::uint64_t indices = i_.s0.value;
        if (indices == 0 || indices > 4096) return bad(reason::count, operand::s0);
        if (b.partitions != a.partitions || 16 * b.elements() < indices)
            return bad(reason::shape, operand::b);
        return has(dst, a.partitions, indices * i_.imm) ? std::nullopt
                                                        : bad(reason::shape, operand::dst);
    }
};

}  // namespace

finding check_shapes(decoded& d, const core_traits& core) {
    return shape_checks(d, core).run();
}

}  // namespace trn::isa
