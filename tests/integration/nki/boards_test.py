#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
"""Compiles kernels of scenarios/kernels, runs them on boards, and compares with NumPy: boards_test.py BUILD [TEST...]"""
import os
import pathlib
import re
import signal
import subprocess
import sys
import tempfile
import unittest

BUILD = os.environ["TRNVP_BUILD"] = os.path.abspath(sys.argv.pop(1))
ROOT = pathlib.Path(__file__).resolve().parents[3]
sys.path[:0] = [str(ROOT / "sw-stubs/python"), str(ROOT / "scenarios/kernels")]

import nki  # noqa: E402 - after the path
import numpy  # noqa: E402

import flash_attention  # noqa: E402
import tiles  # noqa: E402
import transformer  # noqa: E402
from trn_nki.command import nanoseconds  # noqa: E402
from trn_nki.compile import compile_recording  # noqa: E402
from trn_nki.diagnostics.errors import KernelError  # noqa: E402
from trn_nki.run import Options, RunError, assemble, execute, platform  # noqa: E402
from trn_nki.trace import record_kernel  # noqa: E402
from trn_nki.trace.host_arrays import HostArray  # noqa: E402
from trn_nki.values import generations  # noqa: E402

BOARDS = ("trn1-chip", "trn2-chip", "trn3-chip")
F32, F64 = numpy.float32, numpy.float64


def random(*shape):
    return numpy.random.default_rng(7).standard_normal(shape).astype(F32)


