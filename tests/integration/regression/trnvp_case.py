# SPDX-License-Identifier: Apache-2.0
"""A TestCase of the command trnvp in a temporary folder."""
import os
import pathlib
import subprocess
import tempfile
import unittest

TRNVP = os.environ.get("TRNVP", pathlib.Path(__file__).parents[3] / "build/trnvp")


class trnvp_case(unittest.TestCase):
    def setUp(self):
        scratch = tempfile.TemporaryDirectory(prefix="trnvp-regression-")
        self.addCleanup(scratch.cleanup)
        self.folder = pathlib.Path(scratch.name)
        self.environment = dict(os.environ, XDG_STATE_HOME=str(self.folder / "state"))
        self.trnvp = str(pathlib.Path(TRNVP).resolve())

    def scenario(self, name, text):
        file = self.folder / name
        file.write_text(text, encoding="utf-8")
        return str(file)

    def matrix(self, points=6, failing=()):
        """A scenario of several runs without a boot; some run into their time limit."""
        limits = ", ".join("10 us" if n in failing else f"{n + 1} ms" for n in range(points))
        return self.scenario(
            "m.yaml",
            "scenario: m\nboard: trn3-chip\n" f"matrix: {{limit: [{limits}]}}\ntime_limit: '${{limit}}'\n" "steps:\n  - wait: 500 us\n",
        )

    def run_trnvp(self, *words, status=0, **options):
        how = subprocess.run(
            [self.trnvp, *map(str, words)],
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            env=self.environment,
            timeout=300,
            check=False,
            **options,
        )
        self.assertEqual(how.returncode, status, how.stdout)
        return how.stdout
