#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
"""Runs kernels with conversions, rows by index and random numbers on boards: copies_test.py BUILD [TEST...]"""
import os
import pathlib
import sys
import unittest

BUILD = os.environ["TRNVP_BUILD"] = os.path.abspath(sys.argv.pop(1))
ROOT = pathlib.Path(__file__).resolve().parents[3]
sys.path[:0] = [str(ROOT / "sw-stubs/python"), str(ROOT / "scenarios/kernels")]

import nki  # noqa: E402 - after the path
import numpy  # noqa: E402

import copies  # noqa: E402
import random_numbers  # noqa: E402
from trn_nki.run import RunError, platform  # noqa: E402
from trn_nki.values import generations  # noqa: E402

BOARDS = {"gen2": "trn1-chip", "gen3": "trn2-chip", "gen4": "trn3-chip"}
F32, WORD = numpy.float32, (1 << 32) - 1
SOURCE = numpy.random.default_rng(7)


def mixed(high, low):
    """The upper half of SplitMix64(high * 2^32 + low) (specification, 3.8)."""
    whole = (1 << 64) - 1
    z = ((high & WORD) << 32 | low) + 0x9E3779B97F4A7C15 & whole
    z = (z ^ z >> 30) * 0xBF58476D1CE4E5B9 & whole
    z = (z ^ z >> 27) * 0x94D049BB133111EB & whole
    return (z ^ z >> 31) >> 32


def shift_register(seed, lane):
    state = mixed(seed, lane) or 1
    while True:
        for _ in range(32):
            state = state >> 1 ^ (0x80200003 if state & 1 else 0)
        yield state


def xorwow(words):
    """Generates numbers; `words` is updated to the state after each."""
    while True:
        x, y, z, w, v, d = words
        t = x ^ x >> 2
        v, last = v ^ v << 4 & WORD ^ t ^ t << 1 & WORD, v
        words[:] = y, z, w, last, v, d + 362437 & WORD
        yield v + words[5] & WORD


def vector_numbers(generation, seed, lane, count):
    """Numbers of Vector; each instruction of `count` numbers starts with the first generator."""
    if generation != "gen4":
        numbers = shift_register(seed, lane)
        while True:
            yield [next(numbers) for _ in range(count)]
    four = [xorwow([mixed(seed + 6 * lane, 6 * number + word) for word in range(6)]) for number in range(4)]
    while True:
        yield [next(four[column % 4]) for column in range(count)]


class Runs(unittest.TestCase):
    def both(self, kernel, *arguments, boards=tuple(BOARDS)):
        """Results of simulate and of a board, for each generation."""
        for generation in boards:
            with self.subTest(generation=generation), generations.targeting(generation):
                yield generation, nki.simulate(kernel)(*arguments)
                with platform(BOARDS[generation]):
                    yield generation, kernel(*arguments)


