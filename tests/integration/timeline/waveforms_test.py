# SPDX-License-Identifier: Apache-2.0
"""Waveforms: value change dumps read by GTKWave's reader (vcd2fst) and compared with the trace of the same run; FST read by GTKWave's
fst2vcd and compared with the dump of the same signals."""
import json
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
SLED = """
scenario: waveforms
board: trn3-sled
steps:
  - boot: {within: 1 s}
  - semaphore: {core: 0, index: 3, set: 5}
  - fill: {at: hbm0@64 MiB, size: 256 KiB, pattern: data}
  - copy: {from: hbm0@64 MiB, to: axi@0x8008000004000000, size: 256 KiB, verify: false}
  - semaphore: {core: 0, index: 3, set: 7}
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
PUBLISHED = (
    "chip0.h2t0.engine128.*",
    "chip0.h2t0.engine128.queue0.*",
    "chip0.management.cpu.*",
    "chip0.management.resets.state",
    "chip0.management.misc_ram.mailbox",
    "chip0.management.misc_ram.transactions",
    "chip0.management.sensors.celsius_0",
    "wire0.*",
    "wire0.*.*",
    "chip0.host.transactions",
    "chip0.hbm0.transactions",
    "scenario.transactions",
)


def unescaped(text):
    return re.sub(r"\\(?:([0-7]{3})|(.))", lambda found: chr(int(found[1], 8)) if found[1] else found[2], text)


def changes_of(dump):
    """Changes in the text of a value change dump: full name -> (time in ps, value); states by their names."""
    head, _, body = dump.partition("$enddefinitions $end")
    names, scope, tables, states = {}, [], {}, {}
    table = ""
    for words in (line.split() for line in head.splitlines()):
        if words[:1] == ["$scope"]:
            scope.append(words[2])
        elif words[:1] == ["$upscope"]:
            scope.pop()
        elif words[:3] == ["$attrbegin", "misc", "07"]:
            if words[3] == '""':
                table = words[4]
            else:
                tables[words[-2]] = words[5 : 5 + int(words[4])]
        elif words[:1] == ["$var"]:
            name = ".".join([*scope, words[4]])
            names.setdefault(words[3], []).append(name)
            if table:
                states[name], table = tables[table], ""
    found, time = {name: [] for each in names.values() for name in each}, 0
    for line in body.splitlines():
        if line.startswith("#"):
            time = int(line[1:])
        elif match := re.fullmatch(r"([bsr])(\S*) (\S+)|([01x])(\S+)", line):
            kind, text, code = (match[1], match[2], match[3]) if match[1] else ("b", match[4], match[5])
            value = unescaped(text) if kind == "s" else float(text) if kind == "r" else "x" if "x" in text else int(text, 2)
            for name in names[code]:
                named = states[name][value] if name in states and value != "x" else value
                found[name].append((time, named))
    return found


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
        """Changes as parsed by GTKWave."""
        subprocess.run(["vcd2fst", self.path(name), self.path("wave.fst")], check=True, stdout=subprocess.DEVNULL)
        return self.fst_changes("wave.fst")

    def fst_changes(self, name):
        text = subprocess.run(["fst2vcd", "-e", self.path(name)], check=True, stdout=subprocess.PIPE, text=True).stdout
        self.assertRegex(text, r"\$timescale\s+1ps\s+\$end")
        return changes_of(text)

    def test_patterns_that_overlap_name_a_signal_once(self):
        self.record("a.vcd", "chip0.management.cpu.*", "chip0.management.cpu.awake", "chip0.management.cpu.*", "chip0.management.cpu.awake")
        self.assertEqual(self.content("a.vcd").count(b" awake $end"), 1)

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
            "chip0.nc1.sync.state",
            "--vcd-signal",
            "chip0.nc1.sync.pc",
            scenario=scenario,
        )
        self.assertEqual(done.returncode, 0, done.stdout)
        changes = self.changes("e.vcd")
        states = [value for _, value in changes["chip0.nc0.vector.state"]]
        self.assertEqual((states[0], states[-1]), ("idle", "halted"))
        self.assertLess(states.index("waiting"), len(states) - 1)
        self.assertIn("running", states)
        self.assertEqual([value for _, value in changes["chip0.nc0.vector.pc"]], [0, 2])
        self.assertEqual([changes[f"chip0.nc1.sync.{what}"] for what in ("state", "pc")], [[(0, "idle")], [(0, 0)]])

    def test_waveforms_are_reproducible_and_do_not_change_the_run(self):
        self.record("a.vcd", *SIGNALS)
        self.record("b.vcd", *SIGNALS)
        self.assertEqual(self.content("a.vcd"), self.content("b.vcd"))
        self.assertEqual(self.play("--trace", self.path("plain.trace")).returncode, 0)
        self.assertEqual(self.content("a.vcd.trace"), self.content("plain.trace"))

    def needs_fst(self):
        help_text = subprocess.run([os.environ["TRNVP"], "run", "--help"], stdout=subprocess.PIPE, text=True, check=True).stdout
        self.assertIn("in FST", " ".join(help_text.split()))
        done = self.play(
            "--vcd",
            self.path("probe.fst"),
            "--vcd-signal",
            "chip0.hbm0.error",
            scenario="scenario: a\nboard: trn3-chip\nsteps: [wait: 1 us]\n",
        )
        if "install the packages verilator" in done.stdout:
            self.skipTest("built without FST: the package verilator is missing")

    def test_fst_has_the_changes_of_the_dump(self):
        self.needs_fst()
        for options in ((), ("--vcd-from", "ready", "--vcd-until", "chip0.nc0.SEMAPHORE_READ[3] == 7")):
            with self.subTest(options=options):
                signals = [word for one in (*SIGNALS, *PUBLISHED) for word in ("--vcd-signal", one)]
                for name in ("a.vcd", "a.fst", "b.fst"):
                    done = self.play("--vcd", self.path(name), *signals, *options, scenario=SLED)
                    self.assertEqual(done.returncode, 0, done.stdout)
                self.assertEqual(self.content("a.fst"), self.content("b.fst"))
                self.assertFalse(os.path.exists(self.path("a.fst.hier")))
                dump, fst = changes_of(self.content("a.vcd").decode()), self.fst_changes("a.fst")
                self.assertEqual(list(dump), list(fst))
                for name, changes in dump.items():
                    self.assertEqual(changes, fst[name], name)
        self.assertLess(len(self.content("a.fst")), len(self.content("a.vcd")))

    def test_published_states_and_transactions_are_named(self):
        done = self.play(
            "--vcd",
            self.path("p.vcd"),
            *(word for one in PUBLISHED for word in ("--vcd-signal", one)),
            "--trace",
            self.path("p.trace"),
            scenario=SLED,
        )
        self.assertEqual(done.returncode, 0, done.stdout)
        changes = self.changes("p.vcd")
        self.assertEqual([value for _, value in changes["chip0.management.resets.state"]], ["running"])
        self.assertEqual([value for _, value in changes["chip0.management.cpu.mode"]], ["M"])
        self.assertLess({"running", "waiting"}, {value for _, value in changes["chip0.management.cpu.state"]})
        self.assertEqual([value for _, value in changes["wire0.state"]][-1], "L0")
        # Every copy of the trace is in a lane, from its begin to its end.
        trace = self.content("p.trace").decode()
        copies = [
            (int(time), f"copy(queue={queue},from={source},to={to},bytes={size},op={op})")
            for time, queue, source, to, size, op in re.findall(
                r"^(\d+) chip0\.h2t0\.engine128 copy queue=(\d+) from=(\S+) to=(\S+) bytes=(\d+) op=(\d+)", trace, re.M
            )
        ]
        self.assertGreater(len(copies), 0)
        lanes = [change for lane in range(8) for change in changes[f"chip0.h2t0.engine128.transaction_{lane}"] if change[1]]
        self.assertEqual(sorted(copies), sorted(lanes))
        ends = [int(time) for time in re.findall(r"^(\d+) chip0\.h2t0\.engine128 completed", trace, re.M)]
        closed = {time for lane in range(8) for time, text in changes[f"chip0.h2t0.engine128.transaction_{lane}"] if not text}
        self.assertLessEqual(set(ends), closed)
        self.assertGreater(max(value for _, value in changes["chip0.h2t0.engine128.queue0.m2s_pending"]), 0)
        self.assertGreater(max(value for _, value in changes["chip0.h2t0.engine128.bytes_in_flight"]), 0)
        credits = changes["wire0.a_to_b.posted_data_credits"]
        self.assertEqual(credits[0][1], max(value for _, value in credits))

    def test_transactions_do_not_change_the_trace(self):
        signals = [word for one in PUBLISHED for word in ("--vcd-signal", one)]
        for options in (("--vcd", self.path("a.vcd"), *signals, "--trace", self.path("a.trace")), ("--trace", self.path("plain.trace"))):
            self.assertEqual(self.play(*options, scenario=SLED).returncode, 0)
        self.assertEqual(self.content("a.trace"), self.content("plain.trace"))

    def test_every_listed_signal_of_a_module_can_be_recorded(self):
        trnctl = os.path.join(os.path.dirname(os.environ["TRNVP"]), "trnctl")
        for module in ("chip0.management.misc_ram", "chip0.h2t0.engine128", "wire0", "chip0.management.resets"):
            listed = subprocess.run(
                [trnctl, "--board", "trn3-sled", "--json", "signals", module], stdout=subprocess.PIPE, text=True, check=True
            ).stdout
            names = [json.loads(line)["name"] for line in listed.splitlines()]
            self.assertGreater(len(names), 1)
            done = subprocess.run(
                [os.environ["TRNVP"], "run", "trn3-sled", "--until", "1 us", "--uart", "none", "--vcd", self.path("l.vcd")]
                + [word for name in names for word in ("--vcd-signal", name)],
                stdout=subprocess.PIPE,
                stderr=subprocess.STDOUT,
                text=True,
                check=False,
            )
            self.assertEqual(done.returncode, 0, done.stdout)

    def test_conditions_bound_the_recording_and_end_runs(self):
        run = [
            os.environ["TRNVP"],
            "run",
            "trn3-chip",
            "--uart",
            "none",
            "--vcd",
            self.path("w.vcd"),
            "--vcd-signal",
            "chip0.management.cpu.state",
        ]

        def changes(*options):
            done = subprocess.run([*run, *options], stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, check=False)
            self.assertEqual(done.returncode, 0, done.stdout)
            return changes_of(self.content("w.vcd").decode())["chip0.management.cpu.state"]

        whole = changes("--until", "3 ms")
        part = changes("--until", "3 ms", "--vcd-from", "1 ms", "--vcd-until", "2 ms")
        inside = [change for change in whole if 10**9 < change[0] <= 2 * 10**9]
        self.assertEqual(part[0], (0, "x"))
        self.assertEqual(part[2:-1], inside)
        self.assertEqual(part[-1][1], "x")
        ended = changes("--until", "chip0.management.cpu.state == waiting")
        self.assertLess(ended[-1][0], 3 * 10**9)

    def test_unknown_signal_gets_the_nearest_suggestion(self):
        for name, said in (
            ("chip0.nc0.SEMAPHORE_REED[3]", "did you mean 'SEMAPHORE_READ'"),
            ("chip0.nc0.SEMAPHORE_READ[256]", "index"),
            ("chip0.nc9.SEMAPHORE_READ", "did you mean 'chip0.nc"),
            ("chip0.management.irqs.sauce*", "did you mean 'chip0.management.irqs.source'"),
            ("chip0.management.irqs.source[99]", "lines, no"),
            ("chip0.nc0.SEMAPHORE_READ[3", "brackets that do not match"),
            ("chip0.nc0.SEMAPHORE_READ[three]", "an index"),
            ("chip0.nc0.vector.stat", "did you mean 'chip0.nc0.vector.state'"),
            ("chip0.h2t0.engine128.transaction", "did you mean 'chip0.h2t0.engine128.transactions'"),
            ("wire0.a_to_b.posted_credits", "did you mean 'wire0.a_to_b.posted_"),
        ):
            done = subprocess.run(
                [os.environ["TRNVP"], "run", "trn3-sled", "--until", "1 us", "--vcd", self.path("c.vcd"), "--vcd-signal", name],
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

    def test_conditions_are_checked_with_place_and_suggestion(self):
        for option, text, said in (
            ("--vcd-from", "soon", "--vcd-from: 'soon' is not 'ready'"),
            ("--vcd-until", "chip0.management.uart.LSR ==", "SIGNAL == VALUE was expected"),
            ("--vcd-from", "chip0.management.uart.LSX == 1", "did you mean 'LSR'"),
            ("--vcd-from", "chip0.nc0.vector.state == halts", "did you mean 'halted'"),
            ("--vcd-from", "chip0.management.misc_ram.booting == 2", "it has 1 bits"),
            ("--vcd-from", "chip0.nc0.vector.??? == 2", "no signal matches"),
            ("--vcd-from", "chip0.management.irqs.source == 1", "one was expected"),
            ("--vcd-from", "chip0.management.cpu.transactions == 2", "have no value"),
        ):
            done = self.play("--vcd", self.path("c.vcd"), "--vcd-signal", SIGNALS[0], option, text)
            self.assertNotEqual(done.returncode, 0, text)
            self.assertIn(said, done.stdout)
        self.assertEqual(self.play("--vcd-from", "ready").returncode, 2)

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
        for name in ("full.vcd", "full.fst"):
            if name.endswith("fst"):
                self.needs_fst()
            os.symlink("/dev/full", self.path(name))
            done = self.play("--vcd", self.path(name), "--vcd-signal", SIGNALS[0])
            self.assertEqual(done.returncode, 1)
            self.assertRegex(done.stdout, name.replace(".", r"\.") + " ends before .*: No space left on device")
            self.assertTrue(os.path.islink(self.path(name)))

    def test_fst_is_refused_where_it_cannot_be_written(self):
        self.needs_fst()
        os.mkfifo(self.path("pipe.fst"))
        for name, said in (("pipe.fst", "FST needs a file, not a pipe"), ("none/a.fst", "No such file or directory")):
            done = self.play("--vcd", self.path(name), "--vcd-signal", SIGNALS[0])
            self.assertNotEqual(done.returncode, 0)
            self.assertIn(said, done.stdout)


if __name__ == "__main__":
    unittest.main(verbosity=2)
