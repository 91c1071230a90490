# SPDX-License-Identifier: Apache-2.0
"""Draws folders as boxes in layers: each box is above the boxes that it includes."""
from html import escape

# The layers from the top; a folder belongs to the first layer whose path is a prefix of its own.
FLOORS = ["platform/app", "platform/embedding", "sw-stubs", "firmware", "models", "platform/framework"]
WIDTH, MARGIN, ROW, BOX, GAP, LANE, CHARACTER = 1320, 110, 58, 26, 14, 18, 7.3
STYLE = """text{font:12px monospace;fill:#222;text-anchor:middle}
.floor{fill:#f4f6f8;stroke:#c8ced4}.name{font-weight:bold;text-anchor:start}
.box{fill:#fff;stroke:#5b7083}.own{fill:#e3e9ee;stroke:#5b7083}
path{fill:none;stroke:#7d93a6}.between{stroke:#2b5c8a;stroke-width:2}.up{stroke:#c0392b;stroke-width:2}"""


def floor_of(folder: str) -> str:
    return next(floor for floor in FLOORS if folder == floor or folder.startswith(floor + "/"))


def box_of(folder: str) -> str:
    """The box of a folder: the child of its layer's folder that contains it."""
    floor = floor_of(folder)
    return "/".join(folder.split("/")[: floor.count("/") + 2])


def necessary(arrows: dict[str, set[str]]) -> dict[str, set[str]]:
    """The graph without arrows that other arrows imply (transitive reduction)."""

    def reached(node, seen):
        for target in arrows[node] - seen:
            seen.add(target)
            reached(target, seen)
        return seen

    return {
        node: {target for target in targets if not any(target in reached(other, set()) for other in targets - {target})}
        for node, targets in arrows.items()
    }


def width(box: str, floor: str) -> float:
    return len(box[len(floor) + 1 :] or floor) * CHARACTER + 16


def rows_of(arrows: dict[str, set[str]], floor: str) -> list[list[str]]:
    """Rows of boxes from the top; boxes without arrows fill the last rows."""
    targets = set().union(*arrows.values())
    joined = sorted(box for box in arrows if arrows[box] or box in targets)
    height: dict[str, int] = {}

    def measure(box, path=()):
        if box not in height and box not in path:
            height[box] = 1 + max((measure(t, path + (box,)) for t in sorted(arrows[box])), default=-1)
        return height.get(box, 0)

    for box in joined:
        measure(box)
    rows = [[box for box in joined if height[box] == level] for level in sorted(set(height.values()), reverse=True)]
    for _ in range(8):  # place boxes below their users and above their dependencies
        place = {box: (i + 1) / (len(row) + 1) for row in rows for i, box in enumerate(row)}
        for row in rows:

            def wish(box):
                near = [place[b] for b in joined if b in arrows[box] or box in arrows[b]]
                return (sum(near) / len(near), box)

            row.sort(key=wish)
            place.update({box: (i + 1) / (len(row) + 1) for i, box in enumerate(row)})
    alone = [[]]
    for box in sorted(set(arrows) - set(joined)):
        if sum(width(b, floor) + GAP for b in [*alone[-1], box]) > WIDTH - MARGIN - 2 * GAP:
            alone.append([])
        alone[-1].append(box)
    return [row for row in rows + alone if row]


def draw_floor(floor: str, arrows: dict[str, set[str]], top: float) -> tuple[list[str], float]:
    # Files directly in the layer's folder: all boxes may depend on them.
    own = arrows.pop(floor, None)
    for targets in arrows.values():
        targets.discard(floor)
    rows = rows_of(arrows, floor)
    lines, shapes, at = [], [], {}
    y = top + 30
    for row in rows:
        free = (WIDTH - MARGIN - sum(width(box, floor) for box in row)) / (len(row) + 1)
        x = MARGIN
        for box in row:
            x += free
            at[box] = (x + width(box, floor) / 2, y)
            shapes.append(
                f'<rect class="box" x="{x:.0f}" y="{y:.0f}" width="{width(box, floor):.0f}" height="{BOX}" rx="4"/>'
                f'<text x="{at[box][0]:.0f}" y="{y + 17:.0f}">{escape(box[len(floor) + 1:])}</text>'
            )
            x += width(box, floor)
        y += ROW
    y -= ROW - BOX
    if own is not None:
        y += GAP
        shapes.append(
            f'<rect class="own" x="{MARGIN + GAP}" y="{y:.0f}" width="{WIDTH - MARGIN - 2 * GAP}" height="{BOX}" rx="4"/>'
            f'<text x="{(WIDTH + MARGIN) / 2:.0f}" y="{y + 17:.0f}">files of {floor}/ itself</text>'
        )
        y += BOX
    for box, targets in sorted(necessary(arrows).items()):
        for target in sorted(targets):
            (x1, y1), (x2, y2) = at[box], at[target]
            lines.append(
                f'<path d="M{x1:.0f} {y1 + BOX:.0f}C{x1:.0f} {y1 + BOX + 24:.0f} {x2:.0f} {y2 - 26:.0f} '
                f'{x2:.0f} {y2 - 2:.0f}" marker-end="url(#tip)"/>'
            )
    frame = (
        f'<rect class="floor" x="{MARGIN}" y="{top:.0f}" width="{WIDTH - MARGIN}" height="{y + GAP - top:.0f}" rx="6"/>'
        f'<text class="name" x="{MARGIN + 10}" y="{top + 18:.0f}">{floor}/</text>'
    )
    return [frame, *lines, *shapes], y + GAP


def picture(folders: dict[str, dict[str, str]]) -> str:
    """`folders`: folder -> the folders that its files include."""
    boxes = {box_of(folder): set() for folder in folders}
    between = set()
    for folder, targets in folders.items():
        for target in targets:
            if floor_of(folder) != floor_of(target):
                between.add((floor_of(folder), floor_of(target)))
            elif box_of(folder) != box_of(target):
                boxes[box_of(folder)].add(box_of(target))
    body, spans, y = [], {}, 10.0
    for floor in FLOORS:
        drawn, bottom = draw_floor(floor, {b: t for b, t in boxes.items() if floor_of(b) == floor}, y)
        body += drawn
        spans[floor] = [y, bottom]
        y = bottom + 24
    # Arrows between layers get one lane each in the left margin.
    for lane, (source, target) in enumerate(sorted(between, key=lambda a: [FLOORS.index(a[0]), FLOORS.index(a[1])])):
        x = MARGIN - 14 - lane * LANE % (MARGIN - 24)
        start = spans[source][0] + 24 + 6 * lane
        end = spans[target][0] + 24 + 6 * lane
        kind = "between" if FLOORS.index(source) < FLOORS.index(target) else "up"
        body.append(f'<path class="{kind}" d="M{MARGIN} {start:.0f}H{x}V{end:.0f}H{MARGIN - 3}" marker-end="url(#tip)"/>')
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH + 10} {y:.0f}" width="{WIDTH + 10}" height="{y:.0f}">\n'
        f'<style>{STYLE}</style>\n<defs><marker id="tip" viewBox="0 0 8 8" refX="7" refY="4" markerWidth="7" '
        f'markerHeight="7" orient="auto" markerUnits="userSpaceOnUse"><path d="M0 0L8 4L0 8Z" style="fill:#5b7083;stroke:none"/>'
        f'</marker></defs>\n<rect width="100%" height="100%" fill="#fff"/>\n' + "\n".join(body) + "\n</svg>\n"
    )
