#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""A host that is killed in the middle of a copy: `dies_in_mid_copy.py FROM TO SIZE SPACE FIRST LAST`.

trnctl copies, and simulated time moves as this program lets it, so that the copy cannot be over before its state is read. Once the byte
at FIRST of the address space SPACE has changed, trnctl is killed; the byte at LAST must not have changed by then. Ends when the
platform has let the host go.
"""
import os
import pathlib
import subprocess
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[2] / "sw-stubs/python"))
import trnvp_control  # noqa: E402

source, destination, size, space, first, last = sys.argv[1:]
sockets = os.environ["TRNVP_SOCKETS"]

with trnvp_control.connect(sockets) as platform:

    def bytes_now() -> list[bytes]:
        return [platform.peek(space, int(address, 0), 1) for address in (first, last)]

    before = now = bytes_now()
    platform.pause()
    host = subprocess.Popen(["trnctl", "--connect", sockets, "copy", source, destination, size])
    while platform.status()["attached"] == 1 and host.poll() is None:  # this program only
        pass
    while now[0] == before[0] and host.poll() is None:
        platform.run(**{"for": "500 us"})
        now = bytes_now()
    host.kill()
    host.wait()
    while platform.status()["attached"] > 1:
        pass
    if now[0] == before[0] or now[1] != before[1]:
        sys.exit("not in the middle of the copy")
    print("killed in the middle of the copy")
