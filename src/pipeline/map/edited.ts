import type { FieldDiff } from '../../model/change.js';
import { fault, type Issue } from '../../model/issue.js';
import type { RowsJob } from '../../model/job.js';
import type { Cell, SheetRow } from '../../model/row.js';
import { isEmpty, normaliseKey, sameValue, valueText } from '../../model/value.js';
import { PARTNERS } from '../../resources/rules.js';
import { type Held, isReadable, type MergeOptions } from '../plan/merge.js';
import { isOfCell, sameText, textsOf, valuesOf } from '../plan/repeats.js';
import type { ResolvedRow } from '../resolve/resolve.js';
import { type Exported, isNamed, type StagedRow, type StagedValue } from '../rows.js';
import { trimText } from './cell-text.js';
import type { MappingInput } from './columns.js';
import { compileMapping, type Mapping } from './map.js';
import { findTarget } from './targets.js';

/** What an export wrote for a record, in the order of its fields; null where a later import has set another value. */
export type ExportedTexts = readonly (string | null)[];

/** Leaves of a staged row what a person changed, with what the export wrote there. */
type KeepEdits = (row: SheetRow, staged: StagedRow, texts: ExportedTexts) => StagedRow;

/** A text is cut where a cell of a workbook ends; a pair of surrogates is not parted. */
const CUT = 32_766;

/** A mapped column that the export wrote. */
interface Written {
  readonly field: string;
  readonly heading: string;
  /** Position in the file. */
  readonly index: number;
  /** Position in the texts. */
  readonly at: number;
  readonly isText: boolean;
}

/**
 * Compares the cells of a file with what an export wrote into them. A cell that means the same is no change: its field is
 * not set, so that what somebody else has written meanwhile stays. Keys, constants, and values that the job gives to blank
 * cells stay as they are. `fields`: what the export wrote, as its job file names it.
 */
export function keepEdits(input: MappingInput, mapping: Mapping, fields: readonly string[]): KeepEdits {
  const { job, meta, spec, catalogue } = input;
  const places = new Map<string, number>();
  for (const [at, name] of fields.entries()) {
    const found = findTarget(name, job, spec, catalogue);
    if (!('problem' in found)) places.set(found.field, at);
  }
  const columns = mapping.columns.flatMap(({ field, heading, spec: { type } }): Written[] => {
    const at = places.get(field);
    if (at === undefined || mapping.key.includes(field)) return [];
    const isText = type.kind === 'text' || type.kind === 'email';
    return [{ field, heading, index: meta.headings.indexOf(heading), at, isText }];
  });
  const exporting = compileMapping({ ...input, job: asExported(job), sample: [] });
  const width = meta.headings.length;

  function exportedRow(row: number, texts: ExportedTexts): StagedRow {
    const cells: Cell[] = new Array<Cell>(width).fill('');
    for (const { index, at } of columns) cells[index] = texts[at] ?? '';
    return exporting.mapRow({ row, cells });
  }

  return (row, staged, texts) => {
    const same = new Map<string, Written>();
    let exported: StagedRow | undefined;
    for (const column of columns) {
      const cell = row.cells[column.index] ?? '';
      const text = texts[column.at] ?? '';
      if (texts[column.at] === null) continue;
      if (typeof cell === 'string' && trimText(cell) === '') {
        // What a blank cell sets is the job's own word, but for "no value", which the export wrote, too.
        if (staged.set[column.field] === null && trimText(text) === '') same.set(column.field, column);
        continue;
      }
      if (trimText(text) === '') continue;
      if (cell !== text && !isCut(cell, text)) {
        exported ??= exportedRow(row.row, texts);
        if (!isSame(column, staged, exported)) continue;
      }
      same.set(column.field, column);
    }
    keepPairs(staged, same);
    const edited: Record<string, Exported> = {};
    for (const { field, index, at } of columns) {
      const text = texts[at];
      if (staged.set[field] === undefined || same.has(field) || text === undefined || text === null) continue;
      // What the job gives to a cell that was always blank is nobody's edit.
      if (trimText(text) === '' && trimText(String(row.cells[index] ?? '')) === '') continue;
      exported ??= exportedRow(row.row, texts);
      const value = exported.cells?.[field] ?? exported.set[field];
      edited[field] = value === undefined ? { at, text } : { at, text, value };
    }
    const kept = same.size === 0 ? staged : without(staged, same);
    return Object.keys(edited).length === 0 ? kept : { ...kept, edited };
  };
}

