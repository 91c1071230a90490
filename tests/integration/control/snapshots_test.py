# SPDX-License-Identifier: Apache-2.0
"""Named states of a running platform: `snapshot`, `restore`, `snapshots` on the control socket."""
import contextlib
import json
import os
import pathlib
import resource
import signal
import socket
import struct
import subprocess
import tempfile
import time
import unittest

import trnvp_control
from running_platform import WALL_LIMIT, platform

SPACE = "hbm0.in"
DISK_BOARD = """board: one-disk
description: a server with one disk
modules:
  host: {{type: root_complex, ports: 1, link_generation: 4, processor: xeon, cores: 1, memory: 1 GiB}}
  disk: {{type: disks/instance_store, capacity: 1 GiB, image: {image}, link_width: 8}}
bind:
  - host.port[0] <-> disk.link
"""


def processes(group):
    """Processes of a process group, except zombies."""
    found = []
    for pid in filter(str.isdigit, os.listdir("/proc")):
        try:
            with open(f"/proc/{pid}/stat", encoding="ascii") as f:
                fields = f.read().rpartition(")")[2].split()
        except (FileNotFoundError, ProcessLookupError):
            continue
        if int(fields[2]) == group and fields[0] != "Z":
            found.append(int(pid))
    return found


def wait_until(condition):
    end = time.monotonic() + WALL_LIMIT
    while not condition():
        if time.monotonic() > end:
            return False
        time.sleep(0.01)
    return True


