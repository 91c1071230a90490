#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Packs firmware into flash images: header (firmware/lib/image.h) and CRC-32C."""
import argparse
import pathlib
import re
import struct
import sys

MAGIC = 0x494E5254
FORMAT = 1
FLASH_SIZE = 0x100000
SLOTS = {"a": 0x00000, "b": 0x60000}
SLOT_SIZE = 0x60000
HEADER = struct.Struct("<IIIIQQ28s")  # followed by their CRC
ELF_HEADER = struct.Struct("<16sHHIQQQIHHHHHH")
PROGRAM_HEADER = struct.Struct("<IIQQQQQQ")


def crc32c(data: bytes) -> int:
    table = []
    for value in range(256):
        for _ in range(8):
            value = value >> 1 ^ (0x82F63B78 if value & 1 else 0)
        table.append(value)
    crc = 0xFFFFFFFF
    for byte in data:
        crc = crc >> 8 ^ table[(crc ^ byte) & 0xFF]
    return crc ^ 0xFFFFFFFF


def load_elf(path: pathlib.Path) -> tuple[int, int, bytes]:
    """Load address, entry and bytes of a bare-metal ELF."""
    try:
        data = path.read_bytes()
    except OSError as error:
        sys.exit(f"{path}: {error.strerror}")
    if len(data) < ELF_HEADER.size or data[:5] != b"\x7fELF\x02":
        sys.exit(f"{path}: not a 64-bit ELF file")
    _, _, machine, _, entry, phoff, _, _, _, phentsize, phnum, *_ = ELF_HEADER.unpack_from(data)
    if machine != 243:
        sys.exit(f"{path}: machine {machine}, expected 243 (RISC-V)")
    segments = []
    for n in range(phnum):
        kind, _, offset, _, address, filesz, _, _ = PROGRAM_HEADER.unpack_from(data, phoff + n * phentsize)
        if kind == 1 and filesz > 0:  # load address: .data runs elsewhere
            segments.append((address, data[offset : offset + filesz]))
    if not segments:
        sys.exit(f"{path}: nothing to load")
    first = min(address for address, _ in segments)
    image = bytearray(max(address + len(part) for address, part in segments) - first)
    for address, part in segments:
        image[address - first : address - first + len(part)] = part
    return first, entry, bytes(image)


def pack(path: pathlib.Path, version: str) -> bytes:
    """Header and payload of one slot."""
    address, entry, payload = load_elf(path)
    if HEADER.size + 4 + len(payload) > SLOT_SIZE:
        sys.exit(f"{path}: {len(payload)} bytes do not fit a slot of {SLOT_SIZE}")
    header = HEADER.pack(MAGIC, FORMAT, len(payload), crc32c(payload), address, entry, version.encode()[:27])
    return header + struct.pack("<I", crc32c(header)) + payload


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--slot-a", type=pathlib.Path, metavar="ELF")
    parser.add_argument("--slot-b", type=pathlib.Path, metavar="ELF")
    parser.add_argument("--bare", type=pathlib.Path, metavar="ELF", help="one image by itself, not a flash")
    version = parser.add_mutually_exclusive_group()
    version.add_argument("--version", default="0.0.0", help="text in the header, at most 27 characters")
    version.add_argument("--version-from", type=pathlib.Path, metavar="HEADER", help="build_id.py's output")
    parser.add_argument("--output", type=pathlib.Path, required=True)
    arguments = parser.parse_args()
    if arguments.version_from:
        arguments.version = re.search(r'"(.+)"', arguments.version_from.read_text())[1]

    if arguments.bare:
        arguments.output.write_bytes(pack(arguments.bare, arguments.version))
        return
    flash = bytearray(b"\xff" * FLASH_SIZE)  # erased state
    for slot, elf in (("a", arguments.slot_a), ("b", arguments.slot_b)):
        if elf is not None:
            packed = pack(elf, arguments.version)
            flash[SLOTS[slot] : SLOTS[slot] + len(packed)] = packed
    arguments.output.write_bytes(flash)


if __name__ == "__main__":
    main()