class Kernels(unittest.TestCase):
    """run_kernel fails if the platform's race checker reports a race in a compiled program."""

    def test_a_line_that_the_assembler_refuses_has_the_place_of_the_kernel(self):
        compiled = compile_recording(record_kernel(tiles.many_tiles, (random(128, 1024), 2), generation="gen3"))
        compiled.text = compiled.text.replace("dma_start", "dma_strt", 1)
        with tempfile.TemporaryDirectory() as folder:
            with self.assertRaisesRegex(
                RunError, r"^/.*tiles\.py:\d+: E26 'dma_strt' is not an instruction .*\n    .*dma_strt \w+$"
            ) as caught:
                assemble(compiled, f"{folder}/set")
            self.assertEqual(caught.exception.status, 2)
            compiled.text = compiled.text.replace("dma_strt", "dma_start")
            with self.assertRaisesRegex(RunError, "^cannot write .*/none/set: No such file or directory$"):
                assemble(compiled, f"{folder}/none/set")

    def test_a_program_without_its_waits_is_found_by_the_race_checker(self):
        a = random(256, 1024)
        compiled = compile_recording(record_kernel(tiles.many_tiles, (a[:128], 6), generation="gen3"))
        compiled.text = re.sub(r"wait S\[2\]>=\d+ ", "", compiled.text)
        with self.assertRaisesRegex(RunError, "(?s)lacks an order between engines:.*tile-race"):
            execute(compiled, Options(board="trn2-chip"))

    def on_boards(self, kernel, *arguments):
        for board in BOARDS:
            with self.subTest(board=board), platform(board):
                yield kernel(*arguments)

    def test_sums_are_exact(self):
        a, b = random(256, 1024), random(256, 1024)
        for result in self.on_boards(tiles.add, a, b):
            numpy.testing.assert_array_equal(result, a + b)

    def test_softmax_agrees_with_binary64(self):
        x = random(128, 512) * F32(4)
        power = numpy.exp(x.astype(F64) - x.max(axis=1, keepdims=True))
        for result in self.on_boards(tiles.softmax, x):
            numpy.testing.assert_allclose(result, power / power.sum(axis=1, keepdims=True), rtol=3e-6, atol=1e-12)

    def test_a_copy_converts_types_and_a_pattern_selects(self):
        x = random(128, 96).astype(numpy.float16)
        for result in self.on_boards(tiles.triangle, x):
            numpy.testing.assert_array_equal(result, numpy.tril(x.astype(F32)))

    def test_tiles_share_memory_once_they_are_dead(self):
        x = numpy.ones((128, 4096), F32)
        for result in self.on_boards(tiles.many_tiles, x, 40):
            numpy.testing.assert_array_equal(result, x + F32(sum(range(41))))

    def test_products_add_up_in_psum(self):
        at, b = (numpy.random.default_rng(3).integers(-8, 8, shape).astype(F32) for shape in ((256, 256), (256, 1024)))
        for result in self.on_boards(tiles.matmul, at, b):
            numpy.testing.assert_array_equal(result, at.T @ b)  # small whole numbers: exact in any order

    def test_transposes_keep_all_bits(self):
        x = random(96, 64)
        for result in self.on_boards(tiles.transpose, x):
            numpy.testing.assert_array_equal(result, x.T)
        half = random(64, 48).astype(numpy.float16)
        for result in self.on_boards(tiles.transpose_by_dma, half):
            numpy.testing.assert_array_equal(result, half.T)

    def test_attention_agrees_with_the_simulation(self):
        q, k, v = (random(128, 64) for _ in range(3))
        with generations.targeting("gen4"):
            expected = nki.simulate(transformer.attention)(q, k, v, True)
        for result in self.on_boards(transformer.attention, q, k, v, True):
            numpy.testing.assert_allclose(result, expected, rtol=1e-5, atol=1e-6)

    def test_attention_in_blocks_agrees_with_binary64(self):
        q, k, v = (random(1, 640, 64)[0] * F32(scale) for scale in (1, -1, 2))
        scores = q.astype(F64) @ k.T / 8
        scores[numpy.triu_indices(640, 1)] = -numpy.inf
        power = numpy.exp(scores - scores.max(axis=1, keepdims=True))
        for result in self.on_boards(flash_attention.flash_attention, q, k, v):
            numpy.testing.assert_allclose(result, power / power.sum(axis=1, keepdims=True) @ v, rtol=1e-5, atol=5e-6)

    def test_rows_are_gathered_and_scattered_by_index(self):
        table = random(300, 96)
        indices = numpy.random.default_rng(5).integers(0, 300, (128, 1)).astype(numpy.int32)
        for result in self.on_boards(transformer.embedding, table, indices):
            numpy.testing.assert_array_equal(result, table[indices[:, 0]])
        order = numpy.random.default_rng(6).permutation(128).astype(numpy.int32)
        for result in self.on_boards(tiles.scatter, table[:128], order.reshape(128, 1)):
            numpy.testing.assert_array_equal(result[order], table[:128])

    def test_copies_take_addresses_from_the_device(self):
        x = random(40, 300)
        indices = numpy.random.default_rng(5).integers(0, 300, (1, 40)).astype(numpy.int32)
        for result in self.on_boards(tiles.pick, x, indices):
            numpy.testing.assert_array_equal(result[:, 0], x[numpy.arange(40), indices[0]])
        indices[0, 7] = 300
        for board in BOARDS[:2]:  # row copies by GPSIMD, and by descriptor generators
            with self.assertRaisesRegex(RunError, r"tiles\.py:\d+\): INDIRECT_OOB") as caught, platform(board):
                tiles.pick(x, indices)
            self.assertRegex(caught.exception.reason, "^trnctl: aborted: .* engine of core 0 failed at pc")

    def test_activate2_applies_two_operators_and_accumulates(self):
        x = random(128, 256)
        expected = numpy.tanh(x.astype(F64) * 0.5 + 0.25)
        with platform("trn3-chip"):
            result, largest = tiles.squashed(x)
        numpy.testing.assert_allclose(result, expected, rtol=1e-6)
        numpy.testing.assert_array_equal(largest, result.max(axis=1, keepdims=True))

    def test_sums_of_copies_are_rounded_once_for_each_step(self):
        x, y = random(100, 60), random(100, 60)[::-1].copy()
        for result in self.on_boards(tiles.summed, x, y):
            numpy.testing.assert_array_equal(result, x + y + x)

    def test_the_largest_of_a_processor_are_found(self):
        bits = (random(16, 8).view(numpy.uint32) >> 16).astype(numpy.uint16)
        values = (bits.astype(numpy.uint32) << 16).view(F32)
        expected = numpy.sort(values.reshape(-1))[-8:]
        for result in self.on_boards(tiles.highest, HostArray(bits, "bfloat16"), 8):
            numpy.testing.assert_array_equal((result.raw.astype(numpy.uint32) << 16).view(F32), [expected] * 16)

    def test_two_cores_exchange_tiles_and_meet(self):
        x = random(2, 128, 200)
        for board in BOARDS[1:]:
            with self.subTest(board=board), platform(board, core=2):
                result = transformer.exchange_sum[2](x)
                numpy.testing.assert_array_equal(result, numpy.stack([x[0] + x[1]] * 2))

    def test_the_same_source_gives_the_same_text(self):
        a = random(256, 1024)
        texts = {compile_recording(record_kernel(tiles.add, (a, a), generation="gen3")).text for _ in range(2)}
        self.assertEqual(len(texts), 1)

    def test_a_kernel_that_does_not_fit_says_by_how_much_and_where(self):
        with self.assertRaises(KernelError) as caught:
            compile_recording(record_kernel(tiles.too_large, (random(1, 1),), generation="gen3"))
        self.assertRegex(str(caught.exception), r"tiles\.py:\d+:\d+: .*needs 80000 bytes .*160000 of 212992 are in use .*27008 are missing")

    def test_products_that_are_open_together_need_a_bank_each(self):
        with self.assertRaises(KernelError) as caught:
            compile_recording(record_kernel(tiles.many_products, (random(128, 128), 9), generation="gen3"))
        self.assertRegex(
            str(caught.exception),
            r"tiles\.py:\d+:\d+: .*needs 2048 bytes .*of PSUM: 16384 of 16384 are "
            r"in use here, by t2:float32.* and 5 more, so 2048 are missing",
        )
        x = numpy.eye(128, dtype=F32)
        with platform("trn2-chip"):
            numpy.testing.assert_array_equal(tiles.many_products(x, 8), 8 * x)


