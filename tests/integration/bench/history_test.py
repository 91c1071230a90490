# SPDX-License-Identifier: Apache-2.0
"""Records of ./dev bench, and comparisons of two of them."""
import pathlib
import subprocess
import sys
import tempfile
import unittest

BENCH = pathlib.Path(__file__).resolve().parents[2] / "bench"
sys.path.insert(0, str(BENCH))
import history  # noqa: E402


def row(name, value, ratio=None, goal="< 1 s", unit="s"):
    return {"name": name, "value": value, "unit": unit, "ratio": ratio, "goal": goal}


def record(*runs, machine="2 x A"):
    return history.of_runs([list(run) for run in runs], machine)


class History(unittest.TestCase):
    def test_a_record_has_medians_and_their_spread(self):
        one = record([row("copy", 2.0, 0.50)], [row("copy", 9.0, 0.40)], [row("copy", 3.0, 0.45)]).entries["copy"]
        self.assertEqual((one.value, one.ratio, one.better), (3.0, 0.45, "less"))
        self.assertAlmostEqual(one.spread, 0.1 / 0.45)

    def test_a_record_is_read_as_it_was_written(self):
        written = record([row("a copy of 4 KiB", 0.25, None), row("rate", 7.5, 1.25, ">= 1 x", "GB/s"), row("open", 1.0, None, "")])
        with tempfile.TemporaryDirectory() as folder:
            file = pathlib.Path(folder) / "x.txt"
            file.write_text(history.text_of(written))
            self.assertEqual(history.read(file), written)

    def test_slower_and_faster_follow_the_direction_of_the_goal(self):
        before = record([row("time", 1.0, 1.0), row("rate", 1.0, 1.0, ">= 1 x")])
        after = record([row("time", 1.0, 1.2), row("rate", 1.0, 1.2, ">= 1 x")])
        self.assertEqual([(one.name, one.is_slower) for one in history.compare(before, after)], [("time", True), ("rate", False)])

    def test_a_change_of_six_percent_is_reported_and_one_of_four_is_not(self):
        before = record([row("time", 1.0, 1.0)])
        self.assertTrue(history.compare(before, record([row("time", 1.0, 1.06)])))
        self.assertFalse(history.compare(before, record([row("time", 1.0, 1.04)])))

    def test_a_change_within_the_spread_of_either_record_is_noise(self):
        noisy = record([row("time", 1.0, 0.9)], [row("time", 1.0, 1.0)], [row("time", 1.0, 1.1)])
        self.assertFalse(history.compare(noisy, record([row("time", 1.0, 1.15)])))
        self.assertTrue(history.compare(noisy, record([row("time", 1.0, 1.25)])))

    def test_values_without_a_peer_are_compared_on_the_same_machine_only(self):
        before, after = record([row("boot", 1.0)]), record([row("boot", 2.0)])
        self.assertTrue(history.compare(before, after))
        self.assertFalse(history.compare(before, record([row("boot", 2.0)], machine="64 x B")))

    def test_a_damaged_record_is_refused_with_its_line_and_nothing_is_measured(self):
        for text, said in (
            ("# machine: m\na\tb\n", "x.txt:2: expected name"),
            ("", "no line '# machine"),
            ("# machine: m\na\t1\ts\t-\t0\tworse\n", "x.txt:2: expected name"),
        ):
            with tempfile.TemporaryDirectory() as folder:
                file = pathlib.Path(folder) / "x.txt"
                file.write_text(text)
                done = subprocess.run(
                    [sys.executable, BENCH / "bench.py", folder, "--only", "nothing", "--compare", file],
                    capture_output=True,
                    text=True,
                    check=False,
                )
            self.assertEqual(done.returncode, 2)
            self.assertIn(said, done.stderr)


if __name__ == "__main__":
    unittest.main()
