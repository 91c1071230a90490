# SPDX-License-Identifier: Apache-2.0
"""A profile as one HTML page that needs neither a server nor a network."""
from __future__ import annotations

import html
import json
import math
import os
import pathlib
from typing import Any, Iterable

from trn_nki.profile import analysis
from trn_nki.profile.drawing import drawing_of
from trn_nki.profile.records import Cause, Engine, Instruction, Profile, Wait
from trn_nki.profile.sources import Source, sources_of
from trn_nki.profile.tables import tables_of
from trn_nki.profile.verdict import mean_packet

MAX_TABLE = 100  # rows of a displayed table
MAX_ENGINES = 320
TOP_LINES = 10
_HERE = pathlib.Path(__file__).parent
_PARTS = (
    [("busy", "busy")]
    + [(cause.value, f"lost: {cause.value}") for cause in Cause]
    + [("control", "control instructions"), ("other", "issue, wake-up"), ("outside", "not started, halted")]
)


def html_of(profile: Profile) -> str:
    tables = tables_of(profile, ("Summary", "TrnMatmulType", "DmaQueuesInfo", "CcInstruction", "OpcodeSummary", "Error"))
    drawing = drawing_of(profile)
    accounts = analysis.accounts_of(profile)
    summary = tables["Summary"][0]
    sections = [
        _section("overview", "Overview", _verdict(summary) + _cards(profile, summary, accounts) + _notes(profile, drawing)),
        _section("timeline", "Timeline", _timeline()),
        _section("engines", "Engines: where the time went", _engines(profile, accounts)),
        _section("lines", "Cost by line of source", _lines(profile)),
        _section("flops", "FLOPs and roofline", _matmuls(tables["TrnMatmulType"]) + _roofline(profile)),
        _section("dma", "DMA queues", _queues(tables["DmaQueuesInfo"], profile)),
        _section("collectives", "Collectives", _collectives(tables["CcInstruction"])),
        _section("opcodes", "Instructions by opcode", _opcodes(tables["OpcodeSummary"])),
        _section("waits", "Longest waits", _longest_waits(profile)),
        _section("errors", "Errors", _errors(tables["Error"])),
    ]
    data = json.dumps(drawing, separators=(",", ":")).replace("<", "\\u003c")
    title = f"Profile of {profile.name}"
    style, script = ((_HERE / name).read_text() for name in ("page.css", "page.js"))
    return f"""<!DOCTYPE html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta http-equiv="Content-Security-Policy" content="default-src 'none'; style-src 'unsafe-inline'; script-src 'unsafe-inline'">
<meta name="viewport" content="width=device-width">
<title>{html.escape(title)}</title>
<style>
{style}</style>
</head>
<body>
<header><h1>{html.escape(title)}</h1><p>{_about(profile)}</p></header>
{"".join(sections)}
<script type="application/json" id="data">{data}</script>
<script>
{script}</script>
</body>
</html>
"""


# -- Text


def _about(profile: Profile) -> str:
    cores = ", ".join(f"{chip}.nc{core}" for chip, core in profile.cores)
    name = {2: "Trainium1", 3: "Trainium2", 4: "Trainium3"}.get(profile.engines[0].generation, "")
    execution = f"; execution {profile.number} of {len(profile.executions)}" if len(profile.executions) > 1 else ""
    return html.escape(f"{name} {cores}{execution}. Times are simulated.")


def time_text(ps: float) -> str:
    for unit, size in (("ms", 10**9), ("us", 10**6), ("ns", 10**3)):
        if abs(ps) >= size:
            return f"{ps / size:.4g} {unit}" if ps / size < 1000 else f"{ps / size:,.0f} {unit}"
    return f"{ps:.0f} ps" if ps else "0"


def amount_text(value: float | None, unit: str) -> str:
    """Powers of 1000: 78.64 TFLOP/s."""
    if value is None:
        return "–"
    for prefix, size in (("P", 1e15), ("T", 1e12), ("G", 1e9), ("M", 1e6), ("k", 1e3)):
        if abs(value) >= size:
            return f"{value / size:.4g} {prefix}{unit}"
    return f"{value:.4g} {unit}"


def _section(name: str, title: str, body: str) -> str:
    return f'<section id="{name}"><h2>{title}</h2>\n{body}</section>\n' if body else ""


def _cell(text: str, value: Any = None, css: str = "") -> str:
    data = f' data-value="{html.escape(str(value))}"' if value is not None else ""
    kind = f' class="{css}"' if css else ""
    return f"<td{kind}{data}>{text}</td>"


