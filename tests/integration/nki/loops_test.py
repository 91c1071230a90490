#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
"""Runs kernels with device loops on boards and compares with NumPy: loops_test.py BUILD [TEST...]
"""
import os
import pathlib
import sys
import unittest

BUILD = os.environ["TRNVP_BUILD"] = os.path.abspath(sys.argv.pop(1))
ROOT = pathlib.Path(__file__).resolve().parents[3]
sys.path[:0] = [str(ROOT / "sw-stubs/python"), str(ROOT / "scenarios/kernels")]

import nki  # noqa: E402 - after the path
import nki.isa as nisa  # noqa: E402
import nki.language as nl  # noqa: E402
import numpy  # noqa: E402

import loops  # noqa: E402
from trn_nki.compile import compile_recording  # noqa: E402
from trn_nki.diagnostics.errors import KernelError  # noqa: E402
from trn_nki.run import Options, RunError, execute  # noqa: E402
from trn_nki.trace import record_kernel  # noqa: E402
from trn_nki.values import generations  # noqa: E402

BOARDS = {"gen2": "trn1-chip", "gen3": "trn2-chip", "gen4": "trn3-chip"}
F32 = numpy.float32


def whole(*shape):
    """Small whole numbers: their sums are exact in any order."""
    return numpy.random.default_rng(7).integers(-8, 8, shape).astype(F32)


def number(value):
    return numpy.array([[value]], numpy.int32)


class Loops(unittest.TestCase):
    """execute() fails if the platform's race checker reports a race in a compiled program."""

    def check(self, kernel, arguments, expected, generation, lnc=1):
        with self.subTest(kernel=kernel.__name__, generation=generation):
            with generations.targeting(generation):
                simulated = nki.simulate(kernel[lnc])(*arguments)
            compiled = compile_recording(record_kernel(kernel, arguments, generation=generation, lnc=lnc))
            outputs = execute(compiled, Options(board=BOARDS[generation], limit_ns=1_000_000)).outputs
            for result in (simulated if isinstance(simulated, tuple) else (simulated,), [output.raw for output in outputs]):
                for mine, right in zip(result, expected, strict=True):
                    numpy.testing.assert_array_equal(mine, right)

    def test_a_tensor_says_how_often_a_loop_runs(self):
        x = whole(512, 64)
        for count, generation in ((0, "gen2"), (3, "gen2"), (3, "gen3"), (4, "gen4")):
            expected = x * 2
            expected[count * 128 :] = 0
            self.check(loops.doubled_rows, (x, number(count)), [expected], generation)

    def test_all_engines_work_in_three_nested_loops(self):
        at, b = whole(256, 256), whole(256, 512)
        for depth, generation in ((2, "gen2"), (2, "gen3"), (0, "gen4"), (2, "gen4")):
            expected = at[: 128 * depth].T @ b[: 128 * depth] / 2
            self.check(loops.matmul, (at, b, number(depth)), [expected], generation)

    def test_a_loop_ends_when_its_condition_is_zero(self):
        x = numpy.random.default_rng(3).uniform(1, 100, (1, 50)).astype(F32)
        for limit, generation in ((1000.0, "gen2"), (3.0, "gen2"), (3.0, "gen3"), (60.0, "gen4")):
            halved, passes = x, 0
            while halved.max() > limit:
                halved, passes = halved / 2, passes + 1
            self.check(loops.halved_until_small, (x, limit), [halved, number(passes)], generation)

    def test_counters_bound_inner_loops_and_index_tiles(self):
        x = whole(1, 5, 40)
        for generation in BOARDS:  # unrolled on Trainium1: the bounds are constants
            self.check(loops.triangular_sums, (x,), [numpy.cumsum(x[0], 0), number(15)], generation)

    def test_two_cores_meet_in_every_pass(self):
        x = whole(2, 128, 40)
        for count, generation in ((0, "gen3"), (4, "gen3"), (3, "gen4")):
            expected = numpy.stack([x[0] + count * x[1], x[1] + count * x[0]])
            self.check(loops.exchanged, (x, number(count)), [expected], generation, lnc=2)

    def test_the_body_is_in_the_program_once(self):
        x = whole(512, 64)
        text = compile_recording(record_kernel(loops.doubled_rows, (x, number(4)), generation="gen3")).text
        self.assertEqual(text.count("tensor_scalar"), 1)

    def test_an_index_out_of_range_ends_the_run_at_the_line(self):
        compiled = compile_recording(record_kernel(loops.doubled_rows, (whole(512, 64), number(5)), generation="gen3"))
        with self.assertRaisesRegex(RunError, r"loops\.py:\d+\): INDIRECT_OOB"):
            execute(compiled, Options(board="trn2-chip"))
        with self.assertRaisesRegex(KernelError, r"loops\.py:\d+:\d+: .*out of range"):
            nki.simulate(loops.doubled_rows)(whole(512, 64), number(5))

    def test_what_a_loop_cannot_do_is_refused_at_its_line(self):
        @nki.jit
        def sums_in_psum(x):
            tile = nl.load(x)
            total = nl.ndarray((128, 128), dtype=nl.float32, buffer=nl.psum)
            for _ in nl.dynamic_range(2):
                nisa.nc_matmul(dst=total, stationary=tile, moving=tile)

        @nki.jit
        def partition(x):
            tile = nl.load(x)
            for row in nl.dynamic_range(2):
                nisa.tensor_scalar(dst=tile[row], data=tile[row], op0=nl.add, operand0=1.0)

        @nki.jit
        def float_bound(x):
            tile = nl.load(x)
            for _ in nl.dynamic_range(nisa.register_alloc(tile[0:1, 0:1])):
                nisa.tensor_scalar(dst=tile, data=tile, op0=nl.add, operand0=1.0)

        for kernel, message in (
            (sums_in_psum, r"accumulate=True or False.*15\.3"),
            (partition, r"engines take partitions from the instruction.*2\.2"),
            (float_bound, r"a register holds an integer.*8\.1"),
        ):
            with self.assertRaisesRegex(KernelError, r"loops_test\.py:\d+:\d+: .*" + message):
                compile_recording(record_kernel(kernel, (whole(128, 128),), generation="gen4"))

        @nki.jit
        def single_bytes(x, count):
            tile = nl.load(x)
            for _ in nl.dynamic_range(nisa.register_alloc(nl.load(count))):
                nisa.dma_copy(dst=x[:, 0:130:2], src=tile[:, 0:65])

        with self.assertRaisesRegex(KernelError, r"loops_test\.py:\d+:\d+: Trainium1 .*takes 65 parts.*13\)"):
            compile_recording(record_kernel(single_bytes, (whole(128, 130), number(1)), generation="gen2"))


if __name__ == "__main__":
    unittest.main()
