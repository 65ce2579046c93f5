import { GOOD_OUTCOMES, OUTCOMES, type OutcomeCounts, type OutcomeKind } from '../model/outcome.js';
import { html, type Markup } from './markup.js';
import { outcomeWords } from './outcome-words.js';
import { count, counted, type RunKind } from './summary.js';

const WIDTH = 1000;
const BAR = 26;
/** Upper edges of the two bars. */
const TOP = 22;
const LOWER = 114;
/** The second bar is drawn where its part of the first is narrower than this. */
const ZOOM_BELOW = 350;
const GAP = 2;
/** Fifteen rows in a million are still seen. */
const LEAST = 4;

interface Segment {
  readonly kind: OutcomeKind;
  readonly rows: number;
  readonly x: number;
  readonly width: number;
}

/**
 * All rows as one bar; where the part that needs a person is small, that part is drawn out to full width below it:
 * a handful of bad rows in a large file would otherwise be a hair's breadth.
 */
export function outcomeChart(counts: Readonly<OutcomeCounts>, dryRun: boolean, run: RunKind = 'import'): Markup {
  const every = segments(counts, OUTCOMES);
  const bad = every.filter(({ kind }) => !GOOD_OUTCOMES.has(kind));
  const all = counted(sum(every), run === 'undo' ? 'record' : 'row');
  const words = (part: Segment) => `${count(part.rows)} ${outcomeWords(part.kind, dryRun, run).label.toLowerCase()}`;
  const [first, last] = [bad[0], bad[bad.length - 1]];
  const zoom = first && last && last.x + last.width - first.x < ZOOM_BELOW ? { first, last } : undefined;
  const label = `${run === 'undo' ? 'Records' : 'Rows'} by outcome: ${every.map(words).join(', ')}.`;
  return html`<svg class="chart" viewBox="0 0 ${WIDTH} ${zoom ? 164 : 68}" role="img" aria-label="${label}">${
    zoom &&
    html`<polygon class="link" points="${zoom.first.x},${TOP + BAR} ${round(zoom.last.x + zoom.last.width)},${TOP + BAR} ${WIDTH},${LOWER} 0,${LOWER}"/>`
  }<text x="0" y="13" class="soft">${all}</text>${bars(every, TOP, words)}${
    zoom &&
    html`<text x="0" y="${LOWER - 8}" class="soft">${count(sum(bad))} of them for a person</text>${bars(
      segments(
        counts,
        bad.map(({ kind }) => kind),
      ),
      LOWER,
      words,
    )}`
  }</svg>`;
}

function sum(parts: readonly Segment[]): number {
  return parts.reduce((total, part) => total + part.rows, 0);
}

function segments(counts: Readonly<OutcomeCounts>, kinds: readonly OutcomeKind[]): Segment[] {
  const present = kinds.filter((kind) => counts[kind] > 0);
  const total = present.reduce((all, kind) => all + counts[kind], 0);
  const room = WIDTH - GAP * (present.length - 1);
  const wanted = present.map((kind) => Math.max(LEAST, (counts[kind] / total) * room));
  // What the smallest were given beyond their share is taken from the large ones.
  const large = wanted.reduce((all, width) => (width > LEAST ? all + width : all), 0);
  const small = wanted.reduce((all, width) => (width > LEAST ? all : all + width), 0);
  const scale = large > 0 ? (room - small) / large : 1;
  let x = 0;
  return present.map((kind, at) => {
    const width = (wanted[at] ?? 0) > LEAST ? (wanted[at] ?? 0) * scale : LEAST;
    const part = { kind, rows: counts[kind], x: round(x), width: round(width) };
    x += width + GAP;
    return part;
  });
}

function round(n: number): number {
  return Math.round(n * 10) / 10;
}

/** Labels stand under the segments that have room for them; the table below the chart names all. */
function bars(parts: readonly Segment[], y: number, words: (part: Segment) => string): Markup[] {
  let free = 0;
  return parts.map((part) => {
    const text = words(part);
    const estimate = text.length * 7.9;
    const x = Math.min(Math.max(part.x, free), WIDTH - estimate);
    const fits = x >= free && Math.abs(x - part.x) < 8 + part.width / 2 && part.width >= Math.min(estimate, 50);
    if (fits) free = x + estimate + 14;
    return html`<rect x="${part.x}" y="${y}" width="${part.width}" height="${BAR}" rx="3" fill="${`var(--${part.kind})`}"><title>${text}</title></rect>${
      fits && html`<text x="${round(x)}" y="${y + BAR + 17}">${text}</text>`
    }`;
  });
}
