# SPDX-License-Identifier: Apache-2.0
"""Manual pages and completions of trn-nki, from its option tables, as those of the other programs (doc/installing.md)."""
from __future__ import annotations

import argparse
import pathlib
import shlex


def commands(parser: argparse.ArgumentParser) -> dict[str, tuple[str, argparse.ArgumentParser]]:
    """Description and parser of each command that --help lists."""
    for action in parser._actions:
        if isinstance(action, argparse._SubParsersAction):
            return {str(choice.dest): (choice.help or "", action.choices[choice.dest]) for choice in action._choices_actions}
    return {}


def _words(line: str) -> list[str]:
    """The words of a shell's line, whose last word, which may be "", may have an open quote."""
    for end in ("x", "x'", 'x"'):
        try:
            words = shlex.split(line + end)
        except ValueError:
            continue
        return [*words[:-1], words[-1].removesuffix("x")]
    return [""]


def completions(parser: argparse.ArgumentParser, line: str) -> list[tuple[str, str]]:
    """What the last word of an unfinished line may become, with descriptions."""
    *given, typed = _words(line)
    joined = ""
    if typed.startswith("--") and "=" in typed:
        name, _, typed = typed.partition("=")
        given.append(name)
        joined = name + "="
    known = commands(parser)
    command = next((known[word][1] for word in given[1:] if word in known), None)
    found = [(name, text) for name, (text, _) in known.items()] if command is None else []
    options = [action for action in (command or parser)._actions if action.option_strings]
    value = next((action for action in options if given and given[-1] in action.option_strings and action.nargs != 0), None)
    if value is not None:
        found = [(str(choice), "") for choice in value.choices or ()]
    elif typed.startswith("-"):
        found += [(action.option_strings[-1], action.help or "") for action in options]
    return sorted((joined + word, text) for word, text in found if word.startswith(typed))


def write(parser: argparse.ArgumentParser, folder: pathlib.Path, version: str) -> None:
    """Writes FOLDER/man1/NAME.1, and NAME-COMMAND.1 of each command. Raises OSError."""
    name = parser.prog
    pages = {f"man1/{name}.1": _page(parser, parser.description or "", version)}
    for command, (text, inner) in commands(parser).items():
        pages[f"man1/{name}-{command}.1"] = _page(inner, text, version)
    for file, text in pages.items():
        (folder / file).parent.mkdir(parents=True, exist_ok=True)
        (folder / file).write_text(text)


def _troff(text: str) -> str:
    escaped = text.replace("\\", "\\e").replace("-", "\\-").replace("`", "\\`")
    return "\n".join("\\&" + line if line.startswith((".", "'")) else line for line in escaped.split("\n"))


def _option(action: argparse.Action) -> str:
    names = ", ".join(rf"\fB{_troff(name)}\fR" for name in action.option_strings) or rf"\fB{_troff(str(action.metavar))}\fR"
    value = action.metavar or (f"{{{','.join(map(str, action.choices))}}}" if action.choices else action.dest.upper())
    if action.option_strings and action.nargs != 0:
        names += rf" \fI{_troff(str(value))}\fR"
    return f".TP\n{names}\n{_troff(action.help or '') or '.br'}\n"


def _page(parser: argparse.ArgumentParser, about: str, version: str) -> str:
    page = parser.prog.replace(" ", "-")
    usage = " ".join(parser.format_usage().split()).removeprefix("usage: ")
    text = f'.TH {_troff(page.upper())} 1 "" "trnvp {version}" "trnvp"\n.SH NAME\n{_troff(page)} \\- {_troff(about)}\n'
    text += f".SH SYNOPSIS\n{_troff(usage)}\n.SH OPTIONS\n"
    text += "".join(_option(action) for action in parser._actions if not isinstance(action, argparse._SubParsersAction))
    if known := commands(parser):
        text += ".SH COMMANDS\nEach has a page of its own.\n"
        for name, (said, _) in known.items():
            text += f".TP\n\\fB{_troff(page)}\\-{_troff(name)}\\fR(1)\n{_troff(said)}\n"
    examples = (parser.epilog or "").removeprefix("examples:\n")
    return text + f".SH EXAMPLES\n.nf\n{_troff(examples)}\n.fi\n"
