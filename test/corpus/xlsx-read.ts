import { gzipSync } from 'node:zlib';
import { textCell } from './xlsx-cells.js';
import { type BookDraft, type BookTwist, expectedRows, withPart } from './xlsx-files.js';

const lastRow = (draft: BookDraft) => draft.rows[draft.rows.length - 1]!.row;
const good = (name: string, faults: readonly number[] = []): BookTwist => ({ name, faults });
const other = (name: string, state?: 'hidden' | 'veryHidden') => ({
  name,
  ...(state ? { state } : {}),
  rows: [{ row: 1, cells: [textCell('x'), textCell('y')] }],
});

/** Workbooks that are read, however odd they are. */
export const READ: readonly BookTwist[] = [
  good('good', [68, 69, 70, 71, 72, 82]),
  good('good', [68, 69, 70, 71, 72, 82]),
  good('good', [68, 69, 70, 71, 72, 82]),
  { name: 'gzip', faults: [], bytes: (bytes) => gzipSync(bytes) },
  {
    name: 'hidden-sheets',
    faults: [74],
    draft(draft) {
      draft.sheets = [other('Secret', 'hidden'), other('Deep', 'veryHidden')];
      draft.says.push('Hidden sheets are not read: "Secret", "Deep"');
    },
  },
  {
    name: 'empty-sheet-first',
    faults: [74],
    draft(draft) {
      draft.sheets = [{ name: 'Cover', rows: [{ row: 3, cells: ['styled', null, 'styled'] }] }];
    },
  },
  {
    name: 'hidden-rows',
    faults: [74],
    draft(draft) {
      for (const row of draft.rows.slice(1, 3)) row.hidden = true;
      // LibreOffice writes hidden="false" into every row, and the later attribute of two would be wrong XML.
      draft.says.push('2 hidden rows');
    },
    not: (dialect) => dialect.name === 'libreoffice',
  },
  {
    name: 'hidden-columns',
    faults: [74],
    not: (dialect) => dialect.prefix !== undefined || dialect.name === 'libreoffice',
    draft(draft) {
      draft.columns = '<cols><col min="2" max="3" width="9" hidden="1" customWidth="1"/></cols>';
      draft.says.push('2 hidden columns');
    },
  },
  {
    name: 'merged-cells',
    faults: [73],
    draft(draft) {
      draft.merges = [`B${lastRow(draft) + 2}:C${lastRow(draft) + 3}`];
      draft.rows.push({ row: lastRow(draft) + 2, cells: [textCell('last'), textCell('merged')] });
      draft.says.push('1 merged range');
    },
  },
  {
    name: 'whole-sheet-dimension',
    faults: [81],
    parts: (parts, draft) =>
      withPart(parts, draft, (part) => ({
        ...part,
        data: String(part.data).replace(/<dimension ref="[^"]*"\/>/, '<dimension ref="A1:XFD1048576"/>'),
      })),
    draft(draft) {
      draft.merges = [`A${lastRow(draft) + 5}:XFD1048576`];
    },
  },
  {
    name: 'last-row-styled',
    faults: [81],
    not: (dialect) => !dialect.refs || dialect.prefix !== undefined,
    draft(draft) {
      draft.more = '<row r="1048576" ht="15"><c r="A1048576" s="0"/><c r="XFD1048576" s="0"/></row>';
    },
  },
  {
    name: 'far-cell',
    faults: [81, 90],
    not: (dialect) => !dialect.refs || dialect.prefix !== undefined || dialect.quote === "'",
    draft(draft) {
      const row = lastRow(draft) + 1;
      draft.more = `<row r="${row}"><c r="A${row}" t="inlineStr"><is><t>far</t></is></c><c r="XFD${row}" t="inlineStr"><is><t>away</t></is></c></row>`;
      draft.expected = [
        ...expectedRows(draft),
        { row, cells: draft.headings.map((_, i) => (i === 0 ? 'far' : '')), faults: ['ragged_row'] },
      ];
    },
  },
  {
    name: 'long-cell',
    faults: [90],
    draft(draft) {
      const row = lastRow(draft) + 1;
      draft.expected = [...expectedRows(draft), { row, faults: ['cell_too_long'] }];
      draft.rows.push({ row, cells: [textCell('z'.repeat(32_768))] });
    },
  },
  {
    name: 'title-rows',
    faults: [73],
    draft(draft) {
      for (const row of draft.rows) row.row += 3;
      // Every row is filled to the width, so that the heading is as wide as the table without doubt.
      for (const row of draft.rows)
        row.cells = row.cells.map((slot) => (slot === null || slot === 'styled' ? textCell('full') : slot));
      draft.rows.unshift({ row: 1, cells: [textCell('Inventory of the year')] });
      draft.merges = ['A1:C1'];
      draft.headerRow = 4;
    },
  },
  {
    name: 'external-links',
    faults: [79],
    parts: (parts) => [
      ...parts,
      {
        name: 'xl/externalLinks/externalLink1.xml',
        data: '<externalLink xmlns="http://schemas.openxmlformats.org/spreadsheetml/2006/main"><externalBook r:id="rId1"/></externalLink>',
      },
      {
        name: 'xl/externalLinks/_rels/externalLink1.xml.rels',
        data: '<Relationships><Relationship Id="rId1" Type="x/externalLinkPath" Target="http://127.0.0.1:9/x.xlsx" TargetMode="External"/></Relationships>',
      },
    ],
  },
  {
    name: 'giant-strings-table',
    faults: [81],
    not: (dialect) => dialect.strings !== 'shared' || dialect.prefix !== undefined,
    parts: (parts) =>
      parts.map((part) =>
        /sharedStrings/.test(part.name)
          ? {
              ...part,
              data: String(part.data)
                .replace('</sst>', `${'<si><t>unused</t></si>'.repeat(5_000)}</sst>`)
                .replace(/count="\d+"/, 'count="4294967295"'),
            }
          : part,
      ),
  },
];
