#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Checks that every key of a scenario's steps changes the outcome of some scenario, alone and beside every other key:
check_keys.py TRNVP SCENARIOS. The keys come from the schema, the scenarios from key_witnesses.yaml: a new key needs a witness."""
import collections
import json
import os
import pathlib
import re
import subprocess
import sys
import tempfile

import yaml

TRNVP = pathlib.Path(sys.argv[1]).resolve()
SCENARIOS = pathlib.Path(sys.argv[2]).resolve()
WITNESSES = yaml.safe_load((pathlib.Path(__file__).parent / "key_witnesses.yaml").read_text(encoding="utf-8"))
REFUSED = 9, 10, 11, 13, 20, 22  # missing, unknown or without effect; bounds that need a unit, or exclude every value
NAMES = 13, 26  # of something that no other step names, or that none has made
MISTAKE = re.compile(r"E(\d+) ")


def keys_of_schema():
    """The keys of each kind of step, and of a condition."""
    schema = json.loads(subprocess.run([TRNVP, "test", "--schema"], stdout=subprocess.PIPE, check=True).stdout)
    kinds = {name: set(form.get("properties", {})) for name, form in schema["$defs"]["steps"]["items"]["properties"].items()}
    kinds["condition"] = set(schema["$defs"]["condition"]["properties"])
    return {name: keys for name, keys in kinds.items() if keys}


def uses(value, kind, key):
    """Whether the steps of a scenario contain the key."""
    if isinstance(value, list):
        return any(uses(one, kind, key) for one in value)
    if not isinstance(value, dict):
        return False
    places = ("expect", "wait", "when") if kind == "condition" else (kind,)
    if any(isinstance(value.get(place), dict) and key in value[place] for place in places):
        return True
    return any(uses(one, kind, key) for one in value.values())


def scenario(kind, about, step):
    """A scenario with this step between those of its witness."""
    name = "expect" if kind == "condition" else kind
    first = [{"boot": step}] if kind == "boot" else [{"boot": {}}, *about.get("before", []), {name: step}]
    whole = {"scenario": "x", "board": about.get("board", "trn3-chip"), "steps": first + about.get("after", [])}
    if "sequences" in about:
        whole["sequences"] = about["sequences"]
    return whole


# `base`: the scenario without either key; a key that changes it is no test of another one.
Case = collections.namedtuple("Case", "text expected with_key without base")


def cases():
    """Each pair of scenarios whose outcomes must differ: with a key, and without."""
    for kind, whole in WITNESSES.items():
        for key, own in whole["keys"].items():
            if "value" not in own:
                continue
            about = {**whole, **own}
            base = {**about["step"], **about.get("beside", {})}
            with_key = {**base, key: own["value"]}
            alone = scenario(kind, about, base)
            yield Case(f"{kind}: {key}", True, scenario(kind, about, with_key), alone, alone)
            for other, its in whole["keys"].items():
                if "ok" not in its or other == key or other in with_key:
                    continue
                yield Case(
                    f"{kind}: {key} beside {other}",
                    False,
                    scenario(kind, about, {**with_key, other: its["ok"]}),
                    scenario(kind, about, {**base, other: its["ok"]}),
                    alone,
                )


def outcomes(all_scenarios, folder):
    """What became of each scenario, by its text: the code of its first mistake, or its result."""
    files = {}
    for number, text in enumerate(all_scenarios):
        file = folder / f"{number}.yaml"
        file.write_text(text, encoding="utf-8")
        files[str(file)] = text
    done = subprocess.run([TRNVP, "test", "--json", *files], stdout=subprocess.PIPE, check=False)
    found = {}
    for one in json.loads(done.stdout):
        mistake = MISTAKE.match(one["message"])
        found[files[one["file"]]] = (
            int(mistake[1])
            if mistake
            else (
                one["status"],
                one["message"],
                one["simulated_ns"],
                str([(figure["name"], figure["value"], figure["unit"]) for figure in one["figures"]]),
            )
        )  # bounds must change more
    return found


def main():
    problems = []
    for kind, keys in keys_of_schema().items():
        witnessed = WITNESSES.get(kind, {}).get("keys", {})
        problems += [f"{kind}: {key}: no witness in key_witnesses.yaml" for key in sorted(keys - set(witnessed))]
        problems += [f"{kind}: {key}: no such key" for key in sorted(set(witnessed) - keys)]
        for key, own in witnessed.items():
            if "as" in own and key not in WITNESSES[own["as"]]["keys"]:
                problems.append(f"{kind}: {key}: no witness of {own['as']}")
            if "in" in own and not uses(yaml.safe_load((SCENARIOS / own["in"]).read_text(encoding="utf-8")), kind, key):
                problems.append(f"{kind}: {key}: {own['in']} does not use it")
    every = [Case(*case[:2], *map(json.dumps, case[2:])) for case in cases()]
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        for files in ("programs", "kernels"):
            os.symlink(SCENARIOS / files, folder / files)
        found = outcomes(sorted({text for case in every for text in (case.with_key, case.without)}), folder)
    counts = collections.Counter()
    for case in every:
        here, there = found[case.with_key], found[case.without]
        if isinstance(here, int):
            counts["refused"] += 1
            if case.expected or here not in REFUSED:
                problems.append(f"{case.text}: refused with E{here:02}")
        elif isinstance(there, int):
            counts["refused without the key"] += 1
            if case.expected and there not in NAMES:
                problems.append(f"{case.text}: refused without the key, with E{there:02}")
        elif isinstance(found[case.base], int) or there[:2] != found[case.base][:2]:
            counts["beside a key that changes the outcome"] += 1
        else:
            counts["different"] += 1
            if here == there:
                problems.append(f"{case.text}: no effect: {here[:2]}")
    print("\n".join(problems), f"{dict(counts)}, {len(problems)} problems", sep="\n")
    return 1 if problems else 0


sys.exit(main())
