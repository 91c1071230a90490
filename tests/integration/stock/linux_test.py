# SPDX-License-Identifier: Apache-2.0
"""Debian's riscv64 kernel on the management processor: console, user mode, power-off."""
import gzip
import os
import pathlib
import subprocess
import tempfile
import unittest

from running_platform import WALL_LIMIT

TRNVP = os.environ["TRNVP"]
OPENSBI = "/usr/lib/riscv64-linux-gnu/opensbi/generic/fw_dynamic.bin"
INIT = pathlib.Path(os.environ.get("PROGRAMS", ""), "init")


def kernel():
    """The kernel that get_riscv64.sh fetches. Raises SkipTest with the reason if it is missing."""
    cache = os.environ.get("XDG_CACHE_HOME") or os.path.join(os.path.expanduser("~"), ".cache")
    folder = pathlib.Path(os.environ.get("TRNVP_GUEST_TOOLS") or os.path.join(cache, "trnvp", "guest"))
    image, missing = folder / "riscv64" / "vmlinuz", folder / "riscv64-missing"
    if image.exists():
        return image
    raise unittest.SkipTest(missing.read_text().strip() if missing.exists() else "no kernel for riscv64: run ./dev setup")


def archive(files):
    """A cpio archive in the newc format; files are (name, mode, content, device)."""
    out = b""
    for name, mode, content, (major, minor) in [*files, ("TRAILER!!!", 0, b"", (0, 0))]:
        path = name.encode() + b"\0"
        fields = (1, mode, 0, 0, 1, 0, len(content), 0, 0, major, minor, len(path), 0)
        entry = b"070701" + b"".join(b"%08x" % field for field in fields) + path
        entry += b"\0" * (-len(entry) % 4) + content
        out += entry + b"\0" * (-len(entry) % 4)
    return gzip.compress(out, mtime=0)


@unittest.skipUnless(os.path.exists(OPENSBI), "OpenSBI is missing: ./dev setup installs the package opensbi")
class LinuxTest(unittest.TestCase):
    def test_kernel_reaches_its_console_and_user_mode(self):
        image = kernel()
        with tempfile.TemporaryDirectory() as folder:
            initrd = os.path.join(folder, "initrd.gz")
            with open(initrd, "wb") as file:
                file.write(
                    archive(
                        [
                            ("dev", 0o40755, b"", (0, 0)),
                            ("dev/console", 0o20600, b"", (5, 1)),
                            ("init", 0o100755, INIT.read_bytes(), (0, 0)),
                        ]
                    )
                )
            done = subprocess.run(
                [
                    TRNVP,
                    "run",
                    "trn3-chip",
                    "--until",
                    "off",
                    "--max-time",
                    "120 s",
                    "--load",
                    f"{OPENSBI}@0x80000000",
                    "--load",
                    f"{image}@0x80200000",
                    "--initrd",
                    f"{initrd}@0x90000000",
                    "--bootargs",
                    "console=ttyS0,3000000",
                ],
                capture_output=True,
                timeout=2 * WALL_LIMIT,
                check=False,
            )
        printed = done.stdout.decode(errors="replace")
        for line in (
            "Linux version",
            "Machine model: trnvp trn3-chip",
            "Run /init as init process",
            "hello from user mode",
            "reboot: Power down",
        ):
            self.assertIn(line, printed)
        self.assertEqual(done.returncode, 0, done.stderr.decode(errors="replace"))


if __name__ == "__main__":
    unittest.main()
