# SPDX-License-Identifier: Apache-2.0
"""Symbols of the Linux of a host inside are those that it has itself: /proc/kallsyms and sysfs."""
import json
import os
import pathlib
import struct
import subprocess
import tempfile
import unittest

from linux_test import OPENSBI, kernel
from running_platform import WALL_LIMIT

TRNVP = os.environ["TRNVP"]
ASK = pathlib.Path(__file__).parent / "ask_symbols.py"
SECTIONS = "for f in /sys/module/nvme/sections/.* /sys/module/nvme/sections/*; do test -f $f && echo $(basename $f) $(cat $f); done"
SCENARIO = """scenario: symbols
board: trn3-chip
set: {{host: linux}}
wall_limit: 300 s
steps:
  - boot: {{host: linux}}
  - host: {{run: modprobe nvme}}
  - host: {{copy_out: /proc/kallsyms, to: '{folder}/kallsyms'}}
  - host: {{run: '{{ {sections}; }} > /root/sections'}}
  - host: {{copy_out: /root/sections, to: '{folder}/sections'}}
  - client: {{command: ['{ask}', '{folder}/answer', '{folder}/linux.elf']}}
"""
STALL = """scenario: stall
board: trn3-chip
set: {host: linux}
wall_limit: 300 s
steps:
  - boot: {host: linux}
  - host: {run: sleep 1000, within: 500 ms}
"""


def symbols(file):
    """Address and name of the symbols of an ELF file."""
    data = file.read_bytes()
    first, size, number = struct.unpack_from("<Q", data, 0x28)[0], *struct.unpack_from("<HH", data, 0x3A)
    headers = [struct.unpack_from("<IIQQQQIIQQ", data, first + i * size) for i in range(number)]
    table = next(header for header in headers if header[1] == 2)
    names = headers[table[6]]
    found = set()
    for at in range(table[4] + 24, table[4] + table[5], 24):
        name, _, _, _, value, _ = struct.unpack_from("<IBBHQQ", data, at)
        start = names[4] + name
        found.add((value, data[start : data.index(b"\0", start)].decode()))
    return found


@unittest.skipUnless(os.path.exists(OPENSBI), "OpenSBI is missing: ./dev setup installs the package opensbi")
class LinuxSymbolsTest(unittest.TestCase):
    def setUp(self):
        kernel()
        scratch = tempfile.TemporaryDirectory()
        self.addCleanup(scratch.cleanup)
        self.folder = pathlib.Path(scratch.name)

    def play(self, text):
        file = self.folder / "scenario.yaml"
        file.write_text(text, encoding="utf-8")
        ran = subprocess.run(
            [TRNVP, "test", file, "--json"], stdout=subprocess.PIPE, timeout=2 * WALL_LIMIT, check=False
        )
        return json.loads(ran.stdout)[0]

    def test_kernel_and_modules_have_the_symbols_that_they_say(self):
        result = self.play(SCENARIO.format(folder=self.folder, ask=ASK, sections=SECTIONS.replace("'", "''")))
        self.assertEqual(result["status"], "passed", result)
        kernel_lines = [line.split() for line in (self.folder / "kallsyms").read_text().splitlines() if "[" not in line]
        wanted = {(int(address, 16), name) for address, kind, name in kernel_lines if kind.lower() == "t"}
        found = symbols(self.folder / "linux.elf")
        self.assertGreater(len(wanted), 10_000)
        self.assertEqual(wanted - found, set())
        answer = json.loads((self.folder / "answer").read_text(encoding="utf-8"))
        self.assertTrue(answer["runs"])
        nvme = next(module for module in answer["modules"] if module["name"] == "nvme")
        self.assertTrue(nvme["file"].endswith("nvme.ko"))
        said = dict(line.split() for line in (self.folder / "sections").read_text().splitlines())
        # Sections of the initialization are freed: the kernel still lists them.
        self.assertEqual(nvme["sections"], {name: int(said[name], 16) for name in nvme["sections"]})
        self.assertIn(".text", nvme["sections"])
        self.assertNotIn(".init.text", nvme["sections"])

    def test_a_failure_names_what_the_linux_waits_for(self):
        result = self.play(STALL)
        self.assertEqual(result["status"], "failed")
        state = "\n".join(result.get("state", [])) or json.dumps(result)
        self.assertIn("linux0.cpu0: S-mode", state)
        self.assertRegex(state, r"sleep \(pid \d+\) waits in \S*nanosleep")


if __name__ == "__main__":
    unittest.main()
