# SPDX-License-Identifier: Apache-2.0
"""Rows of ./dev bench about regressions on several machines (doc/regression.md)."""
import json
import pathlib
import statistics
import subprocess
import sys
import tempfile
import time

sys.path.insert(0, str(pathlib.Path(__file__).parents[1] / "integration/regression"))
import slurm_cluster  # noqa: E402

SCENARIO = """\
scenario: c
board: trn3-chip
matrix: {{size: [{sizes}]}}
steps:
  - boot: {{within: 1 s}}
  - copy: {{from: host, to: hbm0@16 MiB, size: '${{size}}'}}
  - figure: {{name: time, time_of: [copy: {{from: hbm0@16 MiB, to: hbm1@16 MiB, size: '${{size}}'}}]}}
"""


def shards(trnvp, folder, count, scenarios):
    """Creates the records of `count` shards: copies of the records of a run of 20 scenarios,
    renamed."""
    (folder / "c.yaml").write_text(SCENARIO.format(sizes=", ".join(f"{n + 1} KiB" for n in range(20))))
    subprocess.run(
        [trnvp, "test", folder / "c.yaml", "--digest", "--report", folder / "run", "--coverage", folder / "run.info"],
        check=True,
        stdout=subprocess.DEVNULL,
    )
    lines = [json.loads(line) for line in (folder / "run/run.jsonl").read_text().splitlines()]
    head, results, end = lines[0], lines[1:-1], lines[-1]
    head["whole"] = [f"c.yaml\tc {n}" for n in range(scenarios)]
    for part in range(count):
        head["shard"] = [part + 1, count]
        mine = [dict(results[n % len(results)], file="c.yaml", name=f"c {n}", n=n // count) for n in range(part, scenarios, count)]
        (folder / f"s{part}").mkdir()
        (folder / f"s{part}/run.jsonl").write_text("".join(json.dumps(line) + "\n" for line in [head, *mine, end]))
    return [folder / f"s{part}" for part in range(count)]


def merge(trnvp):
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        records = shards(trnvp, folder, 50, 1000)

        def once():
            start = time.monotonic()
            subprocess.run([trnvp, "report", "merge", *records, "--out", folder / "out"], check=True, stdout=subprocess.DEVNULL)
            return time.monotonic() - start

        seconds = statistics.median(once() for _ in range(3))
    return [
        {
            "name": "merge of 1,000 scenarios in 50 shards, all reports",
            "value": seconds,
            "unit": "s",
            "peer": None,
            "peer_value": None,
            "ratio": None,
            "goal": "< 2 s",
            "met": seconds < 2,
        }
    ]


def slurm(trnvp, suite=("scenarios",)):
    """Time of the suite on two slots of a local Slurm cluster compared with one; jobs are divided
    by durations of the first run."""
    if missing := slurm_cluster.missing():
        print(f"bench: {missing} is not installed: no rows of Slurm", file=sys.stderr)
        return []
    with tempfile.TemporaryDirectory(dir=".") as name, slurm_cluster.cluster(slots=2) as cluster:

        def seconds(jobs):
            start = time.monotonic()
            subprocess.run(
                [trnvp, "test", *suite, "--slurm", "-j", str(jobs), "--durations", f"{name}/durations.json", "--report", f"{name}/{jobs}"],
                check=True,
                stdout=subprocess.DEVNULL,
                env=cluster.environment,
            )
            return time.monotonic() - start

        one, two = seconds(1), seconds(2)
    return [
        {
            "name": "the scenarios on two Slurm slots of this machine",
            "value": two,
            "unit": "s",
            "peer": "one slot",
            "peer_value": one,
            "ratio": one / two,
            "goal": "at least 1.8 x",
            "met": one / two >= 1.8,
        }
    ]
