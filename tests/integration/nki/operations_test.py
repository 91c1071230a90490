# SPDX-License-Identifier: Apache-2.0
"""Operations of nki.isa under the simulation, against loops over single elements and exact rational arithmetic."""
import math
import unittest
from fractions import Fraction

import nki
import nki.isa as nisa
import nki.language as nl
import numpy
from trn_nki.trace.host_arrays import HostArray

F = numpy.float32


def normal(seed, *shape):
    return numpy.random.default_rng(seed).standard_normal(shape).astype(F)


def run(body, *arrays):
    """Loads the arrays, passes their tiles to `body`, stores and returns the tiles it returns."""

    def kernel(inputs):
        results = body(*[nl.load(array) for array in inputs])
        stored = []
        for tile in results:
            out = nl.ndarray(tile.shape, dtype=tile.dtype, buffer=nl.shared_hbm)
            nisa.dma_copy(dst=out, src=tile)
            stored.append(out)
        return tuple(stored)

    return nki.simulate(kernel)(list(arrays))


def tile(*shape, dtype=nl.float32):
    return nl.ndarray(shape, dtype=dtype, buffer=nl.sbuf)


def written(operation, *shape, dtype=nl.float32, **arguments):
    """A body that runs one operation with a new tile as its destination."""

    def body(*tiles):
        dst = tile(*shape, dtype=dtype)
        operation(dst, *tiles, **arguments)
        return [dst]

    return body


