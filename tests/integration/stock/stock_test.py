# SPDX-License-Identifier: Apache-2.0
"""Debian's OpenSBI and U-Boot on the management processor, through the command line and its UART."""
import os
import re
import socket
import subprocess
import tempfile
import unittest

from running_platform import WALL_LIMIT, platform

TRNVP = os.environ["TRNVP"]
PAYLOAD = os.path.join(os.environ["PROGRAMS"], "payload.bin") + "@0x80200000"
OPENSBI = "/usr/lib/riscv64-linux-gnu/opensbi/generic"
UBOOT = "/usr/lib/u-boot/qemu-riscv64_smode/u-boot.bin"
ET_DYN = 3
RAM = "0x80000000"


def needs(file, package):
    return unittest.skipUnless(os.path.exists(file), f"{file} is missing: ./dev setup installs the package {package}")


def trnvp(*words):
    return subprocess.run([TRNVP, *words], capture_output=True, timeout=WALL_LIMIT, check=False)


def run(*words, board="trn3-chip"):
    """Runs a platform until software powers the chip off."""
    done = trnvp("run", board, "--until", "off", "--max-time", "60 s", *words)
    return done.returncode, done.stdout.decode(errors="replace"), done.stderr.decode(errors="replace")


@needs(f"{OPENSBI}/fw_jump.bin", "opensbi")
class OpenSbiTest(unittest.TestCase):
    def check_payload(self, printed):
        boots = printed.split("payload: first boot")
        self.assertEqual(len(boots), 2, printed)
        for what in ("device tree", "floating point", "atomics", "timer", "uart interrupt"):
            self.assertEqual(printed.count(f"payload: {what} works"), 2, printed)
        self.assertIn("payload: second boot", boots[1])
        self.assertNotIn("FAILS", printed)

    def test_banner_payload_reboot_and_power_off(self):
        for firmware in ("fw_jump.bin", "fw_dynamic.bin"):
            with self.subTest(firmware):
                status, printed, log = run("--load", f"{OPENSBI}/{firmware}@{RAM}", "--load", PAYLOAD)
                self.assertEqual(status, 0, printed + log)
                self.assertEqual(len(re.findall(r"OpenSBI v\d", printed)), 2)
                for line in (
                    "Platform Name : trnvp trn3-chip",
                    "Boot HART MIDELEG : 0x0000000000000222",
                    "Platform Console Device : uart8250",
                ):
                    self.assertIn(line, re.sub(" +", " ", printed))  # releases of OpenSBI align them differently
                # The tree describes one device in both ways; releases of OpenSBI prefer one or the other.
                self.assertRegex(printed, r"Platform Reboot Device +: (sifive_test|syscon-reboot)")
                self.assertRegex(printed, r"Boot HART Base ISA +: rv64imafdc")
                self.check_payload(printed)

    def test_every_generation_of_chips_boots_it(self):
        with open(f"{OPENSBI}/fw_dynamic.elf", "rb") as program:
            at = f"@{RAM}" if program.read(17)[16] == ET_DYN else ""  # OpenSBI from 1.5 on is position-independent
        for board in ("trn1-chip", "trn2-chip", "inf2-chip"):
            with self.subTest(board):
                status, printed, log = run("--load", f"{OPENSBI}/fw_dynamic.elf{at}", "--load", PAYLOAD, board=board)
                self.assertEqual(status, 0, printed + log)
                self.check_payload(printed)

    def test_same_run_twice_has_the_same_trace(self):
        with tempfile.TemporaryDirectory() as folder:
            traces = []
            for name in ("first", "second"):
                file = os.path.join(folder, name)
                status, printed, log = run("--load", f"{OPENSBI}/fw_jump.bin@{RAM}", "--load", PAYLOAD, "--trace", file)
                self.assertEqual(status, 0, log)
                with open(file, "rb") as trace:
                    traces.append((printed, trace.read()))
            self.assertGreaterEqual(traces[0][1].count(b"resets"), 4, "boots, and the power-off")
            self.assertEqual(traces[0], traces[1])


