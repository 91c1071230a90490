# SPDX-License-Identifier: Apache-2.0
"""GDB on `trnvp exec --gdb`: watchpoints report the access, a stepped WFI does not wait, the
program's exit is reported, harts are threads."""
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
            run = subprocess.Popen(
                [os.environ["TRNVP"], "exec", os.path.join(guests, "watched.elf"), "--gdb", socket], stderr=subprocess.PIPE, text=True
            )
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
        output = self.debug(
            """
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
"""
        )
        stops = re.findall(r"atchpoint \d+: (\w+)\n\n((?:.* = .*\n)+)(?:.*\n)?\d+\t.*// (.*)", output)
        self.assertEqual(
            [(where, re.findall(r"= (\d+)", values), line) for where, values, line in stops],
            [
                ("counter", ["0", "1"], "behind the first store"),
                ("counter", ["1", "2"], "loads, then calls"),
                ("counter", ["2"], "loads, then calls"),
                ("other", ["5", "42"], "behind the call"),
                ("lock", ["0", "3"], "behind the atomic"),
            ],
            output,
        )

    def test_watchpoint_access_line_precedes_the_pc(self):
        output = self.debug(
            """
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
"""
        )
        with open(SOURCE, encoding="ascii") as file:
            source = file.read().split("\n")
        accesses = [source[int(line) - 1].split("//")[0].strip() for line in re.findall(r"\nLine (\d+) of", output)]
        self.assertEqual(
            accesses, ["counter = 1;", "consume(counter);", "table[i] = counter;", "table[i] = counter;", "other = 8;"], output
        )
        self.assertIn("$1 = 1\n", output)

    def test_stepped_wfi_does_not_wait_and_finish_leaves_a_sleeping_function(self):
        output = self.debug(
            """
hbreak sleep_once
continue
stepi
printf "behind the wfi: %d\\n", $pc > (unsigned long)sleep_once
finish
print doubled(4)
continue
""",
            status=9,
        )
        for wanted in ("Breakpoint 1, sleep_once", "behind the wfi: 1", "// behind the sleep", "$1 = 8", "exited with code 011"):
            self.assertIn(wanted, output)


class HartsTest(unittest.TestCase):
    """Two harts with shared memory, whose program prints what depends on the order of their turns."""

    PROGRAM = os.path.join(os.environ["EXEC_GUESTS"], "litmus.elf")

    def debug(self, script, *options):
        """Output of GDB and of the program, which runs to its end after the script."""
        with tempfile.TemporaryDirectory(prefix="trnvp_gdb_") as folder:
            socket = os.path.join(folder, "gdb.sock")
            run = subprocess.Popen(
                [os.environ["TRNVP"], "exec", self.PROGRAM, "--harts", "2", "--gdb", socket, *options],
                stdout=subprocess.PIPE,
                stderr=subprocess.PIPE,
                text=True,
            )
            try:
                self.assertIn("target remote", run.stderr.readline())
                start = "file {program}\ntarget remote {socket}\n"
                with gdb(folder, socket, start + script, program=self.PROGRAM) as debugger:
                    said = debugger.communicate(timeout=WALL_LIMIT)[0]
                printed = run.communicate(timeout=WALL_LIMIT)[0]
                self.assertEqual(run.returncode, 0, said)
            finally:
                run.kill()
                run.communicate()
        return said, printed

    def test_harts_are_threads_that_stop_at_breakpoints_and_step(self):
        said, _ = self.debug(
            """
info threads
break mp_0
break mp_1
continue
continue
info breakpoints
thread 1
printf "hart %d\\n", $mhartid
set scheduler-locking on
stepi
stepi
printf "at %d of mp_0\\n", $pc - (unsigned long)mp_0
thread 2
printf "hart %d, at %d of mp_1\\n", $mhartid, $pc - (unsigned long)mp_1
detach
"""
        )
        self.assertRegex(said, r'1\s+Thread 1\.1 "machine\.hart0" \(M-mode, running\)')
        self.assertRegex(said, r'2\s+Thread 1\.2 "machine\.hart1" \(M-mode, running\)')
        self.assertIn('Thread 1 "machine.hart0" hit Breakpoint 1', said)
        self.assertIn('Thread 2 "machine.hart1" hit Breakpoint 2', said)
        self.assertEqual(said.count("breakpoint already hit 1 time"), 2, said)
        self.assertIn("hart 0\n", said)
        self.assertRegex(said, r"at [1-9]\d* of mp_0\n")
        self.assertRegex(said, r"hart 1, at \d+ of mp_1\n")

    def test_debugging_leaves_the_order_of_turns(self):
        script = """
break mp_1
continue
thread 1
stepi
stepi
thread 2
stepi 5
break sb_0
ignore 1 100
continue
continue
stepi
continue
delete
detach
"""
        for options in ((), ("--schedule-seed", "3"), ("--schedule-seed", "4", "--hart", "interpret")):
            with self.subTest(options):
                alone = subprocess.run(
                    [os.environ["TRNVP"], "exec", self.PROGRAM, "--harts", "2", *options],
                    capture_output=True,
                    text=True,
                    timeout=WALL_LIMIT,
                    check=True,
                ).stdout
                said, printed = self.debug(script, *options)
                self.assertIn("hit Breakpoint", said)
                self.assertEqual(printed, alone, said)


if __name__ == "__main__":
    unittest.main(verbosity=2)
