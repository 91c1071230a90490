#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Runs the commands of doc/ci as far as possible without the services, and checks the output files
that the services read."""
import json
import pathlib
import re
import subprocess
import unittest

from trnvp_case import trnvp_case

try:
    import yaml
except ImportError:
    yaml = None

ROOT = pathlib.Path(__file__).parents[3]


@unittest.skipIf(yaml is None, "PyYAML is not installed (Debian: python3-yaml)")
class ContinuousIntegration(trnvp_case):
    def setUp(self):
        super().setUp()
        (self.folder / "scenarios").mkdir()
        (self.folder / "bin").mkdir()
        (self.folder / "bin/trnvp").symlink_to(self.trnvp)
        self.environment["PATH"] = f"{self.folder}/bin:{self.environment['PATH']}"
        pathlib.Path(self.matrix(6, failing=[4])).rename(self.folder / "scenarios/m.yaml")

    def shell(self, command, **variables):
        return subprocess.run(
            ["sh", "-e", "-c", command],
            cwd=self.folder,
            stdout=subprocess.PIPE,
            text=True,
            stderr=subprocess.STDOUT,
            env={**self.environment, **variables},
            check=False,
        )

    def test_jobs_of_github_merge_their_shards_and_annotate_the_failure(self):
        jobs = yaml.safe_load((ROOT / "doc/ci/github.yml").read_text())["jobs"]
        run = next(step["run"] for step in jobs["shard"]["steps"] if "run" in step)
        statuses = []
        for part in jobs["shard"]["strategy"]["matrix"]["part"]:
            statuses.append(self.shell(run.replace("${{ matrix.part }}", str(part))).returncode)
        self.assertEqual(sorted(statuses), [0, 0, 0, 1])
        merge = next(step["run"] for step in jobs["report"]["steps"] if "run" in step)
        how = self.shell(merge)
        self.assertEqual(how.returncode, 1, how.stdout)
        commands = re.findall(r"^::error (\S.*?)::(.*)$", how.stdout, re.M)
        self.assertEqual(len(commands), 1)
        properties = dict(one.split("=", 1) for one in commands[0][0].split(","))
        self.assertEqual((properties["file"], properties["line"], properties["title"]), ("scenarios/m.yaml", "6", "m [limit=10 us]"))
        self.assertIn("%0Aagain: trnvp test 'scenarios/m.yaml' --name 'm [limit=10 us]'", commands[0][1])
        for path in ("report/index.html", "report/report.xml"):
            self.assertTrue((self.folder / path).exists())
        uploaded = [step["with"]["path"] for job in jobs.values() for step in job["steps"] if "upload" in step.get("uses", "")]
        for path in uploaded:
            self.assertTrue((self.folder / path.replace("${{ matrix.part }}", "1")).is_dir(), path)

    def test_jobs_of_gitlab_write_the_reports_that_they_name(self):
        jobs = yaml.safe_load((ROOT / "doc/ci/gitlab.yml").read_text())
        count = jobs["shard"]["parallel"]
        for part in range(1, count + 1):
            self.shell("\n".join(jobs["shard"]["script"]), CI_NODE_INDEX=str(part), CI_NODE_TOTAL=str(count))
        how = self.shell("\n".join(jobs["report"]["script"]))
        self.assertEqual(how.returncode, 1, how.stdout)
        reports = jobs["report"]["artifacts"]["reports"]
        self.assertIn('failures="1"', (self.folder / reports["junit"]).read_text())
        found = json.loads((self.folder / reports["codequality"]).read_text())
        self.assertEqual(len(found), 1)
        self.assertEqual(found[0]["location"], {"path": "scenarios/m.yaml", "lines": {"begin": 6}})
        self.assertLessEqual({"description", "check_name", "fingerprint", "severity"}, set(found[0]))

    def test_container_runs_the_commands_of_the_readme(self):
        recipe = (ROOT / "doc/ci/Containerfile").read_text()
        self.assertIn("FROM debian:12\n", recipe)
        readme = re.search(r"```[^\n]*\n(\./dev demo.*?)```", (ROOT / "README.md").read_text(), re.S)[1]
        known = [line.split("#")[0].strip() for line in readme.splitlines()]
        commands = re.findall(r"^RUN (\./dev .*)$", recipe, re.M)
        self.assertEqual(commands, ["./dev demo", "./dev test"])
        for command in commands:
            self.assertIn(command, known)
            self.assertIn(
                f"  {command.split()[1]} ", subprocess.run([ROOT / "dev", "help"], stdout=subprocess.PIPE, text=True, check=True).stdout
            )


if __name__ == "__main__":
    unittest.main(verbosity=1)
