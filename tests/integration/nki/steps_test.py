#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
"""The step `kernel` of scenarios: steps_test.py BUILD [TEST...]"""
import json
import os
import pathlib
import re
import subprocess
import sys
import tempfile
import unittest

import numpy

BUILD = os.path.abspath(sys.argv.pop(1))
ROOT = pathlib.Path(__file__).resolve().parents[3]

KERNELS = '''
import nki
import nki.collectives as ncc
import nki.isa as nisa
import nki.language as nl
import numpy


@nki.jit
def scaled(x, factor=2.0):
    tile = nl.load(x)
    nisa.tensor_scalar(dst=tile, data=tile, op0=nl.multiply, operand0=factor)
    result = nl.ndarray(x.shape, dtype=x.dtype, buffer=nl.shared_hbm)
    nisa.dma_copy(dst=result, src=tile)
    return result


@nki.jit
def wrong(x):
    tile = nl.load(x)
    nisa.tensor_scalar(dst=tile[:, 0:3], data=tile, op0=nl.multiply, operand0=2.0)
    return x


@nki.jit
def fails(x):
    return x.shape[7]


@nki.jit
def reduced(x, ranks, times=1, op="add"):
    out = nl.ndarray(x.shape, dtype=x.dtype, buffer=nl.shared_hbm)
    for _ in range(times):
        part, total = (nl.ndarray(x.shape, dtype=x.dtype, buffer=nl.private_hbm) for _ in range(2))
        nisa.dma_copy(dst=part, src=x)
        ncc.all_reduce(srcs=[part], dsts=[total], op=getattr(nl, op), replica_group=ncc.ReplicaGroup([list(range(ranks))]))
        nisa.dma_copy(dst=out, src=total)
    return out


@nki.jit
def scattered(x, ranks):
    """The sum over the ranks; each rank then gathers all parts."""
    group = ncc.ReplicaGroup([list(range(ranks))])
    whole, gathered = (nl.ndarray(x.shape, dtype=x.dtype, buffer=nl.private_hbm) for _ in range(2))
    part = nl.ndarray((x.shape[0] // ranks, x.shape[1]), dtype=x.dtype, buffer=nl.private_hbm)
    nisa.dma_copy(dst=whole, src=x)
    ncc.reduce_scatter(srcs=[whole], dsts=[part], replica_group=group, collective_dim=0, op=nl.add)
    ncc.all_gather(srcs=[part], dsts=[gathered], replica_group=group, collective_dim=0)
    out, own = (nl.ndarray(like.shape, dtype=x.dtype, buffer=nl.shared_hbm) for like in (x, part))
    nisa.dma_copy(dst=out, src=gathered)
    nisa.dma_copy(dst=own, src=part)
    return out, own


def rows_of_chip(chip):
    return chip + numpy.arange(4096, dtype=numpy.float32).reshape(64, 64)


def rows_of_all(chip):
    total = sum(rows_of_chip(rank) for rank in range(4))
    return total, total[16 * chip:16 * chip + 16]


def tripled(x, factor):
    return 3.0 * x


def of_chip(chip):
    return numpy.full((4, 8), 10.0 * chip, numpy.float32)


def doubled_of_chip(chip):
    return 2 * of_chip(chip)


def broken(chip):
    return 1 / 0


def needs(nothing_known):
    return None


@nki.jit
def counted(x, factor):
    """As scaled; leaves a mark for each time that it is traced."""
    with open(__file__.replace("k.py", "count"), "a") as file:
        file.write(".")
    return scaled(x, factor)


@nki.jit
def reduced_by_chip(x, ranks, chip):
    return reduced(x, ranks, 1 if chip == 0 else 2)


def of_factor(factor):
    return numpy.full((4, 8), factor, numpy.float32)


def doubled(x):
    return x * 2


draws = iter(range(100))


def drawn(seed):
    """Another array in each call."""
    if seed == 2:
        raise ValueError("no array for seed 2")
    return numpy.full((4, 8), seed + next(draws), numpy.float32)


def first_drawn(seed):
    """What the first call of drawn() gives."""
    return numpy.full((4, 8), seed, numpy.float32)


def of_files(seed):
    """Its values are those of a module and of a file."""
    import helper
    with open(__file__.replace("k.py", "values.txt")) as file:
        return numpy.full((4, 8), helper.OFFSET + float(file.read()), numpy.float32)


def of_core(core):
    """Its shape is another one for each core."""
    return numpy.ones((4 + core, 8), numpy.float32)


def noted(chip=None):
    with open(__file__.replace("k.py", "calls"), "a") as file:
        file.write("." if chip is None else str(chip))


def doubled_once(x):
    noted()
    return x * 2


def sixteenth_of_chip(chip):
    noted(chip)
    return numpy.full((4, 8), 2.0, numpy.float32)


def ones():
    noted()
    return numpy.ones((4, 8), numpy.float32)


@nki.jit
def overwritten(x):
    total, operand = nl.ndarray((128, 128), nl.float32, nl.psum), nl.zeros((128, 128), nl.bfloat16)
    for _ in range(4):
        nisa.nc_matmul(total, operand, operand, accumulate=False)
    out, tile = nl.ndarray(x.shape, x.dtype, nl.shared_hbm), nl.ndarray((128, 128), x.dtype)
    nisa.tensor_copy(tile, total)
    nl.store(out, tile)
    return out



def scaled_in_place(x, factor):
    x *= factor
    return x

'''