class Copies(Runs):
    def test_copies_convert_between_any_memories(self):
        x = SOURCE.standard_normal((200, 96)).astype(F32)
        for _, (result, row) in self.both(copies.converted, x):
            numpy.testing.assert_array_equal(result, x.astype(numpy.float16))
            numpy.testing.assert_array_equal(row, x[1:2].astype(numpy.float16).astype(F32))

    def test_parts_of_rows_are_gathered_converted_and_summed(self):
        table = SOURCE.integers(-100, 100, (60, 54)).astype(numpy.float16)
        indices = SOURCE.integers(0, 59, (40, 1)).astype(numpy.int32)
        for first, count in ((0, 27), (27, 27), (4, 48), (3, 50)):  # in two parts, in 8 parts, of wider rows
            expected = table[indices[:, 0], first : first + count].astype(F32)
            others = table[indices[:, 0] + 1, first : first + count].astype(F32)
            for _, (result, sums) in self.both(copies.columns_of_rows, table, indices, first, count, boards=("gen2", "gen3")):
                numpy.testing.assert_array_equal(result, expected)
                numpy.testing.assert_array_equal(sums.astype(F32), expected + others)

    def test_halves_of_rows_are_scattered(self):
        x = SOURCE.integers(-100, 100, (128, 64)).astype(F32)
        order = SOURCE.permutation(128).astype(numpy.int32).reshape(128, 1)
        for _, result in self.both(copies.scattered_halves, x, order):
            numpy.testing.assert_array_equal(result[order[:, 0]], x)

    def test_both_ends_of_a_copy_come_from_the_device(self):
        x, expected = SOURCE.standard_normal((90, 40)).astype(F32), numpy.zeros((20, 40), F32)
        expected[19] = x[77]
        for _, result in self.both(copies.moved_rows, x, numpy.array([[77, 19]], numpy.int32), 20):
            numpy.testing.assert_array_equal(result, expected)
        for generation in ("gen2", "gen3"):  # row 20 is one of x, but not of the result
            with self.assertRaisesRegex(RunError, r"copies\.py:\d+\): INDIRECT_OOB"), platform(BOARDS[generation]):
                copies.moved_rows(x, numpy.array([[77, 20]], numpy.int32), 20)

    def test_reversed_operands_of_two_operators(self):
        x, y = (SOURCE.standard_normal((128, 40)).astype(F32) for _ in range(2))
        for _, result in self.both(copies.reversed_operands, x, y):
            numpy.testing.assert_array_equal(result, y - (F32(2) - x))

    def test_operand_repeated_along_the_last_dimension_keeps_its_rows(self):
        x = SOURCE.standard_normal((64, 3, 17)).astype(F32)
        factors = SOURCE.standard_normal((64, 3)).astype(F32)
        for _, result in self.both(copies.scaled_rows, x, factors):
            numpy.testing.assert_array_equal(result, x * factors[:, :, None] * factors[:, :, None])

    def test_slices_of_several_arguments_and_results_are_copied(self):
        x, y = (SOURCE.integers(-9, 9, (2, 40, 33)).astype(F32) for _ in range(2))
        for _, (sums, maxima) in self.both(copies.sums_and_maxima, x, y):
            numpy.testing.assert_array_equal(sums, x.sum(2))
            numpy.testing.assert_array_equal(maxima, y.max(2))

    def test_skipped_indices_leave_their_rows_and_the_device_as_they_were(self):
        table = SOURCE.standard_normal((20, 16)).astype(F32)
        indices = numpy.array([3, 20, 0, 1000, 19, -1, 5, 2**31 - 1], numpy.int32).reshape(8, 1)
        expected = numpy.full((8, 16), -1, F32)
        expected[[0, 2, 4, 6]] = table[[3, 0, 19, 5]]
        for generation in BOARDS:
            with self.subTest(generation=generation), generations.targeting(generation):
                numpy.testing.assert_array_equal(nki.simulate(copies.rows_that_exist)(table, indices), expected)
                with platform(BOARDS[generation]):
                    for _ in range(2):
                        numpy.testing.assert_array_equal(copies.rows_that_exist(table, indices), expected)


class RandomNumbers(Runs):
    def test_integers_follow_from_the_seed(self):
        for generation, result in self.both(random_numbers.integers, numpy.array([[12345]], numpy.uint32), 5):
            for lane in (0, 1, 127):
                numbers = vector_numbers(generation, 12345, lane, 5)
                self.assertEqual(result[lane].tolist(), next(numbers) + next(numbers))

    def test_dropout_compares_with_the_rate_exactly(self):
        x = numpy.ones((128, 9), F32)
        for generation, result in self.both(random_numbers.dropped, x, 0.25):
            for lane in (0, 64):
                kept = [float(number >= 1 << 30) for number in next(vector_numbers(generation, 0, lane, 9))]
                self.assertEqual(result[lane].tolist(), kept)

    def test_uniform_numbers_take_24_bits(self):
        low = numpy.arange(128, dtype=F32).reshape(128, 1) / F32(32)
        for generation, result in self.both(random_numbers.uniform, low, 6, boards=("gen4",)):
            for lane in (0, 100):
                expected = [
                    low[lane, 0] + F32((number >> 8) * 2.0**-24) * (F32(8) - low[lane, 0])
                    for number in next(vector_numbers(generation, 0, lane, 6))
                ]
                self.assertEqual(result[lane].tolist(), [float(value) for value in expected])

    def test_gpsimd_continues_from_a_given_state(self):
        states = SOURCE.integers(0, 1 << 32, (128, 6)).astype(numpy.uint32)
        for _, (result, left) in self.both(random_numbers.continued, states, 7, boards=("gen3", "gen4")):
            for lane in (0, 99):
                words = [int(word) for word in states[lane]]
                numbers = xorwow(words)
                self.assertEqual(result[lane].tolist(), [next(numbers) for _ in range(7)])
                self.assertEqual(left[lane].tolist(), words)


if __name__ == "__main__":
    unittest.main()
