'use strict';
const data = JSON.parse(document.getElementById('data').textContent);
const plot = document.getElementById('plot'), canvas = document.getElementById('canvas');
const tip = document.getElementById('tip'), details = document.getElementById('details');
const LABELS = 150, RULER = 22, ENGINE = 26, DMA = 12, CURVE = 46, HEAD = 20;
const CURVE_GAP = 6, EDGE = 4;
let first = 0, last = data.duration;  // what is shown, in ps
let hovered = null, chosen = null, drag = null;

// -- Rows from the top to the bottom

const rows = [];
let height = RULER;
function addRow(row, size) {
  row.top = height;
  row.size = size;
  height += size;
  rows.push(row);
}
let chip = null;
for (const track of data.tracks) {
  const head = track.chip + (track.kind === 'engine' ? '' : track.kind === 'dma' ? ', DMA engines' : ', collectives');
  if (head !== chip) {
    addRow({head}, HEAD);
    chip = head;
  }
  addRow({track}, track.kind === 'dma' ? DMA : ENGINE);
}
for (const curve of data.curves) addRow({curve}, CURVE);
height += 4;

// Instructions by id, where each is drawn by itself.
const byId = new Map();
for (const row of rows)
  for (const span of (row.track && row.track.spans) || [])
    if (row.track.kind === 'engine') byId.set(span[2], {row, span});

// -- Texts

