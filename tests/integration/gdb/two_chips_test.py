# SPDX-License-Identifier: Apache-2.0
"""A real GDB on a board with two chips: two inferiors, each with its own firmware, breakpoints and memory."""
import os
import tempfile
import unittest

from running_gdb import gdb
from running_platform import PATIENCE, platform

SCRIPT = """
set schedule-multiple on
add-inferior -exec {firmware}/mgmt.elf
target extended-remote {socket}
info inferiors
info threads
break announce
continue
continue
info threads
delete
inferior 1
set var *(unsigned long*)($sp - 64) = 0x1111
set $a5 = 0x1111
inferior 2
set var *(unsigned long*)($sp - 64) = 0x2222
inferior 1
printf "chip0 has %#lx %#lx\\n", *(unsigned long*)($sp - 64), $a5
inferior 2
printf "chip1 has %#lx %#lx\\n", *(unsigned long*)($sp - 64), $a5 == 0x1111
set scheduler-locking on
stepi
printf "stepped inferior %d\\n", $_inferior
monitor status
"""


class TwoChipsTest(unittest.TestCase):
    def test_chips_are_inferiors(self):
        with tempfile.TemporaryDirectory(prefix="trnvp_gdb_") as folder:
            address = os.path.join(folder, "gdb.sock")
            with platform("--set", "devices=2", "--paused", "--gdb", address, board="trn3-chip") as running, \
                    running.connect() as p:
                with gdb(folder, address, SCRIPT) as debugger:
                    output = debugger.communicate(timeout=PATIENCE)[0]
                # GDB has let go of both: both boot.
                p.run()
                self.assertEqual(p.wait(condition="ready", wall_limit=PATIENCE)["reason"], "condition", output)
        for wanted in ("* 1    process 1", "  2    process 2", 'Thread 1.1 "chip0.management.cpu"',
                       'Thread 2.22 "chip1.management.cpu"', "Breakpoint 1 at", "(2 locations)",
                       '"chip0.management.cpu" hit Breakpoint 1', '"chip1.management.cpu" hit Breakpoint 1',
                       "chip0 has 0x1111 0x1111", "chip1 has 0x2222 0", "stepped inferior 2",
                       "[Inferior 1 (process 1) detached]", "[Inferior 2 (process 2) detached]"):
            self.assertIn(wanted, output, "\n" + output)


if __name__ == "__main__":
    unittest.main(verbosity=2)
