#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Checks that the optimised and the sanitizer build of trnvp trace all scenarios identically:
same_digests.py TRNVP OTHER."""
import json
import pathlib
import subprocess
import sys

TAGS = ("boot", "dma", "driver", "engines", "fault", "mailbox", "misuse", "neighbour", "registers", "reset", "sync")


def digests(trnvp):
    command = [trnvp, "test", "scenarios", "--digest", "--json"]
    for tag in (*TAGS, "!clients", "!figures"):
        command += ["--tag", tag]
    done = subprocess.run(command, stdout=subprocess.PIPE, check=False)
    return {(one["file"], one["name"]): one["trace_digest"] for one in json.loads(done.stdout)}


if not pathlib.Path(sys.argv[2]).exists():
    sys.exit(f"{sys.argv[2]} is missing: ./dev build")
here, other = map(digests, sys.argv[1:])
different = [
    f"{': '.join(name)}: {here.get(name)} and {other.get(name)}" for name in sorted(here | other) if here.get(name) != other.get(name)
]
different += [f"{': '.join(name)}: was not loaded" for name, digest in here.items() if digest == "0" * 16]
print("\n".join(different), f"{len(here)} scenarios, {len(different)} differ", sep="\n")
sys.exit(len(here) < 80 or len(different) > 0)