def _number(text: str, value: Any) -> str:
    return _cell(text, value, "number")


def _table(heads: Iterable[str], rows: list[str], total: int | None = None) -> str:
    """Columns whose heads end in # hold numbers."""
    shown = "".join(f"<tr>{row}</tr>\n" for row in rows)
    more = f"<p class=note>{len(rows)} of {total} rows; the JSON has all.</p>" if total is not None and total > len(rows) else ""
    return (
        f"<div class=scroll><table><thead><tr>{''.join(_head(head) for head in heads)}</tr></thead>\n"
        f"<tbody>\n{shown}</tbody></table></div>{more}\n"
    )


def _head(text: str) -> str:
    return f"<th class=number>{text[:-1]}</th>" if text.endswith("#") else f"<th>{text}</th>"


# -- Sections


def _verdict(summary: dict[str, Any]) -> str:
    return f'<p id=verdict>{html.escape(summary["trn_verdict"])}</p>\n'


def _cards(profile: Profile, summary: dict[str, Any], accounts: list[analysis.Account]) -> str:
    busiest = max(accounts, key=lambda a: a.busy)
    packet = mean_packet(profile)
    cards = [
        ("duration", "duration", time_text(profile.duration), profile.duration),
        ("hfu", "FLOPs utilisation, of BF16 peak", f"{summary['hfu_estimated_percent']:.1f} %", summary["hfu_estimated_percent"]),
        ("mbu", "HBM bandwidth utilisation", f"{summary['mbu_estimated_percent']:.1f} %", summary["mbu_estimated_percent"]),
        (
            "busiest",
            "busiest engine",
            f"{busiest.engine.name}, {100 * busiest.busy / profile.duration:.1f} %",
            100 * busiest.busy / profile.duration,
        ),
        ("packet", "bytes per DMA packet", amount_text(packet, "B"), packet),
        (
            "hbm",
            "HBM bytes read, written",
            f"{amount_text(summary['hbm_read_bytes'], 'B')}, {amount_text(summary['hbm_write_bytes'], 'B')}",
            summary["hbm_read_bytes"] + summary["hbm_write_bytes"],
        ),
        ("flops", "Tensor FLOPs", amount_text(summary["hardware_flops"], "FLOP"), summary["hardware_flops"]),
        ("dma", "time with DMA", f"{summary['dma_active_time_percent']:.1f} %", summary["dma_active_time_percent"]),
    ]
    return (
        "<div class=cards>"
        + "".join(
            f'<div class=card id="card-{key}" data-value="{value}"><b>{html.escape(text)}</b><span>{label}</span></div>'
            for key, label, text, value in cards
        )
        + "</div>\n"
    )


def _notes(profile: Profile, drawing: dict[str, Any]) -> str:
    return "".join(f"<p class=note>{html.escape(text)}</p>" for text in profile.warnings + drawing["notes"])


def _timeline() -> str:
    return """<p class=note>Drag: move. Ctrl and wheel, W and S: zoom. A and D: move. Double click: zoom to a span.
Click: keep its details and show the instruction that it waited for.
<button id=fit>whole</button> <button id=closer aria-label="zoom in">+</button> <button id=further aria-label="zoom out">−</button>
<span id=range></span></p>
<div id=plot><canvas id=canvas tabindex=0></canvas><div id=tip hidden></div></div>
<div id=legend></div><div id=details class=note></div>
<p class=note id=drawn></p>
"""


