# SPDX-License-Identifier: Apache-2.0
"""GDB stops the management firmware at a mailbox request, inspects it and lets it respond."""
import os
import tempfile
import unittest

from running_gdb import gdb
from running_platform import WALL_LIMIT, platform

DATA, ACK, REQUEST, RESPONSE, TRIGGER = 0x100, 0xF0, 0x1F0, 0x1F8, 0x800  # misc RAM, contract section 4.2
GET_DATA = 4

SCRIPT = """
target remote {socket}
info threads
break execute
continue
backtrace 3
print request->header.sequence
print/x request->header.command
print request->data.bytes[0]
set var request->data.bytes[0] = 1
print response->length
info registers pc mcause
printf "mstatus %#lx\\n", $mstatus
print $priv
watch -l response->length
continue
delete
x/2i $pc
stepi
monitor status
monitor peek space=mgmt.misc_ram.in address=0x1f0
monitor nonsense
set {{unsigned int}}0x10000000 = 0x40
hbreak mailbox_serve
delete
detach
"""


def crc32c(data: bytes) -> int:
    crc = 0xFFFFFFFF
    for byte in data:
        crc ^= byte
        for _ in range(8):
            crc = crc >> 1 ^ (0x82F63B78 if crc & 1 else 0)
    return crc ^ 0xFFFFFFFF


class MailboxTest(unittest.TestCase):
    def test_gdb_stops_at_a_request_and_prints_a_local_variable(self):
        with tempfile.TemporaryDirectory(prefix="trnvp_gdb_") as folder:
            socket = os.path.join(folder, "gdb.sock")
            with platform("--gdb", socket) as running, running.connect() as p:
                self.assertEqual(p.wait(condition="ready")["reason"], "condition")
                p.subscribe("state")
                with gdb(folder, socket, SCRIPT) as debugger:
                    self.wait_for_continue(p, debugger)
                    self.request(p, sequence=7, data=b"\1")
                    output = debugger.communicate(timeout=WALL_LIMIT)[0]
                self.check(output)
                # After GDB has detached the firmware responds.
                p.wait(memory={"space": "mgmt.misc_ram.in", "address": TRIGGER, "equals": 0}, wall_limit=WALL_LIMIT)
                sequence, error = p.peek("mgmt.misc_ram.in", REQUEST, 4)[:2]
                self.assertEqual((sequence, error), (7, 0), output)
                self.assertIn("@", p.console(module="mgmt.uart")["text"], "GDB's write to the UART prints")

    def wait_for_continue(self, p, debugger):
        paused = False
        for topic, state in p.events(timeout=WALL_LIMIT):
            self.assertEqual(topic, "state")
            if paused and not state["paused"]:
                return
            paused = state["paused"]
        debugger.kill()
        self.fail("GDB did not continue:\n" + debugger.communicate()[0])

    def request(self, p, sequence, data):
        head = bytes([sequence, GET_DATA]) + (8 + len(data)).to_bytes(2, "little")
        crc = crc32c(head + bytes(4) + data)
        p.poke("mgmt.misc_ram.in", DATA, data.ljust(4, b"\0"))
        p.poke("mgmt.misc_ram.in", REQUEST, head + crc.to_bytes(4, "little"))
        p.poke("mgmt.misc_ram.in", RESPONSE, bytes(8))
        p.poke("mgmt.misc_ram.in", ACK, (1).to_bytes(4, "little"))
        p.poke("mgmt.misc_ram.in", TRIGGER, value=1)

    def check(self, output):
        for wanted in (
            "mgmt.cpu",
            "Breakpoint 1, execute",
            "#1 ",
            "serve_modern",
            "$1 = 7",
            "$2 = 0x4",
            "$3 = 1",
            "mcause",
            "mstatus 0x",
            "Hardware watchpoint 2: -location response->length",
            "New value = 4",
            "=> 0x",
            '"paused": true',
            "error: there is no method 'nonsense'",
            "Hardware assisted breakpoint",
            "detached",
        ):
            self.assertIn(wanted, output, "\n" + output)


if __name__ == "__main__":
    unittest.main(verbosity=2)
