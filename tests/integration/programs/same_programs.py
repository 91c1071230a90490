#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Checks that programs of NeuronCores are independent of other platform activity: same_programs.py
TRNVP TRNCTL.

Digests of scenarios are the same in one process and in several, in any order, alone or after
others, from any folder. Tensors, simulated times and counters of a program are the same without
observers, with a timeline or a text trace, and during a search for races."""
import json
import os
import pathlib
import subprocess
import sys
import tempfile

SCENARIOS = ["engine_program", "engine_matmul", "rule_programs", "programs_overlap", "sharded_layer"]
PROGRAM = ["scenarios/programs/softmax.trn", "--in", "x=random(-4,4)", "--json", "--counters", "--core", "3"]


def run(*command, folder="."):
    done = subprocess.run([str(word) for word in command], stdout=subprocess.PIPE, check=False, cwd=folder)
    if done.returncode != 0:
        sys.exit(f"{' '.join(map(str, command))}: status {done.returncode}\n{done.stdout.decode()}")
    return done.stdout


def digests(trnvp, *options, folder="."):
    files = [os.path.relpath(f"scenarios/{name}.yaml", folder) for name in SCENARIOS]
    found = json.loads(run(os.path.abspath(trnvp), "test", *files, "--digest", "--json", *options, folder=folder))
    return {one["name"]: one["trace_digest"] for one in found}


def outcome(trnctl, folder, *options):
    """Runs a program; returns its output tensor and the output of trnctl."""
    y = folder / "y.npy"
    printed = run(trnctl, "--board", "trn3-chip", *options, "program", "run", *PROGRAM, "--out", f"y={y}")
    return printed, y.read_bytes()


def main(trnvp, trnctl):
    differences = []
    expected = digests(trnvp, "-j", "1")
    if len(set(expected.values())) != len(expected) or len(expected) < len(SCENARIOS):
        differences.append(f"scenarios with the same digest: {expected}")
    found = digests(trnvp, "-j", "2", folder="scenarios")
    differences += [f"{name} in another folder: {found.get(name)}" for name in expected if found.get(name) != expected[name]]
    for options in (["-j", "2", "--shuffle", "3"], ["-j", "4"], ["-j", "1", "--no-share"]):
        found = digests(trnvp, *options)
        differences += [f"{name} with {' '.join(options)}: {found.get(name)}" for name in expected if found.get(name) != expected[name]]
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        alone = outcome(trnctl, folder)
        observers = {
            "a timeline": ["--trace", folder / "t.perfetto-trace"],
            "a text trace": ["--trace", folder / "t.txt"],
            "a search for races": ["--misuse", "log:tile-race,psum-collision"],
        }
        for what, options in observers.items():
            if outcome(trnctl, folder, *options) != alone:
                differences.append(f"the program with {what} leaves something else")
        if (folder / "t.perfetto-trace").stat().st_size == 0:
            differences.append("the timeline is empty")
    print("\n".join(differences), f"{len(differences)} differences", sep="\n")
    return len(differences) > 0


sys.exit(main(*sys.argv[1:]))