def _engines(profile: Profile, accounts: list[analysis.Account]) -> str:
    legend = "".join(f'<span><i class="c-{key}"></i>{label}</span>' for key, label in _PARTS)
    rows = []
    for a in accounts[:MAX_ENGINES]:
        times = {"busy": a.busy, "control": a.control, "other": a.other, "outside": a.outside}
        times |= {cause.value: time for cause, time in a.lost.items()}
        bar = "".join(
            f'<i class="c-{key}" style="width:{100 * times[key] / profile.duration:.3f}%" ' f'title="{label}: {time_text(times[key])}"></i>'
            for key, label in _PARTS
            if times[key] > 0
        )
        name = f"{a.engine.place.chip}.nc{a.engine.place.index}.{a.engine.name}"
        rows.append(
            _cell(html.escape(name))
            + _cell(f"<div class=bar>{bar}</div>")
            + _number(f"{100 * a.busy / profile.duration:.2f} %", 100 * a.busy / profile.duration)
            + "".join(_number(time_text(times[cause.value]) if times[cause.value] else "", times[cause.value]) for cause in Cause)
            + _number(f"{a.busy_cycles:,}", a.busy_cycles)
            + _number(
                f"{sum(a.wait_cycles[cause] for cause in (Cause.SEMAPHORE, Cause.DMA)):,}",
                a.wait_cycles[Cause.SEMAPHORE] + a.wait_cycles[Cause.DMA],
            )
            + _number(f"{a.retired:,}", a.retired)
            + _number(amount_text(a.flops, "") if a.flops else "", a.flops)
        )
    return (
        f"<div class=legend>{legend}</div>"
        + _table(
            ["engine", "time", "busy#", *(f"{cause.value}#" for cause in Cause), "busy cycles#", "wait cycles#", "instructions#", "FLOPs#"],
            rows,
            len(accounts),
        )
        + "<p class=note>Lost: waited, and no instruction occupied the data path. Cycles are the engine's counters: "
        "waits that overlap with earlier instructions count there.</p>"
    )


def _lines(profile: Profile) -> str:
    lines = analysis.lines_of(profile)
    if not any(line.source for line in lines):
        return "<p class=note>The program names no lines of source.</p>"
    max_cost = max(line.cost + line.transfer_time for line in lines) or 1
    sources = sources_of(lines)
    top = (
        _table(
            ["line", "cost", "busy", "lost before", "instructions#", "FLOPs#", "DMA"],
            [_cell(html.escape(f"{os.path.basename(line.source)}" or "unknown")) + _costs(line, max_cost) for line in lines[:TOP_LINES]],
            len(lines),
        )
        if len(lines) > TOP_LINES
        else ""
    )
    return top + "".join(_source(source, max_cost) for source in sources)


def _costs(line: analysis.Line, max_cost: int) -> str:
    """Cells of a line's costs."""
    busy, lost = sum(line.busy.values()), sum(line.lost.values())
    parts = [("busy", busy)] + [(cause.value, line.lost.get(cause, 0)) for cause in Cause]
    bar = "".join(
        f'<i class="c-{key}" style="width:{100 * time / max_cost:.3f}%" title="{key}: {time_text(time)}"></i>'
        for key, time in parts
        if time
    )
    engines = "<br>".join(f"{name} {time_text(time)}" for name, time in sorted(line.busy.items(), key=lambda kv: -kv[1]) if time)
    losses = "<br>".join(f"{cause.value} {time_text(time)}" for cause, time in line.lost.items() if time)
    moved = f"{amount_text(line.transfer_bytes, 'B')}<br>in {time_text(line.transfer_time)}" if line.transfer_bytes else ""
    return (
        _cell(f'<div class="bar small">{bar}</div>')
        + _cell(engines, busy, "words")
        + _cell(losses, lost, "words")
        + _number(f"{line.instructions:,}", line.instructions)
        + _number(amount_text(line.flops, "") if line.flops else "", line.flops)
        + _cell(moved, line.transfer_bytes, "words")
    )


def _source(source: Source, max_cost: int) -> str:
    rows = []
    for number, text in source.shown():
        if number is None:
            rows.append('<td class="number gap" colspan=8>⋯</td>')
            continue
        line = source.costs.get(number)
        code = _cell(f'<code title="{html.escape(text)}">{html.escape(text)}</code>')
        rows.append(_number(str(number), number) + code + (_costs(line, max_cost) if line is not None else "<td></td>" * 6))
    missing = "" if source.has_text else "<p class=note>The file cannot be read here; only its line numbers are known.</p>"
    title = f"<h3>{html.escape(os.path.basename(source.file) or 'unknown line')}</h3>"
    return (
        f'<div class=source data-file="{html.escape(source.file)}">{title}{missing}'
        + _table(["line#", "source", "cost", "busy", "lost before", "instructions#", "FLOPs#", "DMA"], rows)
        + "</div>"
    )


def _matmuls(rows: list[dict[str, Any]]) -> str:
    if not rows:
        return ""
    return _table(
        ["matmul type", "instructions#", "FLOPs#", "achieved#", "peak of the type#", "utilisation#", "busy#"],
        [
            _cell(html.escape(row["type"]))
            + _number(f"{row['instruction_count']:,}", row["instruction_count"])
            + _number(amount_text(row["flops"], ""), row["flops"])
            + _number(amount_text(row["achieved_flops"], "FLOP/s"), row["achieved_flops"])
            + _number(amount_text(row["peak_flops"], "FLOP/s"), row["peak_flops"])
            + _number(f"{row['utilisation_percent']:.2f} %", row["utilisation_percent"])
            + _number(time_text(row["busy_ns"] * 1000), row["busy_ns"])
            for row in rows
        ],
    )


