import { formatNumber } from '../../model/count-text.js';
import { usageError } from '../../model/error.js';
import { fault, type Issue, warning } from '../../model/issue.js';
import { jobFaultText } from '../../model/job.js';
import { type Cell, displayText, isBlank, type NoRecord, type RowRef, type SheetRow } from '../../model/row.js';
import { foldText } from '../../model/value.js';
import { checkValue } from '../../resources/value-check.js';
import { type StagedRow, type StagedValue, setMaker } from '../rows.js';
import { isRefusal, trimText } from './cell-text.js';
import { type CellResult, type Column, compileColumns, type MappingInput } from './columns.js';
import { excerpt, holdsCorrections } from './headings.js';

/** Where the headings were looked for, unless the job says where: the table may stand on another sheet, behind a cover. */
function sheetHint({ job, meta }: MappingInput): string {
  if (meta.sheet === null || job.source?.sheet !== undefined) return '';
  return ` The headings are those in row ${meta.header_row} of the sheet "${meta.sheet}"; if the table stands on another sheet, name it in source.sheet.`;
}

/**
 * Fits a job to a file. Throws a `RunError` of kind `usage` that lists every fault: headings the file lacks or has twice, fields
 * and custom fields that do not exist or cannot be written, values of the job that do not fit their fields.
 */
