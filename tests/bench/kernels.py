#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
"""Times of the NKI compiler: kernels.py BUILD prints rows in the format of bench_* programs."""
import json
import os
import pathlib
import sys
import time

ROOT = pathlib.Path(__file__).resolve().parents[2]
os.environ["TRNVP_BUILD"] = os.path.abspath(sys.argv[1])
sys.path[:0] = [str(ROOT / "sw-stubs/python"), str(ROOT / "scenarios/kernels")]

import numpy  # noqa: E402 - after the path

import flash_attention  # noqa: E402
from trn_nki.compile import compile_recording  # noqa: E402
from trn_nki.run import Options, execute  # noqa: E402
from trn_nki.trace import record_kernel  # noqa: E402
from trn_nki.trace.host_arrays import HostArray  # noqa: E402

BOARD, GENERATION, LENGTH, DEPTH = "trn3-chip", "gen4", 2048, 128


def row(name, value, unit, goal, met):
    return {"name": name, "value": value, "unit": unit, "peer": None, "peer_value": None, "ratio": None, "goal": goal, "met": met}


def bfloat16(*shape):
    values = numpy.random.default_rng(7).standard_normal(shape).astype(numpy.float32)
    return HostArray((values.view(numpy.uint32) >> 16).astype(numpy.uint16), "bfloat16")


def best(work, times, clock=time.process_time):
    """The shortest time of `times` runs in seconds, and the last result."""
    found = []
    for _ in range(times):
        start = clock()
        result = work()
        found.append(clock() - start)
    return min(found), result


def main():
    inputs = [bfloat16(LENGTH, DEPTH) for _ in range(3)]
    traced, recording = best(lambda: record_kernel(flash_attention.flash_attention, inputs, generation=GENERATION), 5)
    pace = recording.cores[0].instructions / traced
    compiled_in, compiled = best(lambda: compile_recording(recording), 3)
    ran_in, _ = best(lambda: execute(compiled, Options(board=BOARD)), 3, time.monotonic)
    name = f"NKI attention of {LENGTH} x {DEPTH}"
    print(
        json.dumps(
            [
                row(f"{name}, tracing", pace, "instructions/s", "> 20,000", pace > 20_000),
                row(f"{name}, trace and compile", traced + compiled_in, "s", "< 10 s", traced + compiled_in < 10),
                row(f"{name}, whole run on a board of its own", ran_in, "s", "< 30 s", ran_in < 30),
            ]
        )
    )


main()
