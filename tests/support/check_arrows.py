#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Checks that includes between folders point one way, and that units and folders form no cycles:
doc/architecture.md, "Folders". Imports of Python are includes too, also those inside functions.
A unit is a header and the source file of the same name, or a module of Python; it depends on
everything either of them includes.

    check_arrows.py                    prints file:line and the violation; status 1 on violations
    check_arrows.py --draw FOLDER      also writes the pictures: of all folders, architecture.svg,
                                       and of the wings of models/, wings.svg
    check_arrows.py --compare FOLDER   also fails when a picture in FOLDER differs
"""
import os
import pathlib
import re
import sys

import draw_arrows
import draw_wings
import python_imports
from project_files import listed

# folder -> prefixes that it may include from the project; the first matching folder applies.
F = "platform/framework/"
BASE = [F + "config/", F + "log", F + "output.h", F + "sanitized.h", F + "terminal_text.h", F + "unique_fd.h"]


# Wing of models/ -> the wings that it may include; its README.md says the same.
WINGS = {
    "neuron_isa": [],
    "soc": [],
    "processor": ["soc"],
    "memory": ["soc"],
    "dma": ["neuron_isa", "soc"],
    "neuron_core": ["dma", "neuron_isa", "soc"],
    "pcie": [],
    "scale_up": ["pcie"],
    "network": [],
    "cards": ["network"],
    "sled": ["soc"],
}
MODEL = (
    BASE
    + ["models/kind_tables.h", "models/misuse_rules.h"]
    + [F + part for part in ("tlm/", "registers/", "kernel/", "misuse/", "loader/", "netlist/kinds/")]
)


def framework(name, *others):
    return {f"{F}{name}/": BASE + [f"{F}{other}/" for other in (name, *others)]}


def host(name, *others):
    return {f"sw-stubs/host/{name}/": [f"sw-stubs/{part}" for part in (f"host/{name}/", "driver/include/", *others)]}


def layers(folder, rows):
    """Each folder in `folder` may include itself and the folders that its row names, in `folder` or (with "/")
    elsewhere."""
    return {
        f"{folder}{name}/": [F] + [other if "/" in other else f"{folder}{other}/" for other in (name, *others)]
        for name, others in rows.items()
    }


ALLOWED = {
    **framework("config"),
    **framework("command_line"),
    **framework("process"),
    **framework("misuse"),
    **framework("registers", "misuse", "tlm"),
    **framework("loader"),
    **framework("kernel"),
    **framework("waves", "kernel"),
    **framework("tlm", "kernel", "misuse"),
    **framework("bridges", "tlm", "kernel", "misuse", "netlist/kinds"),
    **framework("rtl", "bridges", "registers", "tlm", "kernel", "misuse", "netlist/kinds"),
    **framework("netlist/kinds"),
    **framework("netlist/plan", "netlist/kinds", "misuse"),
    **framework("netlist/document", "netlist/plan"),
    **framework("netlist/binding", "netlist/document"),
    **framework("netlist/expansion", "netlist/binding", "netlist/document", "netlist/plan", "netlist/kinds", "misuse"),
    **framework("netlist", "tlm", "kernel"),
    **framework("inspection", "kernel", "registers", "tlm", "netlist/kinds", "netlist/plan", "netlist/document"),
    **framework("snapshots", "kernel", "process"),
    **framework("attach/listen"),
    **framework("attach/control", "attach/listen", "kernel", "tlm"),
    **framework("attach/console", "attach/listen", "attach/control"),
    **framework("attach/vfio_user", "attach/listen", "kernel", "tlm"),
    **framework("debug", "kernel", "attach/listen", "attach/control"),
    F: BASE,
    **layers(
        "platform/app/scenario/",
        {
            "results": [],
            "language": ["results", "platform/app/host_options/", "sw-stubs/host/"],
            "selection": ["language", "results"],
            "context": ["language", "results", "platform/app/platform.h", "sw-stubs/host/"],
            "conditions": ["context", "language", "platform/app/platform.h", "platform/app/register_view.h"],
            "programs": ["context", "language", "platform/app/host_options/", "models/neuron_isa/assembler/", "sw-stubs/"],
            "steps": [
                "programs",
                "conditions",
                "context",
                "language",
                "results",
                "platform/app/host_options/",
                "platform/app/host_software/",
                "models/neuron_isa/assembler/",
                "sw-stubs/",
            ],
            "files": ["steps", "conditions", "context", "language", "results"],
            "run": [
                "context",
                "language",
                "results",
                "platform/app/platform.h",
                "platform/app/endpoints/",
                "platform/app/host_software/",
                "platform/app/in_process/",
                "platform/app/wave_options.h",
                "platform/app/disk_images.h",
                "platform/app/fidelity_report.h",
            ],
        },
    ),
    **layers(
        "platform/app/regression/",
        {
            "records": ["platform/app/scenario/results/", "platform/app/scenario/language/", "platform/app/report_file.h"],
            "history": ["records", "platform/app/scenario/results/", "platform/app/scenario/language/", "platform/app/report_file.h"],
            "comparison": ["history", "records", "platform/app/scenario/results/"],
            "pages": ["history", "records", "platform/app/scenario/results/", "platform/app/report_file.h"],
            "slurm": [],
        },
    ),
    # No SystemC and no models: the programs also run in guests.
    **layers(
        "platform/app/telemetry/",
        {"sources": ["platform/app/telemetry/", "sw-stubs/trnctl/"], "views": ["platform/app/telemetry/"]},
    ),
    "platform/app/telemetry/": BASE + ["platform/app/telemetry/"],
    "platform/app/telemetry_program/": [F, "platform/app/telemetry/", "platform/app/telemetry_program/"],
    **{f"platform/app/trn_{tool}/": [F, "platform/app/telemetry/", "platform/app/telemetry_program/"] for tool in ("ls", "top", "monitor")},
    # Only the file format.
    "platform/app/recording/log/": ["platform/app/recording/log/", F + "config/json.h"],
    "platform/app/": ["platform/", "models/", "sw-stubs/"],
    "platform/embedding/": [F, "platform/embedding/", "models/kinds.h", "models/misuse_rules.h"],
    # Runs without SystemC, in trn-asm.
    "models/neuron_isa/": BASE + ["models/neuron_isa/"],
    **{
        f"models/{wing}/": MODEL + [f"models/{other}/" for other in (wing, *others)]
        for wing, others in WINGS.items()
        if wing != "neuron_isa"
    },
    "models/": MODEL + ["models/"],
    "sw-stubs/host/text/": ["sw-stubs/host/text/"],
    **host("values", "host/text/", "programs/include/"),
    **host("machine", "host/text/", "host/values/"),
    **host("collectives", "host/text/", "host/values/", "host/machine/", "collectives/include/"),
    **host("programs", "host/values/", "host/machine/", "host/collectives/", "programs/include/"),
    **python_imports.ALLOWED,
    "sw-stubs/transports/library/": ["sw-stubs/transports/library/", "sw-stubs/transports/vfio_user/trn_driver_abi.h"]
    + ["sw-stubs/driver/include/", "sw-stubs/library/include/"],
    "sw-stubs/transports/": ["sw-stubs/transports/", "sw-stubs/driver/include/"],
    "sw-stubs/trnctl/": [F + "terminal_text.h", "sw-stubs/trnctl/", "sw-stubs/host/", "sw-stubs/transports/", "sw-stubs/programs/include/"],
    "sw-stubs/driver/include/": ["sw-stubs/driver/include/"],
    "sw-stubs/driver/": ["sw-stubs/driver/"],
    "sw-stubs/collectives/": ["sw-stubs/collectives/", "sw-stubs/driver/"],
    "sw-stubs/programs/": ["sw-stubs/programs/", "sw-stubs/driver/", "sw-stubs/collectives/", "models/neuron_isa/program_set/"],
    "sw-stubs/": ["sw-stubs/"],
    "firmware/": ["firmware/", "trn/"],
}
INCLUDE = re.compile(r'^\s*#\s*include\s+"([^"]+)"', re.M)
PARTS = ("platform/", "models/", "firmware/", "sw-stubs/")


class source_tree:
    """The includes of each project file, with their line numbers."""

    def __init__(self, includes: dict[str, dict[str, int]]) -> None:
        self.files, self.includes = list(includes), includes

    def arrows_between(self, node_of) -> dict[str, dict[str, str]]:
        """node -> node -> one include between them, after files are grouped into nodes by
        `node_of`."""
        arrows = {node_of(name): {} for name in self.files}
        for name, targets in self.includes.items():
            for target, line in targets.items():
                if target in self.includes and node_of(target) != node_of(name):
                    arrows[node_of(name)].setdefault(node_of(target), f"{name}:{line}: includes {target}")
        return arrows


def c_sources() -> source_tree:
    files = [name for name in listed(pathlib.Path(), "*.h", "*.cpp", "*.c") if name.startswith(PARTS)]
    known = set(files)
    public = {name.split("/include/", 1)[1]: name for name in files if "/include/" in name}

    def read(name: str) -> dict[str, int]:
        text = pathlib.Path(name).read_text(encoding="utf-8")
        found = {}
        for match in INCLUDE.finditer(text):
            beside = os.path.normpath(os.path.join(os.path.dirname(name), match[1]))
            target = beside if beside in known else public.get(match[1], match[1])
            if target.startswith(PARTS):
                found.setdefault(target, text.count("\n", 0, match.start(1)) + 1)
        return found

    return source_tree({name: read(name) for name in files})


def python_sources() -> source_tree:
    return source_tree(python_imports.imports(listed(pathlib.Path(), "*.py")))


def folder_of(name: str) -> str:
    """The folder of a file. A main file counts as a folder above its own, because no file includes
    it."""
    return name if os.path.basename(name) in ("main.cpp", "main.c") else os.path.dirname(name)


def unit_of(name: str) -> str:
    return os.path.splitext(name)[0]


def wrong_arrows(tree: source_tree) -> list[str]:
    wrong = []
    for name, targets in tree.includes.items():
        folder = next((f for f in ALLOWED if name.startswith(f)), None)
        if folder is None:
            continue
        wrong += [
            f"{name}:{line}: {folder} may not include {target}"
            for target, line in targets.items()
            if not target.startswith(tuple(ALLOWED[folder]))
        ]
    return wrong


def circles(arrows: dict[str, dict[str, str]]) -> list[list[str]]:
    """Sets of nodes that depend on each other: Tarjan's strongly connected components."""
    number, low, stack, found = {}, {}, [], []

    def visit(node):
        number[node] = low[node] = len(number)
        stack.append(node)
        for target in arrows[node]:
            if target not in number:
                visit(target)
            if target in stack:
                low[node] = min(low[node], low[target])
        if low[node] == number[node]:
            at = stack.index(node)
            if len(stack) - at > 1:
                found.append(sorted(stack[at:]))
            del stack[at:]

    sys.setrecursionlimit(10_000)
    for node in arrows:
        if node not in number:
            visit(node)
    return found


