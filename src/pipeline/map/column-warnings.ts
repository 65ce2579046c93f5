import { formatNumber } from '../../model/count-text.js';
import { foldText } from '../../model/value.js';
import { trimText } from './cell-text.js';
import { excerpt, quoted } from './headings.js';

/** What spreadsheet programs write into CSV files where a formula failed; folded. */
const ERROR_TEXTS = ['#ref!', '#name?', '#value!', '#div/0!', '#num!', '#null!'];
/** What databases and spreadsheet programs write where there is no value; folded. */
const NULL_WORDS: ReadonlySet<string> = new Set(['null', 'none', 'n/a', '#n/a', ...ERROR_TEXTS]);

/** Whether a text is what programs write where there is no value. */
const isNullWord = (text: string): boolean => NULL_WORDS.has(foldText(text));

/** What people write where they know no name: letters alone count. */
const PLACEHOLDERS: ReadonlySet<string> = new Set(
  `na ka tbc tbd tba nil unknown notknown notavailable notapplicable notassigned unassigned pending tobeconfirmed
  tobedetermined tobedefined various several multiple misc miscellaneous unbekannt keine keiner diverse verschiedene
  offen inconnu aucun aucune divers adefinir desconocido ninguno varios pordefinir xx xxx`.split(/\s+/),
);

/** Whether a text stands where a name is missing: nobody is called so. */
export function isPlaceholder(text: string): boolean {
  const letters = foldText(text)
    .normalize('NFKD')
    .replace(/[^\p{L}\p{N}]/gu, '');
  return letters === '' || PLACEHOLDERS.has(letters) || isNullWord(text.trim());
}

const MAX_LENGTH = 7;

/** Fewer than this share of a column may be meant as text; of an error none is. */
const MIN_SHARE = 0.01;

/**
 * Counts the cells of a text column that are no faults, but whose meaning a person should see confirmed. `stated`: whether the
 * job says what a text means.
 */
export function nullWordCounter(heading: string, stated: (text: string) => boolean) {
  const words = new Set<string>();
  let count = 0;
  let hasErrors = false;
  return {
    observe(cell: string): void {
      // Nearly every cell is longer, or begins with another character: n, N, #, a blank.
      const first = cell.charCodeAt(0) | 0x20;
      if (first !== 0x6e && first !== 0x23 && first !== 0x20) return;
      const text = trimText(cell);
      if (text.length > MAX_LENGTH || !isNullWord(text) || stated(text)) return;
      words.add(text);
      hasErrors ||= ERROR_TEXTS.includes(foldText(text));
      count++;
    },
    /** `rows`: how many were seen. */
    sentences(rows: number): string[] {
      if (count === 0 || (count <= rows * MIN_SHARE && !hasErrors)) return [];
      const all = [...words].map((word) => JSON.stringify(word)).join(', ');
      return [
        `"${excerpt(heading)}": ${formatNumber(count)} of ${formatNumber(rows)} cells hold ${quoted([...words], ' or ')}, and are imported as that text. ` +
          `If it means that there is no value, state \`source: { null_values: [${all}] }\` in the job.`,
      ];
    },
  };
}
