import { nearestNames, quoted } from './nearest.js';

/** Characters nobody sees: zero-width blanks, soft hyphens, byte order marks. */
const INVISIBLE = /[\u00ad\u200b\u2060\ufeff]/g;

/**
 * The form in which headings and cell texts are compared without regard to case, blanks (also non-breaking ones and
 * line breaks), invisible characters and Unicode form.
 */
export function foldText(text: string): string {
  const visible = text.normalize('NFKC').replace(INVISIBLE, '').replace(/\s+/gu, ' ').trim();
  // Upper case first: `ß` and `SS`, final and inner sigma become the same.
  return visible.toUpperCase().toLowerCase().normalize('NFC');
}

/** Headings of rowferry's own columns in a file of rejected rows; such columns are never imported. */
export function isOwnHeading(heading: string): boolean {
  return foldText(heading).startsWith('_');
}

/** Whether a file holds rows that an earlier run handed back to be corrected. */
export function holdsCorrections(headings: readonly string[]): boolean {
  const folded = headings.map(foldText);
  return folded.includes('_row') && folded.includes('_outcome');
}

/** Finds the column of a heading as the job writes it. */
export interface HeadingIndex {
  /** 0-based positions whose heading is this one, ascending; several where headings collide. */
  positions(heading: string): readonly number[];
  /** What to say about a heading that the file lacks. */
  missing(heading: string): string;
}

export function indexHeadings(headings: readonly string[]): HeadingIndex {
  const places = new Map<string, number[]>();
  headings.forEach((heading, index) => {
    const key = foldText(heading);
    if (key === '') return;
    const known = places.get(key);
    if (known) known.push(index);
    else places.set(key, [index]);
  });
  const offered = headings.filter((heading) => foldText(heading) !== '' && !isOwnHeading(heading));
  return {
    positions: (heading) => places.get(foldText(heading)) ?? [],
    missing: (heading) => {
      const near = nearestNames(heading, offered);
      if (near.length > 0) return `did you mean ${quoted(near, ' or ')}?`;
      if (offered.length === 0) return 'the file has no headings.';
      const shown = offered.slice(0, 30);
      return `the file has ${quoted(shown)}${offered.length > shown.length ? ` and ${offered.length - shown.length} more` : ''}.`;
    },
  };
}
