#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Runs random small kernels in nki.simulate and on boards, and compares the results bit for bit, with NumPy where it has a
rule. A kernel is a few calls of nki.isa and nki.language on random views, types and numbers, many of them wrong.

A call is a failure when the halves give different bits, when one half refuses what the other runs, or when a message is a
Python exception. The smallest call that fails is written to --output; --replay FILE runs it again.
"""
import argparse
import contextlib
import io
import json
import os
import pathlib
import random
import re
import sys
import time
import warnings

SOURCE = pathlib.Path(__file__).resolve().parents[3]
sys.path[:0] = [str(SOURCE / "sw-stubs/python"), str(pathlib.Path(__file__).parent)]

import nki.isa as nisa  # noqa: E402 - after the path
import nki.language as nl  # noqa: E402
import numpy  # noqa: E402

import generators  # noqa: E402
from choices import Choices, smallest  # noqa: E402
from trn_nki import simulate  # noqa: E402
from trn_nki.compile import compile_recording  # noqa: E402
from trn_nki.diagnostics.errors import KernelError  # noqa: E402
from trn_nki.run.execution import Options, RunError, execute  # noqa: E402
from trn_nki.trace import record_kernel  # noqa: E402

BOARDS = {"trn3-chip": 4, "trn2-chip": 3, "trn1-chip": 2}
BY_NAME = {one.__name__: one for one in generators.ALL} | generators.ISA
RAW_EXCEPTION = re.compile(r"(\w*(Error|Exception|Warning)|KeyError|StopIteration): ")


class Failure(Exception):
    """A difference between the halves."""


class Call:
    """A generator and its choices."""

    def __init__(self, name, choices=(), seed=None):
        self.name, self.choices, self.seed = name, list(choices), seed
        self.expected = {}

    def trace(self, generation):
        """Makes the call. Returns the tensors in HBM that hold its results."""
        choices = Choices(self.choices, self.seed)
        calls = generators.Calls(choices, generation)
        try:
            BY_NAME[self.name](calls)
        finally:
            self.choices, self.seed = choices.made, None
        self.expected = calls.expected
        return [_stored(tile) for tile in calls.keep]


def _stored(tile):
    if tile.buffer is nl.psum:
        copied = nl.ndarray(tile.shape, tile.dtype)
        nisa.tensor_copy(copied, tile, nisa.engine.vector)
        tile = copied
    elif tile.buffer is nl.shared_hbm:
        return tile
    cores = nl.num_programs()
    made = nl.ndarray((cores, *tile.shape), tile.dtype, nl.shared_hbm)
    nisa.dma_copy(made[nl.program_id()], tile)
    return made


class Runner:
    """Runs calls on one board."""

    def __init__(self, board):
        self.board, self.generation = board, BOARDS[board]
        self.ran = self.refused = 0

    def record(self, calls):
        def kernel():
            return [result for call in calls for result in call.trace(self.generation)]

        lnc = 2 if any(BY_NAME[call.name] in generators.OF_TWO_CORES for call in calls) else 1
        return record_kernel(kernel, generation=self.generation, lnc=lnc)

    def traced(self, call):
        """A kernel of the call; None if the call is refused while it is traced, which both halves do."""
        try:
            return self.record([call])
        except KernelError as error:
            if RAW_EXCEPTION.match(error.message):
                raise Failure(f"traced: {error}") from error
            self.refused += 1
            return None

    def runs(self, call):
        """Whether simulate runs the call."""
        try:
            simulate.execute(self.record([call]))
        except KernelError:
            return False
        return True

    def on_board(self, recording):
        with contextlib.redirect_stderr(io.StringIO()):
            return execute(compile_recording(recording), Options(board=self.board)).outputs

    def check(self, call):
        """Raises Failure if the halves differ over one call."""
        recording = self.traced(call)
        if recording is None:
            return
        try:
            expected = simulate.execute(recording)
        except KernelError as error:
            self.refused += 1
            try:
                self.on_board(recording)
            except (KernelError, RunError):
                return
            raise Failure(f"simulate refuses and the board runs: {error}") from error
        except Exception as error:
            raise Failure(f"simulate: {type(error).__name__}: {error}") from error
        try:
            found = self.on_board(recording)
        except (KernelError, RunError) as error:
            raise Failure(f"simulate runs and the board refuses: {error}") from error
        except Exception as error:
            raise Failure(f"board: {type(error).__name__}: {error}") from error
        self.compare(expected, found)
        self.compare_numpy(expected, call.expected)

    def check_together(self, calls):
        """The calls that simulate runs, in one kernel. Raises Failure; the caller finds out which call it is."""
        alone = [(call, results) for call in calls if (results := self._simulated(call)) is not None]
        if not alone:
            return
        recording = self.record([call for call, _ in alone])
        self.compare(simulate.execute(recording), self.on_board(recording))
        for call, results in alone:
            self.compare_numpy(results, call.expected)
        self.ran += len(alone)

    def _simulated(self, call):
        """The results of the call alone; None if it is refused."""
        recording = self.traced(call)
        if recording is None:
            return None
        try:
            return simulate.execute(recording)
        except Exception:
            self.check(call)
            return None

    @staticmethod
    def compare(expected, found):
        for number, (one, other) in enumerate(zip(expected, found, strict=True)):
            one_bytes, other_bytes = (numpy.ascontiguousarray(array.raw).view(numpy.uint8) for array in (one, other))
            if one.raw.shape != other.raw.shape or not numpy.array_equal(one_bytes, other_bytes):
                different = numpy.argwhere(one.raw.view(f"u{one.raw.itemsize}") != other.raw.view(f"u{other.raw.itemsize}"))
                at = tuple(int(i) for i in different[0])
                raise Failure(
                    f"result {number} ({one.dtype}) differs at {len(different)} places, first {at}: simulate "
                    f"{one.raw[at]!r}, board {other.raw[at]!r}"
                )

    @staticmethod
    def compare_numpy(results, by_numpy):
        for number, wanted in by_numpy.items():
            if not numpy.array_equal(results[number].raw.reshape(wanted.shape), wanted):
                raise Failure(f"result {number}: simulate differs from NumPy")


def find(runner, calls):
    """The failures of the calls: (call, message)."""
    try:
        runner.check_together(calls)
        return []
    except (Failure, KernelError, RunError) as error:
        together = error
    found = []
    for call in calls:
        try:
            runner.check(call)
        except Failure as failure:
            found.append((call, str(failure)))
    if not found and (isinstance(together, Failure) or "lacks an order" in str(together)):
        found.append((calls, f"together only: {together}"))
    return found


def kind_of(message):
    """Messages of one kind differ in numbers only."""
    text = re.sub(r"0x[0-9a-f]+|\d+|\[[^\]]*\]|/\S+", "", message)
    return text[:120]


def shrunk(runner, call, message):
    """A smaller call with a failure of the same kind, and its message."""
    kind = kind_of(message)

    def fails(choices):
        nonlocal message
        try:
            runner.check(Call(call.name, choices))
        except Failure as failure:
            if kind_of(str(failure)) == kind:
                message = str(failure)
                return True
        except Exception:  # the generator cannot use the choices
            return False
        return False

    return Call(call.name, smallest(call.choices, fails, 60)), message


def write(folder, runner, number, call, message):
    calls = call if isinstance(call, list) else [call]
    folder.mkdir(parents=True, exist_ok=True)
    path = folder / f"kernel_{runner.board}_{calls[0].name}_{number}.json"
    path.write_text(
        json.dumps(
            {"board": runner.board, "message": message, "calls": [{"name": one.name, "choices": one.choices} for one in calls]}, indent=1
        )
        + "\n"
    )
    print(f"{path}: {message}", flush=True)


def replay(path):
    described = json.loads(pathlib.Path(path).read_text())
    runner = Runner(described["board"])
    calls = [Call(one["name"], one["choices"]) for one in described["calls"]]
    for call in calls:
        try:
            recording = runner.record([call])
        except KernelError as error:
            print(error)
            continue
        for core in recording.cores:
            print(*(f"{item.place.line if hasattr(item, 'place') else ''} {item!r}" for item in core.body), sep="\n")
    failures = find(runner, calls)
    for _, message in failures:
        print(message)
    return 1 if failures else 0


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--build", default=SOURCE / "build", help="build folder with trnctl and trn-asm")
    parser.add_argument("--seconds", type=float, default=60)
    parser.add_argument("--enough", type=int, default=1 << 30, help="number of kernels")
    parser.add_argument("--calls", type=int, default=8, help="calls of a kernel")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--only", help="one generator")
    parser.add_argument("--boards", default=",".join(BOARDS))
    parser.add_argument("--output", type=pathlib.Path, default=pathlib.Path("."), help="folder for failures")
    parser.add_argument("--no-shrink", action="store_true")
    parser.add_argument("--replay", help="file of a failure")
    options = parser.parse_args()
    warnings.simplefilter("ignore", RuntimeWarning)  # numbers beyond a type
    os.environ["TRNVP_BUILD"] = os.path.abspath(options.build)
    if options.replay:
        return replay(options.replay)
    runners = [Runner(board) for board in options.boards.split(",")]
    single = [one.__name__ for one in generators.ALL if one not in generators.OF_TWO_CORES]
    kinds, failures, end, number = set(), 0, time.monotonic() + options.seconds, 0
    while number < options.enough and time.monotonic() < end:
        choose = random.Random(f"{options.seed} {number}")
        runner = choose.choice(runners)
        if options.only:
            calls = [Call(options.only, seed=f"{options.seed} {number} {i}") for i in range(options.calls)]
        elif runner.generation > 2 and choose.random() < 0.05:
            calls = [Call(choose.choice(generators.OF_TWO_CORES).__name__, seed=f"{options.seed} {number}")]
        else:
            calls = [Call(choose.choice(single), seed=f"{options.seed} {number} {i}") for i in range(options.calls)]
        for call, message in find(runner, calls):
            failures += 1
            kind = (calls[0].name if isinstance(call, list) else call.name, kind_of(message))
            if kind in kinds:
                continue
            kinds.add(kind)
            if not options.no_shrink and not isinstance(call, list):
                call, message = shrunk(runner, call, message)
            write(options.output, runner, number, call, message)
        number += 1
    print(
        f"seed {options.seed}: {number} kernels, {sum(one.ran for one in runners)} calls ran in both halves, "
        f"{sum(one.refused for one in runners)} were refused, {failures} failures of {len(kinds)} kinds"
    )
    return 1 if failures else 0


if __name__ == "__main__":
    sys.exit(main())
