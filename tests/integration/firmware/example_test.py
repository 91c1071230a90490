# SPDX-License-Identifier: Apache-2.0
"""The example firmware outside the source tree: built with only the stock compiler, booted, and
debugged as the output of `trnvp run` describes."""
import os
import shutil
import subprocess
import tempfile
import unittest

TRNVP = os.environ["TRNVP"]


class ExampleTest(unittest.TestCase):
    def setUp(self):
        scratch = tempfile.TemporaryDirectory(prefix="trnvp_example_")
        self.addCleanup(scratch.cleanup)
        self.folder = os.path.join(scratch.name, "hello")
        shutil.copytree(os.environ["EXAMPLE"], self.folder)

    def do(self, *command):
        ended = subprocess.run(command, cwd=self.folder, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, check=False)
        return ended.returncode, ended.stdout

    def test_make_builds_the_example_and_its_scenario_passes(self):
        status, output = self.do("make", "TRNVP=" + TRNVP, "hello.elf", "test")
        self.assertEqual(status, 0, output)
        self.assertIn("1 passed", output)

    def test_example_boots_and_reports_parked_once(self):
        self.do("make")
        status, output = self.do(TRNVP, "run", "trn3-chip", "--firmware", "./hello.elf", "--until", "ready")
        self.assertEqual(status, 0, output)
        self.assertIn("version hello.elf,", output)
        self.assertIn("hello from my firmware\ntick 1\ntick 2\ntick 3\n", output)
        status, output = self.do(TRNVP, "run", "trn3-chip", "--firmware", "./hello.elf", "--max-time", "1 s")
        self.assertEqual(status, 0, output)
        self.assertEqual(output.count("chip0.management.cpu: parked: "), 1, output)

    def test_bare_firmware_name_gets_a_suggested_path(self):
        for there, found in (("hello.elf", "the"), ("other.elf", "a")):
            self.do("make")
            status, output = self.do(TRNVP, "run", "trn3-chip", "--firmware", there)
            self.assertEqual(status, 2, output)
            self.assertIn("/" + there + "'", output)
            hint = f"is looked for in the firmware folder; type './{there}' for {found} file in the current folder"
            self.assertIn(hint, output)

    def test_refused_image_fails_the_run(self):
        with open(os.path.join(self.folder, "zeros.img"), "wb") as f:
            f.write(bytes(4096))
        for options in (("--max-time", "100 ms"), ("--until", "100 ms")):
            status, output = self.do(TRNVP, "run", "trn3-chip", "--firmware", "./zeros.img", *options)
            self.assertEqual(status, 1, output)
            self.assertIn("chip0.management.resets: the boot ROM found no usable image in the flash", output)


if __name__ == "__main__":
    unittest.main(verbosity=2)