/**
 * Fields of which a person changed the cell and somebody else the record since the export, each to another value: which of
 * them stands, only people can say. What reads do not show cannot be compared. Contract, section 5 (`conflict`).
 */
export function editConflicts(
  edited: ResolvedRow['edited'],
  changes: readonly FieldDiff[],
  held: Held,
  options: MergeOptions,
): Issue[] {
  if (!edited) return [];
  return changes.flatMap((change) => {
    const { field } = change;
    const exported = edited[field];
    if (!exported || !isReadable(field, held.read.fields[field], options) || stillHolds(field, exported, held))
      return [];
    return fault(
      'changed_meanwhile',
      `Somebody else changed ${field} since the file was exported: it was "${exported.text}" then, the record now has "${valueText(change.old)}", and the row sets "${valueText(change.new)}". Nothing was sent. Write the value of the record into the cell to leave it, or import the row once more to replace it.`,
      { field, value: valueText(change.new) },
    );
  });
}

function stillHolds(field: string, { text, value }: Exported, held: Held): boolean {
  const now = valuesOf(field, held);
  // A record that never had a yes-or-no has none.
  if (value === undefined ? trimText(text) === '' : !isNamed(value) && (isEmpty(value) || value === false))
    return now.every((one) => isEmpty(one) || one === false);
  if (textsOf(field, held).some((one) => sameText(one, text))) return true;
  return (
    value !== undefined && now.some((one) => means(withLineFeeds(one), isNamed(value) ? value : withLineFeeds(value)))
  );
}

/** The job for the texts of the export: they are written in one form, however the file was saved since. */
function asExported(job: RowsJob): RowsJob {
  const columns = Object.entries(job.columns).map(([heading, target]): [string, typeof target] => {
    if (target === null || typeof target === 'string') return [heading, target];
    const { dates: _dates, decimal: _decimal, required: _required, ...rest } = target;
    return [heading, rest];
  });
  const source = { ...job.source, dates: ['yyyy-MM-dd'], decimal: '.' as const };
  return { ...job, source, columns: Object.fromEntries(columns) } as RowsJob;
}

function isCut(cell: Cell, text: string): boolean {
  return typeof cell === 'string' && cell.length >= CUT && text.startsWith(cell);
}

function isSame({ field, heading, isText }: Written, staged: StagedRow, exported: StagedRow): boolean {
  const now = staged.set[field];
  const then = exported.set[field];
  if (now === undefined || then === undefined) {
    const fault = now === then ? faultOf(staged, heading) : undefined;
    const before = fault && faultOf(exported, heading);
    return before !== undefined && before.code === fault?.code && before.value === fault.value;
  }
  if (!isText) return means(now, then);
  // Outer blanks are part of a text that a record holds.
  return withLineFeeds(staged.cells?.[field] ?? now) === withLineFeeds(exported.cells?.[field] ?? then);
}

function faultOf(row: StagedRow, heading: string) {
  return row.issues.find((issue) => isOfCell(issue) && issue.column === heading);
}

function means(a: StagedValue, b: StagedValue): boolean {
  if (isNamed(a) || isNamed(b)) return isNamed(a) && isNamed(b) && normaliseKey(a.name) === normaliseKey(b.name);
  return sameValue(a, b);
}

/** Spreadsheet programs keep line feeds only. */
function withLineFeeds(value: StagedValue): StagedValue {
  return typeof value === 'string' ? value.replace(/\r\n?/g, '\n') : value;
}

const PAIRS = [['category.name', 'category.subcategory'], ...PARTNERS] as const;

/** A subcategory means something under its category alone: where one of a pair is changed, both are set. */
function keepPairs({ set }: StagedRow, same: Map<string, Written>): void {
  for (const pair of PAIRS) {
    if (pair.every((field) => set[field] === undefined || same.has(field))) continue;
    for (const field of pair) same.delete(field);
  }
}

function without(staged: StagedRow, same: ReadonlyMap<string, Written>): StagedRow {
  const { cells, ...row } = staged;
  const headings = new Set([...same.values()].map(({ heading }) => heading));
  const isKept = ([field]: [string, unknown]) => !same.has(field);
  const kept = Object.entries(cells ?? {}).filter(isKept);
  return {
    ...row,
    set: Object.fromEntries(Object.entries(staged.set).filter(isKept)),
    issues: staged.issues.filter((issue) => !isOfCell(issue) || !headings.has(issue.column ?? '')),
    ...(kept.length > 0 ? { cells: Object.fromEntries(kept) } : {}),
  };
}
