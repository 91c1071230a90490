# SPDX-License-Identifier: Apache-2.0
"""GDB restores a saved state: registers, memory and time are as they were, breakpoints stay."""
import os
import tempfile
import unittest

from running_gdb import gdb
from running_platform import WALL_LIMIT, platform

# As defined in doc/debugging.md: GDB does not notice that a monitor command changed the registers.
FLUSH = """
define hookpost-monitor
  maintenance flush register-cache
  maintenance flush dcache
end
"""

STATE = r"""
printf "{label}: pc %#lx sp %#lx a0 %#lx memory %#lx\n", $pc, $sp, $a0, *(unsigned long *)($sp - 64)
"""

SCRIPT = (
    FLUSH
    + """
set breakpoint always-inserted {always}
target remote {{socket}}
break announce
continue
"""
    + STATE.format(label="kept")
    + """
monitor snapshot first
monitor status
break event_wait
continue
set var *(unsigned long *)($sp - 64) = 0x4711
set $a0 = 0x4712
"""
    + STATE.format(label="left")
    + """
monitor status
monitor restore first
"""
    + STATE.format(label="back")
    + """
monitor status
info breakpoints
continue
"""
    + STATE.format(label="again")
    + """
monitor restore name=first
delete
watch -l *(unsigned long *)($sp - 8)
stepi
printf "stepped: pc %#lx\\n", $pc
continue
monitor snapshots
monitor restore nothing
delete
monitor restore first
detach
"""
)


class GdbSnapshotsTest(unittest.TestCase):
    def test_restore_resets_registers_memory_and_time_and_keeps_breakpoints(self):
        for always in ("off", "on"):
            with self.subTest(always), tempfile.TemporaryDirectory(prefix="trnvp_gdb_") as folder:
                self.check(folder, always)

    def check(self, folder, always):
        address = os.path.join(folder, "gdb.sock")
        with platform("--paused", "--gdb", address, board="trn3-chip") as running, running.connect() as p:
            with gdb(folder, address, SCRIPT.format(always=always)) as debugger:
                output = debugger.communicate(timeout=WALL_LIMIT)[0]
            # After GDB has detached, the restored platform boots.
            p.run()
            self.assertEqual(p.wait(condition="ready", wall_limit=WALL_LIMIT)["reason"], "condition", output)
        state = {
            line.split(":")[0]: line.split(": ")[1]
            for line in output.splitlines()
            if line.split(":")[0] in ("kept", "left", "back", "again", "stepped")
        }
        self.assertEqual(state.get("back"), state.get("kept"), output)
        self.assertNotEqual(state["left"], state["kept"])
        self.assertIn("memory 0x4711", state["left"])
        self.assertNotIn("0x4711", state["again"])
        self.assertEqual(state["left"].split()[1], state["again"].split()[1], output)  # the same breakpoint
        times = [line.split()[1].strip(",") for line in output.splitlines() if '"time_ps"' in line]
        self.assertEqual(times[0], times[1])  # responses to 'snapshot', then 'status'
        self.assertNotEqual(times[2], times[1])
        self.assertEqual(times[3:5], [times[1], times[1]])
        self.assertIn('"why": "the debugger restored \'first\'"', output)
        for wanted in (
            "Breakpoint 2, event_wait",
            "already hit 1 time",
            "hit Hardware watchpoint 3",
            "error: there is no snapshot 'nothing'  (known: first)",
            "[Inferior 1 (process 1) detached]",
        ):
            self.assertIn(wanted, output)

    def test_restore_by_another_client_stops_a_running_program(self):
        script = (
            FLUSH
            + """
target remote {socket}
continue
printf "stopped at %#lx\\n", $pc
break announce
continue
detach
"""
        )
        with tempfile.TemporaryDirectory(prefix="trnvp_gdb_") as folder:
            address = os.path.join(folder, "gdb.sock")
            with platform("--paused", "--gdb", address, board="trn3-chip") as running, running.connect() as p:
                p.snapshot(name="reset")
                p.subscribe("state")
                with gdb(folder, address, script) as debugger:
                    next(p.events(timeout=WALL_LIMIT))  # the platform runs
                    self.assertEqual(p.wait(condition="ready", wall_limit=WALL_LIMIT)["reason"], "condition")
                    p.restore(name="reset")
                    output = debugger.communicate(timeout=WALL_LIMIT)[0]
        for wanted in ("received signal SIGINT", "stopped at 0x10000", "Breakpoint 1, announce"):
            self.assertIn(wanted, output)


if __name__ == "__main__":
    unittest.main(verbosity=2)
