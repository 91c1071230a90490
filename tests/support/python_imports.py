# SPDX-License-Identifier: Apache-2.0
"""Imports between the project's Python modules, and the packages of sw-stubs/python that may import each other."""
import ast
import collections
import os
import pathlib
import sys

PYTHON = "sw-stubs/python/"
ROOTS = ("", "tests/support", "sw-stubs/python")

# Package of trn_nki -> the packages that it may import.
PACKAGES = {
    "diagnostics": [],
    "values": ["diagnostics"],
    "tensors": ["diagnostics", "values"],
    "checks": ["diagnostics", "values", "tensors"],
    "trace": ["diagnostics", "values", "tensors", "checks"],
    "simulate": ["diagnostics", "values", "tensors", "checks", "trace"],
    "compile": ["diagnostics", "values", "tensors", "checks", "trace"],
    "run": ["diagnostics", "values", "checks", "trace", "simulate", "compile"],
    "profile": ["compile", "run"],
}


def _folders(*packages: str) -> list[str]:
    return [f"{PYTHON}trn_nki/{name}/" for name in packages]


# File or folder -> prefixes that it may import; the first match applies, as in check_arrows.py.
ALLOWED = {
    f"{PYTHON}trn_nki/run/tools.py": [f"{PYTHON}trnvp/"],
    **{f"{PYTHON}trn_nki/{name}/": _folders(name, *others) for name, others in PACKAGES.items() if name != "profile"},
    f"{PYTHON}trn_nki/profile/": [*_folders("profile", *PACKAGES["profile"]), f"{PYTHON}trnvp_control/"],
    f"{PYTHON}trn_nki/command.py": [*_folders(*PACKAGES), f"{PYTHON}trn_nki/manuals.py"],
    # Hands what runs and simulates a kernel to the functions of the package.
    f"{PYTHON}nki/__init__.py": [f"{PYTHON}nki/", *_folders("diagnostics", "trace", "simulate", "run")],
    f"{PYTHON}nki/": [f"{PYTHON}nki/", *_folders(*PACKAGES["trace"], "trace")],
    f"{PYTHON}trnvp/": [f"{PYTHON}trnvp/", f"{PYTHON}trnvp_control/"],
    PYTHON: [],
}


class _Modules:
    def __init__(self, files: list[str]) -> None:
        self.files = set(files)
        self.by_name = collections.defaultdict(list)  # first word of an import -> folders that have it
        for name in files:
            module = name.removesuffix("/__init__.py").removesuffix(".py")
            self.by_name[os.path.basename(module)].append(os.path.dirname(module))

    def file(self, folder: str, words: list[str]) -> str | None:
        path = os.path.normpath(os.path.join(folder, *words))
        return next((name for name in (f"{path}.py", f"{path}/__init__.py") if name in self.files), None)

    def folder(self, name: str, first: str) -> str | None:
        """The folder in which an import of `name` finds its first word: that of the script, a root, or the only one."""
        for folder in (os.path.dirname(name), *ROOTS):
            if self.file(folder, [first]):
                return folder
        others = self.by_name.get(first, [])
        return others[0] if len(others) == 1 and first not in sys.stdlib_module_names else None

    def targets(self, name: str, node: ast.AST) -> list[str]:
        """Files that an import statement names."""
        if isinstance(node, ast.Import):
            paths = [(alias.name.split("."), []) for alias in node.names]
        elif isinstance(node, ast.ImportFrom):
            words = node.module.split(".") if node.module else []
            paths = [(words, [alias.name]) for alias in node.names]
        else:
            return []
        level = getattr(node, "level", 0)
        found = []
        for words, last in paths:
            if level:
                folder = os.path.normpath(os.path.join(os.path.dirname(name), *[".."] * (level - 1)))
            else:
                folder = self.folder(name, words[0])
            if folder is not None:
                found.append(self.file(folder, [*words, *last]) or self.file(folder, words))
        return [file for file in found if file]


def imports(files: list[str]) -> dict[str, dict[str, int]]:
    """File -> file that it imports -> line. A package's own file counts only where a name is imported from it."""
    modules = _Modules(files)
    found = {name: {} for name in files}
    for name in files:
        for node in ast.walk(ast.parse(pathlib.Path(name).read_text(encoding="utf-8"), name)):
            for target in modules.targets(name, node):
                if target != name:
                    found[name].setdefault(target, node.lineno)
    return found
