import type { Night } from '../../model/reconcile.js';
import { html, type Markup } from '../markup.js';
import { count, when } from '../summary.js';
import { forPerson, isStopped } from './night.js';

const WIDTH = 500;
const HEIGHT = 220;
/** The field in which values stand. */
const LEFT = 46;
const RIGHT = WIDTH - 8;
const TOP = 30;
const BOTTOM = HEIGHT - 34;

interface Series {
  readonly label: string;
  readonly color: string;
  readonly of: (night: Night) => number;
}

const WRITTEN: readonly Series[] = [
  { label: 'created', color: 'var(--created)', of: ({ outcomes }) => outcomes['created'] ?? 0 },
  { label: 'updated', color: 'var(--updated)', of: ({ outcomes }) => outcomes['updated'] ?? 0 },
];

const LEFT_OVER: readonly Series[] = [
  { label: 'rows that need a person', color: 'var(--invalid)', of: forPerson },
  { label: 'orphans', color: 'var(--ambiguous)', of: ({ orphans }) => orphans },
];

/** What was written night by night, as columns, and what was left for people, as lines; each on its own scale. */
export function historyCharts(nights: readonly Night[]): Markup {
  return html`<div class="charts">${frame('Created and updated', nights, WRITTEN, stacked)}${frame('Left for people', nights, LEFT_OVER, lines)}</div>`;
}

interface Scale {
  /** Middle of the place of a night. */
  x(at: number): number;
  y(value: number): number;
  /** Room of a night. */
  readonly step: number;
}

function frame(
  title: string,
  nights: readonly Night[],
  series: readonly Series[],
  draw: (nights: readonly Night[], series: readonly Series[], scale: Scale) => Markup,
): Markup {
  const heights = nights.map((night) => {
    const values = series.map(({ of }) => of(night));
    return draw === stacked ? values.reduce((sum, one) => sum + one, 0) : Math.max(0, ...values);
  });
  const ticks = ticksUpTo(Math.max(0, ...heights));
  const top = ticks[ticks.length - 1]!;
  const step = (RIGHT - LEFT) / Math.max(nights.length, 1);
  const scale: Scale = {
    x: (at) => round(LEFT + (at + 0.5) * step),
    y: (value) => round(BOTTOM - (value / top) * (BOTTOM - TOP)),
    step,
  };
  const newest = nights[nights.length - 1];
  const told = newest ? series.map(({ label, of }) => `${count(of(newest))} ${label}`).join(', ') : '';
  return html`<figure><figcaption><strong>${title}</strong> ${series.map(
    ({ label, color }) => html`<span class="key"><i style="background:${color}"></i>${label}</span> `,
  )}</figcaption>
<svg class="chart night" viewBox="0 0 ${WIDTH} ${HEIGHT}" role="img" aria-label="${title} in the last ${nights.length} runs. The newest: ${told}.">${ticks.map(
    (tick) =>
      html`<line x1="${LEFT}" x2="${RIGHT}" y1="${scale.y(tick)}" y2="${scale.y(tick)}" class="rule"/><text x="${LEFT - 7}" y="${scale.y(tick) + 4}" text-anchor="end" class="soft">${short(tick)}</text>`,
  )}${draw(nights, series, scale)}${stops(nights, scale)}${dates(nights, scale)}</svg></figure>`;
}

function stacked(nights: readonly Night[], series: readonly Series[], { x, y, step }: Scale): Markup {
  const width = round(Math.min(step * 0.68, 34));
  return html`${nights.map((night, at) => {
    let below = 0;
    return series.map(({ label, color, of }) => {
      const value = of(night);
      if (value === 0) return false;
      const [low, high] = [y(below), y(below + value)];
      below += value;
      const height = Math.max(round(low - high), 1.5);
      return html`<rect x="${round(x(at) - width / 2)}" y="${round(low - height)}" width="${width}" height="${height}" rx="1.5" fill="${color}"${!night.apply && html` opacity="0.45"`}><title>${tip(night, `${count(value)} ${label}${night.apply ? '' : ' (would be)'}`)}</title></rect>`;
    });
  })}`;
}

function lines(nights: readonly Night[], series: readonly Series[], { x, y, step }: Scale): Markup {
  const radius = step > 26 ? 4 : 3;
  return html`${series.map(({ label, color, of }) => {
    const points = nights.map((night, at) => `${x(at)},${y(of(night))}`).join(' ');
    return html`${nights.length > 1 && html`<polyline points="${points}" fill="none" stroke="${color}" stroke-width="2" stroke-linejoin="round"/>`}${nights.map(
      (night, at) =>
        html`<circle cx="${x(at)}" cy="${y(of(night))}" r="${radius}" fill="${color}"><title>${tip(night, `${count(of(night))} ${label}`)}</title></circle>`,
    )}`;
  })}`;
}

/** A mark under the runs that a brake or a fault stopped. */
function stops(nights: readonly Night[], { x }: Scale): Markup {
  return html`${nights.map((night, at) => {
    if (!isStopped(night.status)) return false;
    const [mid, y] = [x(at), BOTTOM + 3];
    return html`<polygon points="${mid},${y} ${round(mid + 4.5)},${y + 8} ${round(mid - 4.5)},${y + 8}" fill="var(--bad)"><title>${tip(night, night.status)}</title></polygon>`;
  })}`;
}

/** Dates under the first and last night and as many between them as have room. */
function dates(nights: readonly Night[], { x, step }: Scale): Markup {
  const every = Math.max(1, Math.ceil(52 / step));
  return html`${nights.map((night, at) => {
    const last = nights.length - 1;
    if ((last - at) % every !== 0) return false;
    return html`<text x="${x(at)}" y="${HEIGHT - 8}" text-anchor="middle" class="soft">${night.at.slice(5, 10)}</text>`;
  })}`;
}

function tip(night: Night, text: string): string {
  return `${when(night.at)}: ${text}`;
}

/** From 0 up to or beyond the greatest value, in three to five even steps of whole numbers. */
export function ticksUpTo(most: number): number[] {
  if (most <= 0) return [0, 1];
  const rough = most / 4;
  const power = 10 ** Math.floor(Math.log10(Math.max(rough, 1)));
  const step = [1, 2, 5, 10].map((n) => n * power).find((n) => n * 4 >= most) ?? 10 * power;
  return Array.from({ length: Math.ceil(most / step) + 1 }, (_, i) => i * step);
}

/** `1,200`, `12k`, `1.5m` */
function short(n: number): string {
  if (n < 10_000) return count(n);
  return n < 1_000_000 ? `${n / 1000}k` : `${n / 1_000_000}m`;
}

function round(n: number): number {
  return Math.round(n * 10) / 10;
}
