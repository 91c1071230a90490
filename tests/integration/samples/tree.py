# SPDX-License-Identifier: Apache-2.0
"""What pages see of the checkout: a copy, so that no sample changes the files of the tree."""
import collections
import pathlib
import re
import shutil
import stat
import subprocess
import sys
import tempfile


class Tree:
    """Read-only copies of the folders and files at the top that pages name, of what git knows or would add; and the build
    folder. The copies are removed at the end."""

    def __init__(self, root: pathlib.Path, build: pathlib.Path) -> None:
        self.root, self.build = root, build
        self._files: dict[str, list[str]] = collections.defaultdict(list)
        for name in _files_of(root):
            self._files[name.split("/")[0]].append(name)
        self.folder = pathlib.Path(tempfile.mkdtemp(prefix="sample_tree_", dir="/tmp")).resolve()

    def __enter__(self) -> "Tree":
        return self

    def __exit__(self, *_: object) -> None:
        _allow(self.folder, ~0, stat.S_IWUSR)
        shutil.rmtree(self.folder, ignore_errors=True)

    def link_into(self, folder: pathlib.Path, text: str) -> None:
        """Makes a folder look like the built checkout, as far as the text names it; new files in it, and in its `build`, are its
        own."""
        for name in self._files:
            if re.search(rf"(?<![\w.-]){re.escape(name)}(?![\w-])", text):
                if not (self.folder / name).exists():
                    self._copy(name)
                (folder / name).symlink_to(self.folder / name)
        (folder / "build").mkdir()
        for entry in self.build.iterdir():
            (folder / "build" / entry.name).symlink_to(entry)

    def _copy(self, top: str) -> None:
        for name in self._files[top]:
            if (self.root / name).is_symlink() or (self.root / name).is_file():  # else it is deleted, and git does not know yet
                (self.folder / name).parent.mkdir(parents=True, exist_ok=True)
                shutil.copy(self.root / name, self.folder / name, follow_symlinks=False)
        _allow(self.folder / top, ~(stat.S_IWUSR | stat.S_IWGRP | stat.S_IWOTH), 0)


def _allow(top: pathlib.Path, kept: int, more: int) -> None:
    """Changes the modes of all files and folders."""
    for path in (top, *top.rglob("*")):
        if path.exists() and not path.is_symlink():
            path.chmod(path.stat().st_mode & kept | more)


def _files_of(root: pathlib.Path) -> list[str]:
    command = ["git", "ls-files", "-z", "--cached", "--others", "--exclude-standard"]
    try:
        done = subprocess.run(command, cwd=root, capture_output=True, text=True, check=False)
    except FileNotFoundError:
        sys.exit("samples: git is not installed; it lists the files that samples see")
    if done.returncode != 0:
        sys.exit(f"samples: {' '.join(command)}: {done.stderr.strip()}")
    return sorted(set(filter(None, done.stdout.split("\0"))))
