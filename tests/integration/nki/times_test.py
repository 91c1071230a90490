#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
"""Simulated times of kernels compared with published ones, and the ranking of a product's steps:
times_test.py BUILD [TEST...]"""
import os
import pathlib
import sys
import unittest

BUILD = os.environ["TRNVP_BUILD"] = os.path.abspath(sys.argv.pop(1))
sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[2] / "bench"))

import kernel_times  # noqa: E402 - after the path
import numpy  # noqa: E402
import published  # noqa: E402 - of scenarios/kernels


class Times(unittest.TestCase):
    """kernel_times.run() compares the results with NumPy."""

    def within_tenth(self, found, expected):
        self.assertLess(abs(found / expected - 1), 0.1, f"{found} us, published {expected} us")

    def test_each_step_of_the_product_is_faster_than_the_one_before(self):
        for chip in kernel_times.BOARDS:
            with self.subTest(chip=chip):
                times = kernel_times.product(chip, 1024, 1024, 2048, kernel_times.STEPS)
                self.assertEqual(times, sorted(times, reverse=True), times)
                self.assertGreater(times[0], 2 * times[-1])

    def test_dependent_scalar_instructions_take_the_published_time(self):
        x = numpy.ones((128, 1), numpy.float32)
        self.within_tenth(kernel_times.slope(published.scalar_chain, "Trainium1", 10, 60, x=x), 0.189)

    def test_a_descriptor_generator_adds_the_published_time_to_a_copy(self):
        for chip in ("Trainium2", "Trainium3"):
            with self.subTest(chip=chip):
                self.within_tenth(kernel_times.copies(chip, True) - kernel_times.copies(chip, False), 0.6)

    def test_rounds_of_mamba_take_the_published_times(self):
        """Tiles of channels run in sequence, so 1,024 additional channels take a quarter of the
        time of 4,096."""
        for version, steps, time in ((1, 512, 2340), (2, 512, 1610), (3, 1024, 3300)):
            with self.subTest(version=version):
                kernel = getattr(published, f"mamba_v{version}")
                few, many = (kernel_times.mamba(kernel, channels, steps) for channels in (256, 512))
                self.within_tenth(16 * (many - few), time)


if __name__ == "__main__":
    unittest.main()