class LoaderTest(unittest.TestCase):
    def test_images_that_take_longer_than_the_watchdog_are_copied(self):
        with tempfile.TemporaryDirectory() as folder:
            images = []
            for name, address in (("first", "0x80000001"), ("second", "0x90000001")):  # copied byte by byte
                file = os.path.join(folder, name)
                with open(file, "wb") as image:
                    image.truncate(150 << 20)
                images += ["--load", f"{file}@{address}"]
            done = trnvp("run", "trn3-chip", "--until", "2400 ms", *images)
            log = done.stdout.decode(errors="replace") + done.stderr.decode(errors="replace")
            self.assertIn("loader: starts 80000001", log)
            self.assertNotIn("power-on, watchdog", log)


class UBoot:
    def __init__(self, console):
        self.console = console

    def read_until(self, text):
        seen = ""
        while text not in seen:
            piece = self.console.recv(4096)
            if not piece:
                raise EOFError(seen)
            seen += piece.decode(errors="replace")
        return seen

    def command(self, line):
        self.console.sendall(line.encode() + b"\n")
        return self.read_until("\n=> ")


@needs(f"{OPENSBI}/fw_dynamic.bin", "opensbi")
@needs(UBOOT, "u-boot-qemu")
class UBootTest(unittest.TestCase):
    def test_prompt_answers_typed_commands(self):
        images = ["--load", f"{OPENSBI}/fw_dynamic.bin@{RAM}", "--load", f"{UBOOT}@0x80200000"]
        with platform(*images, "--uart", "socket", board="trn3-chip") as running, running.connect():
            with socket.socket(socket.AF_UNIX) as console:
                console.settimeout(WALL_LIMIT)
                console.connect(os.path.join(running.folder, "chip0.management.uart.uart"))
                u_boot = UBoot(console)
                banner = u_boot.read_until("Hit any key to stop autoboot")
                console.sendall(b"\n")
                u_boot.read_until("\n=> ")
                self.assertRegex(banner, r"U-Boot 20\d\d\.\d\d")
                self.assertIn("Model: trnvp trn3-chip", banner)
                self.assertIn("DRAM:  2 GiB", banner)
                self.assertIn("U-Boot 20", u_boot.command("version"))
                self.assertIn("the answer is 2a\r", u_boot.command("setexpr n 0x20 + 0xa; echo the answer is $n"))
                u_boot.command("mw.l 0x90000000 0x12345678 0x100")
                self.assertRegex(u_boot.command("md.l 0x900003fc 1"), r"900003fc: 12345678")
                self.assertIn("crc32 for 90000000", u_boot.command("crc32 0x90000000 0x400"))
                self.assertIn("trnvp,watchdog", u_boot.command("fdt addr $fdtcontroladdr; fdt print /soc/watchdog@10001000"))
                console.sendall(b"reset\n")
                u_boot.read_until("OpenSBI v")
                u_boot.read_until("Hit any key to stop autoboot")
                console.sendall(b"\n")
                u_boot.read_until("\n=> ")
                console.sendall(b"poweroff\n")
            self.assertEqual(running.wait(), 0)


