#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
"""Profiles of kernels: sums compared with the counters of the run and closed forms, files parsed by
a browser and by Google's parser, running platforms, errors: profile_test.py BUILD [TEST...]"""
import collections
import contextlib
import json
import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile
import time
import unittest

BUILD = pathlib.Path(os.path.abspath(sys.argv.pop(1)))
os.environ["TRNVP_BUILD"] = str(BUILD)
ROOT = pathlib.Path(__file__).resolve().parents[3]
sys.path[:0] = [str(ROOT / "sw-stubs/python"), str(ROOT / "scenarios/kernels"), str(ROOT / "tests/integration/timeline")]

import nki  # noqa: E402, F401 - after the path
import numpy  # noqa: E402
import perfetto  # noqa: E402

import tiles  # noqa: E402
import trnvp_control  # noqa: E402
from trn_nki.compile import compile_recording  # noqa: E402
from trn_nki.profile import collect, intervals, read_events  # noqa: E402
from trn_nki.profile.command import ERRORS  # noqa: E402
from trn_nki.profile.critical_path import critical_path  # noqa: E402
from trn_nki.profile.drawing import MAX_ENGINE_TRACKS, MAX_SPANS  # noqa: E402
from trn_nki.profile.page import html_of  # noqa: E402
from trn_nki.profile.perfetto import perfetto_bytes  # noqa: E402
from trn_nki.profile.tables import tables_of  # noqa: E402
from trn_nki.profile.verdict import verdict_of  # noqa: E402
from trn_nki.run import assemble  # noqa: E402
from trn_nki.trace import record_kernel  # noqa: E402
from trn_nki.trace.host_arrays import HostArray  # noqa: E402
from trn_nki.values import data_types  # noqa: E402

KERNELS = ROOT / "scenarios/kernels"
BROWSER = next((name for name in ("chromium", "chromium-browser", "google-chrome") if shutil.which(name)), None)
ARRAY, SEMAPHORE_BYTES, DMA_ENGINES = 128, 4, 16


def random(*shape):
    return numpy.random.default_rng(5).standard_normal(shape).astype(numpy.float32)


