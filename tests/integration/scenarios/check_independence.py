#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Checks that the result of a scenario does not depend on the scenarios beside it: check_independence.py TRNVP [SEED...]. Scenarios
drawn with each seed have the same result, digest and trace alone, in groups with a common boot, in shards, in any order, and with traces in
each format."""
import json
import pathlib
import random
import subprocess
import sys
import tempfile

import yaml

TRNVP = pathlib.Path(sys.argv[1]).resolve()
SEQUENCES = {"start": {"steps": [{"boot": {}}]}, "bad": {"steps": [{"peek": {"register": "chip0.nowhere.X", "equals": 1}}]}}
COMPARED = ("status", "step", "message", "place_file", "line", "column", "simulated_ns", "trace_digest", "figures")


def step(draw):
    place = f"hbm{draw.randrange(2)}@{draw.choice((16, 17))} MiB"
    return draw.choice(
        (
            {"copy": {"from": "host", "to": place, "size": draw.choice(("1 B", "4097 B"))}},
            {"fill": {"at": place, "size": "64 B"}},
            {"verify": {"at": place, "size": "64 B"}},
            {"figure": {"name": "f", "counter": "bytes", "module": "chip0.h2t0", "at_most": 5000}},
            {"inject": {"module": "chip0.hbm*", "fault": "hbm_uncorrected", "with": {"offset": "0x1000000"}, "some": 1}},
            {"copy": {"from": "host", "to": "axi@0x900000000000", "size": "64 B"}, "fails": "aborted"},
            {"reset": {}},
            {"wait": "1 us"},
            {"sequence": {"name": "bad"}},
            {
                "together": {
                    "a": [{"memset": {"at": place, "size": "64 B", "value": 1}}, {"memset": {"at": place, "size": "64 B", "value": 2}}],
                    "b": [{"verify": {"at": place, "size": "64 B", "value": 1}}],
                }
            },
        )
    )


def scenario(name, draw):
    whole = {"scenario": name, "board": draw.choice(("trn3-chip", "trn3-chip", "trn2-chip")), "include": ["sequences.yaml"]}
    for key, values in (("seed", (1, 2)), ("time_limit", ("1 ms", "108 ms", "2 s")), ("misuse", ("fail", "count"))):
        if draw.random() < 0.3:
            whole[key] = draw.choice(values)
    if draw.random() < 0.2:
        whole["matrix"], whole["tags"] = {"n": [1, 2]}, ["point-${n}"]
    first = draw.choice(([{"boot": {}}], [{"boot": {}}], [{"boot": {"within": "500 ms"}}], [{"sequence": {"name": "start"}}]))
    whole["steps"] = first + [step(draw) for _ in range(draw.randrange(1, 4))]
    return whole


def run(folder, *options):
    """The results by file and name."""
    done = subprocess.run([TRNVP, "test", "--json", "--digest", *options], cwd=folder, stdout=subprocess.PIPE, check=False)
    return {(one["file"], one["name"]): {key: one[key] for key in COMPARED} for one in json.loads(done.stdout)}


def traces(folder, options, problems):
    """The traces of a run by file and name, which are removed."""
    found = run(folder, *options, "--trace", "trace.txt")
    listed = subprocess.run([TRNVP, "test", "--list", *options], cwd=folder, stdout=subprocess.PIPE, check=True, text=True)
    texts = {}
    for number, name in enumerate(listed.stdout.splitlines()):
        file = folder / (f"trace.{number}.txt" if len(found) > 1 else "trace.txt")
        if not file.exists():
            problems.append(f"no trace of {name}")
            continue
        texts[name.split(maxsplit=1)[1]] = file.read_bytes()
        file.unlink()
    for rest in folder.glob("*trace*"):
        problems.append(f"a trace of no scenario: {rest.name}")
        rest.unlink()
    return found, texts


def check(seed, folder):
    draw = random.Random(seed)
    (folder / "sequences.yaml").write_text(yaml.safe_dump({"sequences": SEQUENCES}), encoding="utf-8")
    files = []
    for number in range(6):
        files.append(f"s{number}.yaml")
        (folder / files[-1]).write_text(yaml.safe_dump(scenario(f"s{number}", draw), sort_keys=False), encoding="utf-8")
    problems = []
    alone, alone_texts = {}, {}
    for file in files:
        found, texts = traces(folder, ["--no-share", file], problems)
        alone.update(found)
        alone_texts.update(texts)
    grouped, grouped_texts = traces(folder, files, problems)
    ways = {
        "grouped, with traces": grouped,
        "grouped": run(folder, *files),
        "one at a time": run(folder, "-j", "1", *reversed(files)),
        "shuffled": run(folder, "--shuffle", str(seed), *files),
        "sharded": {**run(folder, "--shard", "1/2", *files), **run(folder, "--shard", "2/2", *files)},
        "with traces for a viewer": run(folder, "--trace", "trace.perfetto-trace", *files),
    }
    for way, found in ways.items():
        for scenario_of, expected in alone.items():
            if found.get(scenario_of) != expected:
                other = found.get(scenario_of, {})
                differs = {key: (other.get(key), one) for key, one in expected.items() if other.get(key) != one}
                problems.append(f"seed {seed}, {scenario_of}, {way}, beside alone: {differs}")
    problems += [f"seed {seed}, {name}: the trace differs" for name, text in alone_texts.items() if grouped_texts.get(name) != text]
    problems += [f"seed {seed}, {way}: {len(found)} results, {len(alone)} alone" for way, found in ways.items() if len(found) != len(alone)]
    results = [one["status"] for one in alone.values()]
    for rest in folder.glob("*trace*"):
        rest.unlink()
    print(f"seed {seed}: {results.count('passed')} passed, {results.count('failed')} failed, {len(problems)} problems")
    return problems


def main():
    problems = []
    for seed in map(int, sys.argv[2:] or ["1"]):
        with tempfile.TemporaryDirectory() as name:
            problems += check(seed, pathlib.Path(name))
    print("\n".join(problems))
    return 1 if problems else 0


sys.exit(main())
