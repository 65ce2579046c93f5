/** The plots of the bench, as SVG text: ratios against their goals, and how cost grows. Light background, readable at 800 px. */
import { goalText } from './measure/report.mjs';
import { document, line, logScale, polyline, rect, text, ticks } from './plot-svg.mjs';

const WIDTH = 800;
const INK = '#1f2933';
const FAINT = '#d5dae0';
const [MET, MISSED] = ['#2f7d5b', '#c0562f'];
const [OURS, OTHER] = ['#1f5fa8', '#8a94a0'];

/** How many times the goal is kept: 1 is just met, whether a ratio must be large or small. */
const margin = ({ ratio, goal }) => (goal.least === undefined ? goal.most / ratio : ratio / goal.least);

/** A bar for every line that has a goal; from the goal to the right it is met, to the left it is not. */
export function ratiosPlot(cases) {
  const bars = cases.flatMap(({ name, lines }) =>
    lines.filter((one) => one.goal && one.ratio > 0).map((one) => ({ ...one, label: `${name}: ${one.what}` })),
  );
  const [left, right, top, step] = [330, 690, 64, 22];
  const height = top + bars.length * step + 46;
  const margins = bars.map(margin);
  const x = logScale(Math.min(0.5, ...margins) / 1.2, Math.max(2, ...margins) * 1.2, left, right);
  const bottom = top + bars.length * step + 4;
  const parts = [
    text(16, 26, 'Ratios against their goals', { size: 17, weight: 600, fill: INK }),
    text(16, 45, 'Right of the line a goal is met; the bar begins at the goal. Right: ratio and goal.', { fill: INK }),
  ];
  for (const at of ticks(x.from, x.to)) {
    parts.push(
      line(x(at), top - 6, x(at), bottom, FAINT),
      text(x(at), bottom + 14, `${at}×`, { anchor: 'middle', fill: INK }),
    );
  }
  parts.push(text((left + right) / 2, bottom + 32, 'times the goal (log)', { anchor: 'middle', fill: INK }));
  bars.forEach((bar, i) => {
    const y = top + i * step;
    const at = x(margin(bar));
    parts.push(
      text(left - 8, y + 12, shortened(bar.label, 54), { anchor: 'end', fill: INK, size: 10.5 }),
      rect(Math.min(at, x(1)), y, Math.max(2, Math.abs(at - x(1))), 14, bar.met ? MET : MISSED),
      text(right + 8, y + 12, `${Number(bar.ratio.toPrecision(3))} (${goalText(bar.goal)})`, {
        fill: bar.met ? INK : MISSED,
        size: 10.5,
      }),
    );
  });
  parts.push(line(x(1), top - 6, x(1), bottom, INK));
  return document(WIDTH, height, 'Ratios against their goals', parts);
}

/** Rows a second by number of rows, by latency (with the ideal), and by workers where that was measured. */
export function scalingPlot(cases) {
  const points = cases.find(({ name }) => name === 'scaling')?.lines ?? [];
  const of = (series) => points.filter(({ point }) => point?.series === series);
  const crews = cases.find(({ name }) => name === 'two-workers')?.lines ?? [];
  const panels = [
    { title: 'by rows (0 ms)', unit: 'rows', log: true, ours: of('rows').map(at), ideal: [] },
    {
      title: 'by latency of the service, 32 in flight',
      unit: 'ms',
      ours: of('latency').map(at),
      ideal: of('latency').flatMap(({ point, baseline }) =>
        baseline.value === null ? [] : [[point.x, baseline.value]],
      ),
    },
    ...[...new Set(crews.flatMap(({ point }) => point?.series ?? []))].map((series) => crewPanel(series, crews)),
  ].filter(({ ours }) => ours.length > 0);
  const tall = 230;
  const parts = [text(16, 26, 'Import of new rows: rows a second', { size: 17, weight: 600, fill: INK })];
  for (const [i, panel] of panels.entries()) parts.push(...panelOf(panel, 52 + i * tall, tall - 30));
  return document(WIDTH, 52 + panels.length * tall, 'Import of new rows: rows a second', parts);
}

const at = ({ point, ours }) => [point.x, ours.value];

/** One worker, and those that were held against it; the ideal is so many times the one. */
function crewPanel(series, crews) {
  const lines = crews.filter(({ point }) => point?.series === series);
  const alone = lines[0].baseline.value;
  return {
    title: `by ${series}`,
    unit: 'workers',
    ours: [[1, alone], ...lines.map(at)],
    ideal: [1, ...lines.map(({ point }) => point.x)].map((x) => [x, x * alone]),
  };
}

function panelOf({ title, unit, log, ours, ideal }, top, tall) {
  const [left, right] = [80, 660];
  const bottom = top + tall - 38;
  const values = ours.map(([, value]) => value);
  const most = Math.max(...values) * 1.25;
  const y = (value) => bottom - (Math.min(value, most) / most) * (bottom - top - 18);
  const xs = ours.map(([value]) => value);
  const widest = Math.max(...xs);
  const x = log
    ? logScale(Math.min(...xs), Math.max(widest, xs[0] * 10), left, right)
    : (value) => left + (value / widest) * (right - left);
  const shown = ideal.filter(([, value]) => value <= most);
  const parts = [text(16, top + 4, title, { size: 13, weight: 600, fill: INK })];
  for (const share of [0, 0.25, 0.5, 0.75, 1]) {
    const value = most * share;
    parts.push(
      line(left, y(value), right, y(value), FAINT),
      text(left - 6, y(value) + 4, Math.round(value).toLocaleString('en-US'), { anchor: 'end', fill: INK }),
    );
  }
  for (const value of xs)
    parts.push(text(x(value), bottom + 16, value.toLocaleString('en-US'), { anchor: 'middle', fill: INK }));
  parts.push(text((left + right) / 2, bottom + 33, unit, { anchor: 'middle', fill: INK }));
  if (shown.length > 0) {
    parts.push(
      polyline(
        shown.map(([a, b]) => [x(a), y(b)]),
        OTHER,
        '5 4',
      ),
    );
    const [a, b] = shown.at(-1);
    parts.push(text(x(a) + 10, y(b) - 4, 'ideal', { fill: OTHER }));
  }
  parts.push(
    polyline(
      ours.map(([a, b]) => [x(a), y(b)]),
      OURS,
    ),
  );
  const [a, b] = ours.at(-1);
  parts.push(text(x(a) + 10, y(b) + 12, 'rowferry', { fill: OURS }));
  return parts;
}

const shortened = (label, most) => (label.length > most ? `${label.slice(0, most - 1)}…` : label);
