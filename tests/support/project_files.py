# SPDX-License-Identifier: Apache-2.0
"""The files of the project, for checks that read them."""
import pathlib
import subprocess


def listed(root: pathlib.Path, *patterns: str) -> list[str]:
    """Files below `root` that match a pattern of git, in order: tracked ones, and new ones that git does not ignore."""
    command = ["git", "ls-files", "--cached", "--others", "--exclude-standard", "--", *patterns]
    names = subprocess.run(command, cwd=root, capture_output=True, text=True, check=True).stdout.split()
    return sorted(name for name in set(names) if (root / name).exists())
