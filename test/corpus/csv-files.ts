import { gzipSync } from 'node:zlib';
import iconv from 'iconv-lite';
import type { CorpusFile, ExpectedRow } from './corpus-file.js';
import { type Random, randomOf } from './random.js';
import { CODES, dayOf, headingsOf, isoDay, TEXTS, two, WESTERN } from './values.js';

/** How a program writes its CSV files. */
interface CsvForm {
  readonly delimiter: string;
  readonly newline: string;
  readonly quotes: 'minimal' | 'all' | 'text';
  readonly encoding: 'utf-8' | 'utf-16le' | 'utf-16be' | 'windows-1252';
  readonly bom: boolean;
  readonly ended: boolean;
  readonly sep: boolean;
}

const FORMS: readonly CsvForm[] = [
  // Excel "CSV", "CSV UTF-8" and the German one, "Unicode text", LibreOffice, Google Sheets, a database, a Mac of old.
  { delimiter: ',', newline: '\r\n', quotes: 'minimal', encoding: 'windows-1252', bom: false, ended: true, sep: false },
  { delimiter: ',', newline: '\r\n', quotes: 'minimal', encoding: 'utf-8', bom: true, ended: true, sep: false },
  { delimiter: ';', newline: '\r\n', quotes: 'minimal', encoding: 'utf-8', bom: true, ended: true, sep: false },
  { delimiter: ';', newline: '\r\n', quotes: 'minimal', encoding: 'windows-1252', bom: false, ended: true, sep: true },
  { delimiter: '\t', newline: '\r\n', quotes: 'minimal', encoding: 'utf-16le', bom: true, ended: true, sep: false },
  { delimiter: '\t', newline: '\n', quotes: 'all', encoding: 'utf-16be', bom: true, ended: false, sep: false },
  { delimiter: ',', newline: '\n', quotes: 'text', encoding: 'utf-8', bom: false, ended: true, sep: false },
  { delimiter: ',', newline: '\r\n', quotes: 'minimal', encoding: 'utf-8', bom: false, ended: false, sep: false },
  { delimiter: '|', newline: '\n', quotes: 'all', encoding: 'utf-8', bom: false, ended: true, sep: false },
  { delimiter: ';', newline: '\r', quotes: 'minimal', encoding: 'utf-8', bom: false, ended: true, sep: false },
];

const quoted = (text: string) => `"${text.replaceAll('"', '""')}"`;

