#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
"""Measures kernels whose times AWS publishes, and one product in five steps, and writes the tables
of two pages.

usage: tests/bench/kernel_times.py BUILD [published|steps] [--page]

Prints a table; with --page it also replaces the text between the markers of the table in
doc/fidelity.md (published) or doc/guide-kernel.md (steps). Times are simulated, so they are the
same on every machine. Each result is compared with NumPy in binary64; a difference ends this
script. Source of the published times: doc/spec/neuron-core.md, 16.3.
"""
import functools
import os
import pathlib
import sys

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path[:0] = [str(ROOT / "sw-stubs/python"), str(ROOT / "scenarios/kernels")]

import numpy  # noqa: E402 - after the path

import matmul_steps  # noqa: E402
import published  # noqa: E402
from trn_nki.compile import compile_recording  # noqa: E402
from trn_nki.run import Options, execute  # noqa: E402
from trn_nki.simulate import formats  # noqa: E402
from trn_nki.trace import record_kernel  # noqa: E402
from trn_nki.trace.host_arrays import HostArray  # noqa: E402
from trn_nki.values import data_types  # noqa: E402

BOARDS = {"Trainium1": ("trn1-chip", 2), "Trainium2": ("trn2-chip", 3), "Trainium3": ("trn3-chip", 4)}
STEPS = ["tiled", "hoisted", "blocked", "resident", "optimised"]
CHANNELS, STATES = 4096, 16


def run(kernel, arguments, chip, expected=None, tolerance=0.0):
    """Runs a kernel; returns microseconds. `tolerance` limits the largest difference from
    `expected`, relative to its largest absolute value."""
    board, generation = BOARDS[chip]
    recording = record_kernel(kernel, (), arguments, generation=generation)
    outcome = execute(compile_recording(recording), Options(board=board))
    if expected is not None:
        found = formats.to_float32(outcome.outputs[0].raw, outcome.outputs[0].dtype)
        worst = numpy.abs(found - expected).max() / numpy.abs(expected).max()
        if not worst <= tolerance:
            raise SystemExit(f"{recording.kernel}: differs from NumPy by {worst:g} of the largest number")
    return outcome.simulated_us


@functools.cache
def factors(depth, rows, columns):
    """Arguments in BF16 and their product in binary64."""
    numbers = numpy.random.default_rng(2)
    at, b = (
        formats.from_float32(numbers.uniform(-1, 1, shape).astype(numpy.float32), data_types.bfloat16)
        for shape in ((depth, rows), (depth, columns))
    )
    exact = [formats.to_float32(raw, data_types.bfloat16).astype(float) for raw in (at, b)]
    return {name: HostArray(raw, data_types.bfloat16) for name, raw in (("at", at), ("b", b))}, exact[0].T @ exact[1]


def product(chip, depth, rows, columns, steps):
    """Times of the steps for a product in BF16."""
    arguments, exact = factors(depth, rows, columns)
    return [run(getattr(matmul_steps, step), arguments, chip, exact, 2**-8) for step in steps]


def mamba(kernel, channels, steps):
    numbers = numpy.random.default_rng(3)

    def made(*shape):
        return numbers.uniform(0, 1, shape).astype(numpy.float32)

    arguments = {
        "delta": made(channels, steps),
        "u": made(channels, steps),
        "a": -made(channels, STATES),
        "b": made(STATES, steps),
        "c": made(STATES, steps),
    }
    return run(kernel, arguments, "Trainium1", published.mamba(**arguments), 1e-5)


def slope(kernel, chip, few, many, **arguments):
    """Microseconds per additional round."""
    times = [run(kernel, arguments | {"count": count}, chip) for count in (few, many)]
    return (times[1] - times[0]) / (many - few)


def copies(chip, generated):
    x, rows = numpy.ones((128, 64), numpy.float32), numpy.arange(128, dtype=numpy.int32).reshape(1, 128)
    return slope(published.chained_copies, chip, 20, 120, x=x, rows=rows, generated=generated)


def published_rows():
    """Yields (workload, published, kernel, simulated); times in us."""
    chain = slope(published.scalar_chain, "Trainium1", 100, 300, x=numpy.ones((128, 1), numpy.float32))
    yield "dependent one-element Scalar instruction, Trainium1", 0.189, "`scalar_chain`", chain
    yield "copy by the descriptor generators, Trainium2", 0.6, "`chained_copies`, beyond a copy by a ring", copies(
        "Trainium2", True
    ) - copies("Trainium2", False)
    yield "Mamba v1, Trainium1, 256 channels, 512 steps", 172.93, "`mamba_v1`", mamba(published.mamba_v1, 256, 512)
    yield "Mamba v1, 4,096 channels", 2340, "`mamba_v1`", mamba(published.mamba_v1, CHANNELS, 512)
    yield "Mamba v2, 4,096 channels", 1610, "`mamba_v2`", mamba(published.mamba_v2, CHANNELS, 512)
    yield "Mamba v3, 1,024 steps", 3300, "`mamba_v3`", mamba(published.mamba_v3, CHANNELS, 1024)
    for steps, time in ((2048, 6600), (4096, 13300), (8192, 27800)):
        eighth = mamba(published.mamba_v3, CHANNELS // 8, steps)
        yield f"Mamba v3, {steps:,} steps", time, "`mamba_v3`, 512 channels, times 8", 8 * eighth
    yield "product of 2048 x 2048 x 2048 in BF16, Trainium2, best", 240, "`optimised`", product(
        "Trainium2", 2048, 2048, 2048, ["optimised"]
    )[0]


def time_text(us):
    if us < 1:
        return f"{us * 1000:.1f} ns"
    return f"{us:.1f} us" if us < 1000 else f"{us / 1000:.2f} ms"


def published_table():
    lines = ["| Workload | Published | Kernel | Simulated | Of the published |", "|---|---|---|---|---|"]
    for workload, time, kernel, found in published_rows():
        lines.append(f"| {workload} | {time_text(time)} | {kernel} | {time_text(found)} | {found / time:.2f} |")
    return lines


def steps_table():
    """The table of steps; its loads are those of both matrices, in MiB."""
    size = "1,024 x 1,024 x 2,048"
    lines = [f"| Step | {' | '.join(f'{chip} (us)' for chip in BOARDS)} |", "|---|---|---|---|"]
    times = {chip: product(chip, 1024, 1024, 2048, STEPS) for chip in BOARDS}
    for number, step in enumerate(STEPS):
        lines.append(f"| {number + 1}. `{step}`, {size} | " + " | ".join(f"{times[chip][number]:.1f}" for chip in BOARDS) + " |")
    return lines


TABLES = {"published": (published_table, "doc/fidelity.md"), "steps": (steps_table, "doc/guide-kernel.md")}


def main():
    words = [word for word in sys.argv[1:] if word != "--page"]
    os.environ["TRNVP_BUILD"] = os.path.abspath(words[0])
    for name in words[1:] or TABLES:
        make, page = TABLES[name]
        text = "\n".join(make()) + "\n"
        print(text)
        if "--page" in sys.argv:
            path = ROOT / page
            begin, end = f"<!-- {name}: written by tests/bench/kernel_times.py, do not edit -->\n", f"<!-- {name}: end -->\n"
            before, rest = path.read_text().split(begin)
            path.write_text(before + begin + text + end + rest.split(end)[1])


if __name__ == "__main__":
    main()
