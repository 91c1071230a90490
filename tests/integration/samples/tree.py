# SPDX-License-Identifier: Apache-2.0
"""What a page sees of the checkout: copies, so that no sample changes the files of the tree."""
import collections
import pathlib
import re
import shutil
import subprocess
import sys


class Tree:
    """The files and folders of the checkout that pages name, of what git knows or would add; and the build folder."""

    def __init__(self, root: pathlib.Path, build: pathlib.Path) -> None:
        self.root, self.build = root, build
        self._files: dict[str, list[str]] = collections.defaultdict(list)
        for name in _files_of(root):
            self._files[name.split("/")[0]].append(name)

    def copy_into(self, folder: pathlib.Path, text: str) -> None:
        """Makes a folder look like the built checkout, as far as the text names it; all files but those of the build are its own."""
        for top in self._files:
            if re.search(rf"(?<![\w.-]){re.escape(top)}(?![\w-])", text):
                self._copy(top, folder)
        (folder / "build").mkdir()
        for entry in self.build.iterdir():
            (folder / "build" / entry.name).symlink_to(entry)

    def _copy(self, top: str, folder: pathlib.Path) -> None:
        for name in self._files[top]:
            if (self.root / name).is_symlink() or (self.root / name).is_file():  # else it is deleted, and git does not know yet
                (folder / name).parent.mkdir(parents=True, exist_ok=True)
                shutil.copy(self.root / name, folder / name, follow_symlinks=False)


def _files_of(root: pathlib.Path) -> list[str]:
    command = ["git", "ls-files", "-z", "--cached", "--others", "--exclude-standard"]
    try:
        done = subprocess.run(command, cwd=root, capture_output=True, text=True, check=False)
    except FileNotFoundError:
        sys.exit("samples: git is not installed; it lists the files that samples see")
    if done.returncode != 0:
        sys.exit(f"samples: {' '.join(command)}: {done.stderr.strip()}")
    return sorted(set(filter(None, done.stdout.split("\0"))))
