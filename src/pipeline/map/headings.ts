import { distance } from 'fastest-levenshtein';
import { foldText } from '../../model/value.js';

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
export function indexHeadings(headings: readonly string[]) {
  const positionsByName = new Map<string, number[]>();
  headings.forEach((heading, index) => {
    const key = foldText(heading);
    if (key === '') return;
    const indexes = positionsByName.get(key);
    if (indexes) indexes.push(index);
    else positionsByName.set(key, [index]);
  });
  function byNumber(heading: string): readonly number[] | undefined {
    const [, name = '', nth] = /^(.*\S)\s*#([1-9]\d{0,2})$/su.exec(heading) ?? [];
    const found = nth === undefined ? undefined : positionsByName.get(foldText(name))?.[Number(nth) - 1];
    return found === undefined ? undefined : [found];
  }

  function byLetter(heading: string): readonly number[] {
    if (!/^[A-Z]{1,3}$/.test(heading)) return [];
    const at = [...heading].reduce((sum, letter) => sum * 26 + letter.charCodeAt(0) - 64, 0) - 1;
    return headings[at] !== undefined && foldText(headings[at]) === '' ? [at] : [];
  }

  const importable = headings.filter((heading) => foldText(heading) !== '' && !isOwnHeading(heading));
  return {
    /**
     * 0-based positions whose heading is this one, ascending; several where headings collide. `Name #2` is the second of those,
     * and a letter the column that a spreadsheet program shows under it, where its heading is blank.
     */
    positions: (heading: string): readonly number[] =>
      positionsByName.get(foldText(heading)) ?? byNumber(heading) ?? byLetter(heading),
    /** What to say about a heading that the file lacks. */
    missingHint: (heading: string): string => {
      const near = nearestNames(heading, importable);
      if (near.length > 0) return `did you mean ${quoted(near, ' or ')}?`;
      if (importable.length === 0) return 'the file has no headings.';
      const listed = importable.slice(0, 30);
      return `the file has ${quoted(listed)}${importable.length > listed.length ? ` and ${importable.length - listed.length} more` : ''}.`;
    },
  };
}

/** Names that `text` may be a misspelling of, the nearest first, at most three. Case, blanks, `_` and `-` do not count. */
export function nearestNames(text: string, names: Iterable<string>): string[] {
  const wanted = squeeze(text);
  // Two letters are as near to any other two as to what was meant.
  const limit = Math.floor(wanted.length * 0.4);
  const near: { name: string; steps: number }[] = [];
  for (const name of new Set(names)) {
    // What was refused is no way out.
    if (name === text) continue;
    const other = squeeze(name);
    const contained = wanted.length > 3 && other.length > 3 && (other.includes(wanted) || wanted.includes(other));
    const steps = Math.min(stepsBetween(wanted, other, limit), contained ? limit : Number.POSITIVE_INFINITY);
    if (steps <= limit) near.push({ name, steps });
  }
  return near
    .sort((a, b) => a.steps - b.steps)
    .slice(0, 3)
    .map(({ name }) => name);
}

/** Letters that are added, taken away or exchanged; of two neighbours that changed places both, but in a short word one. */
function stepsBetween(a: string, b: string, limit: number): number {
  const steps = distance(a, b);
  if (limit !== 1 || steps !== 2 || a.length !== b.length) return steps;
  const at = a.split('').findIndex((letter, i) => letter !== b[i]);
  return `${a.slice(0, at)}${a[at + 1]}${a[at]}${a.slice(at + 2)}` === b ? 1 : steps;
}

/** ` Did you mean "Finance"?`, or '' where nothing is near. */
export function didYouMean(text: string, names: Iterable<string>): string {
  const near = nearestNames(text, names);
  return near.length === 0 ? '' : ` Did you mean ${quoted(near, ' or ')}?`;
}

/** `, did you mean \`columns\`?`, or '' where no name is near. */
export function nameHint(text: string, names: Iterable<string>): string {
  const [near] = nearestNames(text, names);
  return near === undefined ? '' : `, did you mean \`${near}\`?`;
}

/** `"A", "B"`: line breaks shown as blanks, long names cut. */
export function quoted(names: readonly string[], last = ', '): string {
  const all = names.map((name) => `"${excerpt(name)}"`);
  return all.length < 2 ? all.join('') : `${all.slice(0, -1).join(', ')}${last}${all.at(-1)}`;
}

/** A cell as a message quotes it: one line, at most 60 characters. */
export function excerpt(text: string): string {
  const line = text.replace(/\s+/gu, ' ').trim();
  return line.length > 60 ? `${Array.from(line).slice(0, 57).join('')}…` : line;
}

const squeeze = (text: string) =>
  text
    .normalize('NFKC')
    .toLowerCase()
    .replace(/[\s_-]+/gu, '');