export function compileMapping(input: MappingInput) {
  const plan = compileColumns(input);
  const faults = plan.problems.filter(({ severity }) => severity !== 'warning');
  if (faults.length > 0) {
    const count = faults.length;
    throw usageError(
      `The job does not fit the file: ${count} ${count === 1 ? 'fault' : 'faults'}. Nothing was sent. Correct the job file or the headings.${sheetHint(input)}`,
      faults.map(jobFaultText),
    );
  }
  const { fixed, key } = plan;
  // A constant stands in every row: what a cell of the same field says is of no account.
  const columns = plan.columns.filter(({ field }) => !fixed.some((one) => one.field === field));
  const byField = new Map(columns.map((column) => [column.field, column]));
  const specs = new Map([...columns, ...fixed].map(({ field, spec }) => [field, spec]));
  const keyColumns = columns.filter((column) => key.includes(column.field));

  /** Of one row after the other: what its columns set, then what every row sets. */
  const values: (StagedValue | undefined)[] = [...columns.map(() => undefined), ...fixed.map(({ value }) => value)];
  const setOf = setMaker<StagedValue>([...columns, ...fixed].map(({ field }) => field));
  let rows = 0;
  const headings = input.meta.headings.map(foldText);
  /** Where an earlier run says what became of a row, of rows that cannot be looked up. */
  const outcomeIndex =
    (key.length === 0 || !input.spec.readable) && holdsCorrections(headings) ? headings.indexOf('_outcome') : -1;
  /** By heading, cells that hold what a wrong decoding leaves. */
  const misread = new Map<string, number>();
  /** Rows that look like totals or notes, and are records all the same; a table has few of them. */
  const lookalikes = new Set<number>();

  /** Converts a row; every fault of it becomes an issue with its heading, field and value. Never throws. */
  function mapRow(row: SheetRow, sheet?: string): StagedRow {
    const ref: RowRef = sheet === undefined ? { row: row.row } : { sheet, row: row.row };
    const issues: Issue[] = [];
    let cells: Record<string, string> | undefined;
    let escaped: Record<string, string> | undefined;
    // Where the cells of a row are not certain, what they hold is not worth a fault of its own.
    const certain = row.faults === undefined || reportFaults(row, input.meta.headings, columns, issues);
    const found = certain ? issues : [];
    rows++;
    for (let i = 0; i < columns.length; i++) {
      const column = columns[i]!;
      const cell = cellOf(column, row);
      if (typeof cell === 'string') column.remarks?.observe(cell);
      const faulty = row.faults?.some(({ index }) => isReadFrom(column, index));
      const value = faulty ? undefined : cellValue(column.parts ? partToShow(column, row, cell) : column, cell, found);
      values[i] = value;
      if (value === undefined) continue;
      if (typeof cell === 'string' && saysMoreThan(cell, value, column)) {
        cells ??= {};
        cells[column.field] = cell;
      }
      if (typeof cell === 'string' && row.escaped?.includes(column.index) && !isTranslated(cell, column.values)) {
        escaped ??= {};
        escaped[column.field] = `'${cell}`;
      }
    }
    for (const { code, column } of issues) {
      if (code === 'misread_text' && column !== undefined) misread.set(column, (misread.get(column) ?? 0) + 1);
    }
    if (row.noRecord) {
      if (!isRecord(row.cells, row.noRecord, issues)) return { ref, set: {}, issues: [notARecord(row.noRecord, row)] };
      if (row.noRecord.doubtful && issues.length === 0 && lookalikes.size < 10) lookalikes.add(row.row);
    }
    const outcomeCell = outcomeIndex < 0 ? undefined : row.cells[outcomeIndex];
    if (outcomeCell !== undefined && foldText(displayText(outcomeCell)) === 'unknown')
      issues.push(unknownOutcomeFault());
    const set = setOf(values) as Record<string, StagedValue>;
    if (certain && keyColumns.length > 0) checkKey(row, keyColumns, set, issues);
    const unread = issues.some(({ severity }) => severity === 'error') ? { unread: unreadText(row, certain) } : {};
    return { ref, set, issues, ...(cells ? { cells } : {}), ...(escaped ? { escaped } : {}), ...unread };
  }

  /** Of the row whose values are at hand. Where its cells are not certain, all of them. */
  function unreadText(row: SheetRow, certain: boolean): string {
    let unread = certain ? '' : JSON.stringify(row.cells);
    for (const [i, column] of certain ? columns.entries() : []) {
      const cell = values[i] === undefined && cellOf(column, row);
      if (cell) unread += `${i} ${JSON.stringify(trimmed(cell))}`;
    }
    // Of a cell that is too long, the row holds the beginning.
    return row.faults ? unread + JSON.stringify(row.faults.map(({ text }) => text)) : unread;
  }

  /** A field of several columns: its fault is shown at the one that is at fault, else at the first that holds something. */
  function partToShow(column: Column, { cells }: SheetRow, cell: Cell | undefined): Column {
    const filled = column.parts?.filter((part) => !isBlank(cells[part])) ?? [];
    const index = filled.find((part) => cells[part] === cell) ?? filled[0] ?? column.index;
    return { ...column, index, heading: input.meta.headings[index] ?? column.heading };
  }

  /**
   * Whether a row that looks like none is a record. In doubt it is, where what identifies or completes it is filled;
   * otherwise that has to stand beside its label and to convert.
   */
  function isRecord(cells: readonly Cell[], { like, doubtful }: NoRecord, issues: readonly Issue[]): boolean {
    if (like === 'the heading again') return false;
    const first = cells.findIndex((cell) => !isBlank(cell));
    // A note begins where the table does: what stands further right, in a column of the job, is a record that lacks the rest.
    if (doubtful && first > 0 && columns.some(({ index }) => index === first)) return true;
    const label = doubtful ? -1 : first;
    const needed = columns.filter((column) => column.required || keyColumns.includes(column));
    const isFilled = needed.every(({ index }) => index !== label && !isBlank(cells[index]));
    return isFilled && (doubtful || (needed.length > 0 && issues.length === 0));
  }

  return {
    mapRow,
    /** The heading a field comes from; undefined for constants and fields the job does not set. */
    columnOf: (field: string) => byField.get(field)?.heading,
    /** The mapped columns in the order of the file. */
    columns: columns.map(({ field, heading, spec }) => ({ field, heading, spec })),
    /** Every field a row may set, canonical: mapped columns, then constants and defaults. */
    fields: [...specs.keys()] as readonly string[],
    /** `match.key` as canonical fields. */
    key,
    /** The description of a field the mapping sets, also of custom fields. */
    specOf: (field: string) => specs.get(field),
    warnings: plan.warnings,
    /** What is to be said of the cells of the rows that were converted, counted. */
    remarks: (): readonly string[] => [
      ...columns.flatMap((column) => column.remarks?.sentences(rows) ?? []),
      ...columns.flatMap((column) => column.cut?.sentences() ?? []),
      ...(lookalikes.size > 0 ? [lookalikeRemark([...lookalikes])] : []),
      ...[...misread].map(([heading, count]) =>
        misreadText(`"${excerpt(heading)}": ${formatNumber(count)} ${count === 1 ? 'cell looks' : 'cells look'}`),
      ),
    ],
    /** What spoke for each thing that was detected, one sentence each. */
    evidence: plan.evidence,
    /** What was decided of the decimal sign of the file. */
    decimal: plan.decimal,
  };
}

