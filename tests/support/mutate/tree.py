# SPDX-License-Identifier: Apache-2.0
"""The copy of the project that is mutated: build-mutate/tree, with its own folder `build` as in the original, so that the compiler
cache serves what is unchanged. A file is written only when its text differs: a second run compiles little."""
import pathlib
import subprocess

import draw
import places

HERE = pathlib.Path(__file__).resolve().parent
PARTS = ("models", "platform", "sw-stubs", "firmware")
# Only guests run these; the example is a project of its own.
LEFT_OUT = ("sw-stubs/guest/", "sw-stubs/transports/neuron/", "sw-stubs/transports/sysfs/", "firmware/example/")
PROBE = ("platform/framework/loader/firmware_file.cpp", "std::vector<std::uint8_t> read_firmware(")


class tree:
    def __init__(self, root: pathlib.Path, folder: pathlib.Path) -> None:
        self.root = root
        self.path = folder / "tree"
        self.switch = self.path / "build/mutation/switch.h"  # made by the build
        self.probe: int | None = None  # number of the place that reads firmware

    def listed(self) -> list[str]:
        return listed(self.root)

    def sync(self, drawn: draw.draw) -> None:
        """Makes the copy equal to the original, but with the drawn mutations."""
        texts = self.mutated(drawn)
        names = self.listed()
        for name in names:
            self.put(name, texts.get(name))
        if not (self.path / ".git").exists():
            subprocess.run(["git", "init", "-q"], cwd=self.path, check=True)  # tests of documents list files
        for name in set(listed(self.path)) - set(names):
            (self.path / name).unlink()
        subprocess.run(["git", "add", "-A"], cwd=self.path, check=True)

    def put(self, name: str, text: str | None) -> None:
        """Writes a file, if it differs: `text`, or the original."""
        original, copied = self.root / name, self.path / name
        if original.is_symlink():
            if not copied.is_symlink():
                copied.parent.mkdir(parents=True, exist_ok=True)
                copied.symlink_to(original.readlink())
            return
        wanted = original.read_bytes() if text is None else text.encode()
        if not copied.exists() or copied.read_bytes() != wanted:
            copied.parent.mkdir(parents=True, exist_ok=True)
            copied.write_bytes(wanted)
        copied.chmod(original.stat().st_mode)

    def source(self, name: str) -> str:
        return (self.root / name).read_text(encoding="utf-8")

    def sources(self) -> list[str]:
        return [
            name
            for name in self.listed()
            if name.startswith(tuple(part + "/" for part in PARTS))
            and not name.startswith(LEFT_OUT)
            and name.endswith((".c", ".cpp", ".h"))
        ]

    def candidates(self, names: list[str]) -> list[places.place]:
        return [place for name in names for place in places.find(name, self.source(name))]

    def mutated(self, drawn: draw.draw) -> dict[str, str]:
        """The mutated files."""
        wanted = drawn.by_file()
        texts = {name: draw.mutated(self.source(name), numbered, str(self.switch)) for name, numbered in wanted.items()}
        self.probe = None
        if any(name.startswith("firmware/") for name in wanted):
            self.probe = len(drawn.chosen) + 1
            texts[PROBE[0]] = self.probed(wanted.get(PROBE[0], {}))
        return texts

    def probed(self, numbered: dict[int, places.place]) -> str:
        """The source that reads firmware, with a place that records it: firmware itself cannot."""
        source = self.source(PROBE[0])
        at = source.find("{", source.index(PROBE[1]))
        brace = places.place(PROBE[0], 0, "probe", "", at, at + 1, "{ (void)TRN_MUTATED;")
        return draw.mutated(source, {**numbered, self.probe: brace}, str(self.switch))


def listed(folder: pathlib.Path) -> list[str]:
    """Files that Git does not ignore."""
    command = ["git", "ls-files", "--cached", "--others", "--exclude-standard"]
    names = subprocess.run(command, cwd=folder, capture_output=True, text=True, check=True).stdout.splitlines()
    return [name for name in sorted(set(names)) if (folder / name).exists()]
