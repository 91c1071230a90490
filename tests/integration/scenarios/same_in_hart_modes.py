#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Checks that scenarios pass with identical traces in all execution modes of harts:
same_in_hart_modes.py TRNVP SCENARIO..."""
import json
import subprocess
import sys

trnvp, *scenarios = sys.argv[1:]
found = {}
for mode in ("interpret", "translate", "check"):
    done = subprocess.run([trnvp, "test", *scenarios, "--digest", "--json", "--hart", mode], stdout=subprocess.PIPE, check=True)
    found[mode] = {one["name"]: one["trace_digest"] for one in json.loads(done.stdout)}
    print(mode, found[mode])
sys.exit(len(found["interpret"]) != len(scenarios) or any(one != found["interpret"] for one in found.values()))
