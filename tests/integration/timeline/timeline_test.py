# SPDX-License-Identifier: Apache-2.0
"""A timeline of a scenario, read by an independent parser: arrows lead from the host's submission
through hardware and firmware to the completion observed by the host."""
import os
import re
import subprocess
import tempfile
import unittest

from perfetto import Timeline, packets

FABRIC_CHIP1 = 1 << 63 | 1 << 51  # fabric address of chip 1 of the sled: doc/decisions/0009-the-fabric.md
SCENARIO = f"""
scenario: timeline
board: trn3-sled
steps:
  - boot: {{within: 1 s}}
  - fill: {{at: hbm0@64 MiB, size: 256 KiB, pattern: data}}
  - copy: {{from: hbm0@64 MiB, to: axi@{FABRIC_CHIP1 + (64 << 20):#x}, size: 256 KiB, verify: false}}
  - mailbox: {{get_data: 2}}
  - collective: {{op: all_gather, size: 64 KiB}}
"""
HOST = "chip0: host"


def run(folder: str, scenario: str, trace: str, *options: str) -> subprocess.CompletedProcess:
    file = os.path.join(folder, "scenario.yaml")
    with open(file, "w", encoding="utf-8") as out:
        out.write(scenario)
    return subprocess.run(
        [os.environ["TRNVP"], "test", file, "--trace", os.path.join(folder, trace), *options],
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        timeout=240,
        check=False,
    )


def content(folder: str, trace: str) -> bytes:
    with open(os.path.join(folder, trace), "rb") as file:
        return file.read()