class Steps(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = pathlib.Path(folder.name)
        (self.folder / "k.py").write_text(KERNELS)

    def run_step(self, step, *words, board="trn3-chip", more=""):
        (self.folder / "s.yaml").write_text(
            f"scenario: x\nboard: {board}\nsteps:\n  - boot: {{within: 1 s}}\n  - kernel: {{{step}}}\n{more}"
        )
        return subprocess.run(
            [f"{BUILD}/trnvp", "test", self.folder / "s.yaml", *words], capture_output=True, text=True, timeout=120, check=False
        )

    def check_refused(self, step, pattern, **named):
        done = self.run_step(step, "--strict", **named)
        self.assertEqual((done.returncode, done.stdout), (2, ""), done)
        self.assertRegex(done.stderr, pattern)

    def check_fails(self, step, pattern):
        done = self.run_step(step)
        self.assertEqual(done.returncode, 1, done)
        self.assertRegex(done.stdout, pattern)

    def check_passes(self, step, *words, **named):
        done = self.run_step(step, *words, **named)
        self.assertEqual((done.returncode, done.stderr), (0, ""), done)
        return done.stdout

    def test_results_are_compared_with_numbers_and_functions(self):
        self.check_passes("function: k.py:scaled, in: {x: 'float32[4, 8] 1.5'}, check: {result0: 3}")
        step = "function: k.py:scaled, in: {x: 'float32[4, 8] index'}, arg: {factor: '3'}, check: {result0: 'k.py:%s'}"
        self.check_passes(step % "tripled")
        self.check_fails(
            step.replace("'3'", "'4'") % "tripled",
            r"chip 0, core 0: tensor result0: 31 of 32 elements differ; the first, \[0, 1\], is 4 .* instead of 3 ",
        )

    def test_a_difference_within_the_tolerance_passes(self):
        step = "function: k.py:scaled, in: {x: 'bfloat16[4, 8] random(1, 2)'}, arg: {factor: '3'}, check: {result0: 'k.py:tripled'}"
        self.check_passes(step)  # rounded to BF16
        self.check_passes(step + ", rtol: 0.004")  # BF16 rounds by 2^-8 of its value at most
        self.check_fails(step + ", rtol: 0.0001", "result0: .* differ by more than 0 \\+ 0.0001")

    def test_a_digest_is_that_of_the_results_bytes(self):
        step = "function: k.py:scaled, in: {x: 'float32[4, 8] random(-1, 1)'}, check: {result0: 'digest(%s)'}"
        found = self.run_step(step % "1234").stdout
        digest = re.search(r"the digest of result0 is ([0-9a-f]{16}), expected 0000000000001234", found).group(1)
        self.check_passes(step % digest)
        self.check_refused(step % "xyz", r"digest\(xyz\): expected 16 hexadecimal digits")

    def test_bounds_of_the_time_count(self):
        step = "function: k.py:scaled, in: {x: 'float32[4, 8] 1'}, "
        self.check_passes(step + "at_least: 1 us, within: 20 us")
        self.check_fails(step + "within: 1 us", r"it is [0-9.]+ us \(at most 1 us\)")
        self.check_fails(step + "at_least: 1 ms", r"it is [0-9.]+ us \(at least 1 ms\)")
        self.check_refused(step + "at_least: 2 us, within: 1 us", r"s\.yaml:5:\d+: E\d+ 'at_least' is more than 'within'")

    def test_inputs_of_chips_and_cores_differ(self):
        self.check_passes(
            "function: k.py:scaled, chips: 4, in: {x: k.py:of_chip}, check: {result0: k.py:doubled_of_chip}", board="trn3-sled"
        )
        self.check_passes("function: k.py:scaled, core: 2, instances: 3, in: {x: 'float32[4, 8] {core}'}, " "check: {result0: simulate}")
        self.check_fails("function: k.py:scaled, chips: 2, in: {x: 'float32[4, 8] 1'}", "the board has 1 chips, not 2")

    def test_each_instance_has_its_own_arguments_and_reference(self):
        step = (
            "function: k.py:scaled, core: 1, instances: 3, in: {x: 'float32[4, 8] 1'}, arg: {factor: '{core}.0'}, " "check: {result0: %s}"
        )
        for check in ("'{core}'", "simulate", "k.py:of_factor"):
            self.check_passes(step % check)
        self.check_fails(step % "1", "chip 0, core 2: tensor result0: 32 of 32 elements differ; .* is 2 .* instead of 1 ")
        self.check_passes(
            "function: k.py:scaled, chips: 4, in: {x: 'float32[4, 8] 1'}, arg: {factor: '{chip}.0'}, " "check: {result0: simulate}",
            board="trn3-sled",
        )
        self.check_passes("function: k.py:scaled, instances: 2, in: {x: k.py:of_core}, check: {result0: simulate}")

    def test_a_kernel_is_compiled_once_for_equal_arguments(self):
        for factor, times in (("2.0", 1), ("{core}.0", 4)):
            with self.subTest(factor=factor):
                (self.folder / "count").write_text("")
                self.check_passes(
                    "function: k.py:counted, instances: 4, in: {x: 'float32[4, 8] random(0, 1)'}, " f"arg: {{factor: '{factor}'}}",
                    "--repeat",
                    "3",
                )
                self.assertEqual((self.folder / "count").read_text(), "." * times)

    def test_functions_are_called_once_for_equal_parameters(self):
        step = "function: k.py:scaled, chips: 4, in: {x: %s}, arg: {factor: '2.0'}, check: {result0: k.py:%s}"
        for array, check, calls in (
            ("'float32[4, 8] random(0, 1)'", "doubled_once", "."),
            ("k.py:ones", "doubled_once", ".."),
            ("'float32[4, 8] 1'", "sixteenth_of_chip", "0123"),
        ):
            (self.folder / "calls").write_text("")
            self.check_passes(step % (array, check), board="trn3-sled")
            self.assertEqual((self.folder / "calls").read_text(), calls)

    def test_functions_may_change_their_arrays(self):
        self.check_passes(
            "function: k.py:scaled, chips: 4, in: {x: 'float32[4, 8] 1'}, arg: {factor: '{chip}'}, "
            "check: {result0: k.py:scaled_in_place}",
            board="trn3-sled",
        )

    def test_a_kernel_is_compiled_once_for_all_seeds(self):
        (self.folder / "count").write_text("")
        self.check_passes(
            "function: k.py:counted, in: {x: 'float32[4, 8] random(0, 1)'}, arg: {factor: '2.0'}, " "check: {result0: k.py:doubled}",
            "--seeds",
            "5..9",
        )
        self.assertEqual((self.folder / "count").read_text(), ".")

    def test_each_seed_has_the_arrays_and_mistakes_that_it_has_alone(self):
        step = "function: k.py:scaled, in: {x: k.py:drawn}, arg: {factor: '1.0'}, check: {result0: k.py:first_drawn}"
        (self.folder / "all").mkdir()
        together = self.run_step(step, "--seeds", "1..4", "--report", self.folder / "all")
        self.assertEqual(together.returncode, 1, together)
        results = {}
        for seed in range(1, 5):
            (self.folder / str(seed)).mkdir()
            self.run_step(step, "--seeds", f"{seed}..{seed}", "--report", self.folder / str(seed))
            results[seed] = self.results_of(str(seed))[0]
        for one in self.results_of("all"):
            alone = results[one["seed"]]
            for key in ("status", "message", "at") + (("fingerprint",) if one["status"] == "passed" else ()):
                self.assertEqual(one[key], alone[key], (key, one))
        self.assertEqual([one["status"] == "passed" for one in self.results_of("all")], [True, False, True, True])

    def results_of(self, report):
        lines = [json.loads(line) for line in (self.folder / report / "run.jsonl").read_text().splitlines()]
        return sorted((line for line in lines if "fingerprint" in line), key=lambda line: line["n"])

    def test_modules_and_files_of_a_kernel_are_inputs(self):
        step = "function: k.py:scaled, in: {x: k.py:of_files}, arg: {factor: '1.0'}, check: {result0: k.py:of_files}"
        helper, values = self.folder / "helper.py", self.folder / "values.txt"
        fingerprints = set()
        for offset, value in ((1, 2), (2, 2), (2, 3), (2, 3)):
            helper.write_text(f"OFFSET = {offset}\n")
            values.write_text(f"{value}\n")
            self.check_passes(step, "--report", self.folder / "report")
            fingerprints.add(self.results_of("report")[0]["fingerprint"])
        self.assertEqual(len(fingerprints), 3)
        for option in ("--junit", "--html", "--trace", "--coverage"):
            for file in (helper, values):
                before = file.read_text()
                done = self.run_step(step, option, file)
                self.assertEqual(done.returncode, 2, done)
                self.assertIn(f"cannot write {file}: this command reads it", done.stderr)
                self.assertEqual(file.read_text(), before)

    def test_outputs_of_the_command_are_no_inputs(self):
        (self.folder / "k.py").write_text(KERNELS.replace("import numpy", "import helper\nimport numpy"))
        helper, array = self.folder / "helper.py", self.folder / "x.npy"
        helper.write_text("")
        numpy.save(array, numpy.ones((4, 8), numpy.float32))
        kernel = f"{self.folder}/k.py:scaled"
        for file in (helper, array, self.folder / "k.py"):
            before = file.read_bytes()
            for words in (("simulate", kernel, "--out", f"y={file}"), ("compile", kernel, "-o", file), ("run", kernel, "--trace", file)):
                done = subprocess.run(
                    [f"{BUILD}/trn-nki", *words, "--in", f"x={array}"], capture_output=True, text=True, timeout=120, check=False
                )
                self.assertEqual((done.returncode, done.stderr), (2, f"trn-nki: cannot write {file}: this command reads it\n"))
                self.assertEqual(file.read_bytes(), before)

    def test_collectives_of_all_instances_are_the_same(self):
        step = "function: k.py:reduced_by_chip, chips: 4, in: {x: k.py:of_chip}, arg: {ranks: '4', chip: '{chip}'}"
        self.check_refused(step, "with the arguments of chip 1 the kernel starts other collectives", board="trn3-sled")

    def test_kernels_of_all_chips_sum_and_compare(self):
        step = "function: k.py:reduced, chips: 4, in: {x: k.py:of_chip}, arg: {ranks: '4'%s}, check: {result0: %d}"
        self.check_passes(step % ("", 60), board="trn3-sled")
        self.check_passes(step % (", times: '4', op: '\"maximum\"'", 30), board="trn3-sled")
        for shape, each in (("float32[1, 1]", 2), ("bfloat16[1, 1]", 2), ("float16[3, 1]", 1), ("float32[7, 3]", 5)):
            self.check_passes(
                f"function: k.py:reduced, chips: 4, in: {{x: '{shape} {each}'}}, arg: {{ranks: '4'}}, " f"check: {{result0: {4 * each}}}",
                board="trn3-sled",
            )
        self.check_passes(
            "function: k.py:scattered, chips: 4, in: {x: k.py:rows_of_chip}, arg: {ranks: '4'}, "
            "check: {result0: k.py:rows_of_all, result1: k.py:rows_of_all}",
            board="trn3-sled",
        )
        fifth = step % (", times: '5'", 60)
        self.check_refused(fifth, r"k\.py:36:\d+: a kernel can start 4 collectives", board="trn3-sled")
        self.check_refused(
            (step % ("", 60)).replace("chips: 4", "chips: 2"),
            r"over 4 ranks and the step runs it 2 times: write 'chips: 4'",
            board="trn3-sled",
        )
        self.check_refused((step % ("", 60)).replace("'4'", "'1'"), "must be one list of all ranks", board="trn3-sled")
        self.check_refused((step % ("", 60)).replace("60", "simulate"), "it needs the other ranks", board="trn3-sled")

    def test_the_layer_of_a_transformer_has_the_same_bits_on_all_chips_in_each_run(self):
        file = ROOT / "scenarios/kernels/sharded_layer.py"
        shapes = {"wq": "512, 128", "wk": "512, 128", "wv": "512, 128", "wo": "128, 512", "w1": "512, 512", "w2": "512, 512"}
        weights = ", ".join(f"{name}: 'bfloat16[{shape}] {file}:{name}'" for name, shape in shapes.items())
        step = (
            f"function: {file}:layer, chips: 4, arg: {{ranks: '4'}}, in: {{x: 'float32[256, 512] random(-1, 1)', {weights}}}, "
            "check: {result0: 'digest(%s)'}"
        )
        found = self.run_step(step % "0", board="trn3-sled").stdout
        digest = re.search(r"chip 0, core 0: the digest of result0 is ([0-9a-f]{16})", found).group(1)
        self.check_passes(step % digest, board="trn3-sled")

    def test_the_same_step_gives_the_same_trace(self):
        step = "function: k.py:scaled, in: {x: 'float32[4, 8] random(-1, 1)'}, check: {result0: simulate}"
        digests = {re.search(r"trace ([0-9a-f]{16})", self.check_passes(step, "--digest", "--no-share")).group(1) for _ in range(2)}
        self.assertEqual(len(digests), 1)

    def test_a_mistake_in_the_kernel_has_its_place(self):
        self.check_refused(
            "function: k.py:wrong, in: {x: 'float32[4, 8] 1'}",
            r"s\.yaml:5:\d+: E54 k\.py:wrong: /.*k\.py:21:5: nisa\.tensor_scalar: .*\n"
            r" +nisa\.tensor_scalar\(dst=tile.*\n +\^+\n.*\n +\^+\n",
        )
        self.check_refused("function: k.py:fails, in: {x: 'float32[4, 8] 1'}", r"k\.py:27:\d+: IndexError: .*\n +return")

    def test_warnings_of_a_kernel_are_in_the_report_and_the_record_of_runs_that_pass_and_that_fail(self):
        line = 1 + KERNELS.splitlines().index("        nisa.nc_matmul(total, operand, operand, accumulate=False)")
        step = "function: k.py:overwritten, instances: 2, in: {x: 'float32[128, 128] 1'}, check: {result0: %d}"
        for expected, status, words in ((0, 0, ()), (1, 1, ()), (0, 0, ("--repeat", "2")), (0, 0, ("--seeds", "1..2"))):
            with self.subTest(expected=expected, words=words):
                report = self.folder / f"report{expected}{len(words)}"
                done = self.run_step(step % expected, "--report", report, *words)
                self.assertEqual((done.returncode, done.stderr), (status, ""), done)
                for result in self.results_of(report.name):
                    (note,) = result["notes"]
                    self.assertIn(f"k.py:{line}: KernelWarning: nisa.nc_matmul: nothing reads 3 of the 4 results", note)
                    self.assertTrue(note in done.stdout or "--seeds" in words, done)  # seeds have one line together
                self.assertIn('<property name="note" value="k.py:', (report / "report.xml").read_text())

    def test_mistakes_of_the_step_are_reported_before_anything_runs(self):
        x = "in: {x: 'float32[4, 8] 1'}"
        self.check_refused(f"function: k.py:scale, {x}", r"k\.py has no function 'scale', did you mean 'scaled'\?")
        self.check_refused(f"function: missing.py:scaled, {x}", r"missing\.py: no such file")
        self.check_refused(
            f"function: k.py:scaled, {x}, check: {{result1: 1}}",
            r"the kernel has no result 'result1', did you mean 'result0'\?; it has result0, x",
        )
        self.check_refused("function: k.py:scaled, in: {x: 'float33[4, 8] 1'}", r"'float33' is no element type")
        self.check_refused("function: k.py:scaled, in: {x: 'float32[4, 8] rando(1, 2)'}", r"in: x: .*: expected a number, index or random")
        self.check_refused("function: k.py:scaled, in: {x: 'fp32[4, 8] 1'}", r"in: x: 'fp32' is no element type .* \(known: float32, ")
        self.check_refused("function: k.py:scaled, in: {x: 'float32[4 8] 1'}", r"expected extents with commas between them")
        self.check_refused(
            f"function: k.py:scaled, {x}, check: {{result0: k.py:tripld}}",
            r"check: result0: k\.py has no function 'tripld', did you mean 'tripled'\?",
        )
        self.check_refused("function: k.py:scaled, in: {x: 'float32[99999, 99999] 1'}", r"an array has at most 1073741824 bytes")
        self.check_refused("function: k.py:scaled, in: {x: k.py:broken}", r"k\.py:78:\d+: ZeroDivisionError")
        self.check_refused("function: k.py:scaled, in: {x: k.py:needs}", r"there is no 'nothing_known' for it")
        self.check_refused("function: k.py:scaled, in: {x: 'x.npy'}", r"x\.npy: No such file or directory")
        self.check_refused(f"function: k.py:scaled, {x}, lnc: 0", r"s\.yaml:5:\d+: E\d+ at least 1 is needed")
        self.check_refused(f"function: k.py:scaled, {x}", r"add the key 'generation'", board="ultracluster-2")


if __name__ == "__main__":
    unittest.main()
