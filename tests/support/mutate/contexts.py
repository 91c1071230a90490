# SPDX-License-Identifier: Apache-2.0
"""Tells which tokens of a source are executed: statements of functions and initialisers of constructors, no declarations, tables
and constant expressions."""
from tokens import token

NOT_EXECUTED = {
    "static_assert",
    "_Static_assert",
    "assert",
    "sizeof",
    "alignof",
    "alignas",
    "decltype",
    "noexcept",
    "requires",
    "offsetof",
    "typeid",
    "asm",
    "__attribute__",
    "explicit",
}
CONSTANT_STATEMENT = {"constexpr", "constinit", "static_assert", "_Static_assert", "using", "typedef", "asm", "template", "enum"}
AFTER_PARAMETERS = {"const", "noexcept", "override", "final", "mutable", "try", "volatile", "&", "&&"}
TYPES = {"class", "struct", "union"}


class scopes:
    """executed[i]: token i is executed. starts: tokens that start a statement. blocks: braces of blocks."""

    def __init__(self, tokens: list[token]) -> None:
        self.tokens = tokens
        self.executed = [False] * len(tokens)
        self.starts: list[int] = []
        self.blocks: set[int] = set()
        self.scan(0, len(tokens))

    def scan(self, at: int, end: int) -> None:
        """Declarations of a namespace or class."""
        head = at  # first token of the declaration
        constructor = False  # after the colon of a constructor's initialisers
        while at < end:
            one = self.tokens[at]
            if one.text == ";":
                head, constructor = at + 1, False
            elif one.text == ":" and at > head and self.tokens[at - 1].text in (")", "noexcept"):
                constructor = True
            elif one.text in ("(", "[") and one.partner:
                if constructor:
                    self.expression(at + 1, one.partner)
                else:
                    self.lambdas(at + 1, one.partner)
                at = one.partner
            elif one.text == "{" and one.partner:
                kind = self.kind_of_brace(head, at, constructor)
                if kind == "scope":
                    self.scan(at + 1, one.partner)
                elif kind == "body":
                    self.block(at)
                elif kind == "member":
                    self.expression(at + 1, one.partner)
                elif kind == "values":
                    self.lambdas(at + 1, one.partner)
                at = one.partner
                if kind != "values" and kind != "member":
                    head, constructor = at + 1, False
            at += 1

    def kind_of_brace(self, head: int, at: int, constructor: bool) -> str:
        words = [one.text for one in self.tokens[head:at] if not one.in_template]
        before = self.tokens[at - 1]
        if "namespace" in words or words == ["extern", '"C"']:
            return "scope"
        if "enum" in words and "(" not in words:
            return "enum"
        if constructor:
            return "member" if before.kind == "name" and before.text not in AFTER_PARAMETERS or before.text == ">" else "body"
        if "consteval" in words:
            return "constant"
        if TYPES & set(words) and "(" not in words and "=" not in words:
            return "scope"
        if before.text == ")" or before.text in AFTER_PARAMETERS or ("->" in words and ")" in words):
            return "body"
        return "values"

    def lambdas(self, at: int, end: int) -> None:
        """Values of a declaration: of these, only bodies of lambdas are executed."""
        while at < end:
            one = self.tokens[at]
            if one.text == "{" and self.opens_lambda(at):
                self.block(at)
                at = one.partner
            at += 1

    def opens_lambda(self, at: int) -> bool:
        before = at - 1
        while before > 0 and (
            self.tokens[before].text in ("mutable", "noexcept", "const", "::", "->", "*", "&")
            or self.tokens[before].kind == "name"
            or self.tokens[before].in_template
        ):
            before -= 1
        one = self.tokens[before]
        if one.text == ")" and one.partner:
            opening = self.tokens[one.partner - 1]
            return opening.text == "]" or (opening.in_template and opening.text == ">")
        return one.text == "]" and before == at - 1 and not self.is_subscript(before)

    def is_subscript(self, closing: int) -> bool:
        opening = self.tokens[closing].partner
        return bool(opening) and (self.tokens[opening - 1].kind == "name" or self.tokens[opening - 1].text in (")", "]"))

    def block(self, brace: int) -> None:
        self.blocks.add(brace)
        end = self.tokens[brace].partner or len(self.tokens)
        at = brace + 1
        while at < end:
            at = self.statement(at, end)

    def statement(self, at: int, end: int) -> int:
        """Marks one statement; returns the token after it."""
        one = self.tokens[at]
        if one.text == ";":
            return at + 1
        if one.text == "{" and one.partner:
            self.block(at)
            return one.partner + 1
        if one.text in ("else", "do", "try"):
            return at + 1
        if one.text in ("if", "while", "for", "switch", "catch"):
            opening = at + 1
            while self.tokens[opening].text in ("constexpr", "consteval"):
                opening += 1
            closing = self.tokens[opening].partner if self.tokens[opening].text == "(" else None
            if closing is None:
                return at + 1
            if opening == at + 1 and one.text != "catch":
                self.expression(opening, closing)
            return closing + 1
        if one.text == "case":
            while at < end and self.tokens[at].text != ":":
                at += 1
            return at + 1
        if at + 1 < end and one.kind == "name" and self.tokens[at + 1].text == ":":
            return at + 2  # default, or a label
        stop = self.end_of_statement(at, end)
        words = {self.tokens[number].text for number in range(at, min(at + 4, stop))}
        if one.text in TYPES and "{" in {self.tokens[number].text for number in range(at, stop)} and "=" not in words:
            for number in range(at, stop):
                if self.tokens[number].text == "{":
                    self.scan(number + 1, self.tokens[number].partner)
                    break
        elif one.text in CONSTANT_STATEMENT or (one.text in ("static", "inline") and words & {"constexpr", "const", "constinit"}):
            self.lambdas(at, stop)
        else:
            self.starts.append(at)
            self.expression(at, stop)
        return stop + 1

    def end_of_statement(self, at: int, end: int) -> int:
        while at < end and self.tokens[at].text != ";":
            partner = self.tokens[at].partner
            at = partner + 1 if partner and partner > at and self.tokens[at].text in "([{" else at + 1
        return min(at, end)

    def expression(self, at: int, end: int) -> None:
        while at < end:
            one = self.tokens[at]
            if one.text in NOT_EXECUTED and self.tokens[at + 1].text == "(" and self.tokens[at + 1].partner:
                at = self.tokens[at + 1].partner
            elif one.text == "{" and one.partner and self.opens_lambda(at):
                self.block(at)
                at = one.partner
            elif not one.in_template:
                self.executed[at] = True
            at += 1
