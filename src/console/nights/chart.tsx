import { useEffect, useRef } from 'react';
import uPlot from 'uplot';
import 'uplot/dist/uPlot.min.css';
import type { Night } from '../../api/schema.js';
import { number } from '../kit/format.js';
import { FIGURES, nightDay } from './words.js';

const HEIGHT = 76;
const FEWEST = 14;

/** Each night as small bars, one figure below the other; the table beside it says the same to those who do not see it. */
export default function NightsChart({
  nights,
  chosen,
  onChoose,
  onPoint,
}: {
  /** The oldest first. */
  nights: readonly Night[];
  chosen: number;
  onChoose: (at: number) => void;
  /** The night under the pointer. */
  onPoint: (at: number | null) => void;
}) {
  const box = useRef<HTMLDivElement>(null);
  const plots = useRef<readonly uPlot[]>([]);
  const now = useRef({ chosen, onChoose, onPoint });
  now.current = { chosen, onChoose, onPoint };

  useEffect(() => {
    const place = box.current!;
    const last = FIGURES.length - 1;
    plots.current = FIGURES.map(({ of }, at) => {
      const values = (stopped: boolean) =>
        nights.map((one) => ((one.status === 'braked') === stopped ? of(one) : null));
      const options = optionsOf(place, nights, at === last, now);
      return new uPlot(options, [nights.map((_, x) => x), values(false), values(true)], place);
    });
    const redraw = () => {
      for (const plot of plots.current) plot.redraw(false);
    };
    const sized = new ResizeObserver(() => {
      for (const plot of plots.current) plot.setSize({ width: place.clientWidth, height: plot.height });
    });
    sized.observe(place);
    const scheme = matchMedia('(prefers-color-scheme: dark)');
    scheme.addEventListener('change', redraw);
    return () => {
      sized.disconnect();
      scheme.removeEventListener('change', redraw);
      for (const plot of plots.current) plot.destroy();
    };
  }, [nights]);

  useEffect(() => {
    if (chosen >= 0) for (const plot of plots.current) plot.redraw(false);
  }, [chosen]);

  return <div ref={box} className="nights-chart" aria-hidden="true" onPointerLeave={() => onPoint(null)} />;
}

type Now = {
  readonly current: { chosen: number; onChoose: (at: number) => void; onPoint: (at: number | null) => void };
};

function optionsOf(place: HTMLElement, nights: readonly Night[], withDays: boolean, now: Now): uPlot.Options {
  const bars = uPlot.paths.bars!({ size: [0.7, 24] });
  const series = (colour: string) => ({ fill: () => colourOf(place, colour), paths: bars, points: { show: false } });
  const soft = () => colourOf(place, '--soft');
  const axis = { stroke: soft, ticks: { show: false }, font: '12px system-ui' };
  return {
    width: place.clientWidth,
    height: HEIGHT + (withDays ? 20 : 0),
    padding: [16, 8, withDays ? 0 : 4, 0],
    legend: { show: false },
    cursor: { y: false, points: { show: false }, drag: { x: false, y: false } },
    scales: {
      x: { time: false, range: [-0.5, Math.max(nights.length, FEWEST) - 0.5] },
      y: { range: (_, __, most) => [0, Math.max(most ?? 1, 1)] },
    },
    axes: [
      {
        ...axis,
        show: withDays,
        grid: { show: false },
        size: 20,
        gap: 4,
        space: 80,
        incrs: [1, 2, 5, 7, 14, 28],
        values: (_, at) => at.map((x) => (nights[x] ? nightDay(nights[x]) : '')),
      },
      {
        ...axis,
        grid: { stroke: () => colourOf(place, '--rule'), width: 1 },
        size: 60,
        splits: (_, __, least, most) => [least, most],
        values: (_, at) => at.map((y) => number(y)),
      },
    ],
    series: [{}, series('--accent'), series('--bad-bar')],
    hooks: {
      drawClear: [
        ({ ctx, bbox, valToPos }) => {
          const width = valToPos(1, 'x', true) - valToPos(0, 'x', true);
          ctx.fillStyle = colourOf(place, '--accent-ground');
          ctx.fillRect(valToPos(now.current.chosen, 'x', true) - width / 2, bbox.top, width, bbox.height);
        },
      ],
      // A stopped night has its sign, whether its colour is seen or not, and where its bar has no height.
      draw: [
        ({ ctx, bbox, valToPos }) => {
          ctx.fillStyle = colourOf(place, '--bad');
          ctx.font = `bold ${12 * devicePixelRatio}px system-ui`;
          ctx.textAlign = 'center';
          for (const [at, { status }] of nights.entries()) {
            if (status === 'braked') ctx.fillText('×', valToPos(at, 'x', true), bbox.top - 3 * devicePixelRatio);
          }
        },
      ],
      setCursor: [({ cursor: { idx } }) => now.current.onPoint(idx ?? null)],
      ready: [
        ({ over, cursor }) =>
          over.addEventListener('click', () => {
            if (typeof cursor.idx === 'number') now.current.onChoose(cursor.idx);
          }),
      ],
    },
  };
}

/** As the scheme has it now. */
function colourOf(place: HTMLElement, token: string): string {
  place.style.color = `var(${token})`;
  return getComputedStyle(place).color;
}
