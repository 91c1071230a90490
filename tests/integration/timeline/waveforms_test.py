# SPDX-License-Identifier: Apache-2.0
"""Value change dumps, read by GTKWave's reader (vcd2fst) and compared with the trace of the same
run."""
import os
import re
import subprocess
import tempfile
import unittest

SCENARIO = """
scenario: waveforms
board: trn3-chip
steps:
  - boot: {within: 1 s}
  - semaphore: {core: 0, index: 3, set: 5}
  - wait: 10 us
  - semaphore: {core: 0, index: 3, increment: 2}
  - semaphore: {core: 0, index: 4, set: 9}
  - wait: 10 us
  - semaphore: {core: 0, index: 3, decrement: 7}
  - copy: {from: host, to: hbm0@16 MiB, size: 64 KiB}
"""
SIGNALS = (
    "chip0.nc0.SEMAPHORE_READ[3]",
    "chip0.management.uart.LSR",
    "chip0.management.uart.LSR.TX_IDLE",
    "chip0.management.misc_ram.b*",
    "chip0.management.cpu.awake",
    "chip0.hbm?.error",
    "chip0.management.irqs.source[*]",
    "chip0.h2t0.M2S_Q_HEAD[0,0]",
)


class Waveforms(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory(prefix="trnvp_waveforms_")
        self.addCleanup(folder.cleanup)
        self.folder = folder.name

    def path(self, name):
        return os.path.join(self.folder, name)

    def content(self, name):
        with open(self.path(name), "rb") as file:
            return file.read()

    def play(self, *options, scenario=SCENARIO):
        with open(self.path("scenario.yaml"), "w", encoding="utf-8") as out:
            out.write(scenario)
        return subprocess.run(
            [os.environ["TRNVP"], "test", self.path("scenario.yaml"), *options],
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            timeout=240,
            check=False,
        )

    def record(self, name, *signals):
        done = self.play(
            "--vcd", self.path(name), *(word for one in signals for word in ("--vcd-signal", one)), "--trace", self.path(name + ".trace")
        )
        self.assertEqual(done.returncode, 0, done.stdout)

    def changes(self, name):
        """Changes as parsed by GTKWave: full name -> (time in ps, value)."""
        subprocess.run(["vcd2fst", self.path(name), self.path("wave.fst")], check=True, stdout=subprocess.DEVNULL)
        text = subprocess.run(["fst2vcd", self.path("wave.fst")], check=True, stdout=subprocess.PIPE, text=True).stdout
        head, _, body = text.partition("$enddefinitions $end")
        self.assertRegex(head, r"\$timescale\s+1ps\s+\$end")
        names, scope = {}, []
        for words in (line.split() for line in head.splitlines()):
            if words[:1] == ["$scope"]:
                scope.append(words[2])
            elif words[:1] == ["$upscope"]:
                scope.pop()
            elif words[:1] == ["$var"]:
                names[words[3]] = ".".join([*scope, words[4]])
        found, time = {name: [] for name in names.values()}, 0
        for line in body.splitlines():
            if line.startswith("#"):
                time = int(line[1:])
            elif match := re.fullmatch(r"b([01]+) (\S+)|([01])(\S+)", line):
                value, name = match[1] or match[3], match[2] or match[4]
                found[names[name]].append((time, int(value, 2)))
        return found

    def test_change_times_match_the_trace(self):
        self.record("a.vcd", *SIGNALS)
        changes = self.changes("a.vcd")
        reported = [
            (int(time), int(value))
            for time, value in re.findall(r"^(\d+) chip0\.nc0 semaphore index=3 value=(\d+)", self.content("a.vcd.trace").decode(), re.M)
        ]
        self.assertEqual([value for _, value in reported], [5, 7, 0])
        self.assertEqual(changes["chip0.nc0.SEMAPHORE_READ_3"], [(0, 0), *reported])
        self.assertEqual({bool(v & 1 << 5) for _, v in changes["chip0.management.uart.LSR"]}, {True, False})
        self.assertEqual(changes["chip0.management.uart.LSR_TX_IDLE"][-1][1], 1)
        self.assertEqual([v for _, v in changes["chip0.management.misc_ram.booting"]], [1, 0])
        self.assertGreater(len(changes["chip0.management.cpu.awake"]), 2)
        self.assertEqual(len([name for name in changes if re.fullmatch(r"chip0\.hbm\d\.error", name)]), 4)
        self.assertGreater(len([name for name in changes if name.startswith("chip0.management.irqs.source_")]), 30)
        self.assertGreater(changes["chip0.h2t0.M2S_Q_HEAD_0_0"][-1][1], 0)

    def test_state_and_pc_of_engines_are_signals(self):
        program = os.path.abspath("scenarios/programs/add.trn")
        scenario = (
            "scenario: engines\nboard: trn3-chip\nsteps:\n  - boot: {within: 1 s}\n" f"  - program: {{file: {program}, in: {{x: 0.75}}}}\n"
        )
        done = self.play(
            "--vcd",
            self.path("e.vcd"),
            "--vcd-signal",
            "chip0.nc0.vector.state",
            "--vcd-signal",
            "chip0.nc0.vector.pc",
            "--vcd-signal",
            "chip0.nc1.sync.*",
            scenario=scenario,
        )
        self.assertEqual(done.returncode, 0, done.stdout)
        changes = self.changes("e.vcd")
        idle, run, wait, halt = 0, 1, 2, 3
        states = [value for _, value in changes["chip0.nc0.vector_state"]]
        self.assertEqual((states[0], states[-1]), (idle, halt))
        self.assertLess(states.index(wait), len(states) - 1)
        self.assertIn(run, states)
        self.assertEqual([value for _, value in changes["chip0.nc0.vector_pc"]], [0, 2])
        self.assertEqual([changes[f"chip0.nc1.sync_{what}"] for what in ("state", "pc")], [[(0, 0)], [(0, 0)]])

    def test_waveforms_are_reproducible_and_do_not_change_the_run(self):
        self.record("a.vcd", *SIGNALS)
        self.record("b.vcd", *SIGNALS)
        self.assertEqual(self.content("a.vcd"), self.content("b.vcd"))
        self.assertEqual(self.play("--trace", self.path("plain.trace")).returncode, 0)
        self.assertEqual(self.content("a.vcd.trace"), self.content("plain.trace"))

    def test_unknown_signal_gets_the_nearest_suggestion(self):
        for name, said in (
            ("chip0.nc0.SEMAPHORE_REED[3]", "did you mean 'SEMAPHORE_READ'"),
            ("chip0.nc0.SEMAPHORE_READ[256]", "index"),
            ("chip0.nc9.SEMAPHORE_READ", "did you mean 'chip0.nc"),
            ("chip0.management.irqs.sauce*", "did you mean 'chip0.management.irqs.source'"),
            ("chip0.management.irqs.source[99]", "lines, no"),
            ("chip0.nc0.SEMAPHORE_READ[3", "brackets that do not match"),
            ("chip0.nc0.SEMAPHORE_READ[three]", "an index"),
        ):
            done = subprocess.run(
                [os.environ["TRNVP"], "run", "trn3-chip", "--until", "1 us", "--vcd", self.path("c.vcd"), "--vcd-signal", name],
                stdout=subprocess.PIPE,
                stderr=subprocess.STDOUT,
                text=True,
                check=False,
            )
            self.assertEqual(done.returncode, 2, done.stdout)
            self.assertIn(said, done.stdout)

    def test_file_and_signals_options_require_each_other(self):
        self.assertEqual(self.play("--vcd", self.path("c.vcd")).returncode, 2)
        self.assertEqual(self.play("--vcd-signal", SIGNALS[0]).returncode, 2)

    def test_scenario_with_a_restore_is_refused(self):
        done = self.play(
            "--vcd",
            self.path("c.vcd"),
            "--vcd-signal",
            SIGNALS[0],
            scenario=SCENARIO + "  - snapshot: here\n  - wait: 1 us\n  - restore: here\n  - wait: 1 us\n",
        )
        self.assertEqual(done.returncode, 1)
        self.assertIn("cannot go back in time", done.stdout)

    def test_full_disk_fails_the_run_and_is_reported(self):
        os.symlink("/dev/full", self.path("full.vcd"))
        done = self.play("--vcd", self.path("full.vcd"), "--vcd-signal", SIGNALS[0])
        self.assertEqual(done.returncode, 1)
        self.assertRegex(done.stdout, r"full\.vcd ends before .*: No space left on device")


if __name__ == "__main__":
    unittest.main(verbosity=2)
