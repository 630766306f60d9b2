// The page of `aotc inspect --html`: all of its markup, style and script.
#include "compiler/report/page.h"

namespace aotc {

const std::string_view kPageTemplate = R"html(<!DOCTYPE html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<link rel="icon" href="data:,">
<title>aotc</title>
<style>
:root { color-scheme: light dark; --ink: #1c2430; --soft: #5c6a7c; --line: #c9d1db; --back: #fff;
        --box: #eef3f9; --input: #e3f4e6; --output: #fdeedd; --bar: #4a7fb5; --flop: #d08a3c; }
@media (prefers-color-scheme: dark) {
  :root { --ink: #e4e9f0; --soft: #9aa7b8; --line: #3d4858; --back: #171c24; --box: #253041;
          --input: #203a28; --output: #43321f; --bar: #5f97cf; --flop: #d8994f; } }
body { font: 14px/1.45 system-ui, sans-serif; margin: 0 auto; padding: 1.2em 2em 4em;
       color: var(--ink); background: var(--back); max-width: 1500px; }
h1 { font-size: 1.5em; margin: .2em 0; }
h1 small { color: var(--soft); font-weight: normal; font-size: .65em; }
summary { font-size: 1.15em; font-weight: 600; cursor: pointer; padding: .5em 0; }
summary small, .soft { color: var(--soft); font-weight: normal; }
dl { display: grid; grid-template-columns: max-content 1fr; gap: .1em 1.2em; margin: .5em 0; }
dt { color: var(--soft); } dd { margin: 0; }
.scroll { overflow: auto; max-height: 78vh; border: 1px solid var(--line); border-radius: 6px; }
table { border-collapse: collapse; width: 100%; }
th { text-align: left; color: var(--soft); font-weight: normal; position: sticky; top: 0;
     background: var(--back); }
th, td { padding: .25em .8em; border-bottom: 1px solid var(--line); vertical-align: top; }
td.number { text-align: right; white-space: nowrap; font-variant-numeric: tabular-nums; }
svg text { font: 11px system-ui, sans-serif; fill: var(--ink); }
svg.graph { display: block; margin: 0 auto; }
svg text.soft { fill: var(--soft); }
.box { fill: var(--box); stroke: var(--soft); }
.box.input { fill: var(--input); } .box.output { fill: var(--output); }
.edge { fill: none; stroke: var(--soft); stroke-opacity: .6; }
.kernel { fill: var(--bar); } .flops { fill: var(--flop); }
.buffer { stroke: var(--back); stroke-width: .5; }
.buffer:hover, .box:hover { stroke: var(--ink); stroke-width: 2; }
.bound { stroke: #c33; stroke-dasharray: 6 4; }
.pool { stroke: var(--ink); }
.error { color: #c33; } .warning { color: #b07a10; }
</style>
</head>
<body>
<h1></h1>
<div id="overview"></div>
<div id="sections"></div>
<script type="application/json" id="data">@DATA@</script>
<script>
'use strict';
const data = JSON.parse(document.getElementById('data').textContent);
const SVG = 'http://www.w3.org/2000/svg';
const LARGE = 150;  // graphs of more nodes are drawn when they are opened

function add(parent, name, attributes, text) {
  const svg = parent.namespaceURI === SVG || name === 'svg';
  const element = svg ? document.createElementNS(SVG, name) : document.createElement(name);
  for (const key in attributes || {}) element.setAttribute(key, attributes[key]);
  if (text !== undefined) element.textContent = text;
  return parent.appendChild(element);
}

function amount(value, unit) {
  const prefixes = ['', 'k', 'M', 'G', 'T', 'P'];
  let prefix = 0;
  for (; value >= 1000 && prefix < prefixes.length - 1; ++prefix) value /= 1000;
  return value.toFixed(prefix === 0 || value >= 100 ? 0 : value >= 10 ? 1 : 2) + ' ' +
      prefixes[prefix] + unit;
}

function section(id, title, note, open, draw) {
  const details = add(document.getElementById('sections'), 'details', {id: id});
  const summary = add(details, 'summary', {}, title + ' ');
  add(summary, 'small', {}, note);
  let drawn = false;
  const show = () => {
    if (drawn || !details.open) return;
    drawn = true;
    draw(details);
  };
  details.addEventListener('toggle', show);
  details.open = open;
  show();
}

function drawGraph(parent, graph) {
  const svg = add(add(parent, 'div', {class: 'scroll'}), 'svg',
                  {width: graph.width, height: graph.height, class: 'graph'});
  for (const [x1, y1, x2, y2] of graph.lines) {
    const middle = (y1 + y2) / 2;
    const path = `M${x1} ${y1}C${x1} ${middle} ${x2} ${middle} ${x2} ${y2}`;
    add(svg, 'path', {class: 'edge', d: path});
  }
  for (const box of graph.boxes) {
    const group = add(svg, 'g', {});
    add(group, 'title', {}, box.details);
    const round = box.op === 'input' || box.op === 'output' ? graph.box_height / 2 : 4;
    const kind = round > 4 ? ' ' + box.op : '';
    add(group, 'rect', {class: 'box' + kind, x: box.x - box.width / 2, rx: round,
                        y: box.y - graph.box_height / 2, width: box.width,
                        height: graph.box_height});
    add(group, 'text', {x: box.x, y: box.y - 2, 'text-anchor': 'middle'}, box.op);
    add(group, 'text', {x: box.x, y: box.y + 12, 'text-anchor': 'middle', class: 'soft'}, box.name);
  }
}

function bar(cell, kind, share, title) {
  const svg = add(cell, 'svg', {width: 160, height: 10});
  const rect = add(svg, 'rect', {class: kind, width: Math.max(1, 160 * share), height: 10});
  add(rect, 'title', {}, title);
}

function drawKernels(parent) {
  const table = add(add(parent, 'div', {class: 'scroll'}), 'table');
  const head = add(table, 'tr');
  for (const title of ['kernel', 'ops inside', 'runs', 'bytes moved', '', 'FLOP', '',
                       'realisation']) {
    add(head, 'th', {}, title);
  }
  const most = key => Math.max(1, ...data.kernels.map(kernel => kernel[key] * kernel.launches));
  const mostBytes = most('bytes'), mostFlops = most('flops');
  for (const kernel of data.kernels) {
    const row = add(table, 'tr');
    const bytes = kernel.bytes * kernel.launches, flops = kernel.flops * kernel.launches;
    add(row, 'td', {}, kernel.name);
    add(row, 'td', {}, kernel.ops.join(' + '));
    add(row, 'td', {class: 'number'}, kernel.launches);
    add(row, 'td', {class: 'number'}, amount(bytes, 'B'));
    bar(add(row, 'td'), 'kernel', bytes / mostBytes, kernel.name + ': ' + amount(bytes, 'B'));
    add(row, 'td', {class: 'number'}, amount(flops, 'FLOP'));
    bar(add(row, 'td'), 'flops', flops / mostFlops, kernel.name + ': ' + amount(flops, 'FLOP'));
    add(row, 'td', {title: kernel.variants.join('\n')}, kernel.realisation);
  }
}

function drawArena(parent) {
  const arena = data.arena, left = 80, top = 8, height = 420;
  const step = Math.max(6, Math.min(40, 1300 / Math.max(1, arena.steps.length)));
  const width = step * Math.max(1, arena.steps.length);
  const y = offset => top + height * offset / Math.max(1, arena.bytes);
  const svg = add(add(parent, 'div', {class: 'scroll'}), 'svg',
                  {width: left + width + 20, height: height + 50, id: 'arena_map'});
  for (let k = 0; k <= 4; ++k) {
    const offset = arena.bytes * k / 4;
    add(svg, 'line', {x1: left, x2: left + width, y1: y(offset), y2: y(offset),
                      stroke: 'var(--line)'});
    add(svg, 'text', {x: left - 6, y: y(offset) + 4, 'text-anchor': 'end', class: 'soft'},
        amount(offset, 'B'));
  }
  arena.buffers.forEach((buffer, index) => {
    const rect = add(svg, 'rect', {
      class: 'buffer', x: left + step * buffer.first, y: y(buffer.offset),
      width: step * (buffer.last - buffer.first + 1),
      height: Math.max(.8, y(buffer.offset + buffer.bytes) - y(buffer.offset)),
      fill: `hsl(${(index * 137.5) % 360} 55% 60%)`});
    add(rect, 'title', {}, `${buffer.name}\n${amount(buffer.bytes, 'B')} at ${buffer.offset}\n` +
        `steps ${buffer.first} (${arena.steps[buffer.first]}) to ${buffer.last} ` +
        `(${arena.steps[buffer.last]})`);
  });
  const bound = at => add(svg, 'line', {class: 'bound', x1: left, x2: left + width, y1: y(at),
                                        y2: y(at)});
  if (!arena.pools.length) bound(arena.lower_bound);
  for (const pool of arena.pools) {
    bound(pool.offset + pool.lower_bound);
    add(svg, 'line', {class: 'pool', x1: left, x2: left + width + 20, y1: y(pool.offset),
                      y2: y(pool.offset)});
    add(svg, 'text', {x: left + 4, y: y(pool.offset) + 12}, 'pool ' + pool.name);
  }
  add(svg, 'text', {x: left, y: top + height + 30, class: 'soft'},
      'steps, in order; dashed: no arena can be smaller than the bytes that live at one step');
}

function overview() {
  document.title = data.title + ' - aotc';
  const title = document.querySelector('h1');
  title.textContent = data.title + ' ';
  add(title, 'small', {}, 'aotc inspect, target ' + data.target);
  const list = add(document.getElementById('overview'), 'dl');
  const row = (name, text) => { add(list, 'dt', {}, name); add(list, 'dd', {}, text); };
  row('inputs', data.inputs.join(', '));
  row('outputs', data.outputs.join(', '));
  row('weights in the model', amount(data.weight_bytes, 'B'));
  if (data.kernels) {
    const sum = key => data.kernels.reduce((s, kernel) => s + kernel[key] * kernel.launches, 0);
    row('kernels', `${data.kernels.length}, ${amount(sum('flops'), 'FLOP')}, ` +
        `${amount(sum('bytes'), 'B')} moved`);
    row('arena', `${amount(data.arena.bytes, 'B')}, lower bound ` +
        amount(data.arena.lower_bound, 'B'));
    for (const pool of data.arena.pools) {
      row('pool ' + pool.name, `${amount(pool.bytes, 'B')}, lower bound ` +
          amount(pool.lower_bound, 'B'));
    }
  }
  for (const finding of data.findings) {
    add(list, 'dt', {class: finding.severity}, finding.severity);
    add(list, 'dd', {}, (finding.place ? finding.place + ': ' : '') + finding.message +
        (finding.hint ? '; ' + finding.hint : ''));
  }
}

overview();
for (const [id, title, graph] of [['before', 'Graph as imported', data.before],
                                  ['after', 'Graph after the passes', data.after]]) {
  if (!graph) continue;
  section(id, title, graph.nodes + ' nodes', graph.nodes <= LARGE,
          parent => drawGraph(parent, graph));
}
if (data.kernels) {
  section('kernels', 'Kernels', data.kernels.length + ' in all', true, drawKernels);
  section('arena', 'Arena over the steps', data.arena.buffers.length + ' buffers, ' +
          data.arena.steps.length + ' steps', true, drawArena);
}
</script>
</body>
</html>
)html";

}  // namespace aotc
