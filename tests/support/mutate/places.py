# SPDX-License-Identifier: Apache-2.0
"""Lists the mutations of a source: for each a piece of text, and the text that runs the mutated code while a switch says so."""
import dataclasses
import re

import contexts
import tokens as lexer
from tokens import token

BINARY = {
    "<": ["<=", ">="],
    "<=": ["<", ">"],
    ">": [">=", "<="],
    ">=": [">", "<"],
    "==": ["!="],
    "!=": ["=="],
    "+": ["-"],
    "-": ["+"],
    "*": ["/"],
    "/": ["*"],
    "%": ["*"],
    "&&": ["||"],
    "||": ["&&"],
}
PRECEDENCE = {
    "*": 12,
    "/": 12,
    "%": 12,
    "+": 11,
    "-": 11,
    "<<": 10,
    ">>": 10,
    "<=>": 9,
    "<": 8,
    "<=": 8,
    ">": 8,
    ">=": 8,
    "==": 7,
    "!=": 7,
    "&": 6,
    "^": 5,
    "|": 4,
    "&&": 3,
    "||": 2,
}
COMPARISONS = {"<", "<=", ">", ">=", "==", "!="}
ENDS_OPERAND = {
    ",",
    ";",
    "?",
    ":",
    "=",
    "+=",
    "-=",
    "*=",
    "/=",
    "%=",
    "&=",
    "|=",
    "^=",
    "<<=",
    ">>=",
    "...",
    "return",
    "throw",
    "case",
    "else",
    "do",
    "co_return",
    "co_yield",
    "goto",
}
ASSIGNMENTS = {"=", "+=", "-=", "*=", "/=", "%=", "&=", "|=", "^=", "<<=", ">>="}
INTEGER = re.compile(r"(?:0[xX][0-9a-fA-F']+|0[bB][01']+|[0-9][0-9']*)(?:[uU]?[lL]{0,2}[uU]?)$")
NO_CALL = {
    "return",
    "throw",
    "delete",
    "goto",
    "break",
    "continue",
    "co_return",
    "co_yield",
    "co_await",
    "new",
    "else",
    "using",
    "typedef",
    "extern",
    "static",
    "const",
    "auto",
    "struct",
    "enum",
    "union",
    "class",
    "assert",
    "SC_HAS_PROCESS",
}


@dataclasses.dataclass
class place:
    file: str
    line: int
    kind: str  # operator, constant, condition, deletion or return
    what: str  # for the reader
    start: int  # the replaced piece of the source
    end: int
    text: str  # its replacement; MUTATED is the switch

    @property
    def key(self) -> str:
        return f"{self.file}:{self.start}:{self.what}:{self.text}"


MUTATED = "TRN_MUTATED"