const lookalikeRemark = (rows: readonly number[]) =>
  `Rows that look like totals or notes, and are taken for records because their key is filled: ${rows.length === 1 ? 'row' : 'rows'} ${rows.join(', ')}. If they are none, delete them from the file.`;

/** A job fitted to one file: turns its rows into values by field. */
export type Mapping = ReturnType<typeof compileMapping>;

const cellOf = ({ textOf, index }: Column, { cells }: SheetRow): Cell | undefined =>
  textOf ? textOf(cells) : cells[index];

const isReadFrom = ({ parts, index }: Column, at: number | undefined): boolean =>
  parts && at !== undefined ? parts.includes(at) : index === at;

const trimmed = (cell: Cell | undefined) => (typeof cell === 'string' ? trimText(cell) : cell);

/** The value a cell sets; undefined where it sets none, because it is blank and blank keeps, or because it is at fault. */
function cellValue(column: Column, cell: Cell | undefined, issues: Issue[]): StagedValue | undefined {
  const text = trimmed(cell);
  if (text === '') return blankValue(column, issues);
  // What was not given empties nothing.
  if (text === undefined) return blankValue(column, issues) ?? undefined;
  if (column.values) {
    const translated = column.values.get(foldText(displayText(text)));
    if (translated === null) return blankValue(column, issues);
    if (translated !== undefined) return translated;
  }
  if (column.isNull(typeof text === 'string' ? text : trimText(displayText(text)))) return blankValue(column, issues);
  if (typeof text === 'object' && (text.t === 'e' || text.t === 'f')) {
    issues.push(excelError(column, text));
    return undefined;
  }
  const cached = typeof text === 'string' ? column.cache?.get(text) : undefined;
  const { value, issue } = cached ?? convertCell(column, text);
  if (issue) issues.push(issue);
  return value;
}

/** Texts of a column of which is remembered what came of them. */
const MAX_CACHED = 4096;

function convertCell(column: Column, text: Cell): CellResult {
  const converted = column.convert(text);
  const value = column.cut && typeof converted === 'string' ? column.cut.of(converted) : converted;
  const shown = displayText(text);
  let issue: Issue | undefined;
  if (isRefusal(value)) issue = fault(value.refused, `"${excerpt(shown)}" ${value.why}`);
  else {
    if (column.needsCheck) issue = checkValue(column.spec, value as Exclude<StagedValue, { named: unknown }>);
    if (typeof value === 'string' && MISREAD.test(value))
      issue ??= warning('misread_text', misreadText(`"${excerpt(shown)}" looks`));
  }
  const result: CellResult = {
    value: isRefusal(value) ? undefined : value,
    ...(issue && { issue: { ...issue, ...cellAddress(column, shown) } }),
  };
  if (typeof text === 'string' && text.length <= 100 && column.cache) {
    if (column.cache.size >= MAX_CACHED) column.cache.clear();
    column.cache.set(text, result);
  }
  return result;
}

/** What no one types: control characters of C1, and what UTF-8 reads like in the encodings of Western Europe. */
const MISREAD = /[\u0080-\u009f]|[ÂÃ][\u00a0-\u00bf]|Ã[€‚ƒ„†‡ˆ‰Š‹ŒŽ‘“•˜™š›œžŸ]|â€/;

function misreadText(subject: string): string {
  return `${subject} as if read in a wrong encoding, like "Ã©" for "é", or with characters U+0080 to U+009F, imported as it stands. If it is wrong, state source.encoding, or export the file again as UTF-8.`;
}

/** What a service that shows a number as text can only mean as this number. */
const PLAIN_NUMBER = /^-?\d+(?:\.\d+)?$/;

/**
 * Whether a cell's text says more than its value: the record may show just this text and its meaning may not be certain
 * there. Texts lose their outer blanks, numbers their currency and separators, dates how they are written; a text that the job translates means its translation and nothing else.
 */
