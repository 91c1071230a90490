# SPDX-License-Identifier: Apache-2.0
"""Samples of a page: fenced blocks, the commands in them, and commands in the text."""
import dataclasses
import re
from collections.abc import Iterator

FENCE = re.compile(r"^(?P<indent>\s*)```(?P<info>.*)$")
# "```LANGUAGE [FILE] [fails] [not run: REASON]"
INFO = re.compile(
    r"(?P<language>[a-z+]*)(?: (?!not run:|fails(?:$|:| ))(?P<file>[\w./-]+))?(?: (?P<mark>fails|not run)(?:: (?P<reason>\S.*))?)?"
)
NOT_RUN, FAILS = "not run", "fails"
# Commands after "$ " with what they print, and commands alone.
TRANSCRIPT = ("console", "sh")
LANGUAGES = (*TRANSCRIPT, "c", "cpp", "gdb", "json", "python", "text", "trn", "yaml")
SPAN = re.compile(r"(?<!`)`([^`\n]+)`(?!`)")


@dataclasses.dataclass
class Sample:
    line: int  # of the fence
    language: str
    body: list[str]
    file: str = ""
    mark: str = ""
    mistake: str = ""

    @property
    def text(self) -> str:
        return "".join(line + "\n" for line in self.body)


def sample_of(line: int, info: str, body: list[str]) -> Sample:
    parsed = INFO.fullmatch(info.strip())
    if not parsed or bool(parsed["reason"]) != (parsed["mark"] == NOT_RUN):
        return Sample(line, "", body, mistake=f"'{info}' is not LANGUAGE [FILE] [fails | not run: REASON]")
    language = parsed["language"]
    if not language and body and body[0].startswith("$ "):
        language = "console"
    mistake = "" if language in LANGUAGES else f"a sample has a language after its fence: {', '.join(LANGUAGES)}"
    if parsed["mark"] == FAILS and language not in TRANSCRIPT:
        mistake = f"only commands can fail: the mark 'fails' is for {' and '.join(TRANSCRIPT)}"
    if language == "sh" and parsed["file"]:
        language = "text"
    return Sample(line, language, body, parsed["file"] or "", parsed["mark"] or "", mistake)


def samples_of(text: str) -> Iterator[Sample]:
    start, info, body = 0, "", []
    for number, line in enumerate(text.split("\n"), 1):
        fence = FENCE.match(line)
        if fence and not start:
            start, info, body = number, fence["info"], []
        elif fence:
            yield sample_of(start, info, body)
            start = 0
        elif start:
            body.append(line)
    if start:
        yield Sample(start, "", body, mistake="the fence is not closed; all text after it would be a sample")


def spans_of(text: str) -> Iterator[tuple[int, str]]:
    """Words that the text shows as code, with their lines."""
    fenced = False
    for number, line in enumerate(text.split("\n"), 1):
        fenced ^= bool(FENCE.match(line))
        if not fenced:
            yield from ((number, span[1]) for span in SPAN.finditer(line))


def is_complete(command: str) -> bool:
    """Whether no quote, here document or continuation is open."""
    document = re.search(r"<<'?(\w+)'?", command)
    if document:
        return command.endswith("\n" + document[1])
    return not command.endswith("\\") and command.count("'") % 2 == 0 and command.replace('\\"', "").count('"') % 2 == 0


def commands_in(sample: Sample) -> Iterator[tuple[int, str, list[str]]]:
    """Line, command and printed lines of each command."""
    at = 0
    while at < len(sample.body):
        line = sample.line + 1 + at
        text = sample.body[at]
        at += 1
        if sample.language == "console":
            if not text.startswith("$ "):
                raise ValueError(f"line {line} belongs to no command")
            text = text[2:]
        elif not text.strip() or text.startswith("#"):
            continue
        text = re.sub(r"\s+# .*", "", text) if is_complete(text) else text
        while not is_complete(text) and at < len(sample.body):
            text += "\n" + sample.body[at]
            at += 1
        printed = []
        while sample.language == "console" and at < len(sample.body) and not sample.body[at].startswith("$ "):
            printed.append(sample.body[at])
            at += 1
        yield line, text, printed