def _roofline(profile: Profile) -> str:
    roof = analysis.roofline_of(profile)
    if not roof.intensity or not roof.peak_flops or not roof.peak_bandwidth:
        return "<p class=note>No roofline: the program computes nothing, or does not use HBM.</p>"
    wide, high, left, right, bottom = 640, 300, 70, 30, 40
    ridge = roof.peak_flops / roof.peak_bandwidth
    x_low, x_high = math.floor(math.log10(min(roof.intensity, ridge) / 4)), math.ceil(math.log10(max(roof.intensity, ridge) * 4))
    y_high = math.ceil(math.log10(roof.peak_flops))
    y_low = min(y_high - 2, math.floor(math.log10(max(1.0, min(roof.achieved, roof.peak_bandwidth * 10**x_low)))))

    def x(value: float) -> float:
        return left + (math.log10(value) - x_low) / (x_high - x_low) * (wide - left - right)

    def y(value: float) -> float:
        return high - bottom - (math.log10(value) - y_low) / (y_high - y_low) * (high - bottom - 10)

    grid = "".join(
        f"<line class=grid x1={x(10**n):.1f} x2={x(10**n):.1f} y1=10 y2={high - bottom} />"
        f"<text x={x(10**n):.1f} y={high - bottom + 16} text-anchor=middle>{10.0**n:g}</text>"
        for n in range(x_low, x_high + 1)
    )
    grid += "".join(
        f"<line class=grid y1={y(10**n):.1f} y2={y(10**n):.1f} x1={left} x2={wide - right} />"
        f'<text x={left - 6} y={y(10**n) + 4:.1f} text-anchor=end>{amount_text(10.0**n, "")}</text>'
        for n in range(y_low, y_high + 1)
    )
    low = max(10.0**x_low, 10.0**y_low / roof.peak_bandwidth)
    roofs = (
        f'<polyline class=roof points="{x(low):.1f},{y(low * roof.peak_bandwidth):.1f} {x(ridge):.1f},{y(roof.peak_flops):.1f} '
        f'{wide - right},{y(roof.peak_flops):.1f}" />'
    )
    bound = min(roof.peak_flops, roof.intensity * roof.peak_bandwidth)
    point = (
        f"<line class=grid x1={x(roof.intensity):.1f} x2={x(roof.intensity):.1f} y1={y(roof.achieved):.1f} y2={y(bound):.1f} "
        f'stroke-dasharray="3 3" /><circle id=point data-intensity="{roof.intensity}" data-flops="{roof.achieved}" '
        f"cx={x(roof.intensity):.1f} cy={y(roof.achieved):.1f} r=5 />"
    )
    kind = "matmul FLOPs" if roof.of_tensor else "FLOPs of all engines (no matmul)"
    limit = "HBM bandwidth" if roof.intensity < ridge else "the Tensor engine"
    return (
        f"<svg id=roofline viewBox='0 0 {wide} {high}' role=img aria-label='roofline'>{grid}{roofs}{point}"
        f"<text x={(wide + left) / 2} y={high - 6} text-anchor=middle>FLOPs per byte of HBM</text>"
        f"<text x={left + 8} y=24>FLOP/s</text></svg>"
        f"<p class=note>{roof.intensity:.4g} {kind} per byte of HBM: at most {amount_text(bound, 'FLOP/s')}, limited by {limit}; "
        f"achieved {amount_text(roof.achieved, 'FLOP/s')}, {100 * roof.achieved / bound:.1f} % of that. "
        f"Peaks: {amount_text(roof.peak_flops, 'FLOP/s')} (BF16), {amount_text(roof.peak_bandwidth, 'B/s')} "
        "(HBM stacks that were used).</p>"
    )