function written(text: string, form: CsvForm): string {
  if (form.quotes === 'all') return quoted(text);
  if (form.quotes === 'text' && !/^\d*$/.test(text)) return quoted(text);
  return /["\r\n,;|\t]|^\s|\s$/.test(text) || text.includes(form.delimiter) ? quoted(text) : text;
}

/** Lines of a file and what they are: the rows that must come out of them. */
interface Draft {
  readonly form: CsvForm;
  readonly headings: readonly string[];
  readonly headerRow: number;
  readonly lines: string[];
  readonly rows: ExpectedRow[];
}

function draftOf(random: Random, form: CsvForm): Draft {
  const width = random.between(3, 7);
  const western = form.encoding === 'windows-1252';
  const texts = western ? WESTERN : TEXTS;
  const headings = headingsOf(random, width).map((text) => (western ? text.replace('__proto__', 'Prénom') : text));
  const lines: string[] = [];
  const rows: ExpectedRow[] = [];
  const headerRow = 1;
  lines.push(headings.map((text) => written(text, form)).join(form.delimiter));
  for (let count = random.between(3, 12); count > 0; count--) {
    if (random.chance(0.08)) lines.push('');
    const cells = headings.map((_, i) => {
      if (i === 0) return `${random.pick(['A', 'B', 'Zx'])}-${random.between(1, 99_999)}`;
      if (i === 1) return `${random.between(1, 9_999)}${random.pick(['', '.50', '.05'])}`;
      if (random.chance(0.1)) return '';
      if (random.chance(0.25)) return random.pick(CODES);
      return random.chance(0.3) ? isoDay(dayOf(random)) : random.pick(texts);
    });
    lines.push(cells.map((text) => written(text, form)).join(form.delimiter));
    rows.push({ row: lines.length, cells });
  }
  return { form, headings, headerRow, lines, rows };
}

const encoded = (text: string, { encoding, bom }: CsvForm) => iconv.encode(text, encoding, { addBOM: bom });
/** The line that names the delimiter is for spreadsheet programs, which do not count it. */
const linesOf = ({ lines, form }: Draft) => (form.sep ? [`sep=${form.delimiter}`, ...lines] : lines);
const textOf = (draft: Draft) => linesOf(draft).join(draft.form.newline) + (draft.form.ended ? draft.form.newline : '');

interface Damage {
  readonly name: string;
  readonly faults: readonly number[];
  /** Changes the draft; what it returns stands for the bytes, the limits or the outcome. */
  readonly apply: (draft: Draft, random: Random) => Partial<CorpusFile> & { readonly says?: readonly string[] };
}

/** Adds a line that is one data row with a fault, in the middle of good ones. */
function faultyRow(draft: Draft, line: string, row: Omit<ExpectedRow, 'row'>): Record<string, never> {
  draft.lines.push(line);
  draft.rows.push({ row: draft.lines.length, ...row });
  const cells = draft.headings.map((_, i) => `after ${i}`);
  draft.lines.push(cells.map((text) => written(text, draft.form)).join(draft.form.delimiter));
  draft.rows.push({ row: draft.lines.length, cells });
  return {};
}

const filler = (draft: Draft, first: string, count = draft.headings.length) =>
  [first, ...Array.from({ length: count - 1 }, (_, i) => `v${i}`)].join(draft.form.delimiter);

const DAMAGES: readonly Damage[] = [
  { name: 'good', faults: [61, 65, 67, 69, 70, 82], apply: () => ({}) },
  { name: 'good', faults: [61, 65, 67, 69, 70, 82], apply: () => ({}) },
  { name: 'gzip', faults: [], apply: (draft) => ({ bytes: gzipSync(encoded(textOf(draft), draft.form)) }) },
  {
    name: 'ragged-short',
    faults: [63],
    apply: (draft) =>
      faultyRow(draft, filler(draft, 'short', 2), {
        faults: ['ragged_row'],
        cells: ['short', 'v0', ...draft.headings.slice(2).map(() => '')],
      }),
  },
  {
    name: 'ragged-long',
    faults: [63],
    apply: (draft) => faultyRow(draft, filler(draft, 'long', draft.headings.length + 1), { faults: ['ragged_row'] }),
  },
  {
    name: 'stray-quote',
    faults: [63],
    apply: (draft) => faultyRow(draft, filler(draft, '"stray"quote'), { faults: ['stray_quote'] }),
  },
  {
    name: 'nul',
    faults: [64],
    apply: (draft) => faultyRow(draft, filler(draft, 'N\0L'), { faults: ['nul_character'] }),
  },
  {
    name: 'invalid-utf8',
    faults: [61],
    apply(draft) {
      if (draft.form.encoding !== 'utf-8') return {};
      // Ten good characters beyond ASCII for the bad byte: the file is UTF-8 that was damaged.
      const good = 'é'.repeat(12);
      draft.lines.push(filler(draft, good));
      draft.rows.push({ row: draft.lines.length, cells: filler(draft, good).split(draft.form.delimiter) });
      faultyRow(draft, filler(draft, 'MARKcut'), { faults: ['invalid_encoding'] });
      const bytes = encoded(textOf(draft), draft.form);
      bytes[bytes.indexOf('MARKcut') + 3] = 0xe9;
      return { bytes };
    },
  },
  {
    name: 'long-cell',
    faults: [90],
    apply: (draft) => faultyRow(draft, filler(draft, 'y'.repeat(32_768)), { faults: ['cell_too_long'] }),
  },
  {
    name: 'wide-row',
    faults: [90],
    apply: (draft) => faultyRow(draft, filler(draft, 'wide', 1_500), { faults: ['ragged_row'] }),
  },
  {
    name: 'open-quote',
    faults: [57],
    apply(draft) {
      draft.lines.push(filler(draft, '"never closed'));
      return { expected: { refused: 'never closed' } };
    },
  },
  {
    name: 'cut-off',
    faults: [57],
    apply(draft) {
      draft.lines.push(filler(draft, quoted('a text that is cut off')));
      const text = textOf(draft);
      return {
        bytes: encoded(text.slice(0, text.lastIndexOf('is cut')), draft.form),
        expected: { refused: 'never closed' },
      };
    },
  },
  {
    name: 'mixed-line-ends',
    faults: [62],
    apply(draft, random) {
      if (draft.form.newline === '\r') return {};
      const lines = linesOf(draft);
      const ends = lines.map((_, i) => (i < 2 ? ['\n', '\r\n'][i]! : random.pick(['\n', '\r\n'])));
      return {
        bytes: encoded(lines.map((line, i) => line + ends[i]!).join(''), draft.form),
        says: ['Line ends are mixed'],
      };
    },
  },
  {
    name: 'duplicate-headings',
    faults: [66],
    apply(draft) {
      const twice = [...draft.headings.slice(0, -1), draft.headings[0]!];
      (draft as { headings: readonly string[] }).headings = twice;
      draft.lines[draft.headerRow - 1] = twice.map((text) => written(text, draft.form)).join(draft.form.delimiter);
      return {};
    },
  },
  {
    name: 'title-above',
    faults: [],
    apply(draft) {
      const text = `Inventory of the year${draft.form.newline}${draft.form.newline}${textOf(draft)}`;
      if (draft.form.sep) return {};
      (draft as { headerRow: number }).headerRow += 2;
      for (const row of draft.rows) (row as { row: number }).row += 2;
      return { bytes: encoded(text, draft.form) };
    },
  },
];

/** CSV files of one seed: every damage in turn, in a random form. */
export function csvFiles(seed: number, count: number): CorpusFile[] {
  return Array.from({ length: count }, (_, i) => {
    const random = randomOf(seed * 100_003 + i);
    const damage = DAMAGES[i % DAMAGES.length]!;
    const draft = draftOf(random, random.pick(FORMS));
    const { says, ...changes } = damage.apply(draft, random);
    const { form, headings, headerRow, rows } = draft;
    const encoding = isAscii(draft) && form.encoding === 'windows-1252' ? 'utf-8' : form.encoding;
    return {
      name: `csv-${String(i).padStart(4, '0')}-${damage.name}-${two(seed)}.csv${damage.name === 'gzip' ? '.gz' : ''}`,
      faults: damage.faults,
      bytes: encoded(textOf(draft), form),
      expected: {
        table: {
          headings,
          header_row: headerRow,
          encoding,
          delimiter: form.delimiter,
          rows,
          ...(says ? { says } : {}),
        },
      },
      ...changes,
    };
  });
}

const isAscii = (draft: Draft) => /^[\x20-\x7e]*$/.test(draft.lines.join(''));
