# SPDX-License-Identifier: Apache-2.0
"""Stopping, stepping and inspecting in a debugger changes nothing: the trace stays identical."""
import os
import tempfile
import unittest

from running_gdb import gdb
from running_platform import WALL_LIMIT, platform

SCRIPT = """
target remote {socket}
break announce
continue
stepi
stepi
finish
info registers
x/64xb $sp
watch *(unsigned long*)($sp - 64)
continue
continue
delete
detach
"""


class TraceTest(unittest.TestCase):
    def test_debugger_does_not_change_the_trace(self):
        with tempfile.TemporaryDirectory(prefix="trnvp_gdb_") as folder:
            plain = self.trace(folder, "plain")
            debugged = self.trace(folder, "debugged", self.debug)
        self.assertEqual(plain, debugged)

    def trace(self, folder, name, meanwhile=None):
        """Boots a chip and runs it for a second; returns the trace and all counters."""
        socket, trace = os.path.join(folder, name + ".sock"), os.path.join(folder, name)
        with platform("--paused", "--gdb", socket, "--trace", trace, board="trn3-chip") as running, running.connect() as p:
            if meanwhile:
                meanwhile(folder, socket)
            self.assertEqual(p.run(until="1 s", wall_limit=WALL_LIMIT)["reason"], "time_limit")
            counters = p.statistics()
            p.quit()
            running.wait()
        with open(trace, "rb") as f:
            events = f.read()
        self.assertIn(b"chip0.management.resets", events)
        return events, counters

    def debug(self, folder, socket):
        with gdb(folder, socket, SCRIPT) as debugger:
            output = debugger.communicate(timeout=WALL_LIMIT)[0]
        for wanted in ("hit Breakpoint 1, announce", "main () at", "hit Watchpoint 2", "[Inferior 1 (process 1) detached]"):
            self.assertIn(wanted, output)


if __name__ == "__main__":
    unittest.main(verbosity=2)