class Profiles(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.shared = pathlib.Path(cls.enterClassContext(tempfile.TemporaryDirectory(prefix="profile-")))

    def setUp(self):
        self.folder = pathlib.Path(self.enterContext(tempfile.TemporaryDirectory(prefix="profile-")))

    def command(self, *words, status=0):
        done = subprocess.run([str(word) for word in words], capture_output=True, text=True, timeout=120, check=False)
        self.assertEqual(done.returncode, status, f"{words}\n{done.stdout}{done.stderr}")
        return done

    def array(self, name, value):
        numpy.save(self.folder / f"{name}.npy", value)
        return f"{name}={self.folder}/{name}.npy"

    def profile(self, kernel, *options, status=0):
        """The tables of the profile that `trn-nki profile` writes."""
        self.command(BUILD / "trn-nki", "profile", f"{KERNELS}/{kernel}", *options, "--out", self.folder / "out", status=status)
        return json.loads((self.folder / "out/profile.json").read_text())

    def matmul(self):
        """The profile of a product of [512, 256] transposed and [512, 1024] on Trainium2; its files
        are in `shared`."""
        if not (self.shared / "out").exists():
            self.profile(
                "tiles.py:matmul",
                "--board",
                "trn2-chip",
                "--in",
                self.array("at", random(512, 256)) + ":bfloat16",
                "--in",
                self.array("b", random(512, 1024)) + ":bfloat16",
            )
            shutil.copytree(self.folder / "out", self.shared / "out")
        return json.loads((self.shared / "out/profile.json").read_text())

    def browse(self, page):
        """The document after running its scripts; fails on any console message."""
        if BROWSER is None:
            self.skipTest("no Chromium is installed")
        done = self.command(
            BROWSER,
            "--headless",
            "--no-sandbox",
            "--disable-gpu",
            "--enable-logging=stderr",
            "--v=0",
            f"--user-data-dir={self.folder}/browser",
            "--dump-dom",
            f"file://{page}",
        )
        self.assertNotRegex(done.stderr, "CONSOLE")
        return done.stdout

    # -- Sums

    def counters_and_rows(self, kernel, values, board, generation, types=()):
        """The engines' counters read by the driver after a run, and the rows of the run's profile,
        by engine."""
        arrays = [
            HostArray(((value.view(numpy.uint32) + 0x8000) >> 16).astype(numpy.uint16), data_types.bfloat16) if types else value
            for value in values
        ]
        compiled = compile_recording(record_kernel(kernel, arrays, generation=generation))
        assemble(compiled, self.folder / "set")
        done = self.command(
            BUILD / "trnctl",
            "--board",
            board,
            "--trace",
            self.folder / "events.txt",
            "--json",
            "program",
            "run",
            self.folder / "set",
            "--counters",
        )
        rows = [json.loads(line) for line in done.stdout.splitlines()]
        self.command(BUILD / "trn-nki", "profile", "--events", self.folder / "events.txt", "--out", self.folder / "p.json")
        tables = json.loads((self.folder / "p.json").read_text())
        return {row["engine"]: row for row in rows if "engine" in row}, {row["engine"]: row for row in tables["TrnEngine"]}, tables

    def test_sums_of_events_are_the_counters_of_the_engines(self):
        cases = (
            (tiles.softmax, [random(128, 512)], "trn2-chip", "gen3", ()),
            (tiles.matmul, [random(256, 256), random(256, 512)], "trn3-chip", "gen4", ("bf16",)),
            (tiles.add, [random(256, 1024), random(256, 1024)], "trn1-chip", "gen2", ()),
        )
        for kernel, values, board, generation, types in cases:
            with self.subTest(board=board):
                counters, rows, _ = self.counters_and_rows(kernel, values, board, generation, types)
                self.assertEqual({name for name, row in counters.items() if row["retired"]}, set(rows))
                for name, row in rows.items():
                    for counter in ("retired", "busy_cycles", "wait_cycles", "bytes_read", "bytes_written"):
                        self.assertEqual(row[counter], counters[name][counter], f"{name} {counter}")

    def test_parts_of_the_time_of_each_engine_add_up_to_the_execution(self):
        softmax = self.profile("tiles.py:softmax", "--board", "trn3-chip", "--in", self.array("x", random(128, 256)))
        for tables in (self.matmul(), softmax):
            whole = round(tables["Summary"][0]["total_time"] * 1e12)
            for row in tables["TrnEngine"]:
                parts = [row[key] for key in row if key.endswith("_ps")]
                self.assertEqual(sum(parts), whole, row)
                self.assertGreaterEqual(min(parts), 0, row)

    def test_matmul_has_the_cycles_flops_and_bytes_of_its_closed_form(self):
        tables = self.matmul()
        summary = tables["Summary"][0]
        k, m, n = 512, 256, 1024
        products = (k // ARRAY) * (m // ARRAY) * (n // 512)
        self.assertEqual(summary["hardware_flops"], 2 * k * m * n)
        self.assertEqual(summary["matmul_instruction_count"], products)
        tensor = next(row for row in tables["TrnEngine"] if row["engine"] == "tensor")
        self.assertEqual(tensor["busy_cycles"], products * (512 + ARRAY // 4))
        multiplies = next(row for row in tables["OpcodeSummary"] if row["opcode"] == "MULTIPLY")
        self.assertAlmostEqual(multiplies["instruction_time_ns"], products * 512 / 2.4, delta=1)
        peak = 2 * ARRAY * ARRAY * 2.4e9
        self.assertAlmostEqual(summary["hfu_estimated_percent"], 100 * 2 * k * m * n / peak / summary["total_time"])
        (kind,) = tables["TrnMatmulType"]
        self.assertEqual((kind["type"], kind["peak_flops"]), ("bf16", peak))
        loads = products * (ARRAY * ARRAY + ARRAY * 512) * 2
        stores, copies = m * n * 4, 2 * products + (m // ARRAY) * (n // 512)
        signals = copies * DMA_ENGINES * SEMAPHORE_BYTES
        self.assertEqual(summary["dma_transfer_total_bytes"], loads + stores + signals)
        self.assertEqual(summary["hbm_write_bytes"], stores)
        self.assertEqual(sum(row["transfer_bytes"] for row in tables["DmaPacket"]), loads + stores + signals)
        self.assertEqual(tables["DmaUsage"][-1]["total_transfer_bytes"], loads + stores + signals)
        self.assertEqual(tables["HbmUsage"][-1]["total_transfer_bytes"], summary["hbm_read_bytes"] + summary["hbm_write_bytes"])
        self.assertAlmostEqual(summary["mm_arithmetic_intensity"], 2 * k * m * n / (summary["hbm_read_bytes"] + summary["hbm_write_bytes"]))

    def test_lines_of_the_kernel_share_the_whole_cost(self):
        tables = self.matmul()
        text = (KERNELS / "tiles.py").read_text().splitlines()
        lines = {int(row["nki_source_location"].rpartition(":")[2]): row for row in tables["TrnSourceLine"]}
        product = next(row for number, row in lines.items() if "nc_matmul" in text[number - 1])
        self.assertEqual(product["flops"], tables["Summary"][0]["hardware_flops"])
        self.assertEqual(set(product["busy_ns"]), {"tensor"})
        self.assertIn("dma", product["lost_ns"])
        self.assertEqual(sum(row["instruction_count"] for row in lines.values()), sum(row["retired"] for row in tables["TrnEngine"]))
        self.assertEqual(sum(row["dma_bytes"] for row in lines.values()), tables["Summary"][0]["dma_transfer_total_bytes"])
        lost = collections.Counter()
        for row in lines.values():
            lost.update(row["lost_ns"])
        for cause in ("dma", "semaphore", "dependency"):
            expected = sum(row[f"lost_{cause}_ps"] for row in tables["TrnEngine"]) / 1000
            self.assertAlmostEqual(lost[cause], expected, delta=len(lines), msg=cause)

    def test_each_semaphore_wait_names_the_instruction_that_posted_it(self):
        tables = self.matmul()
        instructions = {row["id"]: row for row in tables["Instruction"]}
        waits = [row for row in tables["TrnWait"] if row["cause"] in ("dma", "semaphore")]
        self.assertTrue({"dma", "semaphore"} <= {row["cause"] for row in waits})
        for row in waits:
            poster = instructions[row["poster_id"]]
            self.assertEqual(poster["opcode"] == "DMA_START", row["cause"] == "dma", row)
            index = re.match(r"S\[(\d+)\]", row["reason"]).group(1)
            changes = {change["trn_poster_id"] for change in tables["SemaphoreUpdate"] if change["id"] == f"S[{index}]"}
            self.assertIn(row["poster_id"], changes)

    def test_the_verdict_names_the_longest_part_of_the_critical_path_and_its_line(self):
        tables = self.matmul()
        copies = "|".join(
            str(number)
            for number, text in enumerate((KERNELS / "tiles.py").read_text().splitlines(), 1)
            if "dma_copy(dst=moving" in text or "dma_copy(dst=stationary" in text
        )
        verdict = tables["Summary"][0]["trn_verdict"]
        self.assertRegex(
            verdict,
            rf"^Copies bound this execution: \d+ % of its critical path, \d+ % of that at tiles\.py:({copies}); "
            r"their packets have \d+ bytes on average and HBM is used to \d+ %; try .*\.$",
        )
        self.assertIn(f"<p id=verdict>{verdict}</p>", (self.shared / "out/profile.html").read_text())

        def of(*lines):
            return verdict_of(
                collect(
                    read_events(
                        [
                            "1000 chip0.nc0.vector started pc=0 generation=4 clock_hz=1200000000\n",
                            *lines,
                            "901000 chip0.nc0.vector halted code=0\n",
                        ]
                    )
                )
            )

        busy = '1000 chip0.nc0.vector tensor_copy for=800000 pc=0 source="k.py:7" text="" mode="1x" cycles=960 latency_cycles=1000\n'
        self.assertRegex(
            of(busy),
            "^The Vector engine bounds this execution: 89 % of its critical path is its computation, 100 % of that " "at k.py:7; try",
        )
        self.assertRegex(of('1000 chip0.nc0.vector nop for=800000 pc=0 source="k.py:9" text=""\n'), "^Starting instructions bounds")
        late = busy.replace("1000 chip0", "701000 chip0", 1).replace("for=800000", "for=100000").replace("k.py:7", "k.py:8")
        wait = '101000 chip0.nc0.vector wait for=600000 reason="overlap" cycles=700 pc=1\n'
        self.assertRegex(
            of(busy.replace("for=800000", "for=100000"), wait, late),
            "^The latency of dependent instructions bounds this " "execution: 67 % .*k.py:8",
        )

        products = ["1000 chip0.nc0.tensor started pc=0 generation=4 clock_hz=2400000000\n"]
        for number in range(4):  # the next stationary matrix is loaded during each product
            for opcode, duration in (("multiply", 200_000), ("load_stationary", 10_000)):
                products.append(
                    f'{1000 + number * 200_000} chip0.nc0.tensor {opcode} for={duration} pc={number} source="k.py:5" text="" '
                    f'mode="1x" cycles={duration * 24 // 10_000} latency_cycles=500\n'
                )
        self.assertRegex(of(*products), "^The Tensor engine bounds this execution: 89 % .*k.py:5")

    def test_parts_of_the_critical_path_add_up_to_the_execution(self):
        self.command(
            BUILD / "trnctl",
            "--board",
            "trn3-chip",
            "--trace",
            self.folder / "events.txt",
            "program",
            "run",
            ROOT / "scenarios/programs/softmax.trn",
        )
        with open(self.folder / "events.txt") as lines:
            profile = collect(read_events(lines))
        path = critical_path(profile)
        self.assertEqual(sum(path.kinds.values()), profile.duration)
        self.assertEqual({kind: sum(lines.values()) for kind, lines in path.lines.items()}, dict(path.kinds))

    def test_two_cores_of_a_pair_are_one_execution(self):
        tables = self.profile(
            "transformer.py:exchange_sum", "--board", "trn3-chip", "--lnc", "2", "--in", self.array("x", random(2, 128, 64))
        )
        self.assertEqual(len(tables["ExecutionInfo"]), 1)
        self.assertEqual({(row["trn_core"], row["pcore_idx"]) for row in tables["Instruction"]}, {(0, 0), (1, 1)})
        self.assertTrue(tables["Metadata"][0]["vnc_enabled"])
        posters = {row["id"]: row["trn_core"] for row in tables["Instruction"]}
        across = [row for row in tables["TrnWait"] if row["poster_id"] and posters[row["poster_id"]] != row["trn_core"]]
        self.assertTrue(across, "a core waits for the other core")

    def test_collectives_that_a_program_starts_are_in_the_profile_of_all_chips(self):
        """Four chips whose Sync engines start an all-reduce after each tile of a matmul."""
        self.command(BUILD / "trnvp", "test", ROOT / "scenarios/programs_overlap.yaml", "--trace", self.folder / "events.txt")
        self.command(BUILD / "trn-nki", "profile", "--events", self.folder / "events.txt", "--execution", "1", "--out", self.folder / "out")
        tables = json.loads((self.folder / "out/profile.json").read_text())
        chips = {f"chip{number}" for number in range(4)}
        self.assertEqual({row["trn_chip"] for row in tables["TrnEngine"]}, chips)
        started = [row for row in tables["CcInstruction"] if row.get("trigger_engine") == "sync"]
        self.assertEqual({row["trn_chip"] for row in started}, chips)
        text = (ROOT / "scenarios/programs/overlap.trn").read_text().splitlines()
        moved = {
            text[int(row["nki_source_location"].rpartition(":")[2]) - 1].split()[0]: row["dma_bytes"]
            for row in tables["TrnSourceLine"]
            if "write @cc" in text[int(row["nki_source_location"].rpartition(":")[2]) - 1]
        }
        self.assertTrue(all(moved.values()) and moved, "copies of an all-reduce belong to the line that starts it")
        self.assertIn("<h2>Collectives</h2>", self.browse(self.folder / "out/profile.html"))

    def test_names_of_our_own_are_marked(self):
        tables = self.matmul()
        fields = {(row["table_name"], row["field_name"]): row["trn_known_by"] for row in tables["SchemaFields"]}
        for table, rows in tables.items():
            for name in rows[0] if rows and table != "SchemaFields" else ():
                ours = table.startswith("Trn") or name.startswith("trn_")
                self.assertEqual(fields[table, name], "invented" if ours else "document", f"{table}.{name}")
        self.assertEqual(tables["Metadata"][0]["profile_schema_version"], "7.4.0")

    # -- Files

    def test_page_opens_offline_with_the_numbers_of_the_tables(self):
        tables = self.matmul()
        page = self.shared / "out/profile.html"
        text = page.read_text()
        elements = re.sub(r"<code.*?</code>|(?s:<script.*?</script>)", "", text)
        self.assertIsNone(re.search(r"""https?://|<[^<>]* (src|href)=""", elements))
        self.assertIn("default-src 'none'", text)
        document = self.browse(page)
        summary = tables["Summary"][0]

        def value(name):
            return float(re.search(rf'id="{name}" data-value="([^"]*)"', document).group(1))

        self.assertEqual(value("card-flops"), summary["hardware_flops"])
        self.assertAlmostEqual(value("card-hfu"), summary["hfu_estimated_percent"])
        self.assertAlmostEqual(value("card-mbu"), summary["mbu_estimated_percent"])
        # Written by the script.
        drawn = int(re.search(r'id="drawn" data-value="(\d+)"', document).group(1))
        self.assertEqual(drawn, len(tables["Instruction"]))
        point = re.search(r'<circle id="point" data-intensity="([^"]*)"', document)
        self.assertAlmostEqual(float(point.group(1)), summary["mm_arithmetic_intensity"])
        for row in tables["TrnEngine"]:
            cells = re.search(rf"<td>chip0.nc0.{row['engine']}</td>(.*)", document).group(1)
            self.assertIn(f'data-value="{row["busy_cycles"]}"', cells)
            self.assertIn(f'data-value="{row["wait_cycles"]}"', cells)
        self.assertIn("nisa.nc_matmul(dst=total, stationary=stationary, moving=moving)", document)

    def test_timeline_zooms_and_shows_what_the_pointer_is_on(self):
        """A script at the end of the page simulates user input, and writes its observations into
        the document."""
        self.matmul()
        probe = """<script>
const found = rows.find(r => r.track && r.track.name === 'nc0.tensor');
const span = found.track.spans.find(s => text(s[3]) === 'multiply');
canvas.setPointerCapture = () => {};
const send = (kind, x, y) => {
  const event = new PointerEvent(kind, {clientX: canvas.getBoundingClientRect().left + x, clientY: canvas.getBoundingClientRect().top + y});
  canvas.dispatchEvent(event);
};
const px = x(span[0] + span[1] / 2), py = found.top + found.size / 2;
send('pointermove', px, py);
document.body.dataset.hovered = tip.textContent;
send('pointerdown', px, py);
send('pointerup', px, py);
document.body.dataset.chosen = details.textContent;
canvas.dispatchEvent(new KeyboardEvent('keydown', {key: 'w'}));
document.body.dataset.zoomed = (last - first) / data.duration;
document.getElementById('fit').click();
document.body.dataset.whole = (last - first) / data.duration;
</script></body>"""
        page = self.folder / "probe.html"
        page.write_text((self.shared / "out/profile.html").read_text().replace("</body>", probe))
        document = self.browse(page)
        body = re.search(r"<body ([^>]*)>", document).group(1)
        for name in ("hovered", "chosen"):
            shown = re.search(rf'data-{name}="([^"]*)"', body).group(1)
            self.assertRegex(shown, r"nc0\.tensor multiply.*tiles\.py:101.*cycles 512.*FLOPs 16\.78 M", name)
            self.assertRegex(shown, r"waited dma, S\[\d+\] .*posted by nc0\.sync dma_start tiles\.py:100")
        zoomed = float(re.search(r'data-zoomed="([^"]*)"', body).group(1))
        self.assertAlmostEqual(zoomed, 0.8)
        self.assertIn('data-whole="1"', body)

    def test_perfetto_trace_names_instructions_by_their_lines(self):
        tables = self.matmul()
        timeline = perfetto.Timeline((self.shared / "out/profile.perfetto-trace").read_bytes())
        self.assertFalse(timeline.open)
        for engine in {row["engine"] for row in tables["Instruction"]}:
            slices = [e for e in timeline.events if e.track == f"nc0.{engine}"]
            rows = [row for row in tables["Instruction"] if row["engine"] == engine]
            self.assertEqual(sorted(e.time for e in slices), sorted(row["start_ts"] for row in rows))
        self.assertIn("multiply tiles.py:101", {e.name for e in timeline.events})
        waits = [e for e in timeline.events if e.track == "nc0.tensor waits" and e.flows]
        chains = timeline.flows()
        self.assertTrue(waits)
        for wait in waits:
            self.assertTrue(any(e.track == "nc0.sync" and e.name.startswith("dma_start") for e in chains[wait.flows[0]]))
        moved = [e for e in timeline.events if e.track.startswith("udma0.engine")]
        self.assertEqual(len(moved), len(tables["DmaPacket"]))
        self.assertTrue(any(e.track == "HBM bandwidth" and e.values["value"] > 0 for e in timeline.events))

    def test_profile_of_a_hundred_thousand_instructions_is_bounded(self):
        count, page = 100_000, self.folder / "large.html"

        def lines():
            yield "1000 chip0.nc0.vector started pc=0 generation=4 clock_hz=1200000000\n"
            for number in range(count):
                at = 1000 + number * 60_000
                yield (
                    f'{at} chip0.nc0.vector tensor_copy for=53333 pc={number} source="k.py:{number % 50 + 1}" text="tensor_copy '
                    f'dst=sbuf[0:128, {number}] fp32 [64:1]" mode="1x" cycles=64 latency_cycles=174 flops=0 bf16_flops=0 '
                    "bytes_read=32768 bytes_written=32768 psum_bytes_read=0 psum_bytes_written=0\n"
                )
            yield f"{1000 + count * 60_000} chip0.nc0.vector halted code=0\n"

        profile = collect(read_events(lines()))
        page.write_text(html_of(profile))
        self.assertLess(page.stat().st_size, 2 << 20)
        document = self.browse(page)
        self.assertRegex(document, rf"draws {count} instructions and waits as \d+ merged spans")
        drawn = int(re.search(r'id="drawn" data-value="(\d+)"', document).group(1))
        self.assertTrue(MAX_SPANS // 10 < drawn <= MAX_SPANS, drawn)
        self.assertIn(f'data-value="{count * 64}"', document)  # busy cycles of all instructions

    def test_tracks_of_many_chips_are_bounded(self):
        engines = [f"chip{chip}.nc0.{name}" for chip in range(100) for name in ("tensor", "vector", "scalar", "gpsimd", "sync")]
        lines = [f"1000 {name} started pc=0 generation=4 clock_hz=1200000000\n" for name in engines]
        lines += [f'2000 {name} nop for=13333 pc=0 source="" text="nop"\n' for name in engines]
        lines += [f"20000 {name} halted code=0\n" for name in engines]
        page = self.folder / "wide.html"
        page.write_text(html_of(collect(read_events(lines))))
        document = self.browse(page)
        self.assertIn(f"{len(engines)} engines ran: the first {MAX_ENGINE_TRACKS} are drawn", document)
        self.assertEqual(int(re.search(r'id="drawn" data-value="(\d+)"', document).group(1)), MAX_ENGINE_TRACKS)

    # -- Running platforms

    @contextlib.contextmanager
    def platform(self, *options):
        sockets = self.folder / "sockets"
        with subprocess.Popen(
            [BUILD / "trnvp", "run", "trn2-chip", "--listen", sockets, "--uart", "none", *options],
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
        ) as running:
            try:
                limit = time.monotonic() + 60
                while not (sockets / "control.sock").exists() and time.monotonic() < limit:
                    time.sleep(0.02)
                yield sockets
            finally:
                running.terminate()

    def test_programs_on_a_running_platform_are_profiled_on_request(self):
        x = self.array("x", random(128, 128))
        with self.platform() as sockets:

            def connected(*words, status=0):
                return self.command(BUILD / "trnctl", "--connect", sockets, *words, status=status)

            run = (BUILD / "trn-nki", "run", f"{KERNELS}/tiles.py:softmax", "--connect", sockets, "--generation", "gen3", "--in", x)
            self.command(*run)  # not recorded
            connected("profile", "start")
            self.assertIn("already", connected("profile", "start", status=1).stderr)
            self.command(*run)
            self.command(*run)
            connected("profile", "stop", "--out", self.folder / "all", "--execution", "1")
            tables = json.loads((self.folder / "all/profile.json").read_text())
            self.assertEqual([row["trn_profiled"] for row in tables["ExecutionInfo"]], [True, False])
            shown = connected("--json", "program", "counters").stdout.splitlines()
            counters = {row["engine"]: row for row in map(json.loads, shown)}
            for row in tables["TrnEngine"]:
                self.assertEqual(row["busy_cycles"], counters[row["engine"]]["busy_cycles"], row["engine"])
            done = self.command(
                BUILD / "trn-nki",
                "profile",
                f"{KERNELS}/tiles.py:softmax",
                "--connect",
                sockets,
                "--generation",
                "gen3",
                "--in",
                x,
                "--out",
                self.folder / "one.json",
            )
            self.assertIn("one.json", done.stdout)
            one = json.loads((self.folder / "one.json").read_text())
            self.assertEqual([row["busy_cycles"] for row in one["TrnEngine"]], [row["busy_cycles"] for row in tables["TrnEngine"]])

    def test_all_counters_of_the_engines_are_sums_of_events(self):
        """A program with a subtracting wait for a DMA semaphore, matmuls, a gather and a device
        loop, compared with the counters published by the platform."""
        program = (ROOT / "scenarios/programs/add.trn").read_text().replace(".generation v4", ".generation v3")
        (self.folder / "add.trn").write_text(program.replace("wait S[4]>=16 ", "wait S[4]>=16:subtract "))
        kernels = (
            (
                "tiles.py:matmul",
                "--in",
                self.array("at", random(256, 512)) + ":bfloat16",
                "--in",
                self.array("b", random(256, 512)) + ":bfloat16",
            ),
            (
                "transformer.py:embedding",
                "--in",
                self.array("table", random(128, 128)),
                "--in",
                self.array("indices", numpy.arange(128, dtype=numpy.int32)[::-1, None]),
            ),
            (
                "transformer.py:halve_until_zero",
                "--in",
                self.array("x", random(128, 64)),
                "--in",
                self.array("count", numpy.array([[3]], numpy.int32)),
            ),
        )
        with self.platform() as sockets:
            connected = (BUILD / "trnctl", "--connect", sockets)
            runs = [(*connected, "program", "run", self.folder / "add.trn", "--in", "x=0.5")]
            runs += [
                (BUILD / "trn-nki", "run", f"{KERNELS}/{words[0]}", "--connect", sockets, "--generation", "gen3", *words[1:])
                for words in kernels
            ]
            for words in runs:
                self.command(*connected, "profile", "start")
                self.command(*words)
                with trnvp_control.connect(sockets) as platform:
                    counted = platform.statistics(module="chip0.nc0")["chip0.nc0"]
                self.command(*connected, "profile", "stop", "--out", self.folder / "p.json")
                rows = json.loads((self.folder / "p.json").read_text())["TrnEngine"]
                self.assertTrue(any(row["dma_wait_cycles"] for row in rows))
                if words is runs[0]:
                    vector = next(row for row in rows if row["engine"] == "vector")
                    self.assertEqual(vector["dma_wait_cycles"], vector["wait_cycles"], "DMA ends the wait that subtracts")
                for row in rows:
                    for field, counter in (
                        ("retired", "instructions"),
                        ("busy_cycles", "busy_cycles"),
                        ("wait_cycles", "wait_cycles"),
                        ("dma_wait_cycles", "wait_dma_cycles"),
                        ("overlap_cycles", "wait_overlap_cycles"),
                        ("port_cycles", "wait_port_cycles"),
                        ("fetch_cycles", "wait_fetch_cycles"),
                        ("bytes_read", "bytes_read"),
                        ("bytes_written", "bytes_written"),
                        ("psum_bytes_read", "psum_bytes_read"),
                        ("psum_bytes_written", "psum_bytes_written"),
                        ("flops", "flops"),
                    ):
                        if row["engine"] == "sync" and ("bytes" in counter or counter == "flops"):
                            continue  # not published
                        expected = counted[f"{row['engine']}_{counter}"]
                        self.assertEqual(row[field], expected, f"{words[2]}: {row['engine']} {field}")

    def test_a_platform_with_a_trace_of_its_own_refuses(self):
        with self.platform("--trace", self.folder / "own.txt") as sockets:
            done = self.command(BUILD / "trnctl", "--connect", sockets, "profile", "start", status=1)
            self.assertIn("writes a trace already", done.stderr)

    # -- Errors

    def test_mistakes_have_a_message_and_status_2(self):
        x = self.array("x", random(256, 128))
        kernel, out = f"{KERNELS}/tiles.py:softmax", self.folder / "p.html"
        (self.folder / "text").write_text("no trace\n")
        (self.folder / "broken").write_text("1 chip0.nc0.vector started pc=zero\n")
        (self.folder / "none").write_text("1 chip0.host write offset=0x1 value=0x1\n")
        for words, message in (
            ((kernel, "--in", x, "--out", out), r"tiles\.py:31:12: a tile has at most 128 partitions"),
            ((kernel, "--out", self.folder / "p.pdf"), r"expected a folder, or a file that ends in \.html"),
            (("--out", out), "give one of FILE.py:FUNCTION"),
            ((kernel, "--events", self.folder / "text", "--out", out), "give one of"),
            (("--events", self.folder / "gone", "--out", out), "gone: No such file"),
            (("--events", self.folder / "text", "--out", out), "text:1: expected TIME MODULE EVENT"),
            (("--events", self.folder / "broken", "--out", out), "broken:1: pc: invalid literal"),
            (("--events", self.folder / "none", "--out", out), "no engine of a NeuronCore was started"),
            (("--recorded", self.folder / "nowhere", "--out", out), "no platform answers at"),
            (
                (kernel, "--connect", self.folder / "nowhere", "--in", self.array("y", random(8, 8)).replace("y=", "x="), "--out", out),
                "no platform answers at",
            ),
        ):
            with self.subTest(message=message):
                done = self.command(BUILD / "trn-nki", "profile", *words, status=2)
                self.assertRegex(done.stderr, message)
                self.assertFalse(out.exists())
        for words, message in ((("profile", "stop"), "--out"), (("--board", "trn2-chip", "profile", "start"), "running platform")):
            self.assertIn(message, self.command(BUILD / "trnctl", *words, status=2).stderr)

    def test_changed_records_give_a_profile_or_a_message(self):
        """Lines that are cut, repeated, exchanged or have changed words: only exceptions that the
        command reports."""
        x = self.array("x", random(128, 64))
        self.command(
            BUILD / "trn-nki",
            "run",
            f"{KERNELS}/tiles.py:softmax",
            "--board",
            "trn2-chip",
            "--in",
            x,
            "--trace",
            self.folder / "events.txt",
        )
        whole = [
            line
            for line in (self.folder / "events.txt").read_text().splitlines(keepends=True)
            if re.search(r" chip0\.(nc0|udma0|hbm)\S* ", line)
        ]
        chance, outcomes = numpy.random.default_rng(11), collections.Counter()
        words = (
            "",
            "0",
            "-1",
            "18446744073709551615",
            "99999999999999999999999",
            '"',
            "x",
            "started",
            "chip0.nc9.vector",
            '""',
            "for=7",
            "op=7",
        )
        for _ in range(150):
            lines = list(whole)
            for _ in range(chance.integers(1, 30)):
                at = int(chance.integers(len(lines)))
                kind = chance.integers(4)
                if kind == 0:
                    lines[at] = lines[at][: int(chance.integers(len(lines[at]) + 1))]
                elif kind == 1:
                    lines[at] = lines[int(chance.integers(len(lines)))]
                elif kind == 2:
                    parts = re.split("([ =])", lines[at])
                    parts[int(chance.integers(len(parts)))] = words[int(chance.integers(len(words)))]
                    lines[at] = "".join(parts)
                else:
                    lines = lines[: at + 1]
            try:
                profile = collect(read_events(lines))
            except ERRORS as error:
                outcomes[type(error).__name__] += 1
                continue
            html_of(profile), perfetto_bytes(profile), tables_of(profile)
            outcomes["profile"] += 1
        self.assertGreater(outcomes["profile"], 10, outcomes)
        self.assertGreater(outcomes["EventError"], 10, outcomes)

    def test_words_of_an_event_that_are_no_fields_are_ignored(self):
        for more in ("", ' source="k.py:1"'):
            (event,) = read_events([f"7 chip0.nc0.vector add pc for op=3 odd{more}\n"])
            self.assertEqual((event.operation, event.duration), (3, None))

    def test_sets_of_times_agree_with_sets_of_numbers(self):
        chance = numpy.random.default_rng(3)
        for _ in range(300):
            one, other = (
                [(int(begin), int(begin + size)) for begin, size in zip(chance.integers(0, 40, 6), chance.integers(0, 9, 6))]
                for _ in range(2)
            )
            numbers, removed = ({at for begin, end in some for at in range(begin, end)} for some in (one, other))
            joined = intervals.union(one)
            self.assertEqual({at for begin, end in joined for at in range(begin, end)}, numbers)
            self.assertTrue(all(a[1] < b[0] for a, b in zip(joined, joined[1:])))
            left = intervals.without(joined, intervals.union(other))
            self.assertEqual({at for begin, end in left for at in range(begin, end)}, numbers - removed)
            self.assertEqual(intervals.length(intervals.clipped(joined, 10, 30)), len(numbers & set(range(10, 30))))
            spans = [(begin, end, 1.0 * (end - begin)) for begin, end in one if end > begin]
            parts = intervals.sampled(spans, 0, 50, 10)
            expected = [sum(begin <= at < end for begin, end in one for at in range(5 * part, 5 * part + 5)) for part in range(10)]
            numpy.testing.assert_allclose(parts, expected, atol=1e-9)

    def test_programs_that_fail_are_profiled_up_to_there(self):
        done = self.command(
            BUILD / "trnctl",
            "--board",
            "trn3-chip",
            "--trace",
            self.folder / "events.txt",
            "program",
            "run",
            ROOT / "scenarios/programs/bad_operand.trn",
            status=1,
        )
        self.assertIn("BAD_OPERAND", done.stderr)
        self.command(BUILD / "trn-nki", "profile", "--events", self.folder / "events.txt", "--out", self.folder / "out")
        (error,) = json.loads((self.folder / "out/profile.json").read_text())["Error"]
        self.assertEqual((error["description"], error["trn_engine"]), ("BAD_OPERAND", "vector"))
        self.assertIn("BAD_OPERAND", self.browse(self.folder / "out/profile.html"))
        tables = self.profile(
            "tiles.py:many_tiles",
            "--board",
            "trn2-chip",
            "--in",
            self.array("x", random(128, 512)),
            "--arg",
            "count=40",
            "--limit",
            "4000",
            status=1,
        )
        self.assertRegex(tables["Warning"][-1]["message"], "did not run to its end.*timed out")
        self.assertTrue(tables["Instruction"])

    def test_an_execution_that_does_not_end_says_so(self):
        events = [
            "1000 chip0.nc0.sync started pc=0 generation=4 clock_hz=1200000000\n",
            '1000 chip0.nc0.sync wait reason="S[4] >= 1" pc=0\n',
            '901000 chip0.nc0 semaphore index=5 value=1 by="host"\n',
        ]
        profile = collect(read_events(events))
        self.assertEqual(profile.duration, 900_000)
        page = html_of(profile)
        self.assertIn("did not end in the record", page)
        self.assertIn("did not end</td>", page)  # the wait is listed among the longest


if __name__ == "__main__":
    unittest.main()
