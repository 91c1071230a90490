# SPDX-License-Identifier: Apache-2.0
"""Files of a profile, by file extension."""
from __future__ import annotations

import json
import os
import pathlib
from typing import Callable

from trn_nki.profile.records import Profile

# The makers are imported by the commands that write a profile only.


def _html_of(profile: Profile) -> bytes:
    from trn_nki.profile.page import html_of

    return html_of(profile).encode()


def _json_of(profile: Profile) -> bytes:
    from trn_nki.profile.tables import tables_of

    return (json.dumps(tables_of(profile), separators=(",", ":")) + "\n").encode()


def _perfetto_of(profile: Profile) -> bytes:
    from trn_nki.profile.perfetto import perfetto_bytes

    return perfetto_bytes(profile)


FORMATS: dict[str, Callable[[Profile], bytes]] = {".html": _html_of, ".json": _json_of, ".perfetto-trace": _perfetto_of}
NAMES = ("profile.html", "profile.json", "profile.perfetto-trace")  # in a folder


def files_of(target: str | os.PathLike[str]) -> list[pathlib.Path]:
    """The files that are written for a target: a file with a known ending, or a folder. Raises ValueError."""
    path = pathlib.Path(target)
    if path.suffix in FORMATS:
        return [path]
    if path.suffix and not path.is_dir():
        raise ValueError(f"{path}: expected a folder, or a file that ends in {', '.join(FORMATS)}")
    return [path / name for name in NAMES]


def write(profile: Profile, target: str | os.PathLike[str]) -> list[pathlib.Path]:
    """Writes the page, the JSON or the trace, or a folder with all three. Raises OSError, ValueError."""
    files = files_of(target)
    for file in files:
        content = FORMATS[file.suffix](profile)
        file.parent.mkdir(parents=True, exist_ok=True)
        made = file.with_name(f".{file.name}.{os.getpid()}")  # renamed at the end, so readers never see a partial file
        try:
            made.write_bytes(content)
            os.replace(made, file)
        finally:
            made.unlink(missing_ok=True)
    return files
