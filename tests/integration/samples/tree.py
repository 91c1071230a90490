# SPDX-License-Identifier: Apache-2.0
"""What pages see of the checkout: a copy, so that no sample changes the files of the tree."""
import os
import pathlib
import shutil
import stat
import subprocess
import sys
import tempfile


class Tree:
    """A read-only copy of the files that git knows or would add, removed at the end, and the build folder."""

    def __init__(self, root: pathlib.Path, build: pathlib.Path) -> None:
        self.root, self.build = root, build
        names = _files_of(root)
        self.folder = pathlib.Path(tempfile.mkdtemp(prefix="sample_tree_", dir="/tmp")).resolve()
        for name in names:
            if (root / name).is_symlink() or (root / name).is_file():  # else it is deleted, and git does not know yet
                (self.folder / name).parent.mkdir(parents=True, exist_ok=True)
                shutil.copy(root / name, self.folder / name, follow_symlinks=False)
        self._allow(~(stat.S_IWUSR | stat.S_IWGRP | stat.S_IWOTH), 0)

    def __enter__(self) -> "Tree":
        return self

    def __exit__(self, *_: object) -> None:
        self._allow(~0, stat.S_IWUSR)
        shutil.rmtree(self.folder, ignore_errors=True)

    def link_into(self, folder: pathlib.Path) -> None:
        """Makes a folder look like the built checkout: new files in it, and in its `build`, are its own."""
        for entry in self.folder.iterdir():
            (folder / entry.name).symlink_to(entry)
        (folder / "build").mkdir()
        for entry in self.build.iterdir():
            (folder / "build" / entry.name).symlink_to(entry)

    def _allow(self, kept: int, more: int) -> None:
        for folder, _, files in os.walk(self.folder):
            for path in (folder, *(os.path.join(folder, name) for name in files)):
                if not os.path.islink(path):
                    os.chmod(path, os.stat(path).st_mode & kept | more)


def _files_of(root: pathlib.Path) -> list[str]:
    command = ["git", "ls-files", "-z", "--cached", "--others", "--exclude-standard"]
    try:
        done = subprocess.run(command, cwd=root, capture_output=True, text=True, check=False)
    except FileNotFoundError:
        sys.exit("samples: git is not installed; it lists the files that samples see")
    if done.returncode != 0:
        sys.exit(f"samples: {' '.join(command)}: {done.stderr.strip()}")
    return sorted(set(filter(None, done.stdout.split("\0"))))