class Elementwise(unittest.TestCase):
    def test_two_operators_with_and_without_reversed_operands(self):
        x = normal(1, 4, 9)
        for reverse0 in (False, True):
            for reverse1 in (False, True):

                def body(a, r0=reverse0, r1=reverse1):
                    dst = tile(4, 9)
                    nisa.tensor_scalar(dst, a, nl.subtract, 1.5, r0, nl.multiply, -3.0, r1)
                    return [dst]

                expected = (F(1.5) - x if reverse0 else x - F(1.5)) * F(-3)
                numpy.testing.assert_array_equal(run(body, x)[0], expected)

    def test_comparisons_give_one_or_zero_and_are_false_with_nan(self):
        x = numpy.array([[1, 2, numpy.nan, -0.0]], F)
        for op, expected in (
            (nl.less, [1, 0, 0, 1]),
            (nl.equal, [0, 1, 0, 0]),
            (nl.not_equal, [1, 0, 1, 1]),
            (nl.greater_equal, [0, 1, 0, 0]),
        ):
            body = written(lambda dst, a, op=op: nisa.tensor_scalar(dst, a, op, 2.0), 1, 4)
            numpy.testing.assert_array_equal(run(body, x)[0], [expected])

    def test_maximum_of_nan_is_nan_and_of_equal_zeros_the_first(self):
        a, b = numpy.array([[1, numpy.nan, 0.0, -0.0]], F), numpy.array([[numpy.nan, 1, -0.0, 0.0]], F)
        found = run(written(lambda dst, x, y: nisa.tensor_tensor(dst, x, y, nl.maximum), 1, 4), a, b)[0]
        self.assertTrue(numpy.isnan(found[0, :2]).all())
        numpy.testing.assert_array_equal(numpy.signbit(found[0, 2:]), [False, True])

    def test_bitvec_operators_work_on_bits_and_large_shifts_give_zero(self):
        x = numpy.array([[0x80000001, 0xF0F0F0F0, 7]], numpy.uint32)
        for op, operand, expected in (
            (nl.bitwise_xor, -1, ~x),
            (nl.left_shift, 4, x << numpy.uint32(4)),
            (nl.right_shift, 31, x >> numpy.uint32(31)),
            (nl.right_shift, 32, x * 0),
        ):
            body = written(lambda dst, a, op=op, n=operand: nisa.tensor_scalar(dst, a, op, n), 1, 3, dtype=nl.uint32)
            numpy.testing.assert_array_equal(run(body, x)[0], expected)

    def test_gpsimd_adds_integers_modulo_two_to_the_32(self):
        a = numpy.array([[2**31 - 1, 16777217]], numpy.int32)
        b = numpy.array([[1, 1]], numpy.int32)
        body = written(lambda dst, x, y: nisa.tensor_tensor(dst, x, y, nl.add), 1, 2, dtype=nl.int32)
        numpy.testing.assert_array_equal(run(body, a, b)[0], [[-(2**31), 16777218]])

    def test_scan_feeds_each_result_into_the_next(self):
        a, b, first = normal(2, 3, 20), normal(3, 3, 20), normal(4, 3, 1)

        def body(x, y, start):
            dst = tile(3, 20)
            nisa.tensor_tensor_scan(dst, x, y, start, nl.multiply, nl.add)
            return [dst]

        expected = numpy.empty_like(a)
        for lane in range(3):
            last = first[lane, 0]
            for i in range(20):
                last = F(F(a[lane, i] * last) + b[lane, i])
                expected[lane, i] = last
        numpy.testing.assert_array_equal(run(body, a, b, first)[0], expected)

    def test_iota_and_affine_select_follow_the_position(self):
        x = normal(5, 6, 12)

        def body(a):
            ramp, chosen = tile(6, 12, dtype=nl.int32), tile(6, 12)
            nisa.iota(ramp, [[10, 3], [1, 4]], 5, 100)
            nisa.affine_select(chosen, [[1, 12]], -2, a, -7.0, nl.greater, 1)
            return [ramp, chosen]

        ramp, chosen = run(body, x)
        for lane in range(6):
            for i in range(12):
                self.assertEqual(ramp[lane, i], 5 + 100 * lane + 10 * (i // 4) + i % 4)
                self.assertEqual(chosen[lane, i], x[lane, i] if 1 - 2 * lane + i > 0 else F(-7))


class Reductions(unittest.TestCase):
    def test_sums_go_in_order(self):
        x = normal(6, 5, 77)
        body = written(lambda dst, a: nisa.tensor_reduce(dst, nl.add, a, 1, negate=True), 5, 1)
        expected = []
        for row in x:
            total = row[0]
            for value in row[1:]:
                total = F(total + value)
            expected.append([-total])
        numpy.testing.assert_array_equal(run(body, x)[0], expected)

    def test_sums_over_partitions_begin_with_plus_zero(self):
        x = numpy.array([[-0.0, 1.0], [-0.0, 2.0]], F)
        for op, expected in ((nl.add, [0.0, 3.0]), (nl.average, [0.0, 1.5]), (nl.maximum, [-0.0, 2.0])):
            body = written(lambda dst, a, op=op: nisa.tensor_partition_reduce(dst, op, a), 1, 2)
            found = run(body, x)[0]
            numpy.testing.assert_array_equal(found.view(numpy.uint32), numpy.array([expected], F).view(numpy.uint32))

    def test_accumulators_live_between_instructions(self):
        x, y = normal(7, 4, 10), normal(8, 4, 10)

        def body(a, b):
            dst, total = tile(4, 10), tile(4, 1)
            nisa.activation(dst, nl.copy, a, reduce_op=nl.add, reduce_cmd=nisa.reduce_cmd.reset_reduce)
            nisa.activation(dst, nl.copy, b, reduce_op=nl.add, reduce_res=total, reduce_cmd=nisa.reduce_cmd.reduce)
            return [total]

        expected = []
        for lane in range(4):
            total = F(0)
            for value in list(x[lane]) + list(y[lane]):
                total = F(total + value)
            expected.append([total])
        numpy.testing.assert_array_equal(run(body, x, y)[0], expected)

    def test_statistics_combine_to_mean_and_variance(self):
        x = normal(9, 8, 100)

        def body(a):
            stats, result = tile(8, 6), tile(8, 2)
            nisa.bn_stats(stats, a)
            nisa.bn_aggr(result, stats)
            return [result]

        found = run(body, x)[0]
        for lane in range(8):
            exact = [Fraction(float(value)) for value in x[lane]]
            mean = sum(exact) / 100
            variance = sum((value - mean) ** 2 for value in exact) / 100
            self.assertAlmostEqual(found[lane, 0], float(mean), delta=1e-6)
            self.assertAlmostEqual(found[lane, 1], float(variance), delta=1e-5)

    def test_matches_are_replaced_from_the_last_to_the_first(self):
        x = numpy.array([[5, 1, 5, 2, 3, 4, 6, 7, 8, 9]], F)
        wanted = numpy.array([[5, 5, 5, 9, 1, 99, 99, 99]], F)

        def body(a, b):
            dst, index = tile(1, 10), tile(1, 8, dtype=nl.uint16)
            nisa.nc_match_replace8(dst, a, b, -1.0, index)
            found = tile(1, 8, dtype=nl.uint32)
            nisa.nc_find_index8(found, a, b)
            return [dst, index, found]

        replaced, index, found = run(body, x, wanted)
        numpy.testing.assert_array_equal(replaced, [[-1, -1, -1, 2, 3, 4, 6, 7, 8, -1]])
        numpy.testing.assert_array_equal(index, [[65535, 2, 0, 9, 1, 65535, 65535, 65535]])
        none = 2**32 - 1
        numpy.testing.assert_array_equal(found, [[0, 2, none, 9, 1, none, none, none]])

    def test_sequence_bounds_are_those_of_the_specification(self):
        ids = numpy.array([[0, 1, 1, 2, 2, 2, 0, 3, 3]], F)
        found = run(written(nisa.sequence_bounds, 1, 2, 9), ids)[0]
        numpy.testing.assert_array_equal(found[0], [[9, 1, 1, 3, 3, 3, 9, 7, 7], [-1, 3, 3, 6, 6, 6, -1, 9, 9]])

    def test_sequence_bounds_compare_ids_in_their_own_type(self):
        ids = numpy.array([[1 << 24, (1 << 24) + 1, (1 << 24) + 1, -(2**31)]], numpy.int32)
        found = run(written(nisa.sequence_bounds, 1, 2, 4), ids)[0]
        numpy.testing.assert_array_equal(found[0], [[0, 1, 1, 3], [1, 3, 3, 4]])
        found = run(written(nisa.sequence_bounds, 1, 2, 4), numpy.array([[0.0, -0.0, numpy.nan, numpy.nan]], F))[0]
        numpy.testing.assert_array_equal(found[0], [[4, 4, 2, 3], [-1, -1, 3, 4]])

    def test_selects_and_keeps_the_largest(self):
        x = normal(10, 4, 8)
        flags = (numpy.arange(32).reshape(4, 8) % 3 == 0).astype(numpy.uint8)
        bounds = numpy.array([[1], [0], [3], [8]], F)

        def body(a, predicate, low):
            chosen, largest = tile(4, 8), tile(4, 1)
            nisa.select_reduce(chosen, predicate, a, -9.0, largest, nisa.reduce_cmd.reset_reduce)
            ranged, top, high = tile(4, 8), tile(4, 1), tile(4, 1)
            nisa.memset(high, 6.0)
            nisa.range_select(ranged, a, nl.greater_equal, nl.less, low, high, reduce_res=top)
            return [chosen, largest, ranged, top]

        chosen, largest, ranged, top = run(body, x, flags, bounds)
        lowest = -numpy.finfo(F).max
        for lane in range(4):
            for i in range(8):
                self.assertEqual(chosen[lane, i], x[lane, i] if flags[lane, i] else F(-9))
                self.assertEqual(ranged[lane, i], x[lane, i] if bounds[lane, 0] <= i < 6 else lowest)
            self.assertEqual(largest[lane, 0], max(chosen[lane]))
            self.assertEqual(top[lane, 0], max(ranged[lane]))


class Moves(unittest.TestCase):
    def test_shuffle_moves_partitions_within_quadrants(self):
        x = normal(11, 64, 5)
        mask = [(7 * i + 3) % 32 for i in range(32)]
        mask[4] = 255

        def body(a):
            dst = tile(64, 5)
            nisa.memset(dst, 0.5)
            nisa.nc_stream_shuffle(dst, a, mask)
            return [dst]

        found = run(body, x)[0]
        for i in range(64):
            expected = numpy.full(5, 0.5, F) if mask[i % 32] == 255 else x[i // 32 * 32 + mask[i % 32]]
            numpy.testing.assert_array_equal(found[i], expected)

    def test_gathers_take_elements_by_index(self):
        x = normal(12, 32, 40)
        per_lane = numpy.random.default_rng(13).integers(0, 40, (32, 6)).astype(numpy.uint32)
        shared = numpy.random.default_rng(14).integers(0, 39, (32, 2)).astype(numpy.uint16)

        def body(a, own, common):
            first, second = tile(32, 6), tile(32, 64)
            nisa.nc_n_gather(first, a, own)
            nisa.local_gather(second, a, common, num_elem_per_idx=2)
            return [first, second]

        first, second = run(body, x, per_lane, shared)
        for lane in range(32):
            for i in range(6):
                self.assertEqual(first[lane, i], x[lane, per_lane[lane, i]])
            for j in range(32):
                index = shared[lane // 16 * 16 + j % 16, j // 16]
                numpy.testing.assert_array_equal(second[lane, 2 * j : 2 * j + 2], x[lane, index : index + 2])

    def test_index_tiles_select_elements_in_snake_order(self):
        x = normal(20, 32, 50)
        index = numpy.random.default_rng(21).integers(0, 50, (32, 2)).astype(numpy.uint32)

        def body(a, offsets):
            gathered, scattered = tile(32, 20), tile(32, 50)
            nisa.tensor_copy(gathered, a.indirect(offsets, 20))
            nisa.memset(scattered, 0.0)
            nisa.tensor_copy(scattered.indirect(offsets, 20), gathered)
            return [gathered, scattered]

        gathered, scattered = run(body, x, index)
        for lane in range(32):
            written_there = set()
            for i in range(20):
                offset = index[lane // 16 * 16 + i % 16, i // 16]
                self.assertEqual(gathered[lane, i], x[lane, offset])
                self.assertEqual(scattered[lane, offset], x[lane, offset])
                written_there.add(int(offset))
            self.assertTrue(all(scattered[lane, i] == 0 for i in range(50) if i not in written_there))

    def test_a_scalar_offset_moves_the_whole_view(self):
        x, at = normal(22, 8, 30), numpy.array([[5]], numpy.int32)

        def kernel(a, where):
            moved = tile(4, 10)
            nisa.dma_copy(moved, a.ap([[30, 4], [1, 10]], offset=7, scalar_offset=nl.load(where), indirect_dim=1))
            out = nl.ndarray((4, 10), dtype=nl.float32, buffer=nl.shared_hbm)
            nisa.dma_copy(out, moved)
            return out

        numpy.testing.assert_array_equal(nki.simulate(kernel)(x, at), x[:4, 12:22])

    def test_rows_with_indices_out_of_range_are_skipped_on_request(self):
        x = normal(23, 10, 4)
        indices = numpy.array([[3], [10], [9], [99]], numpy.uint32)

        def kernel(a, where):
            rows = tile(4, 4)
            nisa.memset(rows, -1.0)
            view = a.ap([[4, 4], [1, 4]], vector_offset=nl.load(where), indirect_dim=0)
            nisa.dma_copy(rows, view, oob_mode=nisa.oob_mode.skip)
            out = nl.ndarray((4, 4), dtype=nl.float32, buffer=nl.shared_hbm)
            nisa.dma_copy(out, rows)
            return out

        skipped = numpy.full(4, -1, F)
        numpy.testing.assert_array_equal(nki.simulate(kernel)(x, indices), [x[3], skipped, x[9], skipped])

    def test_dma_transposes_and_adds(self):
        x, y = normal(15, 24, 16), normal(16, 24, 16)

        def body(a, b):
            turned, total = tile(16, 24), tile(24, 16)
            nisa.dma_transpose(turned, a)
            nisa.dma_compute(total, [a, b, a], nl.add)
            return [turned, total]

        turned, total = run(body, x, y)
        numpy.testing.assert_array_equal(turned, x.T)
        numpy.testing.assert_array_equal(total, (x + y) + x)

    def test_nonzero_elements_are_listed_and_counted(self):
        x = numpy.zeros((16, 8), F)
        x[0, [2, 5, 7]] = 1
        found = run(written(lambda dst, a: nisa.nonzero_with_count(dst, a, 10, -4), 16, 9, dtype=nl.int32), x)[0]
        numpy.testing.assert_array_equal(found[0], [12, 15, 17, -4, -4, -4, -4, -4, 3])

    def test_topk_lists_the_largest_in_ascending_order(self):
        values = numpy.random.default_rng(17).permutation(64).astype(F).reshape(16, 4)
        source = HostArray((values.view(numpy.uint32) >> 16).astype(numpy.uint16), nl.bfloat16)

        def body(a):
            best, where = tile(16, 5, dtype=nl.bfloat16), tile(16, 5, dtype=nl.uint32)
            nisa.topk(best, where, a, 64)
            wide = tile(16, 5)
            nisa.tensor_copy(wide, best)
            return [wide, where]

        best, where = run(body, source)
        for lane in range(16):
            numpy.testing.assert_array_equal(best[lane], [59, 60, 61, 62, 63])
            for value, index in zip(best[lane], where[lane]):
                self.assertEqual(values[index % 16, index // 16], value)

    def test_topk_keeps_the_bits_of_nans(self):
        codes = numpy.array([0x3F80, 0xFFC1, 0x4000, 0x4040, 0x7FC2, 0x4080, 0x40A0, 0x40C0], numpy.uint16)
        bits = numpy.zeros((16, 1), numpy.uint16)
        bits[:8, 0] = codes

        def body(a):
            best, where = tile(16, 8, dtype=nl.bfloat16), tile(16, 8, dtype=nl.uint32)
            nisa.topk(best, where, a, 8)
            return [best, where]

        best, where = run(body, HostArray(bits, nl.bfloat16))
        numpy.testing.assert_array_equal(where[0], [4, 1, 0, 2, 3, 5, 6, 7])
        numpy.testing.assert_array_equal(best.raw[0], codes[where[0]])


class Matrices(unittest.TestCase):
    def test_mx_quantises_by_the_rule_and_multiplies_exactly(self):
        """Each group of 32 has the scale 2^(floor(log2 max) - 7); results against rational arithmetic."""
        values = (normal(18, 32, 16) * numpy.exp2(numpy.arange(16) // 4 * 5)[None]).astype(F)
        bits = (values.view(numpy.uint32) >> 16).astype(numpy.uint16)
        exact = (bits.astype(numpy.uint32) << 16).view(F)

        def kernel(x):
            packed, scale = tile(32, 4, dtype=nl.float8_e4m3fn_x4), tile(4, 4, dtype=nl.uint8)
            nisa.quantize_mx(packed, nl.load(x), scale)
            total = nl.ndarray((4, 4), dtype=nl.float32, buffer=nl.psum)
            nisa.nc_matmul_mx(total, packed, packed, scale, scale)
            copied = tile(4, 4)
            nisa.tensor_copy(copied, total)
            outs = []
            for one in (packed, scale, copied):
                out = nl.ndarray(one.shape, dtype=one.dtype, buffer=nl.shared_hbm)
                nisa.dma_copy(out, one)
                outs.append(out)
            return tuple(outs)

        packed, scale, product = nki.simulate(kernel)(HostArray(bits, nl.bfloat16))
        codes = packed.raw.view(numpy.uint8).reshape(32, 4, 4)
        decoded = [[[None] * 4 for _ in range(4)] for _ in range(32)]
        for row in range(32):
            for column in range(4):
                group = exact[row // 8 * 8 : row // 8 * 8 + 8, 4 * column : 4 * column + 4]
                power = math.floor(math.log2(float(abs(group).max()))) - 7
                self.assertEqual(scale[row // 8, column], power + 127)
                for q in range(4):
                    code = int(codes[row, column, q])
                    exponent, mantissa = code >> 3 & 15, code & 7
                    size = (
                        Fraction(mantissa, 8) * Fraction(2) ** -6
                        if exponent == 0
                        else (1 + Fraction(mantissa, 8)) * Fraction(2) ** (exponent - 7)
                    )
                    value = (-size if code & 128 else size) * Fraction(2) ** power
                    step = Fraction(2) ** (max(exponent, 1) - 10 + power)
                    self.assertLessEqual(abs(value - Fraction(float(exact[row, 4 * column + q]))), step / 2)
                    decoded[row][column][q] = value
        for m in range(4):
            for n in range(4):
                total = sum(decoded[k][m][q] * decoded[k][n][q] for k in range(32) for q in range(4))
                bound = 32 * Fraction(2) ** -24 * sum(abs(decoded[k][m][q] * decoded[k][n][q]) for k in range(32) for q in range(4))
                self.assertLessEqual(abs(Fraction(float(product[m, n])) - total), bound)

    def test_fp8_double_row_contracts_both_halves(self):
        rng = numpy.random.default_rng(19)
        a, b = rng.integers(0, 0x40, (16, 2, 8)).astype(numpy.uint8), rng.integers(0, 0x40, (16, 2, 8)).astype(numpy.uint8)

        def value(code):
            return code / 8 * 2.0**-6 if code < 8 else (1 + code % 8 / 8) * 2.0 ** (code // 8 - 7)

        wide_a, wide_b = (numpy.vectorize(value)(x.astype(int)) for x in (a, b))

        def body(x, y):
            total = nl.ndarray((8, 8), dtype=nl.float32, buffer=nl.psum)
            nisa.nc_matmul(total, x, y, perf_mode=nisa.matmul_perf_mode.double_row)
            dst = tile(8, 8)
            nisa.tensor_copy(dst, total)
            return [dst]

        found = run(body, HostArray(a, nl.float8_e4m3), HostArray(b, nl.float8_e4m3))[0]
        numpy.testing.assert_allclose(found, numpy.einsum("kim,kin->mn", wide_a, wide_b), rtol=1e-6)


if __name__ == "__main__":
    unittest.main()
