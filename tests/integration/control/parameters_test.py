# SPDX-License-Identifier: Apache-2.0
"""Parameters of a served board: the control method `parameters` and `trnctl params`."""
import json
import os
import pathlib
import subprocess
import unittest

from running_platform import platform
from trnvp_control import ControlError


def params(folder: str, *words: str) -> str:
    command = [os.environ["TRNCTL"], "--connect", folder, *words]
    return subprocess.run(command, check=True, capture_output=True, text=True).stdout


class ParametersTest(unittest.TestCase):
    def test_a_parameter_has_value_unit_and_the_place_where_it_is_written(self):
        with platform("--uart", "none", board="trn3-chip") as running, running.connect() as p:
            (size,) = p.parameters(name="chip0.hbm0.size")
            self.assertEqual(size["unit"], "B")
            self.assertEqual(size["value"] % 2**30, 0)
            self.assertFalse(size["mutable"])
            origin = size["origin"]
            line = pathlib.Path(origin["file"]).read_text(encoding="utf-8").splitlines()[origin["line"] - 1]
            self.assertTrue(line[origin["column"] - 1 :].lstrip('"').startswith(origin["written"]), line)
            for name in origin.get("parameters", []):
                self.assertEqual(p.parameters(name=name)[0]["text"], size["text"])
            self.assertIn(f'{origin["file"]}:{origin["line"]}', params(running.folder, "params", "chip0.hbm0.size"))
            p.quit()

    def test_the_command_line_is_the_origin_of_what_it_sets(self):
        with platform("--uart", "none", "--set", "devices=1", board="trn3-chip") as running, running.connect() as p:
            rows = [json.loads(line) for line in params(running.folder, "--json", "params").splitlines()]
            (devices,) = [row for row in rows if row["name"] == "devices"]
            self.assertEqual(devices["origin"], {"by": "command line", "written": "devices=1"})
            self.assertGreater(len(p.parameters(name="chip0", inside=True)), len(p.parameters(name="chip0")))
            with self.assertRaisesRegex(ControlError, "did you mean 'chip0.hbm0'"):
                p.parameters(name="chip0.hmb0")
            p.quit()


if __name__ == "__main__":
    unittest.main()