function time(ps) {
  const size = Math.abs(ps);
  if (size >= 1e9) return (ps / 1e9).toPrecision(4) + ' ms';
  if (size >= 1e6) return (ps / 1e6).toPrecision(4) + ' us';
  if (size >= 1e3) return (ps / 1e3).toPrecision(4) + ' ns';
  return Math.round(ps) + ' ps';
}
function amount(value, unit) {
  for (const [prefix, size] of [['P', 1e15], ['T', 1e12], ['G', 1e9], ['M', 1e6], ['k', 1e3]])
    if (value >= size) return (value / size).toPrecision(4) + ' ' + prefix + unit;
  return value + ' ' + unit;
}
const text = number => data.texts[number];
const base = path => path.replace(/^.*\//, '');
function titleOf(id) {
  const found = byId.get(id);
  return found ? found.row.track.name + ' ' + text(found.span[3]) + ' ' + base(text(found.span[5])) : '';
}
function waitLines(row, id) {
  return row.track.waits.filter(w => w[4] === id).map(w => ['waited', data.causes[w[2]] + ', ' + text(w[3]) + ', ' +
      time(w[1]) + (titleOf(w[5]) ? '; posted by ' + titleOf(w[5]) : '')]);
}

/** Lines [label, text] about what the pointer is on. */
function describe(hit) {
  const {row, span, wait} = hit;
  const kind = row.track.kind;
  if (wait) {
    const lines = [['waits', data.causes[wait[2]] + ', ' + text(wait[3])], ['time', time(wait[1]) + ' from ' + time(wait[0])]];
    if (titleOf(wait[5])) lines.push(['posted by', titleOf(wait[5])]);
    if (titleOf(wait[4])) lines.push(['before', titleOf(wait[4])]);
    return lines;
  }
  const at = ['time', time(span[1]) + ' from ' + time(span[0])];
  if (kind === 'dma')
    return [[row.track.name, text(span[7]) + ', queue ' + span[4]], at,
            ['moved', span[2] + ' packets, ' + amount(span[3], 'B') + ', ' + amount(span[3] * 1e12 / span[1], 'B/s')],
            ['source', text(span[6])], ['triggered by', titleOf(span[5])]];
  if (kind === 'collective') return [[row.track.name, 'serves'], at, ['triggered by', titleOf(span[2])]];
  if (row.track.merged)
    return [[row.track.name, span[2] + ' instructions, mostly ' + text(span[4])], at, ['busy', time(span[3])],
            ['source', text(span[5])]];
  const lines = [[row.track.name, text(span[3])], ['source', text(span[5])], ['instruction', text(span[4])], at];
  if (span[6]) lines.push(['cycles', span[6] + ', result after ' + span[7] + (text(span[9]) !== '1x' ? ', mode ' + text(span[9]) : '')]);
  if (span[8]) lines.push(['FLOPs', amount(span[8], '') + ', ' + amount(span[8] * 1e12 / span[1], 'FLOP/s')]);
  return lines.concat(waitLines(row, span[2]));
}
function show(element, lines) {
  element.replaceChildren(...lines.filter(([, value]) => value).map(([label, value]) => {
    const line = document.createElement('div'), name = document.createElement('b');
    name.textContent = label + ' ';
    line.append(name, value);
    return line;
  }));
}

// -- Drawing

let colors = {};
function readColors() {
  const style = getComputedStyle(document.documentElement);
  for (const name of ['back', 'text', 'faint', 'line', 'panel', 'link', 'busy', 'semaphore', 'dma', 'dependency', 'port',
                      'fetch', 'tensor', 'vector', 'scalar', 'gpsimd', 'sync'])
    colors[name] = style.getPropertyValue('--' + name).trim();
}
const width = () => canvas.clientWidth - LABELS;
const x = ps => LABELS + (ps - first) / (last - first) * width();
const psOf = px => first + (px - LABELS) / width() * (last - first);

/** Index of the first span that may be visible: spans are sorted by their begin. */
function start(spans, longest) {
  let low = 0, high = spans.length;
  const from = first - longest;
  while (low < high) {
    const middle = low + high >> 1;
    if (spans[middle][0] < from) low = middle + 1; else high = middle;
  }
  return low;
}
function longestOf(spans) {
  if (spans.longest === undefined) spans.longest = spans.reduce((most, span) => Math.max(most, span[1]), 0);
  return spans.longest;
}
function* visible(spans) {
  for (let i = start(spans, longestOf(spans)); i < spans.length && spans[i][0] <= last; ++i)
    if (spans[i][0] + spans[i][1] >= first) yield spans[i];
}
function box(g, span, top, size) {
  const left = Math.max(LABELS, x(span[0])), right = Math.min(canvas.clientWidth, x(span[0] + span[1]));
  g.fillRect(left, top, Math.max(1, right - left), size);
  return right - left;
}
function label(g, words, span, top, size) {
  const left = Math.max(LABELS, x(span[0])), room = Math.min(canvas.clientWidth, x(span[0] + span[1])) - left - 6;
  if (room < 24) return;
  g.save();
  g.beginPath();
  g.rect(left, top, room + 3, size);
  g.clip();
  g.fillText(words, left + 4, top + size / 2 + 4);
  g.restore();
}
function engineColor(name) { return colors[name.replace(/^.*\./, '')] || colors.busy; }

function drawEngine(g, row) {
  const {track, top, size} = row;
  for (const wait of visible(track.waits)) {
    g.globalAlpha = .55;
    g.fillStyle = colors[data.causes[wait[2]]];
    box(g, wait, top + size / 2 - 3, 6);
    g.globalAlpha = 1;
  }
  for (const span of visible(track.merged || track.spans)) {
    g.fillStyle = engineColor(track.name);
    g.globalAlpha = track.merged ? .35 + .65 * span[3] / Math.max(1, span[1]) : track.spans && !span[6] ? .6 : 1;
    const room = box(g, span, top + EDGE, size - 2 * EDGE);
    g.globalAlpha = 1;
    g.fillStyle = colors.back;
    if (room > 4 && x(span[0]) > LABELS) g.fillRect(x(span[0]), top + EDGE, .6, size - 2 * EDGE);  // between neighbours
    if (room > 30) {
      label(g, track.merged ? span[2] + ' ' + text(span[4]) : text(span[3]) + ' ' + base(text(span[5])), span, top, size);
    }
  }
}
function drawSpans(g, row) {
  g.fillStyle = row.track.kind === 'dma' ? colors.dma : colors.link;
  for (const span of visible(row.track.spans)) {
    g.globalAlpha = .5;
    box(g, span, row.top + 1, row.size - 2);
  }
  g.globalAlpha = 1;
}
function drawCurve(g, row) {
  const values = row.curve.values, most = Math.max(1, ...values), step = data.duration / values.length;
  const bottom = row.top + row.size - 2, high = row.size - CURVE_GAP - 2;
  g.beginPath();
  g.moveTo(x(0), bottom);
  values.forEach((value, i) => {
    const y = bottom - value / most * high;
    g.lineTo(x(i * step), y);
    g.lineTo(x((i + 1) * step), y);
  });
  g.lineTo(x(data.duration), bottom);
  g.fillStyle = colors.link;
  g.globalAlpha = .35;
  g.fill();
  g.globalAlpha = 1;
  row.most = amount(most, row.curve.unit);
}
function drawRuler(g) {
  const rough = (last - first) / Math.max(2, width() / 110), power = 10 ** Math.floor(Math.log10(rough));
  const step = [1, 2, 5, 10].map(n => n * power).find(n => n >= rough);
  g.fillStyle = colors.faint;
  for (let at = Math.ceil(first / step) * step; at <= last; at += step) {
    g.fillRect(x(at), RULER - 6, 1, 6);
    g.globalAlpha = .15;
    g.fillRect(x(at), RULER, 1, height);
    g.globalAlpha = 1;
    g.fillText(time(at).replace(/(\.\d*?)0+ /, '$1 ').replace('. ', ' '), x(at) + 3, RULER - 9);
  }
}
function drawArrow(g, from, to) {
  const a = x(from.span[0] + from.span[1]), b = x(to.span[0]);
  const up = from.row.top + from.row.size / 2, down = to.row.top + to.row.size / 2;
  g.strokeStyle = colors.text;
  g.lineWidth = 1.5;
  g.beginPath();
  g.moveTo(a, up);
  g.bezierCurveTo(a + 25, up, b - 25, down, b, down);
  g.stroke();
  g.beginPath();
  g.moveTo(b, down);
  g.lineTo(b - 7, down - 4);
  g.lineTo(b - 7, down + 4);
  g.fillStyle = colors.text;
  g.fill();
}
function outline(g, hit) {
  const span = hit.wait || hit.span;
  g.strokeStyle = colors.text;
  g.lineWidth = 1.5;
  g.strokeRect(Math.max(LABELS, x(span[0])), hit.row.top + 1, Math.max(2, x(span[0] + span[1]) - Math.max(LABELS, x(span[0]))),
               hit.row.size - 2);
}
function drawLabels(g) {
  g.fillStyle = colors.panel;
  g.fillRect(0, 0, LABELS, height);
  g.fillStyle = colors.line;
  g.fillRect(LABELS - 1, 0, 1, height);
  for (const row of rows) {
    if (row.head) {
      g.fillStyle = colors.panel;
      g.fillRect(0, row.top, canvas.clientWidth, row.size);
      g.font = '600 12px system-ui, sans-serif';
    }
    const small = row.track && row.track.kind === 'dma';
    if (small) g.font = '9.5px system-ui, sans-serif';
    g.fillStyle = row.head ? colors.text : colors.faint;
    const name = row.head || (row.curve ? row.curve.name : row.track.name);
    g.fillText(name, 8, row.top + (row.curve ? 18 : row.size / 2 + (small ? 3 : 4)), LABELS - 14);
    g.font = '12px system-ui, sans-serif';
    if (row.curve) g.fillText('max ' + row.most, 8, row.top + 34, LABELS - 14);
  }
}
function draw() {
  const scale = window.devicePixelRatio || 1;
  canvas.style.height = height + 'px';
  canvas.width = Math.round(canvas.clientWidth * scale);
  canvas.height = Math.round(height * scale);
  const g = canvas.getContext('2d');
  g.setTransform(scale, 0, 0, scale, 0, 0);
  g.fillStyle = colors.back;
  g.fillRect(0, 0, canvas.clientWidth, height);
  g.font = '12px system-ui, sans-serif';
  for (const row of rows) {
    if (row.curve) drawCurve(g, row);
    else if (row.track) (row.track.kind === 'engine' ? drawEngine : drawSpans)(g, row);
  }
  drawRuler(g);
  for (const hit of [hovered, chosen]) if (hit) outline(g, hit);
  if (chosen && !chosen.wait && chosen.row.track.spans && chosen.row.track.kind === 'engine')
    for (const wait of chosen.row.track.waits)
      if (wait[4] === chosen.span[2] && byId.has(wait[5])) drawArrow(g, byId.get(wait[5]), chosen);
  if (chosen && chosen.row.track.kind === 'dma' && byId.has(chosen.span[5])) drawArrow(g, byId.get(chosen.span[5]), chosen);
  drawLabels(g);
  document.getElementById('range').textContent = time(first) + ' to ' + time(last);
}

// -- Pointer and keys

function hitAt(px, py) {
  const row = rows.find(r => r.track && py >= r.top && py < r.top + r.size);
  if (!row || px < LABELS) return null;
  const slack = 2 / width() * (last - first), at = psOf(px);
  const over = span => span[0] - slack <= at && at <= span[0] + span[1] + slack;
  let best = null;
  for (const span of visible(row.track.merged || row.track.spans))
    if (over(span) && (!best || span[1] < best[1])) best = span;
  if (best) return {row, span: best};
  for (const wait of row.track.waits ? visible(row.track.waits) : []) if (over(wait)) best = wait;
  return best ? {row, wait: best} : null;
}
function look(from, to) {
  const span = Math.min(data.duration, Math.max(1000, to - from));
  first = Math.max(0, Math.min(from, data.duration - span));
  last = first + span;
  draw();
}
function zoom(factor, at) {
  look(at - (at - first) * factor, at + (last - at) * factor);
}
canvas.addEventListener('wheel', event => {
  if (!event.ctrlKey && !event.metaKey) return;
  event.preventDefault();
  zoom(event.deltaY > 0 ? 1.25 : .8, psOf(event.offsetX));
}, {passive: false});
canvas.addEventListener('pointerdown', event => {
  drag = {at: event.clientX, first, last, moved: false};
  canvas.setPointerCapture(event.pointerId);
});
canvas.addEventListener('pointermove', event => {
  if (drag) {
    const move = (event.clientX - drag.at) / width() * (drag.last - drag.first);
    if (Math.abs(event.clientX - drag.at) > 3) drag.moved = true;
    if (drag.moved) {
      canvas.classList.add('moving');
      tip.hidden = true;
      look(drag.first - move, drag.last - move);
    }
    return;
  }
  hovered = hitAt(event.offsetX, event.offsetY);
  tip.hidden = !hovered;
  if (hovered) {
    show(tip, describe(hovered));
    const right = event.offsetX + 16 + tip.offsetWidth > canvas.clientWidth;
    tip.style.left = Math.max(0, right ? event.offsetX - 12 - tip.offsetWidth : event.offsetX + 16) + 'px';
    const below = event.offsetY + 16 + tip.offsetHeight > height;
    tip.style.top = Math.max(0, below ? event.offsetY - 12 - tip.offsetHeight : event.offsetY + 16) + 'px';
  }
  draw();
});
canvas.addEventListener('pointerup', event => {
  canvas.classList.remove('moving');
  if (drag && !drag.moved) {
    chosen = hitAt(event.offsetX, event.offsetY);
    show(details, chosen ? describe(chosen) : []);
    draw();
  }
  drag = null;
});
canvas.addEventListener('pointerleave', () => {
  hovered = null;
  tip.hidden = true;
  draw();
});
canvas.addEventListener('dblclick', event => {
  const hit = hitAt(event.offsetX, event.offsetY), span = hit && (hit.wait || hit.span);
  if (span) look(span[0] - span[1] * .2, span[0] + span[1] * 1.2);
});
canvas.addEventListener('keydown', event => {
  const middle = (first + last) / 2, step = (last - first) / 6;
  const does = {w: () => zoom(.8, middle), s: () => zoom(1.25, middle), a: () => look(first - step, last - step),
                d: () => look(first + step, last + step), ArrowLeft: () => look(first - step, last - step),
                ArrowRight: () => look(first + step, last + step), 0: () => look(0, data.duration)}[event.key];
  if (does) {
    event.preventDefault();
    does();
  }
});
document.getElementById('fit').addEventListener('click', () => look(0, data.duration));
document.getElementById('closer').addEventListener('click', () => zoom(.5, (first + last) / 2));
document.getElementById('further').addEventListener('click', () => zoom(2, (first + last) / 2));
addEventListener('resize', draw);
matchMedia('(prefers-color-scheme: dark)').addEventListener('change', () => {
  readColors();
  draw();
});

// -- Start

document.getElementById('legend').replaceChildren(...data.causes.map(cause => {
  const item = document.createElement('span'), swatch = document.createElement('i');
  swatch.className = 'c-' + cause;
  item.append(swatch, 'waits: ' + cause);
  return item;
}));
readColors();
draw();
const drawn = data.tracks.filter(t => t.kind === 'engine').reduce((n, t) => n + (t.merged || t.spans).length, 0);
document.getElementById('drawn').textContent = drawn + ' spans of instructions on ' + data.tracks.length + ' tracks';
document.getElementById('drawn').dataset.value = drawn;
