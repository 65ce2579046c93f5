import { counted, grouped } from '../../model/grouped.js';
import { foldText } from '../../model/value.js';
import type { FieldType } from '../../resources/spec.js';
import { enumSynonym } from '../../resources/value-check.js';
import { trimText } from './cell-text.js';
import { excerpt, quoted } from './headings.js';

/** What spreadsheet programs write into CSV files where a formula failed; folded. */
const ERROR_TEXTS = ['#ref!', '#name?', '#value!', '#div/0!', '#num!', '#null!'];
/** What databases and spreadsheet programs write where there is no value; folded. */
const NULL_WORDS: ReadonlySet<string> = new Set(['null', 'none', 'n/a', '#n/a', ...ERROR_TEXTS]);

/** Whether a text is what programs write where there is no value. */
const isNullWord = (text: string): boolean => NULL_WORDS.has(foldText(text));

/** What people write where they know no name: letters alone count. */
const NO_NAMES: ReadonlySet<string> = new Set(
  `na ka tbc tbd tba nil unknown notknown notavailable notapplicable notassigned unassigned pending tobeconfirmed
  tobedetermined tobedefined various several multiple misc miscellaneous unbekannt keine keiner diverse verschiedene
  offen inconnu aucun aucune divers adefinir desconocido ninguno varios pordefinir xx xxx`.split(/\s+/),
);

/** Whether a text stands where a name is missing: nobody is called so. */
export function isPlaceholder(text: string): boolean {
  const letters = foldText(text)
    .normalize('NFKD')
    .replace(/[^\p{L}\p{N}]/gu, '');
  return letters === '' || NO_NAMES.has(letters) || isNullWord(text.trim());
}

const LONGEST = 7;

/** Fewer than this share of a column may be meant as text; of an error none is. */
const SHARE = 0.01;

/**
 * Counts the cells of a text column that are no faults, but whose meaning a person should see confirmed. `stated`: whether the
 * job says what a text means.
 */
export function nullWords(heading: string, stated: (text: string) => boolean) {
  const words = new Set<string>();
  let count = 0;
  let failed = false;
  return {
    see(cell: string): void {
      // Nearly every cell is longer, or begins with another character: n, N, #, a blank.
      const first = cell.charCodeAt(0) | 0x20;
      if (first !== 0x6e && first !== 0x23 && first !== 0x20) return;
      const text = trimText(cell);
      if (text.length > LONGEST || !isNullWord(text) || stated(text)) return;
      words.add(text);
      failed ||= ERROR_TEXTS.includes(foldText(text));
      count++;
    },
    /** `rows`: how many were seen. */
    sentences(rows: number): string[] {
      if (count === 0 || (count <= rows * SHARE && !failed)) return [];
      const all = [...words].map((word) => JSON.stringify(word)).join(', ');
      return [
        `"${excerpt(heading)}": ${grouped(count)} of ${grouped(rows)} cells hold ${quoted([...words], ' or ')}, and are imported as that text. ` +
          `If it means that there is no value, state \`source: { null_values: [${all}] }\` in the job.`,
      ];
    },
  };
}

/** A text of a column of listed values that was taken for one of them, as the job does not say what it means. */
export interface Taken {
  readonly text: string;
  readonly value: string;
  count: number;
}

/** Notes a text that means a value as a synonym of ours only, in whatever case. */
export function takenFor(text: string, type: FieldType, taken: Map<string, Taken>): Taken | undefined {
  const value = type.kind === 'enum' ? enumSynonym(type, text) : undefined;
  if (value === undefined) return undefined;
  const folded = foldText(text);
  const one = taken.get(folded) ?? { text, value, count: 0 };
  taken.set(folded, one);
  return one;
}

export function synonymsTaken(heading: string, taken: ReadonlyMap<string, Taken> = new Map()): string[] {
  const [one] = taken.values();
  if (!one) return [];
  const each = [...taken.values()].map(
    ({ text, value, count }) => `"${excerpt(text)}" for ${value} (${counted(count, 'cell')})`,
  );
  return [
    `"${excerpt(heading)}": taken ${each.join(', ')}, as the job does not say what that means. ` +
      `If it is right, state it: \`values: { ${excerpt(one.text)}: ${one.value} }\`.`,
  ];
}
