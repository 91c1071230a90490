#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Checks references in documents and comments: links and anchors, cited sections of doc/spec, paths of
files, names in them, licenses, line lengths, cells of tables, and that the index of a folder (README.md) names
each of its pages.

    check_docs.py           prints file:line and the violation; status 1 on violations
    check_docs.py --link    first turns plain citations in documents ("contract 6.3") into links
"""
import pathlib
import re
import sys

from project_files import listed

ROOT = pathlib.Path(__file__).resolve().parents[2]
MAX_LINE, MAX_CELL = 140, 300  # characters
# Citation of a specification: words before the section number -> file in doc/spec.
CITED_AS = {
    "contract": "device-contract.md",
    "EFA contract": "efa-contract.md",
    "hardware facts": "hardware-facts.md",
    "NeuronCore spec": "neuron-core.md",
}
NUMBER = r"\d+(?:\.\d+)*"
CITATION = re.compile(
    r"(?<!\[)\b(?P<words>EFA contract|(?<!EFA )[Cc]ontract|[Hh]ardware facts|NeuronCore spec) "
    rf"(?P<list>{NUMBER}(?:-\d+)?(?:(?:, | and ){NUMBER})*)\b"
)
LINK = re.compile(r"\[(?P<text>[^\]\[]*)\]\((?P<target>[^)\s]+)\)")
# A file or folder of the project; patterns and placeholders (`models/<wing>/`, `doc/PAGE.md`) are none.
PATH = re.compile(r"(?<![\w/.-])(?:cmake|doc|firmware|models|platform|scenarios|sw-stubs|tests)/[\w./-]*[\w/](?![\w<>*{$%-]|\.\w)")
FENCE = re.compile(r"^\s*```")


def tracked(*patterns: str) -> list[str]:
    return listed(ROOT, *patterns)


def read(name: str) -> str:
    return (ROOT / name).read_text(encoding="utf-8", errors="replace")


def specification(words: str) -> str:
    return CITED_AS[words[0].lower() + words[1:] if words[0] in "CH" else words]


def without_code(text: str) -> str:
    """Blanks code blocks and `code`; keeps the numbers of lines and characters."""
    lines, fenced = [], False
    for line in text.split("\n"):
        fence = FENCE.match(line)
        if fence:
            fenced = not fenced
        lines.append(" " * len(line) if fenced or fence else re.sub(r"`[^`]*`", lambda m: " " * len(m[0]), line))
    return "\n".join(lines)


def without_blocks(text: str) -> str:
    """Blanks code blocks; keeps the numbers of lines."""
    return re.sub(r"^```.*?^```", lambda block: "\n" * block[0].count("\n"), text, flags=re.M | re.S)


def only_code(text: str) -> str:
    """Only what is in `backticks`, at its lines."""
    return "\n".join(" ".join(re.findall(r"`([^`]*)`", line)) for line in without_blocks(text).split("\n"))


def anchors(text: str) -> set[str]:
    """Anchors that GitHub generates from headings, and explicit ones."""
    found = set(re.findall(r'<a id="([^"]+)"', text))
    counts: dict[str, int] = {}
    for heading in re.findall(r"^#{1,6} (.*)$", without_blocks(text), flags=re.M):
        slug = re.sub(r"<[^>]*>|[^\w\- ]", "", heading).strip().lower().replace(" ", "-")
        count = counts.get(slug, 0)
        counts[slug] = count + 1
        found.add(f"{slug}-{count}" if count else slug)
    return found


class checker:
    def __init__(self) -> None:
        self.wrong: list[str] = []
        self.anchors_of: dict[str, set[str]] = {}

    def anchors_in(self, name: str) -> set[str]:
        if name not in self.anchors_of:
            self.anchors_of[name] = anchors(read(name))
        return self.anchors_of[name]

    def report(self, name: str, text: str, at: int, what: str) -> None:
        self.wrong.append(f"{name}:{text.count(chr(10), 0, at) + 1}: {what}")

    def links(self, name: str, text: str) -> None:
        for link in LINK.finditer(text):
            target, _, anchor = link["target"].partition("#")
            if re.match(r"[a-z]+:", target):
                continue
            path = (ROOT / name).parent / target if target else ROOT / name
            if not path.exists():
                self.report(name, text, link.start(), f"link to {target}, which does not exist")
            elif anchor and path.suffix == ".md":
                there = path.resolve().relative_to(ROOT).as_posix()
                if anchor not in self.anchors_in(there):
                    self.report(name, text, link.start(), f"link to {there}#{anchor}, which has no such anchor")

    def index(self, name: str, text: str) -> None:
        folder, _, file = name.rpartition("/")
        if not folder or file != "README.md":
            return
        named = {link["target"].partition("#")[0] for link in LINK.finditer(text)} | {file}
        below = [page for page in tracked(f":(glob){folder}/**/*.md") if page != name]
        indexed = tuple(page.rpartition("/")[0] + "/" for page in below if page.endswith("/README.md"))
        for page in below:
            if not page.startswith(indexed) and (shown := page[len(folder) + 1 :]) not in named:
                self.report(name, text, 0, f"has no link to {shown}")

    def citations(self, name: str, text: str, linked: bool) -> None:
        for citation in CITATION.finditer(text):
            spec = "doc/spec/" + specification(citation["words"])
            for number in re.findall(NUMBER, citation["list"].split("-")[0]):
                if f"s{number}" not in self.anchors_in(spec):
                    self.report(name, text, citation.start(), f"{spec} has no section {number}")
            if not linked:
                self.report(name, text, citation.start(), f"'{citation[0]}' is not a link: run ./dev docs")

    def paths(self, name: str, text: str, only: str = "") -> None:
        """Each path in `text` that begins with `only` exists; its end may be left out, as in doc/decisions/0009."""
        for path in PATH.finditer(text):
            known = [path[0], re.sub(r"_regs\.h$", ".regs.yaml", path[0])]
            if (
                path[0].startswith(only)
                and not re.search(r"[A-Z]{3}", path[0].replace("README", ""))
                and not any(next(ROOT.glob(one.rstrip("/") + "*"), None) for one in known)
            ):
                self.report(name, text, path.start(), f"{path[0]} does not exist")

    def names(self, name: str, text: str) -> None:
        """Each `name` after "`FILE`: `" occurs in that file, up to the next file or the end of the paragraph or item.
        A file is named from the root or from the folder of the page; the files on pages of wings exist."""
        file = pathlib.Path()
        for number, line in enumerate(without_blocks(text).split("\n"), 1):
            if re.match(r"\s*(?:$|\d+\.|[-*|#])", line):
                file = pathlib.Path()
            for code, named in re.findall(r"`([^`]*)`(:(?: (?=`)|$))?", line):
                if "/" in code:
                    places = ((ROOT / name).parent / code, ROOT / code) if re.fullmatch(r"[\w./-]+", code) else ()
                    file = next((one for one in places if one.exists()), pathlib.Path())
                    if file == pathlib.Path() and re.fullmatch(r"models/\w+/README.md", name):
                        self.wrong.append(f"{name}:{number}: {code} does not exist")
                    file = file if named else pathlib.Path()
                elif file.is_file() and code.isidentifier() and not re.search(rf"\b{code}\b", file.read_text(encoding="utf-8")):
                    self.wrong.append(f"{name}:{number}: {file.relative_to(ROOT)} has no {code}")

    def license(self, name: str, text: str) -> None:
        if not name.endswith(".order") and "SPDX-License-Identifier: Apache-2.0" not in text[:200]:
            self.report(name, text, 0, "does not begin with its license")

    def cells(self, name: str, text: str) -> None:
        """Longer cells are paragraphs: they belong below the table, or into rows of their own."""
        for number, line in enumerate(re.sub(r"\]\([^)\s]+\)", "]", text).split("\n"), 1):
            if not line.lstrip().startswith("|"):
                continue
            longest = max(len(cell.strip()) for cell in re.split(r"(?<!\\)\|", line))
            if longest > MAX_CELL:
                self.wrong.append(f"{name}:{number}: a cell of {longest} characters, more than {MAX_CELL}")

    def lengths(self, name: str, text: str) -> None:
        """Checks prose as rendered: skips tables, link targets and generated parts."""
        generated = False
        for number, line in enumerate(re.sub(r"\]\([^)\s]+\)", "]", text).split("\n"), 1):
            if line.startswith(("<!-- registers:", "<!-- steps:", "<!-- commands:", "<!-- methods:")):
                generated = "generated" in line
            if len(line.rstrip()) > MAX_LINE and not generated and not line.lstrip().startswith("|"):
                self.wrong.append(f"{name}:{number}: {len(line)} characters, more than {MAX_LINE}")


def link_citations(name: str) -> None:
    text = read(name)
    prose = without_code(text)
    up = "../" * (len(pathlib.PurePosixPath(name).parts) - 1)
    out, done = "", 0
    for citation in CITATION.finditer(prose):
        page = f"{up}doc/spec/{specification(citation['words'])}".replace("../doc/", "", 1)
        first, *rest = re.split(r"(, | and )", citation["list"])
        linked = f"[{citation['words']} {first}]({page}#s{first.split('-')[0]})"
        for part in rest:
            linked += part if part in (", ", " and ") else f"[{part}]({page}#s{part})"
        out += text[done : citation.start()] + linked
        done = citation.end()
    if done:
        (ROOT / name).write_text(out + text[done:], encoding="utf-8")


def main() -> int:
    documents = [name for name in tracked("*.md") if not name.startswith("doc/spec/")]
    if "--link" in sys.argv[1:]:
        for name in documents:
            link_citations(name)
    check = checker()
    for name in documents + tracked("doc/spec/*.md"):
        text = without_code(read(name))
        check.links(name, text)
        check.index(name, text)
        check.citations(name, text, linked=name.startswith("doc/spec/"))
        check.lengths(name, text)
        check.cells(name, read(name))
        check.names(name, read(name))
        if name != "CHANGELOG.md":
            check.paths(name, only_code(read(name)))
    for name in tracked("*.h", "*.cpp", "*.c", "*.S", "*.py", "*.yaml", "*.sh", "*.order", "*CMakeLists.txt"):
        if name != "tests/support/check_docs.py":
            check.license(name, read(name))
            check.citations(name, read(name), linked=True)
            if not name.startswith("tests/integration/"):  # samples of documents
                check.paths(name, read(name), only="doc/")
    for name in tracked("Containerfile"):
        for command in re.findall(r'"?\./dev"?,? "?(\w+)', read(name)):
            if f"./dev {command}" not in read("README.md"):
                check.wrong.append(f"{name}: ./dev {command} is no command of README.md")
    print("\n".join(check.wrong) if check.wrong else f"{len(documents)} documents: links, citations and lines are right")
    return 1 if check.wrong else 0


if __name__ == "__main__":
    sys.exit(main())
