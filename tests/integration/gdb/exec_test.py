# SPDX-License-Identifier: Apache-2.0
"""GDB on `trnvp exec --gdb`: watchpoints report the access, a stepped WFI does not wait, the
program's exit is reported."""
import os
import re
import subprocess
import tempfile
import unittest

from running_gdb import gdb
from running_platform import WALL_LIMIT

SOURCE = os.path.join(os.path.dirname(__file__), "guests", "watched.c")
START = """
file {guests}/watched.elf
target remote {socket}
"""


class ExecTest(unittest.TestCase):
    def debug(self, script, status=None):
        """GDB's output; checks the exit status of the program's run."""
        with tempfile.TemporaryDirectory(prefix="trnvp_gdb_") as folder:
            socket = os.path.join(folder, "gdb.sock")
            guests = os.environ["GUESTS"]
            run = subprocess.Popen([os.environ["TRNVP"], "exec", os.path.join(guests, "watched.elf"), "--gdb", socket],
                                   stderr=subprocess.PIPE, text=True)
            try:
                said = run.stderr.readline()
                self.assertIn("starts when GDB continues it: target remote " + socket, said)
                with gdb(folder, socket, START + script, guests=guests) as debugger:
                    output = debugger.communicate(timeout=WALL_LIMIT)[0]
                if status is not None:
                    self.assertEqual(run.wait(WALL_LIMIT), status, output)
            finally:
                run.kill()
                run.communicate()
        return output

    def test_watchpoint_stop_reports_old_and_new_values(self):
        output = self.debug("""
watch counter
continue
continue
delete
rwatch counter
continue
delete
awatch other
continue
delete
watch lock
continue
""")
        stops = re.findall(r"atchpoint \d+: (\w+)\n\n((?:.* = .*\n)+)(?:.*\n)?\d+\t.*// (.*)", output)
        self.assertEqual([(where, re.findall(r"= (\d+)", values), line) for where, values, line in stops],
                         [("counter", ["0", "1"], "behind the first store"),
                          ("counter", ["1", "2"], "loads, then calls"),
                          ("counter", ["2"], "loads, then calls"),
                          ("other", ["5", "42"], "behind the call"),
                          ("lock", ["0", "3"], "behind the atomic")], output)

    def test_watchpoint_access_line_precedes_the_pc(self):
        output = self.debug("""
watch counter
continue
info line *($pc - 1)
delete
rwatch counter
continue
info line *($pc - 1)
continue
info line *($pc - 1)
delete
watch table[1]
continue
info line *($pc - 1)
print i
delete
watch other
continue
info line *($pc - 1)
""")
        with open(SOURCE, encoding="ascii") as file:
            source = file.read().split("\n")
        accesses = [source[int(line) - 1].split("//")[0].strip() for line in re.findall(r"\nLine (\d+) of", output)]
        self.assertEqual(accesses, ["counter = 1;", "consume(counter);", "table[i] = counter;", "table[i] = counter;",
                                    "other = 8;"], output)
        self.assertIn("$1 = 1\n", output)

    def test_stepped_wfi_does_not_wait_and_finish_leaves_a_sleeping_function(self):
        output = self.debug("""
hbreak sleep_once
continue
stepi
printf "behind the wfi: %d\\n", $pc > (unsigned long)sleep_once
finish
print doubled(4)
continue
""", status=9)
        for wanted in ("Breakpoint 1, sleep_once", "behind the wfi: 1", "// behind the sleep", "$1 = 8",
                       "exited with code 011"):
            self.assertIn(wanted, output)


if __name__ == "__main__":
    unittest.main(verbosity=2)