def _queues(rows: list[dict[str, Any]], profile: Profile) -> str:
    if not rows:
        return ""
    groups: dict[tuple[str, int, str], list[dict[str, Any]]] = {}
    for row in rows:
        groups.setdefault((row["trn_chip"], row["idx"], row["type"]), []).append(row)
    body = []
    for (chip, queue, kind), some in sorted(groups.items())[:MAX_TABLE]:
        size, packets = sum(row["trn_bytes"] for row in some), sum(row["trn_packet_count"] for row in some)
        active = sum(row["trn_active_ns"] for row in some)
        share = 100_000 * active / (profile.duration * len(some))
        body.append(
            _cell(html.escape(chip))
            + _number(str(queue), queue)
            + _cell(html.escape(kind))
            + _number(str(len(some)), len(some))
            + _number(f"{packets:,}", packets)
            + _number(amount_text(size, "B"), size)
            + _number(amount_text(size / packets, "B"), size / packets)
            + _number(f"{share:.1f} %", share)
            + _cell(f'<div class="bar small"><i class=c-dma style="width:{share:.2f}%"></i></div>')
        )
    return _table(
        ["chip", "queue#", "descriptors", "engines#", "packets#", "bytes#", "bytes per packet#", "time in transfer#", ""], body, len(groups)
    )


def _collectives(rows: list[dict[str, Any]]) -> str:
    groups: dict[tuple[str, int], list[dict[str, Any]]] = {}
    for row in rows:
        groups.setdefault((row["trn_chip"], row["core_idx"]), []).append(row)
    if not groups:
        return ""
    return _table(
        ["chip", "CC-Core#", "first#", "last#", "services#", "time#", "triggered by"],
        [
            _cell(html.escape(chip))
            + _number(str(core), core)
            + _number(time_text(1000 * min(r["start_ts"] for r in some)), None)
            + _number(time_text(1000 * max(r["end_ts"] for r in some)), None)
            + _number(str(len(some)), len(some))
            + _number(time_text(1000 * sum(r["duration_ns"] for r in some)), sum(r["duration_ns"] for r in some))
            + _cell(html.escape(", ".join(sorted({r["trigger_engine"] for r in some if "trigger_engine" in r}))))
            for (chip, core), some in sorted(groups.items())[:MAX_TABLE]
        ],
        len(groups),
    )


def _opcodes(rows: list[dict[str, Any]]) -> str:
    ordered = sorted(rows, key=lambda row: -row["instruction_time_ns"])
    return _table(
        ["engine", "opcode", "instructions#", "time#", "of the execution#"],
        [
            _cell(row["engine"])
            + _cell(f"<code>{html.escape(row['opcode'])}</code>")
            + _number(f"{row['instruction_count']:,}", row["instruction_count"])
            + _number(time_text(row["instruction_time_ns"] * 1000), row["instruction_time_ns"])
            + _number(f"{row['active_time_percent']:.2f} %", row["active_time_percent"])
            for row in ordered[:MAX_TABLE]
        ],
        len(rows),
    )


def _longest_waits(profile: Profile) -> str:
    waits: list[tuple[Wait, Instruction | None, Engine]] = [
        (wait, instruction, engine) for engine in profile.engines for instruction in engine.instructions for wait in instruction.waits
    ]
    waits += [(wait, None, engine) for engine in profile.engines for wait in engine.unmet]
    waits.sort(key=lambda item: item[0].begin - item[0].end)
    rows = []
    for wait, instruction, engine in waits[:30]:
        poster = profile.posters.get(wait.poster)
        posted_by = f"{poster.engine.place.module} {poster.opcode} {os.path.basename(poster.source)}" if poster else ""
        rows.append(
            _cell(f"nc{engine.place.index}.{engine.name}")
            + _cell(wait.cause.value)
            + _cell(f"<code>{html.escape(wait.reason)}</code>")
            + _number(time_text(wait.begin - profile.first), None)
            + _number(time_text(wait.end - wait.begin), wait.end - wait.begin)
            + _cell(html.escape(f"{instruction.opcode} {os.path.basename(instruction.source)}" if instruction else "did not end"))
            + _cell(html.escape(posted_by))
        )
    return _table(["engine", "cause", "for", "at#", "time#", "before", "posted by"], rows, len(waits))


def _errors(rows: list[dict[str, Any]]) -> str:
    if not rows:
        return ""
    return _table(
        ["engine", "error", "at#", "where"],
        [
            _cell(html.escape(f"{row['trn_chip']}.nc{row['trn_core']}.{row['trn_engine']}"))
            + _cell(html.escape(row["description"]))
            + _number(time_text(row["timestamp"] * 1000), None)
            + _cell(html.escape(row["metadata"]))
            for row in rows[:MAX_TABLE]
        ],
        len(rows),
    )
