import type { TableAbout, TableColumn, TableKind, TableRows } from '../../../src/model/table.js';

export const ABOUT: TableAbout = { title: 'Assets', facts: [['Records', '1,204']] };

export function columns(...kinds: readonly TableKind[]): TableColumn[] {
  return kinds.map((kind, i) => ({ heading: `${kind} ${i + 1}`, kind }));
}

export async function* batches(rows: readonly (readonly string[])[], size = 100): TableRows {
  for (let from = 0; from < rows.length; from += size) yield rows.slice(from, from + size);
}

/** Texts that formats, programs and readers trip over. Our readers hand every one of them back as it is. */
export const NASTY_TEXTS: readonly string[] = [
  '=1+1',
  "=cmd|' /C calc'!A0",
  '+SUM(A1)',
  '-1+2',
  '@SUM(1)',
  '\t=1',
  "'=1",
  "'quoted",
  "''",
  '  blanks at both ends  ',
  'two  blanks',
  'line\nbreak',
  'windows\r\nbreak',
  'carriage\rreturn',
  'tab\there',
  '\n',
  'say "hi", she said; <b>&amp;</b>',
  ']]>',
  '_x0041_',
  '_x005F_x0041_',
  '_xZZZZ_ snake_x_case',
  'bell \u0007 and escape \u001b',
  'delete \u007f and \u0085',
  '😀 👩‍👩‍👧 🇩🇪',
  '東京 Ελλάδα עברית',
  'e\u0301 and é',
  'no-break\u00a0space',
  '\ufeffmark',
  'zero\u200bwidth',
  '0012',
  '12345678901234567',
  '1e5',
  '1/2',
  'TRUE',
  '#REF!',
  '2024-01-31',
  'x'.repeat(32_767),
  '{"a":1}',
  'C:\\path\\file',
  '%PATH%',
  'null',
];

/** Texts of each kind that have its form, then such that have not; both come back as they are. */
export const KIND_TEXTS: Readonly<
  Record<TableKind, { readonly fits: readonly string[]; readonly not: readonly string[] }>
> = {
  text: { fits: ['plain'], not: [] },
  id: { fits: ['1', '10000000000000001', '0'], not: ['007', 'A-1', '1.0'] },
  integer: { fits: ['0', '12', '-5', '999999999999999'], not: ['0012', '1.0', '+3', '-0', 'many'] },
  decimal: { fits: ['0.1', '-12.5', '123456789.123456', '0.000001'], not: ['0.10', '1,5', '.5', '1e5', '-0.0'] },
  money: {
    fits: ['0.10', '1234.5', '-1234567.89', '999999999999999', '999999999999999.00', '0.125', '0.123456789012345'],
    not: ['$5', '1,000.00', '--'],
  },
  date: { fits: ['2024-02-29', '1900-03-01', '9999-12-31'], not: ['1899-12-31', '2023-02-29', '2024-1-5', 'soon'] },
  boolean: { fits: ['true', 'false'], not: ['TRUE', 'yes'] },
  json: { fits: ['[1,"two",{"three":3.10}]', '[]'], not: ['[1,', 'text', '12'] },
};

/** A table with every kind and every nasty text; blank cells in between. */
export function everything(): { readonly columns: TableColumn[]; readonly rows: string[][] } {
  const kinds = Object.keys(KIND_TEXTS) as TableKind[];
  const table = columns(...kinds, 'text');
  const rows = NASTY_TEXTS.map((text, r) => [
    ...kinds.map((kind) => {
      const { fits, not } = KIND_TEXTS[kind];
      const all = [...fits, ...not, ''];
      return all[r % all.length]!;
    }),
    text,
  ]);
  return { columns: table, rows };
}
