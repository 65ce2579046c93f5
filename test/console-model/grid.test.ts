import { expect, test } from 'vitest';
import { fromTsv, placeBlock, toTsv } from '../../src/console/grid/clipboard.js';
import { keyName, moveCursor, rangeOf, selectCell, typedCharacter } from '../../src/console/grid/cursor.js';
import {
  composeEdits,
  corrections,
  editedValue,
  editsOf,
  isLeftOut,
  setCells,
  setEqual,
  setLeftOut,
} from '../../src/console/import/edits.js';

const NO_EDITS = editsOf();
const cell = (row: number, text: string, column = 'Supplier') => ({ column, row, cell: text });
const plain = { ctrlKey: false, metaKey: false, shiftKey: false, altKey: false };
const bounds = { rows: 100, columns: 4, page: 10 };

test('one correction stands for all equal cells, and a cell of its own for one', () => {
  const all = setEqual(NO_EDITS, cell(9, 'Acme Computer'), 'Acme Computers');
  const one = setCells(all, [{ ...cell(12, 'Acme Computer'), value: 'Globex' }]);
  expect(editedValue(one, cell(40, 'Acme Computer'))).toBe('Acme Computers');
  expect(editedValue(one, cell(12, 'Acme Computer'))).toBe('Globex');
  expect(editedValue(one, cell(40, 'Acme Computer', 'Owner'))).toBe('Acme Computer');
  expect(corrections(one)).toEqual([
    { column: 'Supplier', from: 'Acme Computer', value: 'Acme Computers' },
    { column: 'Supplier', row: 12, value: 'Globex' },
  ]);
  expect(corrections(editsOf(corrections(one)))).toEqual(corrections(one));
});

test('blanks around a text, which nobody sees, do not make it another one', () => {
  const all = setEqual(NO_EDITS, cell(9, ' Acme Computer'), 'Acme Computers');
  expect(editedValue(all, cell(40, 'Acme Computer \u00a0'))).toBe('Acme Computers');
  expect(editedValue(editsOf(corrections(all)), cell(41, 'Acme Computer'))).toBe('Acme Computers');
  expect(editedValue(all, cell(42, 'Acme  Computer'))).toBe('Acme  Computer');
});

test('a cell that gets back what the file has is no correction', () => {
  const changed = setCells(NO_EDITS, [{ ...cell(9, 'x'), value: 'y' }]);
  expect(setCells(changed, [{ ...cell(9, 'x'), value: 'x' }])).toEqual(NO_EDITS);
  const kept = setCells(setEqual(NO_EDITS, cell(9, 'x'), 'y'), [{ ...cell(9, 'x'), value: 'x' }]);
  expect(editedValue(kept, cell(9, 'x'))).toBe('x');
  expect(editedValue(kept, cell(10, 'x'))).toBe('y');
});

test('corrections of a corrected copy are corrections of the file', () => {
  const first = setCells(setEqual(NO_EDITS, cell(2, 'A'), 'B'), [{ ...cell(7, 'Q'), value: 'B' }]);
  // The second check shows B in the rows of A, in row 7, and where the file itself has B.
  const both = composeEdits(first, setCells(setEqual(NO_EDITS, cell(2, 'B'), 'C'), [{ ...cell(8, 'D'), value: 'E' }]));
  expect(editedValue(both, cell(2, 'A'))).toBe('C');
  expect(editedValue(both, cell(3, 'B'))).toBe('C');
  expect(editedValue(both, cell(7, 'Q'))).toBe('C');
  expect(editedValue(both, cell(8, 'D'))).toBe('E');
  expect(editedValue(both, cell(9, 'C'))).toBe('C');
  // What is exchanged is exchanged, and not taken twice.
  const swapped = composeEdits(
    setEqual(NO_EDITS, cell(2, 'A'), 'B'),
    setEqual(setEqual(NO_EDITS, cell(2, 'B'), 'A'), cell(3, 'A'), 'B'),
  );
  expect([editedValue(swapped, cell(2, 'A')), editedValue(swapped, cell(3, 'B'))]).toEqual(['A', 'A']);
});