class Command(unittest.TestCase):
    def command(self, *words):
        return subprocess.run([f"{BUILD}/trn-nki", *words], capture_output=True, text=True, timeout=60, check=False)

    def test_run_writes_the_result(self):
        with tempfile.TemporaryDirectory() as folder:
            a = random(128, 512)
            numpy.save(f"{folder}/a.npy", a)
            kernel = f"{ROOT}/scenarios/kernels/tiles.py:add"
            inputs = ["--in", f"a={folder}/a.npy", "--in", f"b={folder}/a.npy"]
            done = self.command("run", kernel, "--board", "trn2-chip", *inputs, "--out", f"r={folder}/r.npy")
            self.assertEqual((done.returncode, done.stderr), (0, ""))
            self.assertRegex(done.stdout, r"^ran \d+\.\d{3} us of simulated time\n$")
            numpy.testing.assert_array_equal(numpy.load(f"{folder}/r.npy"), a + a)

    def test_two_cores_agree_with_simulate_and_leave_a_timeline(self):
        with tempfile.TemporaryDirectory() as folder:
            numpy.save(f"{folder}/x.npy", random(2, 128, 64))
            kernel = f"{ROOT}/scenarios/kernels/transformer.py:exchange_sum"
            exactly = ["--check", "simulate", "--rtol", "0", "--atol", "0"]
            done = self.command(
                "run",
                kernel,
                "--board",
                "trn3-chip",
                "--lnc",
                "2",
                "--in",
                f"x={folder}/x.npy",
                *exactly,
                "--trace",
                f"{folder}/t.perfetto-trace",
            )
            self.assertEqual((done.returncode, done.stderr), (0, ""))
            self.assertIn("result 0: largest difference from simulate 0\n", done.stdout)
            self.assertIn(b"transformer.py", pathlib.Path(f"{folder}/t.perfetto-trace").read_bytes())

    def test_the_command_compares_changed_arguments_and_integers_exactly(self):
        with tempfile.TemporaryDirectory() as folder:
            numpy.save(f"{folder}/x.npy", numpy.arange(2**24, 2**24 + 32, dtype=numpy.int32).reshape(4, 8))
            pathlib.Path(f"{folder}/k.py").write_text(
                "import nki.isa as nisa, nki.language as nl\n\n\ndef changed(x):\n    tile = nl.load(x)\n"
                "    nisa.tensor_scalar(tile, tile, nl.bitwise_xor, 1)\n    nisa.dma_copy(x, tile)\n    return x\n"
            )
            words = ["run", f"{folder}/k.py:changed", "--in", f"x={folder}/x.npy", "--check", "simulate"]
            done = self.command(*words)
            self.assertEqual((done.returncode, done.stderr), (0, ""))
            self.assertIn("result 0: largest difference from simulate 0\nargument x: largest difference from simulate 0\n", done.stdout)

    def test_the_program_set_names_lines_of_the_kernel(self):
        with tempfile.TemporaryDirectory() as folder:
            numpy.save(f"{folder}/x.npy", random(128, 512))
            kernel = f"{ROOT}/scenarios/kernels/tiles.py:softmax"
            done = self.command("compile", kernel, "--in", f"x={folder}/x.npy", "-o", f"{folder}/set")
            self.assertEqual((done.returncode, done.stderr), (0, ""))
            text = subprocess.run([f"{BUILD}/trn-asm", "--disassemble", f"{folder}/set"], capture_output=True, text=True, check=True).stdout
            self.assertRegex(text, r"reciprocal .*# .*tiles\.py:\d+\n")

    def test_mistakes_end_with_status_2_and_a_place(self):
        done = self.command("run", f"{ROOT}/scenarios/kernels/tiles.py:ad")
        self.assertEqual(done.returncode, 2)
        self.assertIn("has no function 'ad', did you mean 'add'?", done.stderr)
        done = self.command("run", f"{ROOT}/scenarios/kernels/tiles.py:add", "--board", "trn2-chi", "--in", "a=x.npy")
        self.assertEqual((done.returncode, done.stderr), (2, "trn-nki: x.npy: No such file or directory\n"))
        done = self.command("compile", f"{ROOT}/scenarios/kernels/tiles.py:add", "-o", "/dev/null")
        self.assertEqual(done.returncode, 2)
        self.assertRegex(done.stderr, r"tiles\.py:\d+:1: add\(a, b\): missing a required argument: 'a'; given: nothing\n +def add\(a, b\)")
        kernel = f"{ROOT}/scenarios/kernels/tiles.py:add"
        done = self.command("simulate", kernel, "--in", f"a={ROOT}/LICENSE")
        self.assertEqual((done.returncode, done.stderr), (2, f"trn-nki: {ROOT}/LICENSE is no NumPy file of one array (.npy)\n"))
        with tempfile.TemporaryDirectory() as folder:
            numpy.save(f"{folder}/a.npy", numpy.zeros((2, 4), numpy.uint16))
            done = self.command("simulate", kernel, "--in", f"a={folder}/a.npy:bfloat17")
        self.assertEqual(done.returncode, 2)
        self.assertIn("'bfloat17' is no element type of nki.language, did you mean 'bfloat16'?", done.stderr)

    def test_mistakes_of_the_command_line_are_one_line_with_a_suggestion(self):
        with tempfile.TemporaryDirectory() as folder:
            pathlib.Path(folder, "k.py").write_text("import nki\n\n\n@nki.jit\ndef one(x):\n    return x\n")
            numpy.save(f"{folder}/c.npy", numpy.zeros((2, 4), complex))
            kernel = f"{folder}/k.py:one"
            for words, message in (
                (["prof"], "trn-nki: argument COMMAND: no 'prof', did you mean 'profile'?"),
                (["run", kernel, "x.npy"], "trn-nki run: takes no x.npy; see trn-nki run --help"),
                (["run", kernel, "--generation", "trn4"], "no 'trn4', did you mean 'trn3'?  (known: gen2, gen3, "),
                (["run", kernel, "--limit", "soon"], "'soon' is no time: write a number of ns, or '100 us' with"),
                (["run", kernel, "--limit", "0"], "'0' is no limit: it is 1 ns to 2^64 - 1 ns"),
                (["run", kernel, "--limit", "9e9 s"], "'9e9 s' is no time"),
                (["run", kernel, "--limit", "99999999999 s"], "'99999999999 s' is no limit: it is 1 ns to"),
                (["run", f"{folder}/k.py"], "k.py: expected FILE.py:FUNCTION; its kernels are one\n"),
                (["run", f"{folder}/k:one"], "k: no such file, did you mean 'k.py'?\n"),
                (["run", kernel, "--in", f"x={folder}/c.npy"], "c.npy: an array of complex128 is no tensor"),
            ):
                with self.subTest(words=words):
                    done = self.command(*words)
                    self.assertEqual((done.returncode, done.stdout, done.stderr.count("\n")), (2, "", 1), done)
                    self.assertIn(message, done.stderr)

    def test_times_have_units(self):
        self.assertEqual([nanoseconds(text) for text in ("7", "100 us", "2.5ms", "1 s")], [7, 100_000, 2_500_000, 1_000_000_000])

    def test_results_have_the_name_that_was_given(self):
        with tempfile.TemporaryDirectory() as folder:
            numpy.save(f"{folder}/x.npy", random(4, 8))
            kernel = f"{ROOT}/scenarios/kernels/tiles.py:softmax"
            self.command("simulate", kernel, "--in", f"x={folder}/x.npy", "--out", f"y={folder}/x")
            self.assertEqual(sorted(os.listdir(folder)), ["x", "x.npy"])

    def test_a_file_that_cannot_be_written_is_named_alone(self):
        with tempfile.TemporaryDirectory() as folder:
            numpy.save(f"{folder}/x.npy", random(4, 8))
            done = self.command("compile", f"{ROOT}/scenarios/kernels/tiles.py:softmax", "--in", f"x={folder}/x.npy", "-o", "/proc/x.set")
            self.assertEqual((done.returncode, done.stderr), (2, "cannot write /proc/x.set: No such file or directory\n"))

    def test_an_interrupt_ends_the_command_quietly(self):
        with tempfile.TemporaryDirectory() as folder:
            pathlib.Path(folder, "k.py").write_text("import time\n\n\ndef slow():\n    print('begins', flush=True)\n    time.sleep(60)\n")
            with subprocess.Popen(
                [f"{BUILD}/trn-nki", "simulate", f"{folder}/k.py:slow"], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
            ) as process:
                process.stdout.readline()
                process.send_signal(signal.SIGINT)
                self.assertEqual((process.communicate()[1], process.returncode), ("", 130))

    def test_a_closed_pipe_ends_the_command_quietly(self):
        with tempfile.TemporaryDirectory() as folder:
            numpy.save(f"{folder}/x.npy", random(128, 64))
            words = f"{BUILD}/trn-nki profile {ROOT}/scenarios/kernels/tiles.py:softmax --in x={folder}/x.npy"
            done = subprocess.run(["bash", "-c", f"{words} | true; echo ${{PIPESTATUS[0]}}"], capture_output=True, text=True, check=True)
            self.assertEqual((done.stdout, done.stderr), ("141\n", ""))
            done = self.command(*words.split()[1:])
            self.assertRegex(done.stdout, r"^ran .*\n\w+ bounds? this execution: .*\n$")


if __name__ == "__main__":
    unittest.main()