class SnapshotsTest(unittest.TestCase):
    def test_restore_resets_memory_time_and_run_state_for_every_client(self):
        with platform("--paused") as running, running.connect() as p, running.connect() as other:
            p.run(condition="ready")
            p.poke(SPACE, 0x1000, b"before")
            taken = p.snapshot(name="booted")
            self.assertEqual(taken["time_ps"], p.status()["time_ps"])
            self.assertEqual(p.snapshots(), [taken])
            other.subscribe("state")
            for round in range(3):
                p.poke(SPACE, 0x1000, b"after!")
                p.run(**{"for": "300 us"})
                self.assertEqual(other.peek(SPACE, 0x1000, 6), b"after!")
                list(other.events())
                self.assertEqual(p.restore(name="booted"), taken)
                state = p.status()
                self.assertEqual(state["time_ps"], taken["time_ps"])
                self.assertTrue(state["paused"])
                self.assertEqual(state["why"], "trnvp_control.py restored 'booted'")
                self.assertEqual(state["attached"], 2)
                self.assertEqual(other.peek(SPACE, 0x1000, 6), b"before")
                reported = [e for topic, e in other.events(timeout=1) if topic == "state"]
                self.assertEqual([e["time_ps"] for e in reported], [taken["time_ps"]], round)
            # A later state can be restored from an earlier one.
            p.run(**{"for": "1 ms"})
            p.snapshot(name="later")
            p.restore(name="booted")
            p.restore(name="later")
            self.assertEqual(p.status()["time_ps"], taken["time_ps"] + 10**9)
            self.assertEqual([s["name"] for s in p.snapshots()], ["booted", "later"])
            p.quit()
            self.assertEqual(running.wait(), 0)
            self.assertFalse(os.path.exists(os.path.join(running.folder, "control.sock")))

    def test_restore_ends_waits_and_the_restored_state_answers_queued_requests(self):
        with platform("--paused") as running, running.connect() as p, running.connect() as waiter:
            p.run(condition="ready")
            start = p.snapshot(name="a")["time_ps"]
            p.deposit(SPACE, 0, b"x")
            waiter._send(b'{"jsonrpc":"2.0","id":77,"method":"wait","params":{"for":"1000 s"}}\n{"jsonrpc":"2.0",')
            self.assertFalse(p.status()["time_ps"] - start)
            # All in one packet; the first response is larger than the socket buffer.
            requests = [
                ("peek", {"space": SPACE, "address": 0, "size": 1 << 20}),
                ("restore", {"name": "a"}),
                ("peek", {"space": SPACE, "address": 0, "size": 1}),
                ("restore", {"name": "b"}),
                ("status", {}),
            ]
            p._send(
                b"".join(
                    json.dumps({"jsonrpc": "2.0", "id": 100 + n, "method": m, "params": q}).encode() + b"\n"
                    for n, (m, q) in enumerate(requests)
                )
            )
            time.sleep(0.3)
            answers = [p._receive(time.monotonic() + WALL_LIMIT) for _ in requests]
            self.assertEqual([a["id"] for a in answers], [100, 101, 102, 103, 104])
            self.assertEqual(answers[0]["result"]["data"], "78" + "00" * ((1 << 20) - 1))
            self.assertEqual(answers[1]["result"]["time_ps"], start)
            self.assertEqual(answers[2]["result"]["data"], "00")
            self.assertEqual(answers[3]["error"]["message"], "there is no snapshot 'b'  (known: a)")
            self.assertEqual(answers[4]["result"]["time_ps"], start)
            ended = waiter._receive(time.monotonic() + WALL_LIMIT)
            self.assertEqual(
                (ended["id"], ended["result"]["reason"], ended["result"]["text"]), (77, "restored", "trnvp_control.py restored 'a'")
            )
            waiter._send(b'"id":78,"method":"status"}\n')
            self.assertEqual(waiter._receive(time.monotonic() + WALL_LIMIT)["id"], 78)

    def test_restored_run_repeats_the_first_one_byte_for_byte(self):
        with tempfile.TemporaryDirectory(prefix="trnvp_") as folder:
            trace = os.path.join(folder, "trace")
            with platform("--paused", "--trace", trace, board="trn3-chip") as running, running.connect() as p:
                p.run(until="500 us")
                p.snapshot(name="early")
                for _ in range(2):
                    p.run(condition="ready")
                    p.run(**{"for": "1 ms"})
                    counters = p.statistics()
                    p.restore(name="early")
                p.run(condition="ready")
                p.run(**{"for": "1 ms"})
                self.assertEqual(p.statistics(), counters)
                p.quit()
                self.assertEqual(running.wait(), 0)
            with open(trace, encoding="utf-8") as f:
                parts, first = [[]], f.read().splitlines()
            for line in first:
                parts.append([]) if " restored " in line else parts[-1].append(line)
            self.assertEqual(len(parts), 3)
            kept = next(n for n, line in enumerate(parts[0]) if line.split()[0].isdigit() and int(line.split()[0]) > 5 * 10**8)
            self.assertGreater(len(parts[1]), 5)
            self.assertEqual(parts[0][kept:], parts[1])
            self.assertEqual(parts[1], parts[2])

    def test_recording_of_events_continues_over_restores(self):
        with platform("--paused", board="trn3-chip") as running, running.connect() as p:
            p.run(until="100 us")
            p.snapshot(name="before")  # no recording yet
            p.trace(command="start")
            p.run(**{"for": "3 ms"})
            p.snapshot(name="during")
            first = p.trace(command="read", offset=0)["text"]
            self.assertGreater(first.count("\n"), 1)
            p.restore(name="before")
            self.assertTrue(p.trace(command="status")["recording"])
            p.run(**{"for": "3 ms"})
            text = p.trace(command="read", offset=0)["text"]
            self.assertEqual(text[: len(first)], first)
            again = text[len(first) :].splitlines()
            self.assertIn(' restored snapshot="before"', again[0])
            self.assertEqual([line.split(" op=")[0] for line in again[1:]], [line.split(" op=")[0] for line in first.splitlines()])
            p.trace(command="stop")
            p.restore(name="during")  # it recorded
            self.assertFalse(p.trace(command="status")["recording"])
            p.run(**{"for": "3 ms"})
            self.assertEqual(p.trace(command="read", offset=0)["text"], text)
            p.trace(command="start")  # another file
            p.restore(name="during")
            p.run(**{"for": "10 us"})
            self.assertTrue(p.trace(command="read", offset=0)["text"].splitlines()[0].split()[2] == "restored")

    def test_console_clients_stay_connected_and_receive_repeated_output(self):
        uart = "mgmt.uart"
        with platform("--uart", "socket", "--paused") as running, running.connect() as p:
            p.snapshot(name="reset")
            with socket.socket(socket.AF_UNIX) as console:
                console.settimeout(WALL_LIMIT)
                console.connect(os.path.join(running.folder, uart + ".uart"))
                seen = []
                for _ in range(2):
                    p.run(condition="ready")
                    printed = p.console(module=uart)["text"]
                    text = b""
                    while len(text) < len(printed):
                        text += console.recv(4096)
                    seen.append(text.decode())
                    self.assertEqual(seen[-1], printed)
                    p.restore(name="reset")
                    self.assertEqual(p.console(module=uart)["printed"], 0)
                self.assertEqual(seen[0], seen[1])
                self.assertIn("boot ROM", seen[0])

    def test_invalid_snapshot_requests_are_refused_with_a_message(self):
        with platform("--paused", board="trn3-chip") as running, running.connect() as p:
            self.refused(p, "there is no snapshot 'a': none was kept", p.restore, name="a")
            self.refused(p, "must be 1 to 64 characters", p.snapshot, name="")
            self.refused(p, "must be 1 to 64 characters", p.snapshot, name="x" * 65)
            self.refused(p, "has no parameter 'nam'", p.snapshot, nam="x")
            p.snapshot(name="a")
            with socket.socket(socket.AF_UNIX) as host:
                host.connect(os.path.join(running.folder, "chip0.sock"))
                host.sendall(struct.pack("<HHIIIHH", 1, 1, 23, 0, 0, 0, 1) + b"{}\0")  # VERSION
                self.assertTrue(wait_until(lambda: p.status()["attached"] == 2))
                for call in (p.snapshot, p.restore):
                    self.refused(p, "a host is attached to chip0: its driver and memory cannot be restored", call, name="a")
            self.assertTrue(wait_until(lambda: p.status()["attached"] == 1))
            p.restore(name="a")
            p.misuse(policy="fail")
            with self.assertRaises(trnvp_control.ControlError):
                # No register at this address.
                p.bus_read(space="chip0.management.uart.in", address=0xFF0)
            self.refused(p, "a misuse rule with policy 'fail' was broken", p.restore, name="a")
            p.misuse(clear=True)
            p.restore(name="a")
        with platform("--paused", "--set", "shared_hbm=true", board="trn3-chip") as running, running.connect() as p:
            self.refused(p, "memory that other processes can map cannot be restored", p.snapshot, name="a")
        with tempfile.TemporaryDirectory(prefix="trnvp_") as folder:
            image = os.path.join(folder, "image")
            board = pathlib.Path(folder, "board.yaml")
            board.write_text(DISK_BOARD.format(image=image), encoding="utf-8")
            with platform("--paused", board=str(board)) as running, running.connect() as p:
                self.refused(p, f"a disk has an image file, {image}, which would keep what was written", p.snapshot, name="a")
            with platform("--paused", "--record", os.path.join(folder, "r"), board="trn3-chip") as running, running.connect() as p:
                self.refused(p, "this session is recorded (--record)", p.snapshot, name="a")

    def test_scenario_with_a_disk_in_a_file_takes_snapshots(self):
        with tempfile.TemporaryDirectory(prefix="trnvp_") as folder:
            image, scenario = os.path.join(folder, "image"), pathlib.Path(folder, "disk.yaml")
            scenario.write_text(
                f"scenario: disk\nboard: trn1-2xl\nset: {{image: {image}}}\nsteps:\n  - snapshot: a\n" "  - wait: 1 us\n  - restore: a\n",
                encoding="utf-8",
            )
            done = subprocess.run(
                [os.environ["TRNVP"], "test", str(scenario)],
                stdout=subprocess.PIPE,
                stderr=subprocess.STDOUT,
                text=True,
                timeout=WALL_LIMIT,
                check=False,
            )
            self.assertEqual(done.returncode, 0, done.stdout)
            self.assertFalse(os.path.exists(image))

    def refused(self, p, text, call, **parameters):
        with self.assertRaises(trnvp_control.ControlError) as wrong:
            call(**parameters)
        self.assertIn(text, str(wrong.exception))
        self.assertIn("time_ps", p.status())

    def test_lack_of_descriptors_is_an_error_and_the_platform_keeps_its_state(self):
        with platform("--paused") as running, contextlib.ExitStack() as others, running.connect() as p:
            p.deposit(SPACE, 0x1000, b"before")
            start = p.snapshot(name="a")
            p.deposit(SPACE, 0x1000, b"after!")
            first = running.process.pid
            (acting,) = (int(pid) for pid in pathlib.Path(f"/proc/{first}/task/{first}/children").read_text().split())
            for _ in range(12):
                others.enter_context(running.connect())
            for process, call, text in (
                (first, p.restore, "not restored: cannot copy the process: Too many open files"),
                (acting, p.restore, "not restored: socketpair: Too many open files"),
                (acting, p.snapshot, "no snapshot: socketpair: Too many open files"),
            ):
                limit = resource.prlimit(process, resource.RLIMIT_NOFILE)
                highest = max(int(fd) for fd in os.listdir(f"/proc/{process}/fd"))
                unused = 5 if process == first else 0
                resource.prlimit(process, resource.RLIMIT_NOFILE, (highest + 1 + unused, limit[1]))
                for _ in range(2):
                    self.refused(p, text, call, name="a")
                    self.assertEqual(p.peek(SPACE, 0x1000, 6), b"after!")
                    self.assertEqual(p.snapshots(), [start])
                resource.prlimit(process, resource.RLIMIT_NOFILE, limit)
            p.restore(name="a")
            self.assertEqual(p.peek(SPACE, 0x1000, 6), b"before")
            p.quit()
            self.assertEqual(running.wait(), 0)

    def test_supervisor_that_ignores_its_children_gets_the_status(self):
        with platform("--paused", ignored=signal.SIGCHLD) as running, running.connect() as p:
            p.snapshot(name="a")
            p.restore(name="a")
            p.quit()
            self.assertEqual(running.wait(), 0)

    def test_disconnected_client_sees_the_close_despite_a_snapshot(self):
        with platform("--paused") as running, running.connect() as p:
            p.snapshot(name="a")
            with socket.socket(socket.AF_UNIX) as rude:
                rude.settimeout(WALL_LIMIT)
                rude.connect(os.path.join(running.folder, "control.sock"))
                self.assertTrue(wait_until(lambda: p.status()["attached"] == 2))
                p.snapshot(name="b")
                rude.sendall(b"GET / HTTP/1.1\n")
                text = b""
                while piece := rude.recv(4096):
                    text += piece
                self.assertIn(b"call hello first", text)

    def test_exit_ends_all_processes_and_removes_all_files(self):
        for ends in ("quit", "terminate", "interrupt", "kill the first", "kill the acting"):
            with self.subTest(ends), tempfile.TemporaryDirectory(prefix="trnvp_") as folder:
                command = [os.environ["TRNVP"], "run", "trn3-chip", "--listen", folder, "--paused", "--gdb", folder + "/gdb"]
                process = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, start_new_session=True)
                try:
                    self.assertTrue(wait_until(lambda: os.path.exists(folder + "/gdb")))
                    with trnvp_control.connect(folder) as p:
                        for name in ("a", "b", "c"):
                            p.snapshot(name=name)
                        p.restore(name="b")
                        p.snapshot(name="a")
                        earlier = processes(process.pid)
                        self.assertGreater(len(earlier), 3)
                        p.restore(name="c")
                        if ends == "quit":
                            p.quit()
                        elif ends == "terminate":
                            process.terminate()
                        elif ends == "interrupt":
                            os.killpg(process.pid, signal.SIGINT)
                        elif ends == "kill the first":
                            process.kill()
                        else:
                            p.status()  # the response to restore() can come before the acting process exists
                            (acting,) = set(processes(process.pid)) - set(earlier)
                            os.kill(acting, signal.SIGKILL)
                    status = process.wait(WALL_LIMIT)
                    self.assertEqual(status, -9 if "kill" in ends else 0)
                    self.assertTrue(wait_until(lambda: not processes(process.pid)), processes(process.pid))
                    if "kill" not in ends:
                        self.assertEqual(os.listdir(folder), [])
                finally:
                    process.kill()
                    process.wait()

    def test_trnctl_takes_lists_and_restores_snapshots(self):
        with platform("--paused", board="trn3-chip") as running, running.connect() as p:
            p.run(until="2 ms")
            self.assertEqual(self.ctl(running, "snapshot", "two ms"), (0, "two ms               2 ms\n"))
            p.run(until="3 ms")
            self.assertEqual(self.ctl(running, "snapshots"), (0, "two ms               2 ms\n"))
            self.assertEqual(self.ctl(running, "restore", "two ms")[0], 0)
            self.assertEqual(p.status()["time_ps"], 2 * 10**9)
            self.assertEqual(self.ctl(running, "restore", "x"), (2, "trnctl: there is no snapshot 'x'  (known: two ms)\n"))

    def ctl(self, running, *words):
        done = subprocess.run(
            [os.environ["TRNCTL"], "--connect", running.folder, *words],
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            timeout=WALL_LIMIT,
            check=False,
        )
        return done.returncode, done.stdout


if __name__ == "__main__":
    unittest.main(verbosity=2)
