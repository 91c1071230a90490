#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Checks words: doc/glossary.md defines each term once, and comments, strings and documents use the term
instead of each of its words after "Not:". Prints file:line and the violation; status 1 on violations.
"""
import pathlib
import re
import sys

from project_files import listed

ROOT = pathlib.Path(__file__).resolve().parents[2]
GLOSSARY = "doc/glossary.md"
SOURCES = ["*.h", "*.cpp", "*.c", "*.S", "*.py", "*.yaml", "*.sh", "*.md", "*.trn", "*.css", "*.js"]
# Specifications have the words of their sources. A change of the text of firmware and registers changes its images.
OTHERS_WORDS = re.compile(r"doc/spec/|firmware/.*\.[chS]$|.*\.regs\.yaml$")
ENTRY = re.compile(r"^- \*\*(?:.|\n(?!- |\n|#))*", re.M)
STRING = r'"(?:\\.|[^"\\\n])*"'
TEXTS = (
    {  # what of a file is text for readers
        ".py": re.compile(rf'""".*?"""|{STRING}|\'(?:\\.|[^\'\\\n])*\'|#[^\n]*', re.S),
        ".yaml": re.compile(rf"{STRING}|#[^\n]*"),
        ".md": re.compile(r"(?:\A|<!-- registers: end).*?(?=<!-- registers: generated|\Z)", re.S),
    }
    | dict.fromkeys((".h", ".cpp", ".c", ".js", ".css"), re.compile(rf"{STRING}|//[^\n]*|/\*.*?\*/|'(?:\\.|[^'\\\n])'", re.S))
    | dict.fromkeys((".sh", ".trn", ".S"), re.compile(r"#[^\n]*|/\*.*?\*/", re.S))
)


def only_text(name: str, source: str) -> str:
    """Blanks everything else; keeps the numbers of lines."""
    out, done = [], 0
    for part in TEXTS[pathlib.PurePath(name).suffix].finditer(source):
        out += [re.sub(r"[^\n]", " ", source[done : part.start()]), part[0]]
        done = part.end()
    return "".join(out)


def pattern_of(word: str) -> str:
    """Also across lines of a comment or string. In small letters, it stands for capitals too; a plural counts."""
    words = r'[\s"/*#]+'.join(map(re.escape, word.split()))
    return rf"(?{'i' if word.islower() else ''}:(?<![\w-]){words}s?(?![\w-]))"


class Glossary:
    def __init__(self, text: str) -> None:
        self.wrong: list[str] = []
        self.instead: dict[str, str] = {}  # word -> term
        defined: dict[str, int] = {}
        for entry in ENTRY.finditer(text):
            line = text.count("\n", 0, entry.start()) + 1
            body, *refused = re.split(r"\bNot: ", " ".join(entry[0].split()))
            terms = [term for bold in re.findall(r"\*\*(.+?)\*\*", body) for term in re.split(r", | / ", bold)]
            for term in terms:
                if defined.setdefault(term, line) != line:
                    self.wrong.append(f"{GLOSSARY}:{line}: {term} is also defined in line {defined[term]}")
            for word in (one.strip(" .") for part in refused for one in part.split(",")):
                self.instead[word] = terms[0]


def main() -> int:
    glossary = Glossary((ROOT / GLOSSARY).read_text(encoding="utf-8"))
    wrong = list(glossary.wrong)
    if not glossary.instead:
        wrong.append(f"{GLOSSARY}: no entry has 'Not: WORD'")
    any_word = re.compile("|".join(f"({pattern_of(word)})" for word in glossary.instead) or r"(?!)")
    terms = list(glossary.instead.items())
    files = listed(ROOT, *SOURCES)
    for name in files:
        if name == GLOSSARY or OTHERS_WORDS.match(name):
            continue
        source = (ROOT / name).read_text(encoding="utf-8", errors="replace")
        if any_word.search(source) is None:
            continue
        text = only_text(name, source)
        for found in any_word.finditer(text):
            word, term = terms[(found.lastindex or 1) - 1]
            wrong.append(f"{name}:{text.count(chr(10), 0, found.start()) + 1}: '{word}': {GLOSSARY} says '{term}'")
    print("\n".join(wrong) if wrong else f"{len(files)} files use the words of the glossary")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
