# SPDX-License-Identifier: Apache-2.0
"""Steps of scenarios with the Linux of a host inside: scenarios/host_inside.yaml, files, failures, and digests."""
import json
import os
import pathlib
import random
import subprocess
import tempfile
import unittest

from linux_test import OPENSBI, kernel
from running_platform import WALL_LIMIT

TRNVP = os.environ["TRNVP"]
SCENARIOS = pathlib.Path(__file__).resolve().parents[3] / "scenarios"
HEAD = "board: trn3-chip\nset: {host: linux}\nwall_limit: 300 s\nsteps:\n  - boot: {host: linux}\n"


@unittest.skipUnless(os.path.exists(OPENSBI), "OpenSBI is missing: ./dev setup installs the package opensbi")
class HostInsideTest(unittest.TestCase):
    def setUp(self):
        kernel()
        scratch = tempfile.TemporaryDirectory()
        self.addCleanup(scratch.cleanup)
        self.folder = pathlib.Path(scratch.name)

    def write(self, name, steps):
        (self.folder / f"{name}.yaml").write_text(f"scenario: {name}\n{HEAD}{steps}", encoding="utf-8")

    def play(self, *options):
        """The results by name."""
        ran = subprocess.run(
            [TRNVP, "test", SCENARIOS / "host_inside.yaml", self.folder, "--json", "--digest", *options],
            stdout=subprocess.PIPE,
            timeout=2 * WALL_LIMIT,
            check=False,
        )
        return {one["name"]: one for one in json.loads(ran.stdout)}

    def test_steps_do_what_they_say_and_the_same_each_time(self):
        content = random.Random(1).randbytes(1 << 20)
        (self.folder / "in.bin").write_bytes(content)
        out, again, info, option = (self.folder / name for name in ("out.bin", "again.bin", "cpuinfo", "option"))
        self.write(
            "copy",
            "  - host: {copy_in: in.bin, to: /root/x}\n"
            f"  - host: {{copy_out: /root/x, to: '{out}'}}\n"
            "  - host: {run: 'head -c 5000 /root/x > /root/y'}\n"
            f"  - host: {{copy_out: /root/y, to: '{again}'}}\n"
            f"  - host: {{copy_out: /proc/cpuinfo, to: '{info}'}}\n"  # the kernel says that it has 0 bytes
            "  - host: {copy_in: in.bin, to: '-x'}\n"
            "  - host: {run: cmp /root/x ./-x}\n"
            # A job whose output would be that of the next steps.
            "  - host: {run: 'while :; do printf 7; usleep 300; done & usleep 10'}\n"
            f"  - host: {{copy_out: '-x', to: '{option}'}}\n",
        )
        for source in (".command.c", "two words .c"):
            (self.folder / source).write_text("int main(void) { return 7; }\n", encoding="utf-8")
        self.write("names", "  - host: {cc: .command.c, status: 7}\n  - host: {cc: 'two words .c', status: 7}\n")
        self.write("stub", "  - probe: {}\n")
        self.write("panic", "  - host: {run: 'echo c > /proc/sysrq-trigger'}\n")
        self.write("late", "  - host: {run: sleep 1000, within: 10 ms}\n")
        self.write("agent", "  - host: {run: 'echo done 0 > /dev/ttyS1'}\n")
        first = self.play("-j1")
        self.assertEqual(first["host inside"]["status"], "passed", first["host inside"])
        self.assertEqual(first["copy"]["status"], "passed", first["copy"])
        self.assertEqual(out.read_bytes(), content)
        self.assertEqual(again.read_bytes(), content[:5000])
        self.assertEqual(option.read_bytes(), content)
        self.assertEqual(first["names"]["status"], "passed", first["names"])
        self.assertIn("rv64", info.read_text(encoding="utf-8"))
        for name, message in {
            "stub": "the board's host is inside",
            "panic": "its kernel says",
            "late": "linux0: no answer within 10 ms",
            "agent": "its agent answers 'done 0'",
        }.items():
            self.assertEqual(first[name]["status"], "failed")
            self.assertIn(message, first[name]["message"])
        second = self.play("-j2")
        for name, one in first.items():
            self.assertEqual(one["trace_digest"], second[name]["trace_digest"], name)
            self.assertEqual(one["simulated_ns"], second[name]["simulated_ns"], name)


if __name__ == "__main__":
    unittest.main()
