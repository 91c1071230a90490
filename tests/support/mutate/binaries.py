# SPDX-License-Identifier: Apache-2.0
"""Which programs contain mutated places: the section `trn_mutated` of an ELF file lists their numbers."""
import functools
import hashlib
import os
import pathlib
import re
import struct

from suite import test

SCRIPTS = {".py", ".sh"}


@functools.lru_cache(maxsize=None)
def places_in(file: pathlib.Path) -> frozenset[int]:
    data = file.read_bytes()
    if data[:4] != b"\x7fELF" or data[4] != 2:
        return frozenset()
    (table,) = struct.unpack_from("<Q", data, 0x28)
    size, count, names = struct.unpack_from("<HHH", data, 0x3A)
    sections = [struct.unpack_from("<IIQQQQ", data, table + size * n) for n in range(count)]
    found = set()
    for name, _, _, _, offset, length in sections:
        start = sections[names][4] + name
        if data[start : start + 12] == b"trn_mutated\0":
            found |= set(struct.unpack_from(f"<{length // 2}H", data, offset))
    return frozenset(found - {0})


class programs:
    """Finds the places that a test may reach, and a digest of the files that its result depends on."""

    def __init__(self, build: pathlib.Path) -> None:
        self.build = build
        self.tree = build.parent
        pattern = rb"%s/[\w.+/-]+" % re.escape(str(build).encode())
        self.mentioned = functools.lru_cache(maxsize=None)(
            lambda file: frozenset(pathlib.Path(found.decode()) for found in re.findall(pattern, file.read_bytes()))
        )

    def files(self, one: test) -> set[pathlib.Path]:
        """Files of the tree and the build that the test's command and environment name."""
        found = {pathlib.Path(word) for word in self.words(one) if word.startswith(str(self.tree))}
        return {file for file in found if os.path.isfile(file)}  # also of words too long for a name

    @staticmethod
    def words(one: test) -> list[str]:
        words = one.command + [part for value in one.environment.values() for part in value.split(":")]
        return [word.partition("=")[2] if word.startswith("--") else word for word in words]

    def may_reach(self, one: test) -> frozenset[int] | None:
        """None: any. A test program that names no other program reaches its own places only."""
        files = self.files(one)
        if not one.is_unit or not files or any(not is_elf(file) for file in files):
            return None
        found = set()
        for file in files:
            found |= places_in(file)
            for other in self.mentioned(file):
                if other.is_file() and is_elf(other):
                    found |= places_in(other)
        return frozenset(found)

    def inputs(self, one: test) -> set[pathlib.Path]:
        """Files of the tree and the build that decide the test's result: what its command and environment name, also relative to
        the folder in which it runs; what is beside a script; and of folders all sources, or all programs."""
        found = set()
        for word in filter(None, self.words(one)):
            file = pathlib.Path(os.path.normpath(pathlib.Path(one.folder, word)))
            if not file.is_relative_to(self.tree) or file == self.tree:
                continue
            if os.path.isfile(file):
                found.add(file)
                file = file.parent if file.suffix in SCRIPTS and file.parent != self.tree else file
            if os.path.isdir(file):
                found |= self.content(file)
        return found

    @functools.lru_cache(maxsize=None)
    def content(self, folder: pathlib.Path) -> frozenset[pathlib.Path]:
        if folder.is_relative_to(self.build):
            return frozenset(file for file in folder.iterdir() if file.is_file() and is_elf(file) and not self.is_firmware(file))
        return frozenset(file for file in folder.rglob("*") if file.is_file() and "__pycache__" not in file.parts)

    def is_firmware(self, file: pathlib.Path) -> bool:
        return file.is_relative_to(self.build / "firmware")

    @functools.lru_cache(maxsize=None)
    def firmware(self) -> str:
        """Of its bytes: it is built again, with the same ones, after each of its mutations."""
        files = sorted(self.build.glob("firmware/*.elf"))
        return hashlib.sha256(b"".join(hashlib.sha256(file.read_bytes()).digest() for file in files)).hexdigest()

    def digest(self, one: test) -> str:
        parts = [one.name, *one.command, "" if one.is_unit else self.firmware()]
        for file in sorted(self.inputs(one)):
            if not self.is_firmware(file):
                parts.append(f"{file}:{file.stat().st_mtime_ns}")
        return hashlib.sha256("\0".join(parts).encode()).hexdigest()[:16]


@functools.lru_cache(maxsize=None)
def is_elf(file: pathlib.Path) -> bool:
    with open(file, "rb") as opened:
        return opened.read(4) == b"\x7fELF"
