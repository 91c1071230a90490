#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Writes version.h: the release and a digest of the files that the firmware is built from."""
import argparse
import hashlib
import pathlib


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--release", required=True)
    parser.add_argument("--output", type=pathlib.Path, required=True)
    parser.add_argument("files", nargs="+", type=pathlib.Path)
    arguments = parser.parse_args()

    digest = hashlib.sha256()
    for file in sorted(arguments.files, key=lambda f: f.name):
        digest.update(file.name.encode() + b"\0" + file.read_bytes())
    build = digest.hexdigest()[:8]
    arguments.output.write_text(f'#define FIRMWARE_VERSION "{arguments.release}+{build}"\n#define FIRMWARE_BUILD 0x{build}\n')


if __name__ == "__main__":
    main()
