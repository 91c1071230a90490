# SPDX-License-Identifier: Apache-2.0
"""Splits C and C++ sources, formatted by the project's clang-format, into tokens with their brackets matched.

The format tells operators from template brackets, declarators and unary operators: a binary operator has white space on both
sides, the others do not.
"""
import dataclasses
import re

TOKEN = re.compile(
    r"""(?P<space>\s+)
    |(?P<comment>//(?:\\\n|[^\n])*|/\*.*?\*/)
    |(?P<raw>(?:u8|[uUL])?R"(?P<mark>[^()\\\s]{0,16})\(.*?\)(?P=mark)"\w*)
    |(?P<string>(?:u8|[uUL])?"(?:\\.|[^"\\\n])*"\w*)
    |(?P<char>(?:u8|[uUL])?'(?:\\.|[^'\\\n])+')
    |(?P<number>\.?\d(?:'?[\w.]|(?<=[eEpP])[+-])*)
    |(?P<name>[A-Za-z_]\w*)
    |(?P<operator><=>|<<=|>>=|\.\.\.|->\*|::|->|\+\+|--|<<|>>|<=|>=|==|!=|&&|\|\||[-+*/%&|^]=|\#\#|.)""",
    re.X | re.S,
)
DIRECTIVE = re.compile(r"[ \t]*\#(?:/\*.*?\*/|\\\n|[^\n])*", re.S)
OPEN = {"(": ")", "[": "]", "{": "}"}


@dataclasses.dataclass
class token:
    kind: str  # string, char, number, name or operator
    text: str
    start: int  # offsets in the source
    end: int
    spaced: bool = False  # white space or a comment on both sides
    partner: int | None = None  # number of the matching bracket
    in_template: bool = False  # between template brackets


def split(source: str) -> list[token]:
    """The tokens of a source without comments and preprocessor lines."""
    tokens, at, line_starts = [], 0, True
    while at < len(source):
        directive = DIRECTIVE.match(source, at) if line_starts else None
        found = directive or TOKEN.match(source, at)
        kind = None if directive else found.lastgroup
        text = found.group()
        line_starts = "\n" in text if kind == "space" else (line_starts and kind == "comment") or directive is not None
        if kind == "mark":
            kind = "raw"
        if kind not in ("space", "comment", None):
            around = source[at - 1 : at].isspace() and source[found.end() : found.end() + 1].isspace()
            tokens.append(token("string" if kind == "raw" else kind, text, at, found.end(), around))
        at = found.end()
    match_brackets(tokens)
    match_template_brackets(tokens)
    return tokens


def match_brackets(tokens: list[token]) -> None:
    stack = []
    for number, one in enumerate(tokens):
        if one.kind != "operator":
            continue
        if one.text in OPEN:
            stack.append(number)
        elif one.text in OPEN.values() and stack and OPEN[tokens[stack[-1]].text] == one.text:
            one.partner = stack.pop()
            tokens[one.partner].partner = number


def match_template_brackets(tokens: list[token]) -> None:
    number = 0
    while number < len(tokens):
        if is_template_bracket(tokens, number):
            match_template_from(tokens, number)
        number += 1
    inside = 0
    for number, one in enumerate(tokens):
        if one.text == "<" and one.partner is not None:
            inside = max(inside, one.partner)
        one.in_template = number < inside or (one.text in (">", ">>") and one.partner is not None)


def is_template_bracket(tokens: list[token], number: int) -> bool:
    one = tokens[number]
    return (
        one.text == "<"
        and one.partner is None
        and not one.spaced
        and number > 0
        and tokens[number - 1].kind == "name"
        and tokens[number - 1].text != "operator"
    )


def match_template_from(tokens: list[token], first: int) -> None:
    """Pairs `<` with its `>`; the `>>` of two template lists is the partner of both."""
    stack, number = [first], first + 1
    while number < len(tokens) and stack:
        one = tokens[number]
        if one.text in OPEN and one.partner is not None:
            number = one.partner
        elif one.text in OPEN.values() or one.text == ";":
            return
        elif is_template_bracket(tokens, number):
            stack.append(number)
        elif one.text in (">", ">>") and not one.spaced:
            for _ in one.text[: len(stack)]:
                one.partner = stack.pop()
                tokens[one.partner].partner = number
        number += 1
