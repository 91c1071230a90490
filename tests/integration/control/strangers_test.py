# SPDX-License-Identifier: Apache-2.0
"""Hostile clients: no data and no silence on a socket of the platform ends or blocks the run."""
import os
import re
import signal
import socket
import subprocess
import tempfile
import time
import unittest

import trnvp_control
from running_platform import BOARD, WALL_LIMIT

DEEP = b"[" * 100_000 + b"]" * 100_000
HELLO = b'{"jsonrpc":"2.0","id":0,"method":"hello","params":{"protocol":1%s}}\n'
TOKEN = "0123456789abcdef"


def exchange(address, data):
    """The bytes received until the peer closes the connection, or up to the first complete line."""
    with socket.socket(socket.AF_UNIX if isinstance(address, str) else socket.AF_INET) as link:
        link.settimeout(WALL_LIMIT)
        link.connect(address)
        answer = b""
        try:
            link.sendall(data)
            while not answer.endswith(b"\n") and (piece := link.recv(65536)):
                answer += piece
        except (BrokenPipeError, ConnectionResetError):
            pass
        return answer


class StrangersTest(unittest.TestCase):
    def start(self, *options):
        command = [os.environ["TRNVP"], "run", BOARD, "--listen", self.folder, "--json", *options]
        process = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
        self.addCleanup(self.end, process)
        return process

    def end(self, process):
        process.kill()
        process.communicate()

    def setUp(self):
        folder = tempfile.TemporaryDirectory(prefix="trnvp_")
        self.addCleanup(folder.cleanup)
        self.folder = folder.name

    def addresses(self, process):
        """Addresses of TCP sockets by purpose."""
        ports = re.findall(r'"address":"127.0.0.1:(\d+)","purpose":"(\w+)"', process.stdout.readline())
        return {purpose: ("127.0.0.1", int(port)) for port, purpose in ports}

    def test_nested_json_is_refused_at_every_socket(self):
        token = os.path.join(self.folder, "token")
        with open(os.open(token, os.O_CREAT | os.O_WRONLY, 0o600), "w", encoding="ascii") as f:
            f.write(TOKEN + "\n")
        run = self.start("--control-tcp", "127.0.0.1:0", "--token-file", token, "--gdb", "0")
        at = self.addresses(run)
        unix = os.path.join(self.folder, "control.sock")
        for address in (unix, at["control"]):
            for text in (DEEP, b'{"method":' + DEEP + b"}", HELLO % (b',"client":' + DEEP), b'{"a":' * 100_000):
                self.assertIn(b'"error"', exchange(address, text + b"\n"))
        with trnvp_control.connect(self.folder, timeout=WALL_LIMIT) as p:
            p._send(b'{"jsonrpc":"2.0","id":1,"method":"peek","params":{"space":%s}}\n' % DEEP)
            self.assertEqual(p._receive(None)["error"]["code"], -32700)
            self.assertIn("time_ps", p.status())

    def test_http_request_does_not_reach_the_debugger(self):
        run = self.start("--gdb", "0")
        at = self.addresses(run)["gdb"]
        page = b"POST / HTTP/1.1\r\nHost: localhost\r\nContent-Length: 5\r\n\r\n$k#6b"
        for data in (page, b"GET /$k#6b HTTP/1.1\r\n\r\n", b"\r\n$k#6b", b"k", b"$k#00", b"+x$k#6b"):
            self.assertEqual(exchange(at, data), b"", data)
        with trnvp_control.connect(self.folder, timeout=WALL_LIMIT) as p, socket.create_connection(at) as silent:
            self.assertFalse(p.status()["paused"])
            silent.sendall(b"+$qSupp")
            # The silent client does not occupy the only session.
            with socket.create_connection(at, WALL_LIMIT) as gdb:
                gdb.sendall(b"+$?#3f")
                # Both bytes, regardless of segmentation.
                self.assertEqual(gdb.makefile("rb").read(2), b"+$")
                self.assertTrue(p.status()["paused"])
                self.assertEqual(exchange(at, b"+$k#6b"), b"")  # only one session at a time

    def test_silent_clients_do_not_block_others(self):
        self.start().stdout.readline()  # once its sockets listen
        with trnvp_control.connect(self.folder, timeout=WALL_LIMIT) as p:
            silent = [
                self.open(name) for name in ["control.sock"] * 40 + ["chip0.sock"] * 40 if os.path.exists(os.path.join(self.folder, name))
            ]
            self.assertLessEqual(p.status()["attached"], 17)
            with trnvp_control.connect(self.folder, timeout=WALL_LIMIT) as another:
                self.assertIn("time_ps", another.status())
            end = time.monotonic() + WALL_LIMIT
            while p.status()["attached"] > 1 and time.monotonic() < end:
                time.sleep(0.2)
            self.assertEqual(p.status()["attached"], 1)
            for one in silent:
                one.close()

    def open(self, name):
        link = socket.socket(socket.AF_UNIX)
        link.connect(os.path.join(self.folder, name))
        return link

    def test_run_keeps_sockets_of_another_run_even_when_it_is_stopped(self):
        first = self.start()
        first.stdout.readline()
        first.send_signal(signal.SIGSTOP)
        queue = []
        for _ in range(40):  # exceeds its queue
            link = socket.socket(socket.AF_UNIX)
            link.setblocking(False)
            queue.append(link)
            if link.connect_ex(os.path.join(self.folder, "control.sock")) != 0:
                break
        second = self.start()
        self.assertEqual(second.wait(WALL_LIMIT), 2)
        self.assertIn("another process listens on this address", second.stderr.read())
        os.unlink(os.path.join(self.folder, "control.sock"))
        third = self.start()
        third.stdout.readline()
        first.send_signal(signal.SIGCONT)
        first.terminate()
        first.wait(WALL_LIMIT)
        with trnvp_control.connect(self.folder, timeout=WALL_LIMIT) as p:
            self.assertIn("time_ps", p.status())
        for link in queue:
            link.close()

    def test_folder_and_sockets_are_private_whatever_the_umask_is(self):
        new = os.path.join(self.folder, "new")
        command = [
            os.environ["TRNVP"],
            "run",
            BOARD,
            "--listen",
            f"{new}/sockets",
            "--json",
            "--uart",
            "socket",
            "--record",
            f"{new}/recording",
        ]
        process = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, umask=0)
        self.addCleanup(self.end, process)
        process.stdout.readline()  # once its sockets listen
        folders = [new, f"{new}/sockets", f"{new}/recording"]
        sockets = [entry.path for entry in os.scandir(f"{new}/sockets")]
        self.assertGreaterEqual(len(sockets), 2)
        for path in folders + sockets:
            self.assertEqual(os.lstat(path).st_mode & 0o077, 0, path)

    def test_invalid_port_is_named(self):
        for option, address in (
            ("--gdb", "70000"),
            ("--gdb", "-1"),
            ("--gdb", "127.0.0.1:65536"),
            ("--gdb", "http"),
            ("--control-tcp", "127.0.0.1:65536"),
            ("--control-tcp", "127.0.0.1:-5"),
        ):
            run = self.start(f"{option}={address}")
            self.assertEqual(run.wait(WALL_LIMIT), 2, address)
            self.assertIn("is not a TCP port (0 to 65535)", run.stderr.read())
        done = subprocess.run(
            [os.environ["TRNCTL"], "--connect", "127.0.0.1:65536", "list"], capture_output=True, text=True, timeout=WALL_LIMIT, check=False
        )
        self.assertIn("is not a TCP port", done.stderr)


if __name__ == "__main__":
    unittest.main()
