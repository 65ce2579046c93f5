/** Signs of 16 pixels, drawn with the colour of the text; what they mean always stands beside them as a word. */
const PATHS = {
  overview: 'M2.5 2.5h4.5v5H2.5zM9 2.5h4.5v3H9zM9 7.5h4.5v6H9zM2.5 9.5h4.5v4H2.5z',
  import: 'M8 10V2.5M5 5.5l3-3 3 3M2.5 10v3.5h11V10',
  export: 'M8 2.5V10M5 7l3 3 3-3M2.5 10v3.5h11V10',
  runs: 'M2.5 4h11M2.5 8h11M2.5 12h7',
  nights: 'M13 9.5A5.5 5.5 0 0 1 6.5 3a5.5 5.5 0 1 0 6.5 6.5z',
  jobs: 'M4 2.5h5l3 3v8H4zM9 2.5v3h3M6 8.5h4M6 11h4',
  queue: 'M2.5 4.5h6M2.5 8h6M2.5 11.5h6M11 5l2.5 3-2.5 3',
  search: 'M7 11.5a4.5 4.5 0 1 0 0-9 4.5 4.5 0 0 0 0 9zM10.5 10.5l3 3',
  check: 'M3 8.5l3.5 3.5L13 4.5',
  same: 'M3.5 6h9M3.5 10h9',
  correct: 'M10.5 3l2.5 2.5-7 7H3.5V10zM9 4.5L11.5 7',
  look: 'M1.5 8S4 3.5 8 3.5 14.5 8 14.5 8 12 12.5 8 12.5 1.5 8 1.5 8zM8 9.8a1.8 1.8 0 1 0 0-3.6 1.8 1.8 0 0 0 0 3.6z',
  warn: 'M8 2.5L14.5 13.5h-13zM8 6.5v3.5M8 11.7v.3',
  bad: 'M8 14A6 6 0 1 0 8 2a6 6 0 0 0 0 12zM5.8 5.8l4.4 4.4M10.2 5.8l-4.4 4.4',
  info: 'M8 14A6 6 0 1 0 8 2a6 6 0 0 0 0 12zM8 7.3V11M8 5v.2',
  clock: 'M8 14A6 6 0 1 0 8 2a6 6 0 0 0 0 12zM8 4.8V8l2.2 1.6',
  stop: 'M4 4h8v8H4z',
  close: 'M4 4l8 8M12 4l-8 8',
  back: 'M10 3.5L5.5 8l4.5 4.5',
  undo: 'M5.5 2.5L2.5 5.5l3 3M2.5 5.5h7a4 4 0 0 1 0 8H6',
  again: 'M13 8a5 5 0 1 1-1.6-3.7M13.5 2v3h-3',
  next: 'M6 3.5L10.5 8 6 12.5',
  download: 'M8 2.5v7M5 7l3 3 3-3M3 13.5h10',
  off: 'M2.5 13.5L13.5 2.5M4 6.5a7 7 0 0 1 4-1.2M12 6.5l1.3 1.2M2.5 8l1-1M8 12v.3M6 10a3 3 0 0 1 2-.8',
  spin: 'M8 2a6 6 0 1 1-5.2 3',
  people: 'M8 7.5a2.5 2.5 0 1 0 0-5 2.5 2.5 0 0 0 0 5zM3 13.5c.5-2.5 2.5-4 5-4s4.5 1.5 5 4',
} as const;

export type IconName = keyof typeof PATHS;

export function Icon({ name, className = 'sign' }: { readonly name: IconName; readonly className?: string }) {
  return (
    <svg className={className} viewBox="0 0 16 16" aria-hidden="true">
      <path d={PATHS[name]} />
    </svg>
  );
}
