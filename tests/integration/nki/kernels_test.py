# SPDX-License-Identifier: Apache-2.0
"""Kernels of scenarios/kernels under nki.simulate, against NumPy in binary64."""
import sys
import unittest
from pathlib import Path

import numpy

sys.path.insert(0, str(Path(__file__).resolve().parents[3] / "scenarios" / "kernels"))

import elementwise  # noqa: E402
import matrices  # noqa: E402
import nki  # noqa: E402
import nki.language as nl  # noqa: E402
import transformer  # noqa: E402
from trn_nki.trace.host_arrays import HostArray  # noqa: E402
from trn_nki.values.generations import targeting  # noqa: E402


def normal(seed, *shape):
    return numpy.random.default_rng(seed).standard_normal(shape).astype(numpy.float32)


def bf16(values):
    """Truncated to BF16, so that the value is exact in both."""
    bits = (values.view(numpy.uint32) >> 16).astype(numpy.uint16)
    return HostArray(bits, nl.bfloat16), (bits.astype(numpy.uint32) << 16).view(numpy.float32).astype(numpy.float64)


class KernelsAgreeWithNumPy(unittest.TestCase):
    def each_generation(self):
        for number in (2, 3, 4):
            with self.subTest(generation=number), targeting(number):
                yield number

    def test_adds_exactly_on_each_generation(self):
        a, b = normal(1, 256, 640), normal(2, 256, 640)
        for _ in self.each_generation():
            numpy.testing.assert_array_equal(nki.simulate(elementwise.add)(a, b), a + b)

    def test_transposes_exactly(self):
        a = normal(3, 128, 96)
        for _ in self.each_generation():
            numpy.testing.assert_array_equal(nki.simulate(elementwise.transpose)(a), a.T)

    def test_pools_windows(self):
        a = normal(4, 8, 12, 12)
        expected = a.astype(numpy.float64).reshape(8, 6, 2, 6, 2).mean((2, 4))
        numpy.testing.assert_allclose(nki.simulate(elementwise.average_pool)(a, 2), expected, atol=1e-6)

    def test_sums_rows_in_order(self):
        a = normal(5, 100, 300)
        expected = numpy.empty_like(a)
        for row in range(100):
            total = numpy.float32(0)
            for column in range(300):
                total = total + a[row, column]
                expected[row, column] = total
        numpy.testing.assert_array_equal(nki.simulate(elementwise.cumulative_sum)(a), expected)

    def test_finds_the_largest_and_counts_equal_ones_once(self):
        a = normal(6, 16, 64)
        a[:, 40] = a[:, 7] = 9.0
        values, indices = nki.simulate(elementwise.largest)(a)
        order = numpy.argsort(-a, axis=1, kind="stable")[:, :8]
        numpy.testing.assert_array_equal(values, numpy.take_along_axis(a, order, 1))
        numpy.testing.assert_array_equal(indices, order)

    def test_multiplies_bf16_within_the_bound_of_any_order(self):
        (a, wide_a), (b, wide_b) = bf16(normal(7, 384, 128)), bf16(normal(8, 384, 512))
        bound = 384 * 2.0**-24 * (abs(wide_a).T @ abs(wide_b))
        for _ in self.each_generation():
            result = nki.simulate(matrices.matmul)(a, b)
            self.assertTrue((abs(result - wide_a.T @ wide_b) <= bound).all())

    def test_multiplies_mx_exactly_when_sums_are_exact(self):
        rng = numpy.random.default_rng(9)
        (a, wide_a), (b, wide_b) = (bf16(rng.integers(-7, 8, (128, 4 * n)).astype(numpy.float32)) for n in (32, 48))
        expected = numpy.einsum("kmq,knq->mn", wide_a.reshape(128, 32, 4), wide_b.reshape(128, 48, 4))
        numpy.testing.assert_array_equal(nki.simulate(matrices.matmul_mx)(a, b), expected)

    def test_normalises_rows(self):
        x, weight = normal(10, 64, 512), normal(11, 64, 512)
        wide = x.astype(numpy.float64)
        expected = wide / numpy.sqrt((wide**2).mean(1, keepdims=True) + 1e-5) * weight
        numpy.testing.assert_allclose(nki.simulate(transformer.rms_norm)(x, weight, 1e-5), expected, rtol=2e-5, atol=1e-6)

    def test_attends_with_and_without_a_causal_mask(self):
        q, k, v = (normal(seed, 128, 64) for seed in (12, 13, 14))
        for causal in (False, True):
            scores = q.astype(numpy.float64) @ k.T.astype(numpy.float64) / 8
            if causal:
                scores[numpy.triu_indices(128, 1)] = -numpy.inf
            weights = numpy.exp(scores - scores.max(1, keepdims=True))
            expected = weights / weights.sum(1, keepdims=True) @ v
            numpy.testing.assert_allclose(nki.simulate(transformer.attention)(q, k, v, causal), expected, atol=2e-5)

    def test_gathers_rows_by_index(self):
        table = normal(15, 300, 40)
        indices = numpy.random.default_rng(16).integers(0, 300, (128, 1)).astype(numpy.uint32)
        numpy.testing.assert_array_equal(nki.simulate(transformer.embedding)(table, indices), table[indices[:, 0]])

    def test_refuses_an_index_outside_the_table(self):
        indices = numpy.full((128, 1), 300, numpy.uint32)
        with self.assertRaisesRegex(Exception, r"transformer\.py:\d+:\d+: index 300 .* must be below 300"):
            nki.simulate(transformer.embedding)(normal(17, 300, 8), indices)

    def test_runs_a_loop_as_often_as_the_device_says(self):
        x = normal(18, 16, 8)
        for count in (0, 5, 16):
            expected = x.copy()
            expected[:count] += 1
            result = nki.simulate(transformer.masked_add)(x, numpy.array([[count]], numpy.int32))
            numpy.testing.assert_array_equal(result, expected)

    def test_runs_a_while_statement_on_the_device(self):
        x = normal(20, 4, 8)
        for count in (0, 1, 6):
            result = nki.simulate(transformer.halve_until_zero)(x, numpy.array([[count]], numpy.int32))
            numpy.testing.assert_array_equal(result, x * numpy.float32(2.0**-count))

    def test_exchanges_tiles_between_two_cores(self):
        x = normal(19, 2, 128, 32)
        result = nki.simulate(transformer.exchange_sum[2])(x)
        numpy.testing.assert_array_equal(result, numpy.stack([x[0] + x[1]] * 2))


if __name__ == "__main__":
    unittest.main()
