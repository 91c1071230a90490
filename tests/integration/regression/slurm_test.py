#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""trnvp test --slurm on a cluster started by this test; skipped (status 77) if Slurm is not
installed."""
import json
import os
import pathlib
import re
import signal
import subprocess
import sys
import time
import unittest

import slurm_cluster
from trnvp_case import trnvp_case


class Slurm(trnvp_case):
    @classmethod
    def setUpClass(cls):
        cls.slurm = slurm_cluster.cluster(slots=2, nodes=2)
        cls.slurm.__enter__()
        cls.addClassCleanup(cls.slurm.__exit__)

    def setUp(self):
        super().setUp()
        self.environment.update(SLURM_CONF=str(self.slurm.configuration))

    def slow(self, names, seconds=100):
        """Scenarios that wait in a client, which ignores signals, until a file `go` exists."""
        for name in names:
            self.scenario(
                f"{name}.yaml",
                f"scenario: {name}\nboard: trn3-chip\nwall_limit: 1000 s\nsteps:\n"
                f'  - client: {{command: [sh, -c, \'trap "" TERM; touch {self.folder}/{name}.began; for i in $(seq {seconds}0);'
                f" do test -e {self.folder}/go && exit 0; sleep 0.1; done; exit 1']}}\n",
            )

    def start(self, *words):
        running = subprocess.Popen(
            [self.trnvp, *map(str, words)],
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            env=self.environment,
            cwd=self.folder,
        )
        self.addCleanup(running.stdout.close)
        return running

    def until(self, condition, running=None):
        end = time.monotonic() + 120
        while not condition():
            self.assertLess(time.monotonic(), end)
            if running:
                self.assertIsNone(running.poll(), running.stdout.read() if running.poll() is not None else "")
            time.sleep(0.05)

    def began(self, name):
        return lambda: (self.folder / f"{name}.began").exists()

    def end_of(self, running, status):
        said = running.communicate(timeout=200)[0]
        self.assertEqual(running.returncode, status, said)
        return said

    def job_of(self):
        return self.slurm.run(["squeue", "-h", "-o", "%F"]).stdout.split()[0]

    def test_array_of_jobs_reports_like_a_local_run(self):
        file = self.matrix(8, failing=[2])
        options = ["--digest", "--durations", self.folder / "d.json"]
        local = self.run_trnvp("test", file, *options, "--report", self.folder / "local", status=1)
        said = self.run_trnvp(
            "test",
            file,
            *options,
            "--slurm",
            "-j",
            "3",
            "--report",
            self.folder / "out",
            "--junit",
            self.folder / "j.xml",
            status=1,
            cwd=self.folder,
        )
        lines = [sorted(re.findall(r"^(?:pass|FAIL)  (\S+ \S+ \S+)", text, re.M)) for text in (local, said)]
        self.assertEqual(*lines)
        self.assertEqual(len(lines[0]), 8)
        self.assertIn("7 passed, 1 failed", said)
        self.assertEqual(*((self.folder / out / "digests.txt").read_text() for out in ("local", "out")))
        self.assertIn('tests="8" failures="1"', (self.folder / "j.xml").read_text())
        self.assertEqual(len(list(self.folder.glob("out/slurm-*/*.1.out"))), 3)
        # Without --report no files are left.
        self.run_trnvp("test", file, "--slurm", "--partition", "high", "--name", "m [limit=1 ms]", cwd=self.folder)
        self.assertEqual(list(self.folder.glob("slurm-*")), [])

    def test_campaign_of_seeds_is_distributed(self):
        file = self.scenario("c.yaml", "scenario: c\nboard: trn3-chip\nsteps:\n  - wait: 1 ms\n")
        said = self.run_trnvp("test", file, "--slurm", "-j", "4", "--seeds", "1..20", cwd=self.folder)
        self.assertRegex(said, r"pass  c .*, 20 of 20 seeds passed\n20 passed, 0 failed\n$")

    def test_interrupt_cancels_the_jobs_and_reports_what_ran(self):
        self.slow(["b"])
        self.scenario("a.yaml", "scenario: a\nboard: trn3-chip\nsteps:\n  - wait: 1 ms\n")
        running = self.start("test", "a.yaml", "b.yaml", "--slurm", "-j", "1", "--report", "out")
        self.until(self.began("b"), running)
        running.send_signal(signal.SIGINT)
        said = self.end_of(running, 130)
        self.assertIn("1 passed, 0 failed, 1 not run", said)
        self.assertRegex((self.folder / "out/report.xml").read_text(), r'name="b">\s*<error type="not run"')
        self.assertEqual(self.slurm.run(["squeue", "-h"]).stdout, "")

    def test_scancel_from_outside_ends_the_run(self):
        self.slow(["a", "b"])
        running = self.start("test", "a.yaml", "b.yaml", "--slurm", "-j", "2", "--report", "out")
        self.until(lambda: self.began("a")() and self.began("b")(), running)
        self.slurm.run(["scancel", f"{self.job_of()}_1"])
        time.sleep(2)  # the run ends at once; its client would end successfully
        (self.folder / "go").touch()
        said = self.end_of(running, 1)
        self.assertIn("shard 1 did not end its run: CANCELLED", said)
        self.assertIn("1 passed, 0 failed, 1 not run", said)

    def test_shard_of_a_dead_node_runs_again_on_another(self):
        self.slow(["a"])
        running = self.start("test", "a.yaml", "--slurm", "-j", "1", "--report", "out")
        self.until(self.began("a"), running)
        node = self.slurm.run(["squeue", "-h", "-o", "%N"]).stdout.split()[0]
        (self.folder / "a.began").unlink()
        self.slurm.kill_node(node)
        self.addCleanup(self.slurm.revive_node, node)
        self.until(lambda: self.slurm.start_requeued() or self.began("a")(), running)
        (self.folder / "go").touch()
        said = self.end_of(running, 0)
        self.assertIn("shard 1 runs again (2 of 3): NODE_FAIL", said)
        self.assertIn("1 passed, 0 failed", said)
        self.assertIn("runs again (2 of 3)", (self.folder / "out/index.html").read_text())

    def test_preempted_shard_runs_at_most_three_times(self):
        self.slow(["a"])
        running = self.start("test", "a.yaml", "--slurm", "-j", "1", "--report", "out")
        for _ in range(3):
            self.until(self.began("a"), running)
            (self.folder / "a.began").unlink()
            # Occupies all processors of both nodes for a moment.
            self.slurm.run(["sbatch", "--wait", "--partition=high", "--nodes=2", "--exclusive", "--output=/dev/null", "--wrap=true"])
        said = self.end_of(running, 1)
        self.assertEqual(
            re.findall(r"shard 1 (?:runs again \(.\)|runs again \(. of 3\)|did not end its run): PREEMPTED", said),
            ["shard 1 runs again (2 of 3): PREEMPTED", "shard 1 runs again (3 of 3): PREEMPTED", "shard 1 did not end its run: PREEMPTED"],
        )
        self.assertIn("1 not run", said)

    def test_refused_job_is_one_sentence(self):
        file = self.matrix(1)
        said = self.run_trnvp("test", file, "--slurm", "--partition", "nowhere", status=2, cwd=self.folder)
        self.assertRegex(said, r"^trnvp: .*nowhere.*\n$")
        self.assertIn("exclude each other", self.run_trnvp("test", file, "--slurm", "--shard", "1/2", status=2))
        self.environment["PATH"] = "/no/such/folder"
        self.assertEqual(
            self.run_trnvp("test", file, "--slurm", status=2, cwd=self.folder),
            "trnvp: --slurm: there is no sbatch on this machine (Debian: slurm-client)\n",
        )

    def test_recipe_of_the_page_runs(self):
        page = (pathlib.Path(__file__).parents[3] / "doc/regression.md").read_text()
        recipe = re.search(r"```sh[^\n]*\n(#!/bin/sh\n#SBATCH.*?)```\n```[^\n]*\n\$ (.*?)\n```", page, re.S)
        (self.folder / "nightly.sh").write_text(recipe[1].replace("build/trnvp", self.trnvp).replace("16", "2"))
        (self.folder / "scenarios").mkdir()
        pathlib.Path(self.matrix(4)).rename(self.folder / "scenarios/m.yaml")
        how = subprocess.run(
            recipe[2].replace("build/trnvp", self.trnvp),
            shell=True,
            cwd=self.folder,
            env=self.environment,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            check=False,
        )
        self.assertEqual(how.returncode, 0, how.stdout)
        self.assertIn("4 passed, 0 failed", how.stdout)
        self.assertEqual(len(json.loads((self.folder / "durations.json").read_text())["scenarios"]["scenarios/m.yaml"]), 4)


if __name__ == "__main__":
    if name := slurm_cluster.missing():
        print(f"skipped: {name} is not installed (Debian: slurm-wlm)")
        sys.exit(77)
    sys.path.insert(0, os.path.dirname(__file__))
    unittest.main(verbosity=1)
