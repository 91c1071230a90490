#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Checks that the schema of `trnvp test --schema` accepts every scenario of a folder, and rejects
invalid ones."""
import copy
import json
import pathlib
import subprocess
import sys

import jsonschema
import yaml

trnvp, folder = sys.argv[1:]
schema = json.loads(subprocess.check_output([trnvp, "test", "--schema"]))
jsonschema.Draft202012Validator.check_schema(schema)
validator = jsonschema.Draft202012Validator(schema)

failures = []
files = sorted(pathlib.Path(folder).rglob("*.yaml"))
for file in files:
    for error in validator.iter_errors(yaml.safe_load(file.read_text())):
        best = jsonschema.exceptions.best_match([error])
        failures.append(f"{file}: {'/'.join(map(str, best.absolute_path))}: {best.message[:200]}")

good = {"scenario": "s", "board": "trn3-chip", "steps": [{"wait": "10 us"}]}
assert validator.is_valid(good)
for wrong in (
    {"wiat": "10 us"},
    {"wait": "10"},
    {"wait": "10 us", "probe": {}},
    {"wait": {"module": "chip0.hbm0", "counter": "bytes_moved", "atleast": 1}},
    {"copy": {"from": "host", "to": "hbm0"}},
    {"copy": {"from": "disk", "to": "hbm0", "size": "4 KiB"}},
    {"copy": {"from": "host", "to": "hbm0", "size": 4096}},
    {"engine": {"engine": 0, "is": "broken"}},
    {"together": {"a": [{"wiat": "1 us"}]}},
    {"sequence": {"with": {}}},
    {"figure": {"time_of": []}},
    {"inject": {"module": "wire0", "fault": "link_down", "when": {"writen": "x"}}},
):
    bad = copy.deepcopy(good)
    bad["steps"].append(wrong)
    if validator.is_valid(bad):
        failures.append(f"the schema takes {wrong}")

for one in failures:
    print(one)
if len(files) < 40:
    failures.append("no scenarios")
print(f"{len(files)} scenarios, {len(failures)} mistakes")
sys.exit(bool(failures))
