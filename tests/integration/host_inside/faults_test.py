# SPDX-License-Identifier: Apache-2.0
"""Bad input for hosts inside, and guests that misbehave: each fails its scenario with a sentence, and none hangs the simulator."""
import json
import os
import pathlib
import subprocess
import tempfile
import unittest

from linux_test import OPENSBI, kernel
from running_platform import WALL_LIMIT

TRNVP = os.environ["TRNVP"]
SOURCE = pathlib.Path(__file__).resolve().parents[3]
BUILD = SOURCE / "platform" / "app" / "guest" / "get_riscv64.sh"
MODULE = pathlib.Path(__file__).resolve().parent / "faulty"
BOOT = "  - boot: {host: linux}\n"
LOAD = BOOT + "  - host: {copy_in: faulty.ko, to: /root/faulty.ko}\n  - host: {run: insmod faulty.ko does=%s, within: 500 ms}\n"


@unittest.skipUnless(os.path.exists(OPENSBI), "OpenSBI is missing: ./dev setup installs the package opensbi")
class FaultsTest(unittest.TestCase):
    def setUp(self):
        kernel()
        scratch = tempfile.TemporaryDirectory()
        self.addCleanup(scratch.cleanup)
        self.folder = pathlib.Path(scratch.name)

    def write(self, name, steps, board="trn3-chip", parameters="", time_limit="60 s"):
        (self.folder / f"{name}.yaml").write_text(
            f"scenario: '{name}'\nboard: {board}\nset: {{host: linux{parameters}}}\nwall_limit: 300 s\n"
            f"time_limit: {time_limit}\nmemory_limit: 4 GiB\nsteps:\n{steps}",
            encoding="utf-8",
        )

    def play(self, *options):
        """The results by name."""
        ran = subprocess.run(
            [TRNVP, "test", self.folder, "--json", *options], stdout=subprocess.PIPE, timeout=2 * WALL_LIMIT, check=False
        )
        return {one["name"]: one for one in json.loads(ran.stdout)}

    def check(self, wanted):
        """Messages of failures by name; None: it passes."""
        found = self.play()
        for name, message in wanted.items():
            with self.subTest(name):
                self.assertIn(found[name]["status"], ("failed", "not loaded") if message else ("passed",), found[name])
                text = "\n".join([found[name].get("message", ""), *found[name].get("state", [])])
                for part in [message] if isinstance(message, str) else message or []:
                    self.assertIn(part, text)

    def image(self, name, content):
        (self.folder / name).write_bytes(content)
        return f", host_images: {self.folder / name}@0x80000000"

    def test_images_that_cannot_run_are_refused(self):
        small = self.image("small.bin", bytes(4096))
        self.write("bzImage", BOOT, parameters=self.image("bzImage", bytes(0x202) + b"HdrS" + bytes(4096)))
        self.write("arm64", BOOT, parameters=self.image("Image", bytes(0x38) + b"ARM\x64" + bytes(4096)))
        self.write("empty", BOOT, parameters=self.image("empty.bin", b""))
        self.write("none", BOOT, parameters=", host_images: ''")
        self.write("missing", BOOT, parameters=f", host_images: {self.folder}/nothing@0x80000000")
        self.write("no address", BOOT, parameters=small.replace("@0x80000000", ""))
        self.write("memory", BOOT, parameters=self.image("big.bin", bytes(16 << 20)) + ", host_memory: 8 MiB")
        (self.folder / "huge.bin").touch()
        os.truncate(self.folder / "huge.bin", 257 << 20)
        self.write("store", BOOT, parameters=f", host_images: {self.folder}/huge.bin@0x80000000")
        self.write("overlap", BOOT, parameters=f"{small}, host_initrd: {self.folder}/small.bin@0x80000800")
        self.check(
            {
                "bzImage": "bzImage is for x86_64, and the host is riscv64",
                "arm64": "Image is for aarch64, and the host is riscv64",
                "empty": "empty.bin is empty",
                "none": "host_images names no image",
                "missing": "nothing",
                "no address": "is not an ELF program, so it has no address",
                "memory": "is outside the RAM",
                "store": "has 269484032 bytes, at most",
                "overlap": "overlaps",
            }
        )

    def test_software_that_does_not_boot_says_its_last_line(self):
        """Bytes that are no program: the hart traps at the first one, and the boot ROM prints its registers."""
        self.write("garbage", "  - boot: {host: linux, within: 100 ms}\n", parameters=self.image("garbage.bin", bytes(4096)))
        self.check({"garbage": ["linux0: no agent within", "its console's last line is 'panic: "]})

    def test_hosts_that_wait_for_each_other_are_named(self):
        steps = BOOT + "  - together:\n" + "".join(
            f"      of{n}: [{{host: {{run: 'until [ -e /never ]; do sleep 1; done', server: server{n}.linux0, within: 100 s}}}}]\n"
            for n in (0, 1)
        )
        self.write("two", steps, board="trn2-ultraserver", time_limit="20 s")
        self.check({"two": ["not done after 20 s simulated", "the answer of server0.linux0", "the answer of server1.linux0"]})

    def test_modules_that_misbehave_end_their_kernel_only(self):
        built = self.folder / "faulty"
        built.mkdir()
        for file in MODULE.iterdir():
            (built / file.name).write_bytes(file.read_bytes())
        if subprocess.run([BUILD, "--build", built], check=False).returncode != 0:
            self.skipTest("no module can be built: './dev setup' fetches what it needs")
        (built / "faulty.ko").rename(self.folder / "faulty.ko")
        after = "  - host: {run: uname -m, text: riscv64}\n"
        for does in ("spin", "panic", "none", "twice"):
            self.write(does, LOAD % does)
        self.write("poke", LOAD % "poke" + after)
        self.check(
            {
                "spin": ["linux0: no answer within 500 ms", "linux0.cpu0: S-mode, running"],
                "panic": "Kernel panic - not syncing: faulty",
                "none": "it ended with status 22",
                "twice": "kernel BUG at",
                "poke": None,
            }
        )


if __name__ == "__main__":
    unittest.main()