class BadInputTest(unittest.TestCase):
    """Invalid options are refused with reason and suggestion before anything is built."""

    def refused(self, *words):
        done = trnvp("run", "trn3-chip", "--until", "off", *words)
        self.assertEqual(done.returncode, 2, done.stdout + done.stderr)
        return done.stderr.decode()

    def setUp(self):
        self.folder = tempfile.TemporaryDirectory()
        self.addCleanup(self.folder.cleanup)
        self.file = os.path.join(self.folder.name, "image")
        with open(self.file, "wb") as image:
            image.write(b"\x13\0\0\0" * 1024)

    def test_load(self):
        empty = os.path.join(self.folder.name, "empty")
        open(empty, "wb").close()
        for words, reason in (
            (["--load", self.file + "@zero"], "'zero' is not an address"),
            (["--load", self.file], f"{self.file} is not an ELF program, so it has no address; try {self.file}@0x80000000"),
            (["--load", self.file + "@0x40000000"], "is outside the RAM, 0x80000000 to 0xffe00000; try"),
            (["--load", self.file + "@0xffdfffff"], "is outside the RAM"),
            (["--load", "@0x80000000"], "'@0x80000000' names no file"),
            (["--load", "/no/such/file@0x80000000"], "/no/such/file"),
            (["--load", f"{self.file}@{RAM}", "--load", self.file + "@0x80000fff"], "overlaps"),
            (["--load", f"{self.file}@{RAM}", "--initrd", self.file + "@0x80000000"], "try " + self.file + "@0x80200000"),
            (["--initrd", self.file + "@0x80000000"], "--initrd has no effect without --load"),
            (["--load", f"{self.file}@{RAM}", "--device-tree", empty], "not a flattened device tree (make one: dtc"),
            (["--load", f"{self.file}@{RAM}", "--device-tree", self.file], "not a flattened device tree (make one: dtc"),
        ):
            with self.subTest(words):
                self.assertIn(reason, self.refused(*words))

    def test_isa_with_an_unknown_extension(self):
        done = trnvp("exec", PAYLOAD.replace(".bin@0x80200000", ".elf"), "--isa", "rv64imac_zfh")
        self.assertEqual(done.returncode, 2)
        self.assertIn("unknown extension 'zfh' (known: rv64imafdc_", done.stderr.decode())

    def test_own_software_has_no_device_tree_and_no_power_switch(self):
        done = trnvp("inspect", "trn3-chip", "--device-tree")
        self.assertEqual(done.returncode, 2)
        self.assertIn("try --set software=stock", done.stderr.decode())
        self.assertIn("no software of this board can power off", self.refused())

    def test_image_that_is_not_there_is_reported_by_the_loader(self):
        done = trnvp("run", "trn3-chip", "--set", "software=stock", "--until", "5 ms")
        self.assertIn("the image store is empty (--load FILE@ADDRESS fills it)", done.stdout.decode())
        self.assertEqual(done.returncode, 1)


class DeviceTreeTest(unittest.TestCase):
    def test_tree_lists_what_the_board_has(self):
        blob = trnvp("inspect", "trn3-chip", "--set", "software=stock", "--device-tree").stdout
        source = subprocess.run(["dtc", "-q", "-I", "dtb", "-O", "dts"], input=blob, capture_output=True, check=True).stdout.decode()
        source = source.replace("\\0", '", "')  # dtc before 1.7 prints a list of strings as one
        for line in (
            "reg = <0x00 0x80000000 0x00 0x80000000>",
            'compatible = "ns16550a"',
            "reg-shift = <0x02>",
            "interrupts-extended = <0x01 0x0b 0x01 0x09>",
            'compatible = "sifive,test1", "sifive,test0", "syscon"',
            'compatible = "trnvp,sensors"',
            "timebase-frequency = <0x989680>",
            "riscv,cboz-block-size = <0x40>",
        ):
            self.assertIn(line, source)
        self.assertRegex(source, r'riscv,isa = "rv64imafdc_[a-z_]*sstc_svadu"')

    def test_tree_has_room_for_the_devices_of_a_board(self):
        with tempfile.TemporaryDirectory(prefix="trnvp_") as folder:
            image, board = os.path.join(folder, "image.bin"), os.path.join(folder, "board.yaml")
            with open(image, "wb") as out:
                out.write(bytes(4096))
            for devices, status, text in ((400, 0, "time_limit"), (1000, 2, "the device tree of the board has ")):
                with open(board, "w", encoding="utf-8") as out:
                    out.write(
                        f"""board: many
description: many devices
modules:
  cpu: {{type: riscv_hart, reset_vector: 0x2000_0000}}
  irqs: {{type: plic, contexts: 1}}
  local: {{type: router}}
  store: {{type: image_store, images: {image}@{RAM}, ram_size: 1 GiB}}
  device: {{type: memory, count: {devices}, size: 4 KiB}}
bind:
  - cpu.bus -> local.target
  - irqs.out[0] -> cpu.irq[5]
  - local.initiator -> irqs.in @ 0x0c00_0000 + 64 MiB
  - local.initiator -> store.in @ 0x2000_0000 + 512 MiB
  - {{bind: "local.initiator -> device${{i}}.in", at: 0x1000_0000, stride: 4 KiB, size: 4 KiB, count: {devices}}}
"""
                    )
                done = trnvp("run", board, "--until", "1 us")
                self.assertEqual(done.returncode, status, done.stderr)
                self.assertIn(text, done.stderr.decode())


if __name__ == "__main__":
    unittest.main()
