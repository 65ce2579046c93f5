import { type RefObject, useCallback, useLayoutEffect, useRef, useState } from 'react';

/** Browsers cut off what is taller: Firefox at some 17.9 million pixels. */
const TALLEST = 15_000_000;
/** Rows beyond the edges, so that none is missing while the list is scrolled. */
const BEYOND = 6;

/**
 * The part of a long list that is in sight; all its rows are as high. `head`: pixels at the top that stay, such as headings. A list
 * that is taller than browsers can is scrolled in larger steps. Scrolling draws nothing anew but the rows that come: `pane` is
 * moved, and a render follows only where other rows are in sight.
 */
export function useWindow(scroller: RefObject<HTMLElement | null>, count: number, row: number, head: number) {
  const pane = useRef<HTMLDivElement>(null);
  const [{ from, fit, width }, setView] = useState({ from: 0, fit: 1, width: 0 });
  const whole = count * row;
  const height = Math.min(whole, TALLEST);
  const first = Math.min(from, Math.max(count - 1, 0));

  /** Pixels in sight, and what each that is scrolled comes to in the whole list. */
  const measure = useCallback(
    (element: HTMLElement) => {
      const seen = Math.max(element.clientHeight - head, row);
      return { seen, scale: whole > height ? (whole - seen) / (height - seen) : 1 };
    },
    [whole, height, row, head],
  );
  const follow = useRef<() => void>(() => undefined);
  useLayoutEffect(() => {
    follow.current = () => {
      const element = scroller.current;
      if (!element) return;
      const { seen, scale } = measure(element);
      const top = element.scrollTop;
      if (pane.current) pane.current.style.transform = `translateY(${first * row - top * (scale - 1)}px)`;
      const next = {
        from: Math.max(Math.floor((top * scale) / row) - BEYOND, 0),
        fit: Math.ceil(seen / row),
        width: element.clientWidth,
      };
      setView((view) => (JSON.stringify(view) === JSON.stringify(next) ? view : next));
    };
    follow.current();
  }, [scroller, measure, first, row]);
  const some = count > 0;
  useLayoutEffect(() => {
    const element = scroller.current;
    if (!element || !some) return;
    const look = () => follow.current();
    const sizes = new ResizeObserver(look);
    sizes.observe(element);
    element.addEventListener('scroll', look, { passive: true });
    return () => {
      sizes.disconnect();
      element.removeEventListener('scroll', look);
    };
  }, [scroller, some]);

  return {
    /** Rows to draw, from 0, one below the other in `pane`. */
    places: Array.from({ length: Math.min(first + fit + 2 * BEYOND, count) - first }, (_, at) => first + at),
    /** Of the box around `pane`, which gives the scroll bar its length. */
    height,
    pane,
    /** Of all that is in sight. */
    width,
    /** Rows that fit. */
    page: Math.max(fit - 1, 1),
    /** Brings a row into sight, where it is not. */
    show(place: number): void {
      const element = scroller.current;
      if (!element) return;
      const { seen, scale } = measure(element);
      const at = element.scrollTop * scale;
      if (place * row < at) element.scrollTop = (place * row) / scale;
      else if ((place + 1) * row > at + seen) element.scrollTop = ((place + 1) * row - seen) / scale;
    },
  };
}