class finder:
    def __init__(self, file: str, source: str) -> None:
        self.file = file
        self.source = source
        self.is_c = file.endswith(".c")
        self.tokens = lexer.split(source)
        self.scopes = contexts.scopes(self.tokens)
        self.found: list[place] = []
        for number, one in enumerate(self.tokens):
            if self.scopes.executed[number]:
                self.add_operator(number, one)
                self.add_constant(number, one)
                self.add_condition(number, one)
        for start in self.scopes.starts:
            self.add_statement(start)
        self.found.sort(key=lambda one: (one.start, one.end, one.what))

    # ---- Text

    def piece(self, first: int, last: int) -> str:
        """Source of tokens [first, last] as it stands."""
        return self.source[self.tokens[first].start : self.tokens[last].end]

    def line_of(self, first: int, last: int) -> str:
        """The same in one line without comments, for the mutated copy."""
        words, end = [], self.tokens[first].start
        for one in self.tokens[first : last + 1]:
            words += [" "] if one.start > end else []
            words.append(one.text)
            end = one.end
        return "".join(words)

    def add(self, kind: str, what: str, first: int, last: int, text: str, at: int | None = None) -> None:
        start = self.tokens[first].start
        line = self.source.count("\n", 0, self.tokens[first if at is None else at].start) + 1
        self.found.append(place(self.file, line, kind, what, start, self.tokens[last].end, text))

    # ---- Operators

    def operand_before(self, number: int, precedence: int) -> int | None:
        at = number - 1
        while at >= 0:
            one = self.tokens[at]
            if one.text in ")]}" or (one.text in (">", ">>") and one.partner is not None):
                if one.partner is None or (one.text == "}" and one.partner in self.scopes.blocks):
                    break
                at = one.partner
            elif one.text in "([{" or one.text in ENDS_OPERAND or (one.spaced and PRECEDENCE.get(one.text, 99) < precedence):
                break
            at -= 1
        return at + 1 if at + 1 < number else None

    def operand_after(self, number: int, precedence: int) -> int | None:
        at = number + 1
        while at < len(self.tokens):
            one = self.tokens[at]
            if one.text in "([{" or (one.text == "<" and one.partner is not None):
                if one.partner is None:
                    return None
                at = one.partner
            elif one.text in ")]}" or one.text in ENDS_OPERAND or (one.spaced and PRECEDENCE.get(one.text, 99) <= precedence):
                break
            at += 1
        return at - 1 if at - 1 > number else None

    def add_operator(self, number: int, one: token) -> None:
        if one.kind != "operator" or not one.spaced or one.text not in BINARY or one.partner is not None:
            return
        if self.tokens[number - 1].text == "operator":
            return
        first = self.operand_before(number, PRECEDENCE[one.text])
        last = self.operand_after(number, PRECEDENCE[one.text])
        if first is None or last is None or self.source.find("#", self.tokens[first].start, self.tokens[last].end) >= 0:
            return
        if one.text == "+" and any(self.tokens[n].kind == "string" for n in range(first, last + 1)):
            return
        left, right = self.line_of(first, number - 1), self.line_of(number + 1, last)
        for other in BINARY[one.text]:
            self.add(
                "operator",
                f"{one.text} becomes {other}",
                first,
                last,
                f"({MUTATED} ? ({left} {other} {right}) : ({self.piece(first, last)}))",
                number,
            )

    # ---- Constants

    def is_array_bound(self, number: int) -> bool:
        """Whether the token is in the brackets of a declared array."""
        opening = number
        while opening > 0 and self.tokens[opening].text not in ("[", "(", "{", ";", ","):
            opening -= 1
        if self.tokens[opening].text != "[" or self.tokens[opening].partner is None:
            return False
        name, before = self.tokens[opening - 1], self.tokens[opening - 2]
        return name.kind == "name" and (before.kind == "name" or before.text in ("*", ">", "&")) and before.text not in ENDS_OPERAND

    def add_constant(self, number: int, one: token) -> None:
        if one.kind != "number" or not INTEGER.match(one.text) or self.is_array_bound(number):
            return
        for sign in "+-":
            self.add("constant", f"{one.text} becomes {one.text} {sign} 1", number, number, f"({one.text} {sign} {MUTATED})")

    # ---- Conditions

    def add_condition(self, number: int, one: token) -> None:
        """Of if and while: executed brackets that follow the keyword."""
        if one.text != "(" or number == 0 or self.tokens[number - 1].text not in ("if", "while") or one.partner is None:
            return
        first, last = number + 1, one.partner - 1
        at, declares = first, False
        while at <= last:
            if self.tokens[at].text == ";":
                first, declares = at + 1, False
            elif self.tokens[at].text == "=":
                declares = True
            at = self.tokens[at].partner if self.tokens[at].text in OPENING and self.tokens[at].partner else at
            at += 1
        outer = {one.text for one in self.outer(first, last + 1) if one.spaced}
        if declares or (outer & COMPARISONS and not outer & {"&&", "||"}):
            return  # a single comparison has the same mutation
        if first <= last and "#" not in self.piece(first, last):
            self.add(
                "condition",
                f"{self.tokens[number - 1].text} condition is negated",
                first,
                last,
                f"({MUTATED} != !!({self.piece(first, last)}))",
            )

    # ---- Statements

    def add_statement(self, start: int) -> None:
        stop = self.scopes.end_of_statement(start, len(self.tokens))
        if stop >= len(self.tokens) or stop == start or "#" in self.piece(start, stop):
            return
        words = self.tokens[start:stop]
        if words[0].text == "return":
            self.add_return(start, stop)
        elif words[0].text not in NO_CALL and self.is_effect(start, stop):
            shown = self.line_of(start, stop)
            shown = shown if len(shown) <= 60 else shown[:57] + "..."
            self.add("deletion", f"deleted: {shown}", start, stop, f"{{ if (!{MUTATED}) {{ {self.piece(start, stop)} }} }}")

    def outer(self, start: int, stop: int) -> list[token]:
        """The tokens of a statement outside of brackets; closing brackets remain."""
        found, at = [], start
        while at < stop:
            one = self.tokens[at]
            if one.partner is not None and one.partner > at:
                at = one.partner
            found.append(self.tokens[at])
            at += 1
        return found

    def is_effect(self, start: int, stop: int) -> bool:
        """A call, an assignment, or a step of a counter; no declaration."""
        words = self.outer(start, stop)
        for number, one in enumerate(words):
            if one.text in ASSIGNMENTS and number > 0:
                return not is_declaration(words[:number])
        if any(word.text in ("++", "--") for word in (words[0], words[-1])):
            return True
        return words[-1].text == ")" and words[0].kind == "name" and not is_declaration(words)

    def add_return(self, start: int, stop: int) -> None:
        value = self.line_of(start + 1, stop - 1) if stop > start + 1 else ""
        if value in ("", "{}", "nullptr", "NULL", "std::nullopt", "*this", "TRN_OK") or INTEGER.match(value):
            return
        other = {"false": "true", "true": "false"}.get(value, "0" if self.is_c else "{}")
        shown = value if len(value) <= 50 else value[:47] + "..."
        self.add(
            "return",
            f"return {shown} becomes return {other}",
            start,
            stop,
            f"{{ if ({MUTATED}) return {other}; {self.piece(start, stop)} }}",
        )


OPENING = set("([{")


def is_declaration(words: list[token]) -> bool:
    """Whether the words before `=`, or before the end of a call, declare a name: a type is followed by a name."""
    for one, other in zip(words, words[1:]):
        if other.kind == "name" and (one.kind == "name" or (one.text in ("*", "&", "&&", ">", ">>") and one is not words[0])):
            return True
    return words[0].text == "auto"


def find(file: str, source: str) -> list[place]:
    return finder(file, source).found
