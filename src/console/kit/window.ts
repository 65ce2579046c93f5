import { type RefObject, useCallback, useLayoutEffect, useState } from 'react';

/** Browsers cut off what is taller: Firefox at some 17.9 million pixels. */
const TALLEST = 15_000_000;
/** Rows beyond the edges, so that none is missing while the list is scrolled. */
const BEYOND = 6;

/** The part of a long list that is in sight; all its rows are as high. */
export interface Window {
  /** Places, from 0; `last` is one of them, or `first - 1`. */
  readonly first: number;
  readonly last: number;
  /** Of the box that gives the scroll bar its length. */
  readonly height: number;
  /** Rows that fit. */
  readonly page: number;
  /** Where the row lies in that box. */
  top(place: number): number;
  /** Brings a row into sight, where it is not. */
  show(place: number): void;
}

/** `head`: pixels at the top that stay, such as headings. A list that is taller than browsers can is scrolled in larger steps. */
export function useWindow(scroller: RefObject<HTMLElement | null>, count: number, row: number, head: number): Window {
  const [view, setView] = useState({ top: 0, height: 0 });
  useLayoutEffect(() => {
    const element = scroller.current;
    if (!element) return;
    const look = () => setView({ top: element.scrollTop, height: element.clientHeight });
    look();
    const sizes = new ResizeObserver(look);
    sizes.observe(element);
    element.addEventListener('scroll', look, { passive: true });
    return () => {
      sizes.disconnect();
      element.removeEventListener('scroll', look);
    };
  }, [scroller]);

  const whole = count * row;
  const height = Math.min(whole, TALLEST);
  const seen = Math.max(view.height - head, row);
  const scale = whole > height ? (whole - seen) / (height - seen) : 1;
  const offset = view.top * scale;
  const first = Math.max(Math.floor(offset / row) - BEYOND, 0);
  const last = Math.min(Math.ceil((offset + seen) / row) + BEYOND, count) - 1;
  return {
    first,
    last,
    height,
    page: Math.max(Math.floor(seen / row), 1),
    top: (place) => place * row - offset + view.top,
    show: useCallback(
      (place) => {
        const element = scroller.current;
        if (!element) return;
        const at = element.scrollTop * scale;
        const room = element.clientHeight - head;
        if (place * row < at) element.scrollTop = (place * row) / scale;
        else if ((place + 1) * row > at + room) element.scrollTop = ((place + 1) * row - room) / scale;
      },
      [scroller, scale, row, head],
    ),
  };
}