function saysMoreThan(cell: string, value: StagedValue, { spec, values }: Column): boolean {
  switch (spec.type.kind) {
    case 'text':
    case 'email':
      return cell !== value && !isTranslated(cell, values);
    case 'date':
      return cell !== '' && cell !== value && !isTranslated(cell, values);
    case 'decimal':
    case 'integer':
      return cell !== '' && !PLAIN_NUMBER.test(cell) && !isTranslated(cell, values);
    default:
      return false;
  }
}

function isTranslated(cell: string, values: Column['values']): boolean {
  return values?.has(foldText(cell)) ?? false;
}

function blankValue(column: Column, issues: Issue[]): StagedValue | undefined {
  if (!column.required) return column.whenBlank;
  issues.push(
    fault(
      'required',
      `"${column.heading}" must be filled in: the job requires ${column.name}. Fill the cell.`,
      cellAddress(column, ''),
    ),
  );
  return undefined;
}

/** `#REF!`, `Err:502`; other texts are shown by cells whose stored value is damaged. */
const SPREADSHEET_ERROR = /^(?:#|Err:\d)/;

function excelError(column: Column, cell: Extract<Cell, { t: 'e' | 'f' }>): Issue {
  const shown = displayText(cell);
  const message =
    cell.t === 'f'
      ? `The cell holds the formula ${excerpt(shown)} without a stored result. Open the file it was typed in with a spreadsheet program and save it, or write the value.`
      : SPREADSHEET_ERROR.test(shown)
        ? `The cell shows the spreadsheet error ${shown}. Correct its formula or write the value.`
        : `The file stores a value for this cell that cannot be read; the cell shows "${excerpt(shown)}". Write the value again.`;
  return fault('excel_error', message, cellAddress(column, shown));
}

function notARecord({ like }: NoRecord, { cells }: SheetRow): Issue {
  if (like === 'nothing') return warning('not_a_record', 'Every cell of the row was emptied, so the row is left out.');
  const text = cells
    .map(displayText)
    .filter((one) => one.trim() !== '')
    .join(' | ');
  const message = `The row looks like ${like} ("${excerpt(text)}") and was skipped. If it is a record, state \`source: { footer: keep }\` in the job.`;
  return warning('not_a_record', message);
}

/** A row that an earlier run sent without an answer: whether its record is there nobody but a person finds out. */
function unknownOutcomeFault(): Issue {
  return fault(
    'outcome_unknown',
    'An earlier run sent this row and got no answer that tells whether it took effect; sent again, it could be there twice. Look in the service: if the record is there, delete the row; if not, empty its _outcome cell and import it again.',
    { column: '_outcome', value: 'unknown' },
  );
}

/** A row whose key is wholly blank matches nothing and would be created anew at every import. */
function checkKey(row: SheetRow, keyColumns: readonly Column[], set: StagedRow['set'], issues: Issue[]): void {
  for (const column of keyColumns) {
    const value = set[column.field];
    if (value !== undefined && value !== null) return;
    // A key cell that could not be read has its own fault already.
    if (issues.some(({ field }) => field === column.name)) return;
  }
  const first = keyColumns[0]!;
  const names = keyColumns.map(({ heading }) => `"${heading}"`).join(' and ');
  issues.push(
    fault(
      'required',
      `${names} ${keyColumns.length === 1 ? 'is' : 'are'} blank, and ${keyColumns.length === 1 ? 'it identifies' : 'they identify'} the record: a blank key never matches. Fill the cell.`,
      cellAddress(first, displayText(row.cells[first.index])),
    ),
  );
}

/** Adds the faults the reader found in what is imported. False where they leave open which cell belongs to which heading. */
function reportFaults(
  row: SheetRow,
  headings: readonly string[],
  columns: readonly Column[],
  issues: Issue[],
): boolean {
  let certain = true;
  for (const { code, message, index } of row.faults ?? []) {
    const open = code === 'ragged_row' || code === 'stray_quote';
    const heading = index === undefined ? undefined : headings[index];
    const name = columns.find((column) => isReadFrom(column, index))?.name;
    // A cell that nothing is read from does no harm.
    if (!open && index !== undefined && name === undefined) continue;
    certain &&= !open;
    issues.push(
      fault(code, message, {
        column: heading,
        field: name,
        value: index === undefined ? undefined : displayText(row.cells[index]),
      }),
    );
  }
  return certain;
}

function cellAddress(column: Column, value: string): Pick<Issue, 'column' | 'field' | 'value'> {
  return { column: column.heading, field: column.name, value };
}