test('a row that is left out stays so, whatever all blank cells become, in this check and the next', () => {
  const headings = ['Serial', 'Supplier'];
  const row = { row: 4, cells: ['', 'Acme'] };
  const out = setLeftOut(NO_EDITS, headings, row, true);
  const filled = setEqual(out, cell(9, '', 'Serial'), 'ZZ-1');
  expect(isLeftOut(filled, headings, row)).toBe(true);
  expect(editedValue(filled, cell(9, '', 'Serial'))).toBe('ZZ-1');
  expect(setLeftOut(out, headings, row, false)).toEqual(NO_EDITS);
  const emptied = setCells(out, [{ ...cell(6, 'x', 'Serial'), value: '' }]);
  const next = composeEdits(emptied, setEqual(NO_EDITS, cell(9, '', 'Serial'), 'ZZ-1'), headings);
  expect(isLeftOut(next, headings, row)).toBe(true);
  expect(editedValue(next, cell(6, 'x', 'Serial'))).toBe('ZZ-1');
});

test('the cursor moves as in a spreadsheet, and stays in the table', () => {
  const start = { row: 1, column: 3 };
  expect(moveCursor(start, 'Tab', bounds)).toEqual({ row: 2, column: 0 });
  expect(moveCursor({ row: 2, column: 0 }, 'Shift+Tab', bounds)).toEqual(start);
  expect(moveCursor({ row: 99, column: 3 }, 'Tab', bounds)).toBeUndefined();
  expect(moveCursor({ row: 0, column: 0 }, 'Shift+Tab', bounds)).toBeUndefined();
  expect(moveCursor(start, 'ArrowRight', bounds)).toEqual(start);
  expect(moveCursor(start, 'PageUp', bounds)).toEqual({ row: 0, column: 3 });
  expect(moveCursor(start, 'Ctrl+ArrowDown', bounds)).toEqual({ row: 99, column: 3 });
  expect(rangeOf({ ...selectCell(start), head: moveCursor(start, 'Ctrl+Home', bounds)! })).toEqual({
    ...{ top: 0, left: 0, bottom: 1, right: 3 },
  });
  expect([moveCursor(start, 'F5', bounds), moveCursor(start, 'Alt+ArrowUp', bounds)]).toEqual([undefined, undefined]);
});

test('a key is known by its name, whatever the keyboard', () => {
  expect(keyName({ ...plain, key: 'Z', metaKey: true, shiftKey: true })).toBe('Ctrl+Shift+z');
  expect(keyName({ ...plain, key: 'ArrowUp', altKey: true })).toBe('Alt+ArrowUp');
  expect(typedCharacter({ ...plain, key: 'é' })).toBe('é');
  expect(typedCharacter({ ...plain, key: '@', ctrlKey: true, altKey: true })).toBe('@');
  expect(typedCharacter({ ...plain, key: 'r', ctrlKey: true })).toBeUndefined();
  expect(typedCharacter({ ...plain, key: 'F5' })).toBeUndefined();
});

test('ranges go through the clipboard as spreadsheet programs write them', () => {
  const cells = [
    ['a', 'two\nlines', ''],
    ['"quoted"', 'tab\there', '5" disk'],
  ];
  expect(fromTsv(toTsv(cells))).toEqual(cells);
  expect(fromTsv('1\t2\r\n3\t4\r\n')).toEqual([
    ['1', '2'],
    ['3', '4'],
  ]);
  expect(fromTsv('"open\tend')).toEqual([['"open', 'end']]);
  expect(fromTsv('')).toEqual([['']]);
  expect(fromTsv('a\n\nb')).toEqual([['a'], [''], ['b']]);
});

test('one cell fills the range, a block is laid from its corner', () => {
  const range = { top: 3, left: 1, bottom: 4, right: 2 };
  expect(placeBlock([['x']], range)).toHaveLength(4);
  expect(placeBlock([['1', '2', '3']], range)).toEqual([
    { row: 3, column: 1, value: '1' },
    { row: 3, column: 2, value: '2' },
    { row: 3, column: 3, value: '3' },
    { row: 4, column: 1, value: '1' },
    { row: 4, column: 2, value: '2' },
    { row: 4, column: 3, value: '3' },
  ]);
});
