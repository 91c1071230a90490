# SPDX-License-Identifier: Apache-2.0
"""GDB on a board with two chips: two inferiors with separate firmware, breakpoints and memory."""
import os
import tempfile
import unittest

from running_gdb import gdb
from running_platform import WALL_LIMIT, platform

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
set $t6 = 0x1111
inferior 2
set var *(unsigned long*)($sp - 64) = 0x2222
inferior 1
printf "chip0 has %#lx %#lx\\n", *(unsigned long*)($sp - 64), $t6
inferior 2
printf "chip1 has %#lx %#lx\\n", *(unsigned long*)($sp - 64), $t6 == 0x1111
set scheduler-locking on
stepi
printf "stepped inferior %d\\n", $_inferior
monitor status
"""


DETACH = """
set schedule-multiple on
add-inferior -exec {firmware}/mgmt.elf
target extended-remote {socket}
break announce
continue
detach inferiors 1 2
info inferiors
"""


# GDB steps the second inferior's harts by breakpoints, but not the first's. Forty instructions pass
# through the loop around the WFI and back.
MOVE_THE_SECOND = """
add-inferior -exec {firmware}/mgmt.elf
target extended-remote {socket}
inferior 2
info threads
thread 2.2
thread 2.1
stepi
info symbol $pc
print irq_save() & 0
finish
next
next
info symbol $pc
stepi 40
set $pc = event_wait
tbreak *irq_save
continue
inferior 1
stepi 40
info threads 1.1
"""


class TwoChipsTest(unittest.TestCase):
    def debug(self, script, until=None):
        with tempfile.TemporaryDirectory(prefix="trnvp_gdb_") as folder:
            address = os.path.join(folder, "gdb.sock")
            with platform("--set", "devices=2", "--paused", "--gdb", address, board="trn3-chip") as running, running.connect() as p:
                if until is not None:
                    p.run(until=until, wall_limit=WALL_LIMIT)
                with gdb(folder, address, script) as debugger:
                    output = debugger.communicate(timeout=WALL_LIMIT)[0]
                # After GDB has detached from both, both boot.
                p.run()
                self.assertEqual(p.wait(condition="ready", wall_limit=WALL_LIMIT)["reason"], "condition", output)
        return output

    def test_two_inferiors_are_detached_by_one_command(self):
        output = self.debug(DETACH)
        for wanted in (
            "hit Breakpoint 1",
            "[Inferior 1 (process 1) detached]",
            "[Inferior 2 (process 2) detached]",
            "* 1    <null>",
            "  2    <null>",
        ):
            self.assertIn(wanted, output)

    def test_sleeping_hart_of_the_second_inferior_can_be_stepped(self):
        output = self.debug(MOVE_THE_SECOND, until="40 ms")
        for wanted in (
            '"chip1.management.cpu" (M-mode, waiting for interrupt)',
            "irq_restore in section .text",
            "$1 = 0",
            "event_wait + ",
            'Thread 2.1 "chip1.management.cpu" hit Temporary breakpoint 1',
            '* 1.1  Thread 1.1 "chip0.management.cpu" (M-mode, halted)',
        ):
            self.assertIn(wanted, output)
        self.assertNotIn("Error", output)

    def test_chips_are_inferiors(self):
        output = self.debug(SCRIPT)
        for wanted in (
            "* 1    process 1",
            "  2    process 2",
            'Thread 1.1 "chip0.management.cpu"',
            'Thread 2.22 "chip1.management.cpu"',
            "Breakpoint 1 at",
            "(2 locations)",
            '"chip0.management.cpu" hit Breakpoint 1',
            '"chip1.management.cpu" hit Breakpoint 1',
            "chip0 has 0x1111 0x1111",
            "chip1 has 0x2222 0",
            "stepped inferior 2",
            "[Inferior 1 (process 1) detached]",
            "[Inferior 2 (process 2) detached]",
        ):
            self.assertIn(wanted, output, "\n" + output)


if __name__ == "__main__":
    unittest.main(verbosity=2)