class TimelineTest(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.folder = tempfile.TemporaryDirectory(prefix="trnvp_timeline_")
        cls.addClassCleanup(cls.folder.cleanup)
        done = run(cls.folder.name, SCENARIO, "a.perfetto-trace")
        assert done.returncode == 0, done.stdout
        cls.bytes = content(cls.folder.name, "a.perfetto-trace")
        cls.timeline = Timeline(cls.bytes)
        cls.chains = cls.timeline.flows()

    def chain_of(self, name):
        """Events of the last operation that the host started under this name."""
        return [chain for chain in self.chains.values() if (chain[0].place, chain[0].name) == (HOST, name)][-1]

    def expect_stages(self, chain, *stages):
        """Checks that each stage, "place event", occurs, and that first occurrences are in the
        given order."""
        said = [f"{event.place} {event.name}" for event in chain]
        at = []
        for stage in stages:
            found = [n for n, text in enumerate(said) if re.fullmatch(stage, text)]
            self.assertTrue(found, f"no '{stage}' in\n" + "\n".join(said))
            at.append(found[0])
        self.assertEqual(at, sorted(at), "\n".join(said))
        times = [event.time for event in chain]
        self.assertEqual(times, sorted(times))

    def test_copy_is_linked_from_the_driver_through_the_links_to_the_other_chip_and_back(self):
        chain = self.chain_of("copy")
        self.expect_stages(
            chain,
            f"{HOST} copy",
            f"{HOST} write",
            r"chip0: h2t0\.engine128 doorbell",
            r"chip0: h2t0\.engine128 descriptors",
            r"chip0: h2t0\.engine128 copy",
            "chip0: hbm0 read",
            r"board: wire0\.a_to_b write",
            r"board: wire1\.b_to_a write",
            "chip1: hbm0 write",
            r"chip0: h2t0\.engine128 completed",
            r"chip0: pcie\.to_host write",
            f"{HOST} complete",
        )
        self.assertEqual(chain[-1].name, "complete")
        moved = [e for e in chain if e.place == "chip1: hbm0"]
        self.assertEqual(sum(e.values["bytes"] for e in moved), 256 << 10)
        self.assertEqual(chain[0].duration, chain[-1].time - chain[0].time)

    def test_mailbox_request_is_linked_to_the_firmware_function_that_serves_it(self):
        self.expect_stages(
            self.chain_of("mailbox"),
            f"{HOST} mailbox",
            f"{HOST} write",
            r"chip0: management\.misc_ram trigger",
            r"chip0: management\.cpu serves",
            r"chip0: management\.cpu mailbox_serve\(\)",
            f"{HOST} complete",
        )

    def test_collective_is_one_operation_across_all_chips(self):
        chain = self.chain_of("all-gather")
        self.expect_stages(
            chain,
            f"{HOST} all-gather",
            r"chip0: top_sp0 doorbell",
            r"chip0: top_sp0\.hart serves",
            r"chip0: top_sp0\.hart stream_continue\(\)",
            r"chip\d: udma\d\.engine\d+ doorbell",
            r"chip\d: udma\d\.engine\d+ copy",
            r"chip\d: hbm0 write",
            f"{HOST} complete",
        )
        places = {e.place for e in chain}
        for chip in range(4):
            for part in ("host", "top_sp0.hart", "hbm0"):
                self.assertIn(f"chip{chip}: {part}", places)
            self.assertTrue([e for e in chain if (e.place, e.name) == (f"chip{chip}: top_sp0", "semaphore")])
        self.assertTrue([place for place in places if place.startswith("board: wire")])

    def test_every_operation_has_a_unique_number_and_one_start(self):
        begins = {}
        for number, chain in self.chains.items():
            begins.setdefault((chain[0].place, chain[0].time, chain[0].name), []).append(number)
            self.assertTrue(all(e.values["operation"] == number and e.flows == [number] for e in chain))
        self.assertEqual([numbers for numbers in begins.values() if len(numbers) != 1], [])
        self.assertEqual(sorted(self.chains), list(range(1, len(self.chains) + 1)))

    def test_chips_are_processes_and_all_slices_are_closed(self):
        self.assertEqual(sorted(self.timeline.processes.values()), ["board", "chip0", "chip1", "chip2", "chip3"])
        self.assertEqual(self.timeline.open, [])
        self.assertEqual([e.place for e in self.timeline.events if "chip" in e.track], [])

    def test_packets_between_cards_belong_to_the_posted_request(self):
        board = os.path.abspath("tests/integration/efa/two_servers.yaml")
        scenario = f"""
scenario: cards
board: {board}
steps:
  - efa: {{from: server0.nic, to: server1.nic, operation: write, size: 64 KiB}}
  - efa: {{from: server0.nic, to: server1.nic, operation: read, size: 64 KiB}}
"""
        done = run(self.folder.name, scenario, "cards.perfetto-trace")
        self.assertEqual(done.returncode, 0, done.stdout)
        timeline = Timeline(content(self.folder.name, "cards.perfetto-trace"))
        for operation, data in (("write", "from"), ("read", "to")):
            chain = next(
                c
                for c in timeline.flows().values()
                if [e for e in c if e.place.endswith("server0.nic.engine.sender") and e.name == f"rdma_{operation}"]
            )
            self.expect_stages(
                chain,
                r"board: server0\.nic\.engine\.sender doorbell",
                rf"board: server0\.nic\.engine\.sender rdma_{operation}",
                "board: ethernet packet",
                r"board: server0\.nic\.engine\.sender completed",
            )
            packets = [e for e in chain if e.name == "packet"]
            carried = sum(e.values["bytes"] - 90 for e in packets)  # 90: headers
            self.assertEqual(carried, 64 << 10)
            sizes = {e.values[data] for e in packets if e.values["bytes"] > 90}
            self.assertEqual(len(sizes), 1)
        self.assertEqual(timeline.open, [])

    def test_engines_have_tracks_and_arrows_lead_from_the_poster_of_a_semaphore_to_its_waiter(self):
        program = os.path.abspath("scenarios/programs/add.trn")
        scenario = f"""
scenario: engines
board: trn3-chip
steps:
  - boot: {{within: 1 s}}
  - program: {{file: {program}, in: {{x: 0.75}}, check: {{y: 1.5}}}}
"""
        traces = []
        for trace in ("engines.perfetto-trace", "again.perfetto-trace"):
            done = run(self.folder.name, scenario, trace)
            self.assertEqual(done.returncode, 0, done.stdout)
            traces.append(content(self.folder.name, trace))
        self.assertEqual(*traces)
        timeline = Timeline(traces[0])
        self.assertEqual(timeline.open, [])
        vector, sync = "chip0: nc0.vector", "chip0: nc0.sync"
        add = [e for e in timeline.events if (e.place, e.name) == (vector, "tensor_tensor")]
        self.assertEqual(len(add), 1)
        # 128 x 512 FP32, both sources in SBUF: 1,024 cycles of 1.2 GHz.
        self.assertEqual((add[0].values["mode"], add[0].values["cycles"], add[0].values["flops"]), ("1x", 1024, 65536))
        self.assertAlmostEqual(add[0].duration, 853, delta=1)
        self.assertIn("dst=sbuf[0:128, 4096] fp32 [512:1]", add[0].values["text"])
        waits = {e.name: e for e in timeline.events if e.name.startswith("wait S[")}
        self.assertEqual(set(waits), {"wait S[4] >= 16", "wait S[8] >= 1", "wait S[24] >= 16"})
        # DMA increments S[4] for Vector; the arrow starts at the doorbells rung by Sync.
        chains = timeline.flows().values()
        to_vector = next(c for c in chains if [e for e in c if (e.place, e.name) == (vector, "met")])
        self.expect_stages(to_vector, f"{sync} dma_start", r"chip0: udma\d\.engine\d+ doorbell", "chip0: nc0 semaphore", f"{vector} met")
        # Vector increments S[8] for Sync when its instruction is complete: 1,134 cycles after the
        # start.
        to_sync = next(c for c in chains if (c[0].place, c[0].name) == (vector, "tensor_tensor"))
        self.expect_stages(to_sync, f"{vector} tensor_tensor", "chip0: nc0 semaphore", f"{sync} met")
        self.assertAlmostEqual(to_sync[1].time - to_sync[0].time, 945, delta=1)

    def test_same_run_writes_the_same_bytes(self):
        self.assertEqual(run(self.folder.name, SCENARIO, "b.perfetto-trace").returncode, 0)
        self.assertEqual(content(self.folder.name, "b.perfetto-trace"), self.bytes)

    def test_text_trace_has_the_same_events_except_functions(self):
        self.assertEqual(run(self.folder.name, SCENARIO, "text.trace").returncode, 0)
        lines = content(self.folder.name, "text.trace").decode("utf-8").splitlines()
        numbers = [int(n) for n in re.findall(r" op=(\d+)$", "\n".join(lines), re.M)]

        def shared(events):
            return [e for e in events if not e.name.endswith("()")]

        self.assertEqual(len(lines), len(shared(self.timeline.events)))
        self.assertEqual({n: numbers.count(n) for n in set(numbers)}, {n: len(shared(c)) for n, c in self.chains.items()})

    def test_truncated_file_is_readable_up_to_its_end(self):
        whole = [packet.SerializeToString() for packet in packets(self.bytes)]
        for cut in (1, 2, len(self.bytes) // 3, len(self.bytes) // 2, len(self.bytes) - 1):
            left = [packet.SerializeToString() for packet in packets(self.bytes[:cut])]
            self.assertLess(len(left), len(whole))
            self.assertEqual(left, whole[: len(left)])

    def test_full_disk_fails_the_run_and_is_reported(self):
        os.symlink("/dev/full", os.path.join(self.folder.name, "full.perfetto-trace"))
        done = run(self.folder.name, SCENARIO, "full.perfetto-trace")
        self.assertEqual(done.returncode, 1)
        self.assertRegex(done.stdout, r"full\.perfetto-trace ends before .*: No space left on device")

    def test_restored_state_continues_in_separate_tracks(self):
        scenario = (
            SCENARIO[: SCENARIO.index("  - mailbox")]
            + """
  - snapshot: here
  - copy: {from: hbm0@64 MiB, to: hbm1@64 MiB, size: 64 KiB}
  - restore: here
  - copy: {from: hbm0@64 MiB, to: hbm1@64 MiB, size: 64 KiB}
"""
        )
        # After a restore the next step runs.
        done = run(self.folder.name, scenario, "restored.perfetto-trace")
        self.assertEqual(done.returncode, 0, done.stdout)
        timeline = Timeline(content(self.folder.name, "restored.perfetto-trace"))
        self.assertIn("chip0, restored 1", timeline.processes.values())
        begun = [chain[0] for chain in timeline.flows().values() if chain[0].name == "copy"]
        self.assertEqual([e.place for e in begun[-2:]], [HOST, "chip0, restored 1: host"])
        self.assertEqual(begun[-1].time, begun[-2].time)


if __name__ == "__main__":
    unittest.main(verbosity=2)
