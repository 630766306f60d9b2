// The page of `aotc bench --html`: timeline and table of each number of threads.
#include "compiler/report/page.h"

#include <string>

#include "absl/strings/str_replace.h"
#include "compiler/bench/report.h"

namespace aotc {
namespace {

constexpr char kPage[] = R"html(<!DOCTYPE html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<link rel="icon" href="data:,">
<title>aotc bench</title>
<style>
:root { color-scheme: light dark; --ink: #1c2430; --soft: #5c6a7c; --line: #c9d1db; --back: #fff; }
@media (prefers-color-scheme: dark) {
  :root { --ink: #e4e9f0; --soft: #9aa7b8; --line: #3d4858; --back: #171c24; } }
body { font: 14px/1.45 system-ui, sans-serif; margin: 0 auto; padding: 1.2em 2em 4em;
       color: var(--ink); background: var(--back); max-width: 1500px; }
h1 { font-size: 1.5em; margin: .2em 0; } h2 { font-size: 1.15em; margin: 1.4em 0 .3em; }
.soft { color: var(--soft); font-weight: normal; }
table { border-collapse: collapse; width: 100%; margin-top: .8em; }
th { text-align: left; color: var(--soft); font-weight: normal; cursor: pointer; position: sticky;
     top: 0; background: var(--back); }
th, td { padding: .2em .8em; border-bottom: 1px solid var(--line); vertical-align: top; }
.number { text-align: right; white-space: nowrap; font-variant-numeric: tabular-nums; }
svg { display: block; width: 100%; border: 1px solid var(--line); border-radius: 6px; }
svg text { font: 11px system-ui, sans-serif; fill: var(--ink); pointer-events: none; }
rect.step { stroke: var(--back); stroke-width: .5; }
rect.step:hover, rect.step.chosen { stroke: var(--ink); stroke-width: 2; }
tr.chosen td { background: color-mix(in srgb, var(--soft) 25%, transparent); }
</style>
</head>
<body>
<h1>@TITLE@</h1>
<p class="soft">Drag moves a timeline, the wheel zooms it; a click finds a step in the table, and
back. Heads of columns sort.</p>
<div id="runs"></div>
<script type="application/json" id="data">@DATA@</script>
<script>
'use strict';
const data = JSON.parse(document.getElementById('data').textContent);
const SVG = 'http://www.w3.org/2000/svg';
const ROW = 30;  // pixels of a worker

function add(parent, name, attributes, text) {
  const svg = parent.namespaceURI === SVG || name === 'svg';
  const element = svg ? document.createElementNS(SVG, name) : document.createElement(name);
  for (const [key, value] of Object.entries(attributes || {})) element.setAttribute(key, value);
  if (text !== undefined) element.textContent = text;
  parent.appendChild(element);
  return element;
}
const ms = seconds => (seconds * 1e3).toFixed(3) + ' ms';
const hue = text => {
  let h = 0;
  for (const c of text) h = (h * 31 + c.codePointAt(0)) % 360;
  return h;
};

// Marks all that is drawn of a step.
function choose(section, step) {
  for (const e of section.querySelectorAll('.chosen')) e.classList.remove('chosen');
  const all = section.querySelectorAll(`[data-step="${step}"]`);
  for (const e of all) e.classList.add('chosen');
  section.querySelector(`tr[data-step="${step}"]`).scrollIntoView({block: 'nearest'});
}

function timeline(section, run, byStep) {
  const end = Math.max(1, ...run.timeline.map(t => t[3])), height = ROW * run.workers;
  const svg = add(section, 'svg', {height, viewBox: `0 0 ${end} ${height}`,
                                   preserveAspectRatio: 'none'});
  let from = 0, width = end, held = null;
  const show = () => svg.setAttribute('viewBox', `${from} 0 ${width} ${height}`);
  for (const [index, worker, begin, stop] of run.timeline) {
    const step = byStep.get(index);
    const rect = add(svg, 'rect', {class: 'step', x: begin, y: ROW * worker + 2,
        width: Math.max(stop - begin, end / 5000), height: ROW - 4, 'data-step': index,
        'vector-effect': 'non-scaling-stroke', fill: `hsl(${hue(step.kernel)} 55% 58%)`});
    add(rect, 'title', {}, `${index} ${step.kernel}: ${((stop - begin) / 1e3).toFixed(1)} us, ` +
        `worker ${worker}\n${step.nodes.join('\n')}`);
    rect.addEventListener('click', () => choose(section, index));
  }
  svg.addEventListener('wheel', event => {
    event.preventDefault();
    const at = from + width * event.offsetX / svg.clientWidth;
    width = Math.min(end, Math.max(end / 1e4, width * (event.deltaY > 0 ? 1.25 : 0.8)));
    from = Math.min(end - width, Math.max(0, at - width * event.offsetX / svg.clientWidth));
    show();
  });
  svg.addEventListener('pointerdown', event => { held = {x: event.clientX, from}; });
  window.addEventListener('pointerup', () => { held = null; });
  svg.addEventListener('pointermove', event => {
    if (held === null) return;
    const moved = (event.clientX - held.x) * width / svg.clientWidth;
    from = Math.min(end - width, Math.max(0, held.from - moved));
    show();
  });
}

const rate = (step, count) => step.seconds.median > 0 ? count / step.seconds.median : 0;
const shown = (value, digits, unit = '') => value > 0 ? value.toFixed(digits) + unit : '';
const COLUMNS = [
  ['step', s => s.step, s => s.step], ['kernel', s => s.kernel, s => s.kernel],
  ['median', s => s.seconds.median, s => ms(s.seconds.median)],
  ['least', s => s.seconds.min, s => ms(s.seconds.min)],
  ['share', s => s.share, s => (100 * s.share).toFixed(1) + ' %'],
  ['GFLOP/s', s => rate(s, s.flops), s => shown(rate(s, s.flops) / 1e9, 1)],
  ['GB/s', s => rate(s, s.bytes), s => shown(rate(s, s.bytes) / 1e9, 1)],
  ['roofline', s => rate(s, s.roofline_seconds || 0),
   s => shown(100 * rate(s, s.roofline_seconds || 0), 0, ' %')],
  ['realisation', s => s.realisation, s => s.realisation],
  ['nodes', s => s.nodes.join(), s => s.nodes.join(', ')],
];

function table(section, run) {
  const head = add(section, 'table'), rows = add(head, 'tbody');
  const order = {column: 2, down: true};
  const fill = () => {
    rows.textContent = '';
    const key = COLUMNS[order.column][1], sign = order.down ? -1 : 1;
    const compare = (a, b) => a < b ? -sign : a > b ? sign : 0;
    for (const step of [...run.steps].sort((a, b) => compare(key(a), key(b)))) {
      const row = add(rows, 'tr', {'data-step': step.step});
      for (const [name, value, text] of COLUMNS) {
        add(row, 'td', typeof value(step) === 'number' ? {class: 'number'} : {}, text(step));
      }
      row.addEventListener('click', () => choose(section, step.step));
    }
  };
  const titles = add(head.createTHead(), 'tr');
  COLUMNS.forEach(([name], i) => {
    add(titles, 'th', {}, name).addEventListener('click', () => {
      order.down = order.column === i ? !order.down : true;
      order.column = i;
      fill();
    });
  });
  fill();
}

for (const run of data.runs) {
  const section = add(document.getElementById('runs'), 'section');
  const title = add(section, 'h2', {}, `${run.threads} thread${run.threads > 1 ? 's' : ''} `);
  const peer = run.onnxruntime_seconds;
  add(title, 'span', {class: 'soft'}, `${run.runs} runs, least ${ms(run.seconds.min)}, median ` +
      `${ms(run.seconds.median)}, p95 ${ms(run.seconds.p95)}` +
      (peer ? `; onnxruntime's median ${ms(peer.median)}` : ''));
  timeline(section, run, new Map(run.steps.map(step => [step.step, step])));
  table(section, run);
}
</script>
</body>
</html>
)html";

std::string InMarkup(const std::string& text) {
  return absl::StrReplaceAll(text, {{"&", "&amp;"}, {"<", "&lt;"}});
}

}  // namespace

std::string BenchPage(const BenchReport& report, const std::string& title) {
  Json data = BenchToJson(report);
  for (size_t i = 0; i < report.runs.size(); ++i) {
    Json told = Json::array();
    for (const Told& t : report.runs[i].timeline)
      told.push_back({t.step, t.worker, t.begin, t.end});
    data["runs"][i]["timeline"] = std::move(told);
  }
  return absl::StrReplaceAll(kPage, {{"@TITLE@", InMarkup(title)}, {"@DATA@", ScriptJson(data)}});
}

}  // namespace aotc
