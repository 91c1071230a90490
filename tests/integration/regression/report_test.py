#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""trnvp test --report, --durations, --seeds, --history; trnvp report merge and compare."""
import json
import pathlib
import re
import shutil
import signal
import subprocess
import sys
import time
import unittest
import xml.etree.ElementTree as ElementTree

from trnvp_case import trnvp_case

COPY = """\
scenario: copy
board: trn3-chip
steps:
  - boot: {within: 1 s}
  - copy: {from: host, to: hbm0@16 MiB, size: 64 KiB}
"""


class Reports(trnvp_case):
    def names(self, file):
        return [(case.get("name"), case.find("failure") is None) for case in ElementTree.parse(file).iter("testcase")]

    def test_merged_shards_equal_one_run(self):
        file = self.matrix(7, failing=[3])
        self.run_trnvp("test", file, "--digest", "--report", self.folder / "whole", status=1)
        for part in (1, 2, 3):
            self.run_trnvp(
                "test", file, "--digest", "--shard", f"{part}/3", "--report", self.folder / f"s{part}", status=1 if part == 1 else 0
            )
            self.assertEqual([one.name for one in (self.folder / f"s{part}").iterdir()], ["run.jsonl"])
        said = self.run_trnvp("report", "merge", *(self.folder / f"s{n}" for n in (3, 1, 2)), "--out", self.folder / "merged", status=1)
        self.assertIn("6 passed, 1 failed", said)
        self.assertIn("again: trnvp test", said)
        self.assertEqual(*((self.folder / out / "digests.txt").read_text() for out in ("whole", "merged")))
        self.assertEqual(self.names(self.folder / "whole/report.xml"), self.names(self.folder / "merged/report.xml"))
        self.assertEqual(len(list((self.folder / "merged/pages").glob("m-*.html"))), 7)

    def test_fidelity_and_coverage_of_shards_are_added(self):
        head = "board: trn3-chip\nsteps:\n  - boot: {within: 1 s}\n"
        files = [
            self.scenario("f.yaml", f"scenario: f\n{head}  - mailbox: {{power_profile: 1}}\n"),
            self.scenario("g.yaml", f"scenario: g\n{head}  - reset: {{cores: 0x3}}\n"),
        ]

        def run(out, *options):
            self.run_trnvp(
                "test",
                *files,
                "--report",
                self.folder / out,
                "--coverage",
                self.folder / f"{out}.info",
                "--fidelity-report",
                self.folder / f"{out}.json",
                *options,
            )

        run("whole")
        run("s1", "--shard", "1/2")
        run("s2", "--shard", "2/2")
        self.run_trnvp("report", "merge", self.folder / "s1", self.folder / "s2", "--out", self.folder / "merged")
        lines = (self.folder / "merged/coverage.info").read_text()
        self.assertTrue(sorted(lines.split()) == sorted((self.folder / "whole.info").read_text().split()))
        for part in ("s1", "s2"):  # each covers less than both together
            self.assertTrue(lines != (self.folder / f"{part}.info").read_text(), part)
        merged, whole = (json.loads((self.folder / out / "fidelity.json").read_text()) for out in ("merged", "whole"))
        self.assertTrue(merged == whole)
        reads = {row["register"]: row["host"]["reads"] for row in merged["registers"] if row["host"]["reads"]}
        alone = json.loads((self.folder / "s1.json").read_text())["registers"]
        self.assertGreater(sum(reads.values()), sum(row["host"]["reads"] for row in alone))

    def test_run_that_is_killed_leaves_its_results(self):
        quick = self.scenario("quick.yaml", "scenario: quick\nboard: trn3-chip\nsteps:\n  - wait: 1 ms\n")
        endless = self.scenario(
            "endless.yaml", "scenario: endless\nboard: trn3-chip\nwall_limit: 1000 s\nsteps:\n" "  - client: {command: [sleep, '1000']}\n"
        )
        part = self.folder / "out/run.jsonl.part"
        with subprocess.Popen(
            [self.trnvp, "test", quick, endless, "-j", "1", "--report", str(self.folder / "out")],
            stdout=subprocess.DEVNULL,
            env=self.environment,
        ) as running:
            while not part.exists() or part.read_text().count("\n") < 2:
                self.assertIsNone(running.poll())
            running.terminate()
        said = self.run_trnvp("report", "merge", self.folder / "out", "--out", self.folder / "merged", status=1)
        self.assertIn("the run did not end; it has 1 results", said)
        self.assertIn("1 passed, 0 failed, 1 not run", said)

    def test_bad_file_costs_one_file(self):
        good = self.scenario("good.yaml", "scenario: good\nboard: trn3-chip\nsteps:\n  - wait: 1 us\n")
        bad = {
            "syntax": "scenario: [\n",
            "step": "scenario: step\nboard: trn3-chip\nsteps:\n  - wiat: 1 us\n",
            "board": "scenario: board\nboard: trn9\nsteps:\n  - wait: 1 us\n",
            "kernel": "scenario: kernel\nboard: trn3-chip\nsteps:\n  - boot: {within: 1 s}\n" "  - kernel: {function: 'none.py:f'}\n",
        }
        files = [self.scenario(f"{name}.yaml", text) for name, text in bad.items()]
        (self.folder / "link.yaml").symlink_to("nowhere")
        files.append(str(self.folder / "link.yaml"))
        said = self.run_trnvp("test", *files, good, "--report", self.folder / "out", status=1)
        self.assertIn("1 passed, 5 failed", said)
        for place in ("syntax.yaml:2:1: E03", "step.yaml:4:5: E10", "board.yaml:2:8: E55", "kernel.yaml:5:24: E54", "link.yaml: E01"):
            self.assertIn(place, said)
        self.assertEqual(
            self.names(self.folder / "out/report.xml"),
            [("syntax.yaml", False), ("step", False), ("board", False), ("kernel", False), ("link.yaml", False), ("good", True)],
        )
        self.assertIn("not loaded", (self.folder / "out/index.html").read_text())
        # Selections include what cannot be read, and --rerun-failed what could not be read.
        self.assertIn("1 passed, 2 failed", self.run_trnvp("test", *files, good, "--name", "good", status=1))
        self.scenario("syntax.yaml", "scenario: mended\nboard: trn3-chip\nsteps:\n  - wait: 1 us\n")
        self.assertIn("pass  mended", self.run_trnvp("test", *files, good, "--rerun-failed", status=1))
        said = self.run_trnvp("test", *files, good, "--strict", status=2)
        self.assertIn("step.yaml:4:5: E10", said)
        self.assertNotIn("passed", said)
        # Shards and their merge.
        for part in (1, 2):
            self.run_trnvp(
                "test", files[1], good, "--shard", f"{part}/2", "--report", self.folder / f"p{part}", status=1 if part == 1 else 0
            )
        said = self.run_trnvp("report", "merge", self.folder / "p1", self.folder / "p2", "--out", self.folder / "merged", status=1)
        self.assertIn("step.yaml:4:5: E10", said)
        self.assertIn("1 passed, 1 failed", said)

    def test_kernel_whose_compiling_takes_all_memory_costs_one_file(self):
        (self.folder / "k.py").write_text("import time\nall = b'x' * (500 << 20)\nprint('x' * (80 << 20))\ntime.sleep(100)\n")
        bad = self.scenario(
            "bad.yaml",
            "scenario: bad\nboard: trn3-chip\nmemory_limit: 300 MiB\nsteps:\n"
            "  - boot: {within: 1 s}\n  - kernel: {function: 'k.py:f'}\n",
        )
        good = self.scenario("good.yaml", "scenario: good\nboard: trn3-chip\nsteps:\n  - wait: 1 us\n")
        said = self.run_trnvp("test", bad, good, status=1)
        self.assertIn("bad.yaml:6:24: E54 k.py:f: compiling took more than 300 MiB of memory and was ended", said)
        self.assertIn("1 passed, 1 failed", said)

    def test_characters_beyond_ascii_are_kept(self):
        file = self.scenario(
            "c.yaml", "scenario: Größe \"\\x1b\"\nboard: trn3-chip\nmatrix: {n: [ü, ö]}\ntags: ['${n}']\n" "steps:\n  - wait: 1 us\n"
        )
        self.run_trnvp("test", file, "--report", self.folder / "out")
        self.assertEqual([name.split("[")[1] for name, _ in self.names(self.folder / "out/report.xml")], ["n=ü]", "n=ö]"])
        self.assertIn("Größe", (self.folder / "out/index.html").read_text(encoding="utf-8"))

    def test_outputs_overwrite_no_input_and_no_other_output(self):
        runs = [self.scenario(f"run.{n}.yaml", f"scenario: r{n}\nboard: trn3-chip\nsteps:\n  - wait: 1 us\n") for n in (0, 1)]
        before = pathlib.Path(runs[0]).read_text()
        said = self.run_trnvp("test", *runs, "--trace", self.folder / "run.yaml", status=2)
        self.assertIn("run.0.yaml: this file is a scenario already", said)
        self.assertEqual(pathlib.Path(runs[0]).read_text(), before)
        x = self.folder / "x"
        for words in (
            ["run", "trn3-chip", "--until", "1 us", "--trace", x, "--vcd", x, "--vcd-signal", "*"],
            ["run", "trn3-chip", "--until", "1 us", "--trace", x, "--coverage", self.folder / "./x"],
            ["exec", self.folder / "none.elf", "--commit-log", x, "--signature", x],
            ["test", runs[0], "--html", x, "--junit", x],
            ["test", *runs, "--junit", self.folder / "t.1.txt", "--trace", self.folder / "t.txt"],
        ):
            said = self.run_trnvp(*words, status=2)
            if words[0] != "exec":  # its program is read first
                self.assertIn("already", said)
            self.assertFalse(x.exists())
        self.run_trnvp("test", *runs, "--report", self.folder / "s")
        for option, name in (("--trace", "report.xml"), ("--coverage", "digests.txt"), ("--junit", "coverage.info")):
            said = self.run_trnvp("test", runs[0], "--report", self.folder / "s", option, self.folder / "s" / name, status=2)
            self.assertIn("this file is of --report already", said)
        self.run_trnvp("test", *runs, "--report", self.folder / "s", "--junit", self.folder / "s/report.xml")
        record = (self.folder / "s/run.jsonl").read_text()
        self.assertIn("this command reads it", self.run_trnvp("report", "merge", self.folder / "s", "--out", self.folder / "s", status=2))
        self.assertEqual((self.folder / "s/run.jsonl").read_text(), record)
        (self.folder / "s/run.jsonl").rename(self.folder / "s/run.jsonl.part")  # as a killed run leaves it
        self.assertIn("this command reads it", self.run_trnvp("report", "merge", self.folder / "s", "--out", self.folder / "s", status=2))
        self.assertTrue((self.folder / "s/run.jsonl.part").exists())

    def test_outputs_overwrite_no_file_that_a_scenario_names(self):
        (self.folder / "k.py").write_text("import nki\n\n\n@nki.jit\ndef f(x):\n    return x\n")
        (self.folder / "x.npy").write_text("an array")
        (self.folder / "own.img").write_text("an image")
        kernel = self.scenario(
            "k.yaml",
            "scenario: k\nboard: trn3-chip\nsteps:\n  - boot: {within: 1 s}\n"
            "  - kernel: {function: 'k.py:f', in: {x: 'x.npy:bfloat16'}}\n",
        )
        image = self.scenario("i.yaml", "scenario: i\nboard: trn3-chip\nfirmware: own.img\nsteps:\n  - wait: 1 us\n")
        for file, name in ((kernel, "k.py"), (kernel, "x.npy"), (image, "own.img")):
            before = (self.folder / name).read_text()
            for option in ("--trace", "--junit", "--coverage"):
                said = self.run_trnvp("test", file, option, self.folder / name, status=2)
                self.assertIn(f"{name}: this command reads it", said)
            self.assertEqual((self.folder / name).read_text(), before)

    def test_scenarios_that_end_in_a_shared_boot_have_a_trace_each(self):
        hang = pathlib.Path(self.trnvp).parent / "firmware/hang.elf"
        text = "board: trn3-chip\nmatrix: {n: [1, 2]}\n%s\nsteps:\n  - boot: {within: %s}\n  - wait: '${n} us'\n"
        for name, limits, within in (
            ("killed", f"firmware: {hang}\nwall_limit: 2 s\ntime_limit: 9000 s", "9000 s"),
            ("failed", "", "1 us"),
        ):
            file = self.scenario(f"{name}.yaml", f"scenario: {name}\n" + text % (limits, within))
            self.run_trnvp("test", file, "--trace", self.folder / f"{name}.txt", status=1)
            self.assertEqual(
                {one.name for one in self.folder.glob("*.txt")} - {"failed.0.txt", "failed.1.txt"}, {"killed.0.txt", "killed.1.txt"}
            )
            self.assertTrue(name == "killed" or (self.folder / "failed.1.txt").exists())

    def test_history_and_durations_are_checked_before_the_run(self):
        file = self.scenario("w.yaml", "scenario: w\nboard: trn3-chip\nsteps:\n  - wait: 1 us\n")
        other = self.folder / "other"
        other.write_text("something else\n")
        for option in ("--history", "--durations"):
            said = self.run_trnvp("test", file, option, other, status=2)
            self.assertNotIn("passed", said)
            self.assertEqual(other.read_text(), "something else\n")

    def test_scenarios_of_one_disk_image_leave_it_unchanged(self):
        image = self.folder / "disk.img"
        file = self.scenario(
            "d.yaml", "scenario: d\nboard: trn1-2xl\nmatrix: {n: [1, 1000]}\n" f"set: {{image: {image}}}\nsteps:\n  - wait: ${{n}} us\n"
        )
        for options in ((), ("--no-share", "-j", "2")):
            self.run_trnvp("test", file, *options)
            self.assertFalse(image.exists())
        fingerprints = set()
        for first in (b"one", b"two", b"two"):
            image.write_bytes(first)
            with open(image, "r+b") as disk:
                disk.truncate(442 << 30)
            self.run_trnvp("test", file, "--report", self.folder / "out")
            lines = map(json.loads, (self.folder / "out/run.jsonl").read_text().splitlines())
            fingerprints.add(tuple(sorted(line["fingerprint"] for line in lines if "fingerprint" in line)))
        self.assertEqual(len(fingerprints), 2)
        self.assertIn("this command reads it", self.run_trnvp("test", file, "--trace", image, "--name", "d [n=1]", status=2))

    def test_new_output_has_one_name_however_it_is_written(self):
        file = self.scenario("w.yaml", "scenario: w\nboard: trn3-chip\nsteps:\n  - wait: 1 us\n")
        said = self.run_trnvp("test", file, "--html", "x", "--junit", "./x", status=2, cwd=self.folder)
        self.assertIn("this file is --junit already", said)

    def test_rounds_until_a_failure_are_one_json_array(self):
        counter = self.folder / "rounds"
        file = self.scenario(
            "u.yaml",
            "scenario: u\nboard: trn3-chip\nsteps:\n"
            f"  - client: {{command: [sh, -c, 'echo x >> {counter}; test $(wc -l < {counter}) -lt 3']}}\n",
        )
        past = self.folder / "past"
        results = json.loads(self.run_trnvp("test", file, "--until-fail", "--json", "--history", past, status=1))
        self.assertEqual([one["status"] for one in results], ["passed", "passed", "failed"])
        self.assertEqual(len(list(past.iterdir())), 3)  # also of one second

    def test_rounds_until_a_failure_are_one_json_array_after_an_interruption(self):
        ended = self.folder / "ended"
        file = self.scenario(
            "u.yaml",
            "scenario: u\nboard: trn3-chip\nmatrix: {n: [1, 2]}\nsteps:\n"
            f"  - client: {{command: [sh, -c, 'echo x${{n}} >> {ended}']}}\n",
        )
        for number in (signal.SIGINT, signal.SIGTERM):
            ended.write_text("")
            with subprocess.Popen(
                [self.trnvp, "test", file, "--until-fail", "--json", "-j", "1"], stdout=subprocess.PIPE, env=self.environment
            ) as running:
                while ended.read_text().count("x") < 3:
                    self.assertIsNone(running.poll())
                running.send_signal(number)
                results = json.loads(running.communicate(timeout=60)[0])
            self.assertEqual(running.returncode, 128 + number)
            self.assertGreaterEqual(len(results), 2)
            self.assertEqual({one["status"] for one in results}, {"passed"})

    def test_interrupted_run_has_the_results_that_it_printed(self):
        file = self.scenario(
            "u.yaml",
            "scenario: u\nboard: trn3-chip\nmatrix: {n: [1, 1000]}\nsteps:\n"
            "  - client: {command: [sleep, '${n}'], wall_limit: 2000 s}\n",
        )
        with subprocess.Popen([self.trnvp, "test", file, "-j", "2"], stdout=subprocess.PIPE, text=True, env=self.environment) as running:
            first = running.stdout.readline()
            running.send_signal(signal.SIGINT)
            said = running.communicate(timeout=60)[0]
        self.assertIn("pass  u [n=1]", first)
        self.assertEqual((running.returncode, said), (130, "1 passed, 0 failed, 1 not run\n"))

    def test_interrupted_preparation_of_kernels_ends_as_an_interrupted_run(self):
        begun = self.folder / "begun"
        (self.folder / "k.py").write_text(f"import pathlib\nimport time\n\npathlib.Path({str(begun)!r}).touch()\ntime.sleep(60)\n")
        file = self.scenario("k.yaml", "scenario: k\nboard: trn3-chip\nsteps:\n  - kernel: {function: 'k.py:f'}\n")
        temporary = self.folder / "tmp"
        temporary.mkdir()
        for options, printed in ((), "0 passed, 0 failed, 1 not run\n"), (("--strict", "--json"), "[]\n"):
            with subprocess.Popen(
                [self.trnvp, "test", file, *options],
                stdout=subprocess.PIPE,
                stderr=subprocess.STDOUT,
                text=True,
                env=dict(self.environment, TMPDIR=str(temporary)),
            ) as running:
                while not begun.exists():
                    self.assertIsNone(running.poll())
                    time.sleep(0.02)
                begun.unlink()
                running.send_signal(signal.SIGINT)
                said = running.communicate(timeout=30)[0]
            self.assertEqual((running.returncode, said, list(temporary.iterdir())), (130, printed, []))

    def test_what_failed_is_repeated_case_by_case(self):
        # The seed determines the byte.
        file = self.scenario(
            "s.yaml",
            "scenario: s\nboard: trn3-chip\nmatrix: {at: [16 MiB, 17 MiB]}\nsteps:\n"
            "  - boot: {within: 1 s}\n  - fill: {at: 'hbm0@${at}', size: 1 B, pattern: p}\n"
            "  - verify: {at: 'hbm0@${at}', size: 1 B, value: 0x%02x}\n",
        )
        text = pathlib.Path(file).read_text()
        pathlib.Path(file).write_text(text % 0)
        names = lambda said, status: sorted(one["name"] for one in json.loads(said) if one["status"] == status)
        parts = [
            self.run_trnvp(
                "test", file, "--seeds", "1..6", "--shard", f"{part}/2", "--json", "--report", self.folder / f"s{part}", status=1
            )
            for part in (1, 2)
        ]
        failed = sorted(names(parts[0], "failed") + names(parts[1], "failed"))
        self.assertGreater(len(failed), 6)
        again = self.run_trnvp("test", file, "--rerun-failed", "--json", status=1)
        self.assertEqual(names(again, "failed"), failed)
        # Failures that only a merge has seen, and those of a record.
        self.environment["XDG_STATE_HOME"] = str(self.folder / "other")
        self.run_trnvp("report", "merge", self.folder / "s1", self.folder / "s2", "--out", self.folder / "out", status=1)
        self.assertEqual(names(self.run_trnvp("test", file, "--rerun-failed", "--json", status=1), "failed"), failed)
        self.assertEqual(
            names(self.run_trnvp("test", file, f"--rerun-failed={self.folder / 's2'}", "--json", status=1), "failed"),
            names(parts[1], "failed"),
        )
        self.assertIn("no record run.jsonl", self.run_trnvp("test", file, f"--rerun-failed={self.folder}", status=2))
        other = self.scenario("other.yaml", "scenario: o\nboard: trn3-chip\nsteps:\n  - wait: 1 us\n")
        self.assertIn("the given files have none of its ", self.run_trnvp("test", other, f"--rerun-failed={self.folder / 's2'}", status=2))
        said = self.run_trnvp("test", file, f"--rerun-failed={self.folder / 's2'}", "--report", self.folder / "s2", status=2)
        self.assertIn("this command reads it", said)

    def test_what_a_lost_shard_did_not_run_is_repeated(self):
        file, other = self.matrix(4), self.scenario("o.yaml", "scenario: o\nboard: trn3-chip\nsteps:\n  - wait: 1 us\n")
        self.run_trnvp("test", file, "--shard", "1/2", "--report", self.folder / "s1")
        self.run_trnvp("test", other)
        self.run_trnvp("report", "merge", self.folder / "s1", "--out", self.folder / "out", status=1)
        for option in ("--rerun-failed", f"--rerun-failed={self.folder / 'out'}"):
            self.assertIn("4 passed, 0 failed\n", self.run_trnvp("test", file, other, option))

    def test_merge_takes_the_newest_result_of_a_case(self):
        flag = self.folder / "flag"
        file = self.scenario(
            "f.yaml",
            "scenario: f\nboard: trn3-chip\nmatrix: {n: [1, 2]}\nsteps:\n"
            f"  - client: {{command: [sh, -c, 'test ${{n}} = 1 || test -e {flag}']}}\n",
        )
        self.run_trnvp("test", file, "--report", self.folder / "first", status=1)
        flag.write_text("")
        self.run_trnvp("test", file, "--rerun-failed", "--report", self.folder / "again")
        said = self.run_trnvp("report", "merge", self.folder / "first", self.folder / "again", "--out", self.folder / "out")
        self.assertIn("several results, of which the newest is used: " + file + ": f [n=2]", said)
        self.assertIn("2 passed, 0 failed", said)

    def test_printed_command_repeats_the_options(self):
        file = self.matrix(2, failing=[1])
        said = self.run_trnvp("test", file, "--misuse", "fail:TRN-DMA-003", "--timing", "functional", status=1)
        self.assertIn("--name 'm [limit=10 us]' --misuse fail:TRN-DMA-003 --timing functional\n", said)

    def test_runs_with_other_options_are_not_flaky(self):
        file, past = self.matrix(1), self.folder / "past"
        self.run_trnvp("test", file, "--history", past)
        changed = json.loads(next(past.iterdir()).read_text())
        self.run_trnvp("test", file, "--history", past, "--misuse", "fail")
        other = json.loads(sorted(past.iterdir())[-1].read_text())
        self.assertNotEqual(*(one["scenarios"][f"{file}\tm [limit=1 ms]"]["fingerprint"] for one in (changed, other)))

    def test_coverage_is_consistent_for_genhtml(self):
        info = self.folder / "boot.info"
        self.run_trnvp("run", "trn3-chip", "--until", "ready", "--coverage", info)
        for section in info.read_text().split("end_of_record\n")[:-1]:
            lines, functions, branches = {}, {}, {}
            for row in section.splitlines():
                key, _, rest = row.partition(":")
                values = rest.split(",")
                if key == "DA":
                    lines[int(values[0])] = int(values[1])
                elif key == "FN":
                    functions[values[1]] = int(values[0])
                elif key == "BRDA":
                    branches.setdefault(int(values[0]), []).append(values[3])
            executed = {row[7:] for row in section.splitlines() if row.startswith("FNDA:1,")}
            begins = sorted(set(functions.values())) + [10**9]
            for name, line in functions.items():
                self.assertIn(line, lines, name)
                inside = range(line, begins[begins.index(line) + 1])
                self.assertEqual(name in executed, any(ran for at, ran in lines.items() if at in inside), name)
            for line, ways in branches.items():
                self.assertEqual(lines[line] > 0, "1" in ways, (section[:60], line))

    def fake_slurm(self, second):
        """Programs in PATH of a cluster whose node dies in the first attempt, after one result; `second`: what sbatch
        does then, with the script in $script."""
        programs = self.folder / "fake"
        programs.mkdir()
        run = 'SLURM_ARRAY_TASK_ID=1 sh "$script" > /dev/null'
        texts = {
            "sbatch": f"for script; do :; done\nif test -e {programs}/began; then\n{second}\nfi\ntouch {programs}/began\n"
            f'{run}\ncd "$(dirname "$script")/1.1"\nhead -n 2 run.jsonl > run.jsonl.part\n'
            "rm run.jsonl\nsleep 1\necho 7\n".replace("{run}", run),
            "squeue": "echo '7 1 NODE_FAIL'\necho '8 1 FAILED'\n",
            "scancel": "exit 0\n",
            "sinfo": "echo 0/1/0/1\n",
        }
        for name, text in texts.items():
            (programs / name).write_text("#!/bin/sh\n" + text)
            (programs / name).chmod(0o755)
        self.environment["PATH"] = f"{programs}:{self.environment['PATH']}"

    def test_refused_repetition_of_a_shard_keeps_the_results(self):
        self.fake_slurm("echo 'the queue is full' >&2; exit 1")
        said = self.run_trnvp("test", self.matrix(2), "--slurm", "-j", "1", "--report", self.folder / "out", status=1, cwd=self.folder)
        self.assertIn("shard 1 cannot run again: sbatch refused the job: the queue is full", said)
        self.assertIn("1 passed, 0 failed, 1 not run", said)
        self.assertEqual(len(self.names(self.folder / "out/report.xml")), 2)

    def test_newest_result_of_a_repeated_shard_counts(self):
        self.fake_slurm(f'touch {self.folder}/now; SLURM_ARRAY_TASK_ID=1 sh "$script" > /dev/null; echo 8; exit')
        file = self.scenario(
            "a.yaml", "scenario: a\nboard: trn3-chip\nsteps:\n" f"  - client: {{command: [test, '!', -e, {self.folder}/now]}}\n"
        )
        said = self.run_trnvp("test", file, "--slurm", "-j", "1", "--report", self.folder / "out", status=1, cwd=self.folder)
        self.assertRegex(said, r"(?s)pass  a .*shard 1 runs again .*FAIL  a\n.*\n0 passed, 1 failed\n")

    def test_strict_submits_no_job_for_a_kernel_with_a_mistake(self):
        self.fake_slurm("exit 1")
        file = self.scenario(
            "k.yaml", "scenario: k\nboard: trn3-chip\nsteps:\n  - boot: {within: 1 s}\n" "  - kernel: {function: 'none.py:f'}\n"
        )
        said = self.run_trnvp("test", file, "--strict", "--slurm", "-j", "1", status=2, cwd=self.folder)
        self.assertIn("k.yaml:5:24: E54", said)
        self.assertFalse((self.folder / "fake/began").exists())

    def test_shard_goes_on_when_slurm_does_not_list_it_for_a_moment(self):
        """Twice, further apart than the delay in which a record may appear (20 s)."""
        self.fake_slurm("exit 1")
        fake = self.folder / "fake"
        (fake / "sbatch").write_text(
            "#!/bin/sh\nfor script; do :; done\n"
            f'(SLURM_ARRAY_TASK_ID=1 sh "$script"; touch {fake}/ended) > /dev/null 2>&1 &\n'
            f"date +%s > {fake}/began\necho 7\n"
        )
        (fake / "squeue").write_text(
            f"#!/bin/sh\nif test -e {fake}/ended; then echo 7 1 COMPLETED; exit; fi\n"
            f"seconds=$(($(date +%s) - $(cat {fake}/began)))\n"
            "if test $seconds -lt 2 || test $seconds -ge 23; then exit; fi\necho 7 1 RUNNING\n"
        )
        file = self.scenario("s.yaml", "scenario: s\nboard: trn3-chip\nsteps:\n  - client: {command: [sleep, '25']}\n")
        said = self.run_trnvp("test", file, "--slurm", "-j", "1", cwd=self.folder)
        self.assertIn("1 passed, 0 failed\n", said)

    def test_expressions_select_together_with_shards_seeds_failures_and_slurm(self):
        file = self.scenario(
            "m.yaml",
            "scenario: m\nboard: trn3-chip\ntime_limit: '${limit}'\n"
            "matrix: {limit: [1 ms, 11 us, 3 ms, 4 ms, 10 us, 6 ms]}\nsteps:\n  - wait: 500 us\n",
        )

        def listed(*words):
            return re.findall(r"^ *\d+ (.*?)  ", self.run_trnvp("test", file, "--list", *words), re.M)

        self.assertEqual(listed("-k", "'1 ms' or limit=6"), ["m [limit=1 ms]", "m [limit=6 ms]"])
        chosen = listed("-k", "ms", "--where", "limit=1ms", "--where", "limit=4*")
        self.assertEqual(chosen, ["m [limit=1 ms]", "m [limit=4 ms]"])
        parts = [listed("-k", "not us", "--shard", f"{part}/2") for part in (1, 2)]
        self.assertEqual(sorted(parts[0] + parts[1]), [f"m [limit={n} ms]" for n in (1, 3, 4, 6)])
        self.assertEqual(listed("--where", "limit=4ms", "--seeds", "1..2"), ["m [limit=4 ms] seed 1", "m [limit=4 ms] seed 2"])
        self.run_trnvp("test", file, status=1)
        self.assertEqual(listed("--rerun-failed"), ["m [limit=11 us]", "m [limit=10 us]"])
        self.assertEqual(listed("--rerun-failed", "-k", "11"), ["m [limit=11 us]"])
        self.fake_slurm("exit 1")
        (self.folder / "fake/squeue").write_text("#!/bin/sh\necho '7 1 COMPLETED'\n")
        (self.folder / "fake/sbatch").write_text(
            '#!/bin/sh\nfor script; do :; done\nSLURM_ARRAY_TASK_ID=1 sh "$script" > /dev/null\necho 7\n'
        )
        said = self.run_trnvp(
            "test", file, "--slurm", "-j", "1", "-k", "'6 ms' or (us and not 11)", "--report", self.folder / "jobs", status=1
        )
        self.assertIn("1 passed, 1 failed\n", said)

    def test_figure_names_the_run_that_changed_it_and_how_to_search_its_commit(self):
        text = (
            "scenario: copy\nboard: trn3-chip\nsteps:\n  - boot: {within: 1 s}\n"
            "  - copy: {from: host, to: hbm0@16 MiB, size: SIZE}\n"
            "  - figure: {name: copied, module: chip0.h2t0, counter: descriptors}\n"
        )
        past, outs = self.folder / "past", []
        for number, size in enumerate(("1 MiB", "1 MiB", "64 KiB")):
            file = self.scenario("copy.yaml", text.replace("SIZE", size))
            outs.append(self.folder / f"out{number}")
            self.run_trnvp("test", file, "--history", past, "--report", outs[-1])
        for number, one in enumerate(sorted(past.iterdir())):
            run = json.loads(one.read_text())
            run["build"], run["started"] = f"1 c{number}", run["started"] + number
            one.write_text(json.dumps(run))
        said = self.run_trnvp("report", "figure", "copied", past, status=1)
        self.assertRegex(said, r"copy.yaml: copy: copied\n(  .*  c[012] .*\n){3}")
        self.assertRegex(said, r"first run that left the band: .*, commit c2: .* after .*\n  git bisect start c2 c1\n")
        found = json.loads(self.run_trnvp("report", "figure", "cop*", past, "--json", status=1))
        self.assertEqual([found[0]["first_outside"], found[0]["bisect"]], [2, "git bisect start c2 c1"])
        self.assertIn("stays in its band", self.run_trnvp("report", "figure", "copied", past, "--noise", "90"))
        twice = self.run_trnvp("report", "figure", "copied", past, f"{past}/.", status=1)
        self.assertEqual(twice, said)
        self.assertIn("did you mean 'copied'?", self.run_trnvp("report", "figure", "copyed", past, status=2))
        # Records and files of the history are taken too, wherever a run is asked for.
        file = sorted(past.iterdir())[2]
        self.run_trnvp("report", "figure", "copied", outs[0], outs[1] / "run.jsonl", file, status=1)
        self.assertIn("copied: ", self.run_trnvp("report", "compare", outs[0], past, status=1))
        self.run_trnvp("report", "merge", file, "--out", self.folder / "merged")
        scenario = self.scenario("copy.yaml", text.replace("SIZE", "1 MiB"))
        nothing = f"trnvp: --rerun-failed: none of these scenarios failed in {past}\n0 passed, 0 failed\n"
        self.assertEqual(self.run_trnvp("test", scenario, f"--rerun-failed={past}"), nothing)
        nothing = "trnvp: --rerun-failed: none of these scenarios failed when it last ran\n0 passed, 0 failed\n"
        self.assertEqual(self.run_trnvp("test", scenario, "--rerun-failed"), nothing)

    def test_merge_of_records_without_a_result_fails(self):
        file = self.matrix(1)
        self.run_trnvp("test", file, "--rerun-failed", "--report", self.folder / "none", "--history", self.folder / "past")
        for source in ("none", "past"):
            said = self.run_trnvp("report", "merge", self.folder / source, "--out", self.folder / "out", status=1)
            self.assertEqual(said, "trnvp: no scenario ran: the records have no result\n0 passed, 0 failed\n")

    def test_merge_refuses_what_is_no_record(self):
        self.assertIn("nothing", self.run_trnvp("report", "merge", self.folder / "nothing", "--out", self.folder / "x", status=2))
        (self.folder / "bad").write_text("{}\n")
        self.assertIn(
            "bad:1: this is not the record", self.run_trnvp("report", "compare", self.folder / "bad", self.folder / "bad", status=2)
        )

    def test_compare_decides_the_status(self):
        self.run_trnvp("test", self.matrix(3), "--report", self.folder / "old")
        self.run_trnvp("test", self.matrix(3), "--report", self.folder / "same")
        self.assertEqual(self.run_trnvp("report", "compare", self.folder / "old", self.folder / "same"), "no difference\n")
        other = self.scenario("m.yaml", "scenario: m [limit=1 ms]\nboard: trn3-chip\ntime_limit: 10 us\n" "steps:\n  - wait: 500 us\n")
        self.run_trnvp("test", other, "--report", self.folder / "new", status=1)
        said = self.run_trnvp("report", "compare", self.folder / "old", self.folder / "new", status=1)
        self.assertRegex(said, r"newly failing \(1\):\n  .*m \[limit=1 ms\]: .*m.yaml")
        self.assertRegex(said, r"not run any more \(2\):")
        self.run_trnvp("report", "compare", self.folder / "old", self.folder / "new", "--fail-on", "durations")

    def test_durations_are_written_and_divide_the_next_shards(self):
        file, durations = self.matrix(6), self.folder / "d.json"
        self.run_trnvp("test", file, "--durations", durations)
        content = json.loads(durations.read_text())
        self.assertEqual(len(content["scenarios"][file]), 6)
        for name in content["scenarios"][file]:
            content["scenarios"][file][name] = {"beginning_s": 0, "own_s": 10 if "=6 ms" in name else 2}
        durations.write_text(json.dumps(content))

        def shard(part):
            listed = self.run_trnvp("test", file, "--list", "--durations", durations, "--shard", f"{part}/2")
            return sorted(re.findall(r"limit=(\d) ms", listed))

        self.assertEqual(sorted([shard(1), shard(2)]), [["1", "2", "3", "4", "5"], ["6"]])
        before = durations.read_text()
        self.run_trnvp("test", file, "--durations", durations, "--shard", "1/2", "--report", self.folder / "s1")
        self.assertEqual(durations.read_text(), before)
        self.run_trnvp("report", "merge", self.folder / "s1", "--out", self.folder / "o", "--durations", durations, status=1)
        self.assertNotEqual(durations.read_text(), before)
        durations.write_text(before[:50])
        self.assertIn(
            "d.json: this file is not JSON, or was cut", self.run_trnvp("test", file, "--durations", durations, "--shard", "1/2", status=2)
        )

    def test_campaign_of_seeds_is_one_row_with_its_failing_seeds(self):
        # The seed determines the byte.
        file = self.scenario(
            "s.yaml",
            "scenario: s\nboard: trn3-chip\nsteps:\n  - boot: {within: 1 s}\n"
            "  - fill: {at: hbm0@16 MiB, size: 1 B, pattern: p}\n"
            "  - verify: {at: hbm0@16 MiB, size: 1 B, value: 0}\n",
        )
        whole = self.run_trnvp("test", file, "--seeds", "1..12", "--json", status=1)
        failing = [int(one["name"].split()[-1]) for one in json.loads(whole) if one["status"] == "failed"]
        self.assertTrue(failing)
        said = self.run_trnvp("test", file, "--seeds", "1..12", "--report", self.folder / "out", status=1)
        self.assertIn(f"{12 - len(failing)} of 12 seeds passed; failed: ", said)
        # Three failing seeds with their logs, and the summary of the campaign.
        self.assertEqual(len(re.findall("^FAIL  ", said, re.M)), min(3, len(failing)) + 1)
        self.assertEqual([name for name, _ in self.names(self.folder / "out/report.xml")], [f"s seed {seed}" for seed in range(1, 13)])
        self.assertEqual((self.folder / "out/index.html").read_text().count("<tbody id="), 1)
        again = re.search(r"again: trnvp (.*--seeds (\d+))\n", said)
        self.assertIn(int(again[2]), failing)
        repeated = subprocess.run(
            f"{self.trnvp} {again[1]}", shell=True, stdout=subprocess.PIPE, text=True, env=self.environment, check=False
        )
        self.assertEqual(repeated.returncode, 1)
        self.assertIn("0 passed, 1 failed", repeated.stdout)
        self.assertIn("is not a range of seeds", self.run_trnvp("test", file, "--seeds", "3..1", status=2))
        self.assertIn("more than 100000", self.run_trnvp("test", file, "--seeds", "1..200000", status=2))

    def test_seeds_of_shards_are_those_of_the_campaign(self):
        file = self.scenario("s.yaml", COPY)
        for part in (1, 2):
            self.run_trnvp("test", file, "--seeds", "1..5", "--digest", "--shard", f"{part}/2", "--report", self.folder / f"s{part}")
        self.run_trnvp("report", "merge", self.folder / "s1", self.folder / "s2", "--out", self.folder / "merged")
        self.run_trnvp("test", file, "--seeds", "1..5", "--digest", "--report", self.folder / "whole")
        digests = (self.folder / "merged/digests.txt").read_text()
        self.assertEqual(digests.count("\n"), 5)
        self.assertEqual(digests, (self.folder / "whole/digests.txt").read_text())

    def test_history_shows_past_runs_and_flaky_scenarios(self):
        file, past = self.matrix(2), self.folder / "past"
        for _ in range(3):
            self.run_trnvp("test", file, "--history", past, "--report", self.folder / "out")
        files = sorted(past.iterdir())
        self.assertEqual(len(files), 3)
        page = (self.folder / "out/index.html").read_text()
        self.assertEqual(page.count('<rect class="good"'), 6)
        self.assertNotIn("flaky</td>", page)
        # The same trace with a failed run.
        changed = json.loads(files[0].read_text())
        changed["scenarios"][f"{file}\tm [limit=1 ms]"]["passed"] = False
        files[0].write_text(json.dumps(changed))
        files[1].write_text(files[1].read_text()[:100])
        said = self.run_trnvp("test", file, "--history", past, "--html", self.folder / "one.html")
        self.assertIn("was cut", said)
        page = (self.folder / "one.html").read_text()
        self.assertEqual(page.count(", flaky</td>"), 1)
        self.assertLess(page.index("limit=1 ms"), page.index("limit=2 ms"))
        self.assertIn("This is a defect of the platform", page)
        # Results of another build do not count as flaky.
        changed["build"] = "0 other"
        files[0].write_text(json.dumps(changed))
        self.run_trnvp("test", file, "--history", past, "--html", self.folder / "one.html")
        self.assertNotIn(", flaky</td>", (self.folder / "one.html").read_text())

    def test_pages_open_in_a_browser_without_a_server(self):
        browser = next(filter(None, map(shutil.which, ("chromium", "chromium-browser", "google-chrome"))), None)
        if browser is None:
            self.skipTest("no Chromium is installed")
        file = self.matrix(3, failing=[1])
        self.run_trnvp("test", file, "--history", self.folder / "past", "--report", self.folder / "out", status=1)

        def dom(page):
            return subprocess.run(
                [
                    browser,
                    "--headless",
                    "--no-sandbox",
                    "--disable-gpu",
                    "--virtual-time-budget=2000",
                    "--dump-dom",
                    f"file://{self.folder}/out/{page}",
                ],
                stdout=subprocess.PIPE,
                stderr=subprocess.DEVNULL,
                text=True,
                check=True,
            ).stdout

        index = dom("index.html")
        self.assertIn(">3 of 3<", index)  # written by the page's script
        links = re.findall(r'<a href="(pages/[^"]+\.html)"', index)
        self.assertEqual(len(links), 3)
        self.assertIn("10-us", links[0])  # the failure is in the first row
        page = (self.folder / "out" / links[0]).read_text()
        picture = re.search(r'<img src="([^"]+)"', page)[1]
        self.assertTrue((self.folder / "out/pages" / picture).exists())
        # The policy of the page lets the browser show the picture.
        probe = page.replace(
            "</body>",
            "<script>addEventListener('load', () => document.title = 'width ' + " "document.images[0].naturalWidth)</script></body>",
        )
        (self.folder / "out/pages/probe.html").write_text(probe)
        self.assertRegex(dom("pages/probe.html"), r"<title>width [1-9]")
        target = re.search(r'href="(\.\./index\.html#[^"]+)"', page)[1]
        self.assertIn(f'id="{target.split("#")[1]}"', index)


if __name__ == "__main__":
    sys.path.insert(0, str(pathlib.Path(__file__).parent))
    unittest.main(verbosity=1)
