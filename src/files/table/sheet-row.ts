import { type Cell, isBlank, type RowFault, type SheetRow, shownText } from '../../model/row.js';
import type { StoredRow } from '../xlsx/sheet-scan.js';
import { columnName } from './header.js';

/** As many cells as the heading; a filled cell beyond it makes the row a fault, because nothing says what it is. */
export function toRow({ row, cells, faults: found, beyond }: StoredRow, width: number): SheetRow {
  let faults: RowFault[] | undefined = found;
  const at = cells.length > width ? cells.findIndex((cell, i) => i >= width && !isBlank(cell)) : -1;
  if (at >= 0 || beyond) {
    const extra: Cell | undefined = at >= 0 ? cells[at] : undefined;
    faults = [...(found ?? []).filter(({ index = 0 }) => index < width), raggedCell(row, at, extra)];
  }
  if (cells.length > width) cells.length = width;
  while (cells.length < width) cells.push('');
  return faults && faults.length > 0 ? { row, cells, faults } : { row, cells };
}

function raggedCell(row: number, at: number, cell: Cell | undefined): RowFault {
  const where =
    at >= 0 ? `${columnName(at)}${row} holds "${shownText(cell).slice(0, 60)}"` : 'A cell far to the right is filled';
  return {
    code: 'ragged_row',
    message: `${where}, but that column has no heading. Give the column a heading, or clear the cell.`,
  };
}
