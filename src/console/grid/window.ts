import { type RefObject, useEffectEvent, useLayoutEffect, useRef, useState } from 'react';

/** Browsers cut off what is taller: Firefox at some 17.9 million pixels. */
const MAX_HEIGHT = 15_000_000;
/** Rows beyond the edges, so that none is missing while the list is scrolled. */
const OVERSCAN = 6;

/**
 * The part of a long list that is in sight; all its rows are as high. `head`: pixels at the top that stay, such as headings. A list
 * that is taller than browsers can is scrolled in larger steps. Scrolling draws nothing anew but the rows that come: `pane` is
 * moved, and a render follows only where other rows are in sight.
 */
export function useWindow(scroller: RefObject<HTMLElement | null>, count: number, row: number, head: number) {
  const pane = useRef<HTMLDivElement>(null);
  const [{ from, fit, width }, setView] = useState({ from: 0, fit: 1, width: 0 });
  const fullHeight = count * row;
  const height = Math.min(fullHeight, MAX_HEIGHT);
  const first = Math.min(from, Math.max(count - 1, 0));

  /** Pixels in sight, and what each that is scrolled comes to in the whole list. */
  const measure = (element: HTMLElement) => {
    const visible = Math.max(element.clientHeight - head, row);
    return { visible, scale: fullHeight > height ? (fullHeight - visible) / (height - visible) : 1 };
  };
  const update = useEffectEvent(() => {
    const element = scroller.current;
    if (!element) return;
    const { visible, scale } = measure(element);
    const top = element.scrollTop;
    if (pane.current) pane.current.style.transform = `translateY(${first * row - top * (scale - 1)}px)`;
    const next = {
      from: Math.max(Math.floor((top * scale) / row) - OVERSCAN, 0),
      fit: Math.ceil(visible / row),
      width: element.clientWidth,
    };
    setView((view) => (JSON.stringify(view) === JSON.stringify(next) ? view : next));
  });
  useLayoutEffect(() => update(), [fullHeight, first, row, head]);
  const hasRows = count > 0;
  useLayoutEffect(() => {
    const element = scroller.current;
    if (!element || !hasRows) return;
    const onScroll = () => update();
    const resizeObserver = new ResizeObserver(onScroll);
    resizeObserver.observe(element);
    element.addEventListener('scroll', onScroll, { passive: true });
    return () => {
      resizeObserver.disconnect();
      element.removeEventListener('scroll', onScroll);
    };
  }, [scroller, hasRows]);

  return {
    /** Rows to draw, from 0, one below the other in `pane`. */
    places: Array.from({ length: Math.min(first + fit + 2 * OVERSCAN, count) - first }, (_, at) => first + at),
    /** Of the box around `pane`, which gives the scroll bar its length. */
    height,
    pane,
    width,
    /** Rows that fit. */
    page: Math.max(fit - 1, 1),
    /** Brings a row into sight, where it is not. */
    show(place: number): void {
      const element = scroller.current;
      if (!element) return;
      const { visible, scale } = measure(element);
      const at = element.scrollTop * scale;
      if (place * row < at) element.scrollTop = (place * row) / scale;
      else if ((place + 1) * row > at + visible) element.scrollTop = ((place + 1) * row - visible) / scale;
    },
  };
}