def wrong_pages() -> list[str]:
    """Each wing has a page, and that page says what the wing may include."""
    wings = {path.name for path in pathlib.Path().glob("models/*") if path.is_dir()}
    wrong = [f"models/{wing}/: no wing of this name in check_arrows.py" for wing in sorted(wings - set(WINGS))]
    for wing, others in WINGS.items():
        page = pathlib.Path("models", wing, "README.md")
        said = f"May include: {', '.join(f'`{other}`' for other in others) or 'no other wing'}"
        if page.parent.exists() and (not page.exists() or said not in page.read_text(encoding="utf-8")):
            wrong.append(f"{page}: does not say '{said}'")
    return wrong


def pictures(tree: source_tree) -> dict[str, str]:
    return {
        "architecture.svg": draw_arrows.picture(tree.arrows_between(folder_of)),
        "wings.svg": draw_wings.picture(WINGS, {folder_of(name) for name in tree.files}),
    }


def described(what: str, arrows: dict[str, dict[str, str]]) -> list[str]:
    lines = []
    for circle in circles(arrows):
        lines.append(f"a circle of {len(circle)} {what}: {', '.join(circle)}")
        lines += [f"  {include}" for node in circle for target, include in arrows[node].items() if target in circle]
    return lines


def main() -> int:
    tree, modules = c_sources(), python_sources()
    wrong = wrong_pages()
    for sources, units, folders in ((tree, "units", "folders"), (modules, "modules", "packages")):
        wrong += wrong_arrows(sources)
        wrong += described(units, sources.arrows_between(unit_of)) + described(folders, sources.arrows_between(folder_of))
    option, folder = sys.argv[1:] or (None, None)
    for name, drawn in pictures(tree).items() if option else ():
        file = pathlib.Path(folder, name)
        if option == "--draw":
            file.write_text(drawn, encoding="utf-8")
        elif file.read_text(encoding="utf-8") != drawn:
            wrong.append(f"{file} is stale: run ./dev docs")
    print(
        "\n".join(wrong)
        if wrong
        else f"{len(tree.files) + len(modules.files)} files: every include points the allowed way, and no units or folders form a circle"
    )
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
