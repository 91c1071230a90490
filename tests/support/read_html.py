#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Prints the contents of a report of `trnvp test --html` as JSON: read_html.py FILE"""
import html.parser
import json
import sys

VOID = {"meta", "input", "br", "link", "img"}


class Report(html.parser.HTMLParser):
    def __init__(self):
        super().__init__(convert_charrefs=True)
        self.open, self.wrong, self.outside, self.handlers = [], [], [], []
        self.scripts, self.pictures, self.boards, self.scenarios = [], 0, [], []
        self.figures = []
        self.page = ""

    def inside(self, name, css=None):
        return any(n == name and (css is None or css in c) for n, c in self.open)

    def handle_starttag(self, tag, attributes):
        given = dict(attributes)
        self.outside += [
            v
            for k, v in attributes
            if k in ("src", "href", "data", "action", "xlink:href") and not (v.startswith(("#", "pages/")) or ":" not in v and "/" not in v)
        ]
        self.handlers += [k for k, _ in attributes if k.startswith("on")]
        css = (given.get("class") or "").split()
        if tag == "script":
            self.scripts.append("")
        if tag == "svg":
            self.pictures += 1
        if tag == "tbody" and "data-about" in given:
            self.scenarios.append({"class": css, "cells": [], "message": "", "log": "", "steps": []})
        if self.inside("table", "figures") and self.inside("tbody"):
            if tag == "tr":
                self.figures.append({"cells": [], "dots": []})
            if tag == "td":
                self.figures[-1]["cells"].append("")
            if tag == "circle":
                self.figures[-1]["dots"].append(given["fill"])
        elif self.scenarios and self.inside("tbody"):
            one = self.scenarios[-1]
            if tag == "tr" and self.inside("table", "timeline") and self.open[-1][0] == "tbody":
                one["steps"].append({"cells": [], "class": css})
            if tag == "td":
                cells = one["steps"][-1]["cells"] if self.inside("table", "timeline") else one["cells"]
                cells.append("")
        if tag not in VOID:
            self.open.append((tag, css))

    def handle_startendtag(self, tag, attributes):
        self.handle_starttag(tag, attributes)
        if tag not in VOID:
            self.handle_endtag(tag)

    def handle_endtag(self, tag):
        if not self.open or self.open[-1][0] != tag:
            self.wrong.append(f"{self.getpos()}: </{tag}> closes {self.open[-1:]}")
            return
        self.open.pop()

    def handle_data(self, text):
        self.page += text
        if self.open and self.open[-1][0] == "script":
            self.scripts[-1] += text
        if self.inside("details", "board") and self.open[-1][0] == "summary":
            self.boards.append(text)
        if self.inside("table", "figures"):
            if self.open[-1][0] == "td":
                self.figures[-1]["cells"][-1] += text
            return
        if not self.scenarios:
            return
        one = self.scenarios[-1]
        if self.inside("div", "message"):
            one["message"] += text
        if self.inside("pre", "log"):
            one["log"] += text
        if self.open and self.open[-1][0] in ("td", "a"):
            cells = one["steps"][-1]["cells"] if self.inside("table", "timeline") else one["cells"]
            cells[-1] += text


report = Report()
report.feed(open(sys.argv[1], encoding="utf-8").read())
report.close()
report.wrong += [f"<{tag}> is never closed" for tag, _ in report.open]
for one in report.scenarios:
    one["cells"] = [cell.strip() for cell in one["cells"]]
print(
    json.dumps(
        {name: getattr(report, name) for name in ("wrong", "outside", "handlers", "scripts", "pictures", "boards", "scenarios", "figures")}
    )
)
