# SPDX-License-Identifier: Apache-2.0
"""Every event of a trace is in the table of its module's kind (doc/kinds.md), or one of the platform's own (doc/timeline.md)."""
import json
import os
import pathlib
import re
import subprocess
import tempfile
import unittest

SCENARIOS = pathlib.Path("scenarios")
RUNS = ("engine_program", "collectives_few_elements", "efa_copies", "mailbox", "fault_hbm_repair")
PLATFORM = {"host", "scenario", "platform"}  # last parts of tracks that are no modules


def listed(*words: str):
    return json.loads(subprocess.run([os.environ["TRNVP"], "inspect", *words, "--json"], check=True, capture_output=True).stdout)


def kinds() -> dict[str, list[re.Pattern]]:
    """By kind, the events, of slices the begin and the ends; upper-case letters stand for any word."""
    return {
        kind["name"]: [
            re.compile(re.sub("[A-Z]+", r"\\w+", name)) for event in kind["events"] for name in re.split(" ... |/", event["name"])
        ]
        for kind in listed("--list-kinds")
    }


def types(board: str) -> dict[str, str]:
    return {module["name"]: module["type"] for module in listed(board)["modules"]}


class EventsTest(unittest.TestCase):
    def test_tables_of_kinds_have_every_event(self):
        tables = kinds()
        unknown = set()
        for run in RUNS:
            text = (SCENARIOS / f"{run}.yaml").read_text(encoding="utf-8")
            modules = types(re.search(r"^board: *(\S+)", text, re.M)[1])
            with tempfile.TemporaryDirectory() as folder:
                trace = pathlib.Path(folder) / "trace.txt"  # with a matrix: trace.0.txt, ...
                subprocess.run(
                    [os.environ["TRNVP"], "test", SCENARIOS / f"{run}.yaml", "--trace", trace], check=True, stdout=subprocess.DEVNULL
                )
                pairs = {
                    tuple(line.split(" ", 3)[1:3])
                    for file in pathlib.Path(folder).iterdir()
                    for line in file.read_text(encoding="utf-8").splitlines()
                }
            compared = 0
            for track, event in pairs:
                owner = track
                while owner and owner not in modules:
                    owner = owner.rpartition(".")[0]
                if track.rpartition(".")[2] in PLATFORM:
                    continue
                compared += 1
                if not any(known.fullmatch(event) for known in tables.get(modules.get(owner, ""), ())):
                    unknown.add(f"{modules.get(owner)} {event} ({track} in {run})")
            self.assertGreater(compared, 3, run)
        self.assertEqual(sorted(unknown), [])


if __name__ == "__main__":
    unittest.main()
