# SPDX-License-Identifier: Apache-2.0
"""Draws the wings of models/ as a map of the machine: what is in a chip, in a server, and between servers."""
from html import escape

# The parts of the machine from the outside, each with its wings.
MAP = {
    "between chips and servers": ["network", "scale_up"],
    "a server": ["cards", "pcie", "sled"],
    "a chip": ["soc", "processor", "memory", "dma", "neuron_core"],
    "its instructions": ["neuron_isa"],
}
WIDTH, MARGIN, GAP, LINE, CHARACTER, TITLE = 1320, 10, 14, 17, 7.3, 26
STYLE = """text{font:12px monospace;fill:#222}.name{font-weight:bold}.uses{fill:#2b5c8a}
.part{fill:#f4f6f8;stroke:#c8ced4}.wing{fill:#fff;stroke:#5b7083}"""


def wrapped(words: list[str], width: float) -> list[str]:
    lines = [""]
    for word in words:
        if lines[-1] and (len(lines[-1]) + len(word) + 1) * CHARACTER > width - 2 * GAP:
            lines.append("")
        lines[-1] = f"{lines[-1]} {word}".strip()
    return lines


def picture(uses: dict[str, list[str]], folders: set[str]) -> str:
    """`uses`: wing -> the wings that it may include. `folders`: every folder with sources."""
    blocks = {wing: [] for wing in uses}
    for folder in sorted(folders):
        parts = folder.split("/")
        if parts[0] == "models" and len(parts) > 2 and parts[1] in uses:
            name = "/".join(parts[2:4] if parts[1] == "cards" else parts[2:3])
            if name not in blocks[parts[1]]:
                blocks[parts[1]].append(name)
    shapes, y = [], MARGIN
    for part, wings in MAP.items():
        known = [wing for wing in wings if wing in uses]
        width = (WIDTH - 2 * MARGIN - GAP * (len(known) + 1)) / max(1, len(known))
        texts = {wing: wrapped(blocks[wing], width) for wing in known}
        below = {wing: wrapped(["uses", *uses[wing]], width) if uses[wing] else [] for wing in known}
        height = TITLE + LINE * max((len(texts[wing]) + len(below[wing]) for wing in known), default=0)
        shapes.append(
            f'<rect class="part" x="{MARGIN}" y="{y}" width="{WIDTH - 2 * MARGIN}" height="{height + TITLE + GAP}" rx="6"/>'
            f'<text class="name" x="{MARGIN + GAP}" y="{y + 18}">{escape(part)}</text>'
        )
        for number, wing in enumerate(known):
            x = MARGIN + GAP + number * (width + GAP)
            shapes.append(
                f'<rect class="wing" x="{x:.0f}" y="{y + TITLE}" width="{width:.0f}" height="{height}" rx="4"/>'
                f'<text class="name" x="{x + GAP:.0f}" y="{y + TITLE + 17}">{escape(wing)}/</text>'
            )
            for style, lines, first in (("", texts[wing], 0), ("uses", below[wing], len(texts[wing]))):
                for line, text in enumerate(lines, first):
                    shapes.append(f'<text class="{style}" x="{x + GAP:.0f}" y="{y + TITLE + 17 + LINE * (line + 1)}">{escape(text)}</text>')
        y += height + TITLE + 2 * GAP
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {y}" width="{WIDTH}" height="{y}">\n<style>{STYLE}</style>\n'
        f'<rect width="100%" height="100%" fill="#fff"/>\n' + "\n".join(shapes) + "\n</svg>\n"
    )
