# SPDX-License-Identifier: Apache-2.0
"""Element types of the simulation, against exact rational arithmetic, and arrays of files and texts."""
import functools
import tempfile
import unittest
from fractions import Fraction

import numpy

from trn_nki.run import arrays, made_arrays
from trn_nki.simulate import formats
from trn_nki.values import data_types as types

# exponent bits, mantissa bits, bias, whether the top exponent is Inf and NaN
LAYOUT = {
    types.float16: (5, 10, 15, True),
    types.bfloat16: (8, 7, 127, True),
    types.float8_e3m4: (3, 4, 3, True),
    types.float8_e4m3: (4, 3, 7, True),
    types.float8_e5m2: (5, 2, 15, True),
    types.float8_e4m3fn: (4, 3, 7, False),
}


def value_of(code, dtype):
    """The exact value of a code; None for NaN, a string for Inf."""
    exponent_bits, mantissa_bits, bias, special = LAYOUT[dtype]
    sign = -1 if code >> (exponent_bits + mantissa_bits) else 1
    exponent = code >> mantissa_bits & (1 << exponent_bits) - 1
    mantissa = code & (1 << mantissa_bits) - 1
    if special and exponent == (1 << exponent_bits) - 1:
        return None if mantissa else f"{sign}"
    if not special and exponent == 15 and mantissa == 7:
        return None
    if exponent == 0:
        return sign * Fraction(mantissa) * Fraction(2) ** (1 - bias - mantissa_bits)
    return sign * Fraction(mantissa + (1 << mantissa_bits)) * Fraction(2) ** (exponent - bias - mantissa_bits)


@functools.lru_cache(maxsize=None)
def largest_code(dtype):
    """The code of the largest finite value."""
    return max(code for code in range(1 << 8 * dtype.itemsize - 1) if isinstance(value_of(code, dtype), Fraction))


def nearest(x, dtype):
    """The code nearest to a finite x >= 0, ties to even; one above the largest finite code on overflow."""
    top = largest_code(dtype)
    low, high = 0, top
    while low < high:
        middle = (low + high + 1) // 2
        low, high = (middle, high) if value_of(middle, dtype) <= x else (low, middle - 1)
    below = value_of(low, dtype)
    above = value_of(low + 1, dtype) if low < top else 2 * below - value_of(low - 1, dtype)
    if x - below > above - x or (x - below == above - x and low % 2 == 1):
        return low + 1
    return low


class ElementTypes(unittest.TestCase):
    def test_every_code_has_its_exact_value(self):
        for dtype in LAYOUT:
            codes = numpy.arange(1 << 8 * dtype.itemsize)
            raw = codes.astype(f"u{dtype.itemsize}")
            found = formats.to_float32(raw.view(numpy.float16) if dtype is types.float16 else raw, dtype)
            for code in codes[:: 1 if dtype.itemsize == 1 else 97]:
                exact = value_of(int(code), dtype)
                if exact is None:
                    self.assertTrue(numpy.isnan(found[code]), (dtype, code))
                elif isinstance(exact, str):
                    self.assertEqual(found[code], float(exact) * numpy.inf, (dtype, code))
                else:
                    self.assertEqual(Fraction(float(found[code])), exact, (dtype, code))

    def test_a_nan_whose_payload_tf32_lacks_stays_one(self):
        found = formats.to_float32(numpy.array([0x7F800001, 0xFF801FFF, 0x7F800000, 0x3F801FFF], numpy.uint32), types.tfloat32)
        numpy.testing.assert_array_equal(numpy.isnan(found), [True, True, False, False])
        numpy.testing.assert_array_equal(found[2:], [numpy.inf, 1.0])

    def test_conversions_round_to_nearest_even(self):
        rng = numpy.random.default_rng(1)
        for dtype in LAYOUT:
            if dtype.itemsize == 2:
                values = numpy.exp2(rng.uniform(-20, 15, 300)).astype(numpy.float32)
            else:
                table = [value_of(code, dtype) for code in range(128)]
                table = [float(value) for value in table if isinstance(value, Fraction)]
                middles = [(a + b) / 2 for a, b in zip(table, table[1:])]
                values = numpy.array(table + middles + list(rng.uniform(0, table[-1] * 1.05, 200)), numpy.float32)
            found = formats.from_float32(values, dtype).view(f"u{dtype.itemsize}")
            for value, code in zip(values, found):
                self.assertEqual(int(code), nearest(Fraction(float(value)), dtype), (dtype, value))

    def test_integers_round_to_even_saturate_and_take_nan_for_zero(self):
        values = numpy.array([0.5, 1.5, -2.5, 1e9, -1e9, numpy.nan, numpy.inf], numpy.float32)
        numpy.testing.assert_array_equal(formats.from_float32(values, types.int8), [0, 2, -2, 127, -128, 0, 127])
        numpy.testing.assert_array_equal(formats.from_float32(values, types.uint16), [0, 2, 0, 65535, 0, 0, 65535])


class Arrays(unittest.TestCase):
    """Arrays of files and of texts."""

    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.path = f"{folder.name}/x.npy"

    def test_bits_of_a_type_are_read_in_any_byte_order(self):
        numpy.save(self.path, numpy.array([1, 0x3F80], ">u2"))
        self.assertEqual(arrays.read(self.path + ":bfloat16").raw.tolist(), [1, 0x3F80])

    def test_nans_stay_nans_in_bfloat16(self):
        numpy.save(self.path, numpy.array([0x7FFFFFFF, 0xFFFFFFFF, 0x7F7FFFFF], numpy.uint32).view(numpy.float32))
        self.assertEqual(arrays.read(self.path + ":bfloat16").raw.tolist(), [0x7FC0, 0x7FC0, 0x7F80])

    def test_archives_and_broken_files_are_refused(self):
        with open(self.path, "wb") as file:
            numpy.savez(file, a=numpy.ones(2))
        with self.assertRaisesRegex(ValueError, "no NumPy file of one array"):
            arrays.read(self.path)

    def test_numbers_beyond_a_type_saturate_or_are_refused(self):
        def made(text):
            return made_arrays.made(text, "x", ".", {"seed": 1}).raw.tolist()

        self.assertEqual(made("int32[2] 1e19"), [2**31 - 1] * 2)
        self.assertEqual(made("int64[1] 1e19"), [2**63 - 1])
        for text in ("float4_e2m1fn_x4[4] 1", "float32[4] random(0, 1, 1e999)", "float32[4] one"):
            with self.assertRaises(ValueError):
                made(text)


if __name__ == "__main__":
    unittest.main()
