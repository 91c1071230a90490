#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""trnvp test --slurm with report folders whose names a shell or Slurm could misread. Programs of this test stand in for
Slurm: sbatch runs the script at once, as task 1 of job 1."""
import os
import unittest

from trnvp_case import trnvp_case

SBATCH = r"""#!/bin/sh
for last; do case "$last" in --output=*) log=${last#--output=};; esac; done
echo "$log" >"$STAND_IN/pattern"
SLURM_ARRAY_TASK_ID=1 SLURM_CPUS_PER_TASK=1 sh "$last" >"$STAND_IN/task.log" 2>&1
echo 1
"""
NAMES = (
    "plain",
    "with space",
    "cost$HOME",
    "r$(touch executed)",
    "back`touch executed`",
    'quote"q',
    "apostrophe's",
    "back\\slash",
    "esc\x1b[31m",
    "100%a",
    "-dash",
)


class SlurmNames(trnvp_case):
    def setUp(self):
        super().setUp()
        programs = self.folder / "programs"
        programs.mkdir()
        for name, text in (
            ("sbatch", SBATCH),
            ("scancel", "#!/bin/sh\n"),
            ("squeue", "#!/bin/sh\necho 1 1 COMPLETED\n"),
            ("sinfo", "#!/bin/sh\necho 0/1/0/1\n"),
        ):
            (programs / name).write_text(text)
            (programs / name).chmod(0o755)
        self.environment.update(PATH=f"{programs}:{os.environ['PATH']}", STAND_IN=str(self.folder))

    def test_report_folder_is_used_by_its_name(self):
        file = self.scenario("w.yaml", "scenario: w\nboard: trn3-chip\nsteps:\n  - wait: 1 us\n")
        for name in NAMES:
            with self.subTest(name=name):
                said = self.run_trnvp("test", "--slurm", "-j", "1", "--report", f"./{name}", file, cwd=self.folder)
                self.assertIn("1 passed", said)
                self.assertTrue((self.folder / name / "index.html").exists() or list((self.folder / name).iterdir()))
                self.assertEqual(len(list((self.folder / name).glob("slurm-*/1.1"))), 1)
                self.assertFalse((self.folder / "executed").exists())
        # Slurm replaces %a in the name of a log, and %% by %.
        self.assertRegex((self.folder / "pattern").read_text(), r"/-dash/slurm-\w+/%a\.1\.out\n")

    def test_percent_in_the_folder_is_not_a_pattern(self):
        file = self.scenario("w.yaml", "scenario: w\nboard: trn3-chip\nsteps:\n  - wait: 1 us\n")
        self.run_trnvp("test", "--slurm", "-j", "1", "--report", "./100%a", file, cwd=self.folder)
        self.assertRegex((self.folder / "pattern").read_text(), r"/100%%a/slurm-\w+/%a\.1\.out\n")


if __name__ == "__main__":
    unittest.main()
