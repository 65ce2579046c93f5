import { TEXT_CUT_PHRASE } from '../../model/change.js';
import { formatNumber } from '../../model/count-text.js';
import { Decimal } from '../../model/decimal.js';
import type { Issue } from '../../model/issue.js';
import { type ColumnTarget, type JobFault, type KeyPath, pathText, type RowsJob, targetsOf } from '../../model/job.js';
import { type Cell, displayText, type SheetRow } from '../../model/row.js';
import type { SourceMeta } from '../../model/source.js';
import { foldText } from '../../model/value.js';
import type { FieldType, ResourceSpec } from '../../resources/spec.js';
import { checkValue } from '../../resources/value-check.js';
import { isNamedRef, type StagedValue } from '../rows.js';
import { type DecimalRule, type DecimalSurvey, surveyDecimals } from './amounts.js';
import { cellText, isRefusal, trimText } from './cell-text.js';
import { nullWordCounter } from './column-warnings.js';
import { type Convert, makeConverter } from './convert.js';
import { compileDateFormat, type DateFormat } from './dates.js';
import { excerpt, indexHeadings, isOwnHeading, quoted } from './headings.js';
import { type Catalogue, findTarget, type Target } from './targets.js';

/** The first rows of a file: they show the decimal sign. */
export interface Sample {
  readonly rows: readonly SheetRow[];
  /** Of CSV files. */
  readonly delimiter: string | null;
}

export interface MappingInput {
  readonly job: RowsJob;
  readonly meta: Pick<SourceMeta, 'headings' | 'format' | 'sheet' | 'header_row'>;
  readonly spec: ResourceSpec;
  /** Undefined where the service was not asked: any custom field may be one. */
  readonly catalogue: Catalogue | undefined;
  /** Undefined where there is no file yet. */
  readonly sample?: Sample | undefined;
  /** What was decided before: by an earlier reading of the file, or of the one that its rows came back corrected of. */
  readonly decimal?: DecimalSurvey | undefined;
  /** The rows were handed over as JSON: none of them need have every key. */
  readonly jsonRows?: boolean;
}

/** A column whose field is found. */
interface LocatedColumn extends Target {
  readonly heading: string;
  /** 0-based position in the file; -1 where the file may lack the heading, and does. */
  readonly index: number;
  readonly options: ColumnTarget;
  /** Its own formats of text dates. */
  readonly dates?: readonly DateFormat[] | undefined;
  /** Where the job file describes it. */
  readonly path: KeyPath;
  /** Its text, where it is put together from several columns. */
  readonly textOf?: ComposeText;
  /** Positions of those columns. */
  readonly parts?: readonly number[];
}

/** A text from the cells of a row, '' where all of them are blank, undefined where none is given; or the first that is at fault. */
type ComposeText = (cells: readonly Cell[]) => Cell | undefined;

/** What a column of the job sets, also where the file lacks the heading. */
type Assignment = Pick<LocatedColumn, 'field' | 'path'>;

/** How many headings a file must have for a job, and how many of them it lacks. */
export function countHeadings({ columns }: RowsJob, headings: readonly string[]): { needed: number; missing: number } {
  const index = indexHeadings(headings);
  const needed = Object.entries(columns).flatMap(([heading, target]) =>
    targetsOf(target).every(({ optional }) => optional) ? [] : [heading],
  );
  return { needed: needed.length, missing: needed.filter((heading) => index.positions(heading).length === 0).length };
}

/** Finds the field of a name in a job; what is wrong with the name goes to `problems`. */
function fieldFinder({ job, spec, catalogue }: MappingInput, problems: JobFault[]) {
  return (name: string, path: KeyPath, part: JobFault['part']): Target | undefined => {
    const found = findTarget(name, job, spec, catalogue);
    if (!('problem' in found)) return found;
    problems.push({ path, part, message: found.problem });
    return undefined;
  };
}

/** Finds heading and field of every mapped column, and the headings nobody speaks of. */
function locateColumns(
  { job, meta, jsonRows = false }: MappingInput,
  find: ReturnType<typeof fieldFinder>,
  isNull: (text: string) => boolean,
  problems: JobFault[],
): { located: LocatedColumn[]; unmapped: string[]; assignments: Assignment[] } {
  const headings = indexHeadings(meta.headings);
  const located: LocatedColumn[] = [];
  const assignments: Assignment[] = [];
  const mentioned = new Map<string, string>();
  /** Headings that the file may lack. */
  const optionalHeadings = new Set<string>();
  for (const [heading, target] of Object.entries(job.columns)) {
    const path = ['columns', heading];
    const before = mentioned.get(foldText(heading));
    mentioned.set(foldText(heading), heading);
    const targets = targetsOf(target);
    if (targets.length > 0 && targets.every(({ optional }) => optional)) optionalHeadings.add(foldText(heading));
    const [index = -1, ...further] = headings.positions(heading);
    const wrong = headingProblem(heading, before);
    if (wrong !== undefined) problems.push({ path, part: 'key', message: wrong });
    else if (index < 0 && targets.length > 0 && !jsonRows && !optionalHeadings.has(foldText(heading))) {
      const message = `the file has no such heading; ${headings.missingHint(heading)} Correct the heading, delete this line from the job, or give it \`optional: true\`.`;
      problems.push({ path, part: 'key', message });
    } else if (targets.length > 0 && further.length > 0) {
      const matches = [index, ...further].map((at) => `"${meta.headings[at]?.trim()}" (column ${at + 1})`);
      const message = `several columns of the file have this heading: ${matches.join(', ')}; write "${heading} #1" or "${heading} #2" for the one that is meant, or rename or delete all but one`;
      problems.push({ path, part: 'key', message });
    }
    for (const [i, options] of targets.entries()) {
      const [given, at] = Array.isArray(target) ? [target[i], [...path, i]] : [target, path];
      const dates = formats(options.dates, [...at, 'dates'], problems);
      const fieldPath = typeof given === 'string' ? at : [...at, 'field'];
      const found = find(options.field, fieldPath, 'value');
      if (!found) continue;
      assignments.push({ field: found.field, path: fieldPath });
      // A column without a heading, or with that of another one, is called as the job calls it.
      const own = meta.headings[index] ?? '';
      const shown = headings.positions(own).length === 1 ? own : heading;
      located.push({ ...found, heading: shown, index, options, dates, path: at });
    }
  }
  for (const [field, text] of Object.entries(job.computed)) {
    const path = ['computed', field];
    const found = find(field, path, 'key');
    const parts = headingsIn(text);
    for (const heading of parts) mentioned.set(foldText(heading), heading);
    if (parts.length === 0) {
      const message = `\`${text}\` names no heading in braces, as in "{Vendor} / {Title}"; a fixed value belongs to constants`;
      problems.push({ path, part: 'value', message });
    }
    for (const heading of parts) {
      const { length } = headings.positions(heading);
      if (length === 1 || (length === 0 && (jsonRows || optionalHeadings.has(foldText(heading))))) continue;
      const message = `the file has ${length === 0 ? `no heading "${heading}"; ${headings.missingHint(heading)}` : `several headings "${heading}"; rename all but one`}`;
      problems.push({ path, part: 'value', message });
    }
    if (!found) continue;
    assignments.push({ field: found.field, path });
    const at = (heading: string) => headings.positions(heading)[0] ?? -1;
    const index = parts.map(at).find((one) => one >= 0) ?? -1;
    const isText = found.spec.type.kind === 'text' || found.spec.type.kind === 'email';
    const isUnfit = (cell: Cell): boolean =>
      typeof cell === 'object' && (cell.t === 'e' || cell.t === 'f')
        ? !isNull(trimText(displayText(cell)))
        : isText && isRefusal(cellText(cell, meta.format === 'ndjson'));
    const textOf = makeComposer(text, at, isNull, isUnfit);
    const heading = meta.headings[index] ?? '';
    located.push({ ...found, heading, index, options: { field }, path, textOf, parts: parts.map(at) });
  }
  const mapped = new Set([...mentioned.values()].flatMap((heading) => headings.positions(heading)));
  const unmapped = meta.headings.filter((heading, index) => {
    const folded = foldText(heading);
    return folded !== '' && !folded.startsWith('_') && !mapped.has(index);
  });
  return { located, assignments, unmapped: [...new Set(unmapped)] };
}

/** Why no file can have the heading. `before`: how the job wrote it already. */
function headingProblem(heading: string, before: string | undefined): string | undefined {
  if (foldText(heading) === '') return 'a heading is blank; write the heading as it stands in the file';
  if (isOwnHeading(heading))
    return `\`${heading}\` begins with _: such columns hold rowferry's own remarks and are never read`;
  if (before === undefined) return undefined;
  return `the headings \`${before}\` and \`${heading}\` are the same but for case, blanks or Unicode form`;
}

/** The headings that a job names, each once. */
export function headingsNamedBy({ columns, computed }: RowsJob): string[] {
  const inBraces = Object.values(computed).flatMap(headingsIn);
  const named = [...Object.keys(columns), ...inBraces];
  return [...new Map(named.map((heading) => [foldText(heading), heading])).values()];
}

/** A text of `computed` in its parts: fixed, heading, fixed, heading … */
const splitTemplate = (text: string): string[] => text.split(/\{([^{}]+)\}/);

const headingsIn = (text: string): string[] => splitTemplate(text).filter((_, i) => i % 2 === 1);

/** `isUnfit`: of a cell that is a fault where it stands alone. */
function makeComposer(
  text: string,
  at: (heading: string) => number,
  isNull: (text: string) => boolean,
  isUnfit: (cell: Cell) => boolean,
): ComposeText {
  const parts = splitTemplate(text).map((part, i) => (i % 2 === 1 ? at(part) : part));
  const textOf = (cell: Cell | undefined) => {
    const plain = trimText(displayText(cell));
    return isNull(plain) ? '' : plain;
  };
  return (cells) => {
    const unfit = parts.flatMap((part) => (typeof part === 'number' ? (cells[part] ?? []) : [])).find(isUnfit);
    if (unfit !== undefined) return unfit;
    const texts = parts.map((part) => (typeof part === 'number' ? textOf(cells[part]) : part));
    const present = texts.filter((_, i) => typeof parts[i] === 'number' && cells[parts[i]] !== undefined);
    if (present.every((one) => one === '')) return present.length > 0 ? '' : undefined;
    return texts.join('');
  };
}

/**
 * A value the job itself states (constants, defaults, `values`), in the type of its field. A fault goes to `problems` and gives
 * undefined. Job files write `.` as the decimal sign and dates as `yyyy-MM-dd`, or in a format of `source.dates`.
 */
export function jobValue(
  target: Target,
  scalar: string | number | boolean,
  at: { readonly path: KeyPath; readonly job: RowsJob; readonly column?: string },
  problems: JobFault[],
): StagedValue | undefined {
  const refuse = (message: string) => {
    problems.push({ path: at.path, part: 'value', message });
    return undefined;
  };
  const cell: Cell = typeof scalar === 'number' ? numberCell(scalar) : trimText(String(scalar));
  if (cell === '') return refuse('the value is blank; state a value, or use `blank: clear`');
  if (cell === '?')
    return refuse('this is still the "?" that stood for what only a person knows; write it, or take the line out');
  const options = {
    decimal: { sign: '.', why: 'job files write it so' },
    format: 'ndjson',
    column: at.column,
  } as const;
  let value = makeConverter(target.spec, options)(cell);
  const dates = (at.job.source.dates ?? []).map(compileDateFormat).filter((format) => typeof format !== 'string');
  if (isRefusal(value) && target.spec.type.kind === 'date' && dates.length > 0) {
    value = makeConverter(target.spec, { ...options, dates })(cell);
  }
  // There is no cell that could be corrected.
  if (isRefusal(value)) return refuse(`"${excerpt(String(scalar))}" ${value.why.replace(/ Correct the cell.*$/, '')}`);
  const wrong = isNamedRef(value) ? undefined : checkValue(target.spec, value);
  return wrong ? refuse(wrong.message.replace(/ Correct the cell.*$/, '')) : value;
}

function numberCell(value: number): Cell {
  return { t: 'n', value: Decimal.of(value).text, shown: String(value) };
}

/** A mapped column, made ready: everything a cell needs is worked out once. */
export interface Column extends LocatedColumn {
  readonly convert: Convert;
  /** What came of the texts of a column that holds few distinct ones. */
  readonly cache?: Map<string, CellResult>;
  /** Whether values must be checked for length, range and form. */
  readonly needsCheck: boolean;
  /** Folded cell text → value; null: as if the cell were blank. */
  readonly values?: ReadonlyMap<string, StagedValue>;
  /** Whether a trimmed text means blank for the whole file; `values` go before it. */
  readonly isNull: (text: string) => boolean;
  readonly remarks?: ReturnType<typeof nullWordCounter>;
  readonly required: boolean;
  /** Cuts texts that are too long, and counts them. */
  readonly cut?: NonNullable<ReturnType<typeof cutter>>;
  /** What a blank cell sets; null clears, undefined keeps. */
  readonly whenBlank: StagedValue | undefined;
}

/** Makes texts as long as the field allows. */
function cutter({ heading, spec: { type } }: LocatedColumn) {
  if (type.kind !== 'text' || type.max === undefined) return undefined;
  const limit = Math.min(type.max, type.updateMax ?? type.max);
  let count = 0;
  return {
    of(text: string): string {
      if (text.length <= limit) return text;
      const characters = [...text];
      if (characters.length <= limit) return text;
      count++;
      return trimText(characters.slice(0, limit).join(''));
    },
    sentences: (): string[] =>
      count === 0
        ? []
        : [
            `"${excerpt(heading)}": ${formatNumber(count)} ${count === 1 ? 'text was' : 'texts were'} longer than ${limit} ${TEXT_CUT_PHRASE}.`,
          ],
  };
}

/** What a cell sets, and what is wrong with it. */
export interface CellResult {
  readonly value: StagedValue | undefined;
  readonly issue?: Issue;
}

/** A value that every row sets. */
interface Fixed extends Target {
  readonly value: StagedValue;
}

/** What columns follow unless they say otherwise. */
interface FileRules {
  readonly decimal: DecimalRule;
  readonly dates: readonly DateFormat[] | undefined;
  readonly isNull: (text: string) => boolean;
  /** `defaults` of the job, by field. */
  readonly whenBlank: ReadonlyMap<string, StagedValue>;
}

const STATED = 'the job states it';

/** Conversion of these kinds cannot yield a value outside the field's rules. */
const SELF_CHECKED: ReadonlySet<FieldType['kind']> = new Set(['boolean', 'country', 'date', 'reference']);

/** Columns of these kinds hold few distinct texts. */
const FEW_TEXTS: ReadonlySet<FieldType['kind']> = new Set(['boolean', 'country', 'date', 'enum', 'reference']);

/** Fits the columns, constants and defaults of a job to a file; collects every fault instead of stopping at the first. */
export function compileColumns(input: MappingInput) {
  const { job, sample = { rows: [], delimiter: null } } = input;
  const problems: JobFault[] = [];
  const find = fieldFinder(input, problems);
  const isNull = nullTest(job.source.null_values ?? []);
  const { located, assignments, unmapped } = locateColumns(input, find, isNull, problems);
  /** Where each field is set. */
  const setBy = new Map<string, KeyPath>();
  for (const { field, path } of assignments) claim(setBy, field, path, 'value', problems);

  const fixed: Fixed[] = [];
  const inEveryRow: Target[] = [];
  for (const [name, given] of Object.entries(job.constants)) {
    const path = ['constants', name];
    const target = find(name, path, 'key');
    if (!target) continue;
    inEveryRow.push(target);
    const by = setBy.get(target.field);
    if (by && by[0] !== 'constants') {
      const message = `\`${name}\` is a constant and is mapped to a column too; the constant stands in every row`;
      problems.push({ path, part: 'key', message, severity: 'warning' });
      setBy.set(target.field, path);
    } else claim(setBy, target.field, path, 'key', problems);
    const value = jobValue(target, given, { path, job }, problems);
    if (value !== undefined) fixed.push({ ...target, value });
  }
  const whenBlank = new Map<string, StagedValue>();
  for (const [name, given] of Object.entries(job.defaults)) {
    const path = ['defaults', name];
    const target = find(name, path, 'key');
    if (!target) continue;
    inEveryRow.push(target);
    const value = jobValue(target, given, { path, job }, problems);
    const by = setBy.get(target.field);
    if (by?.[0] === 'constants') {
      const message = `the field is a constant already (${pathText(by)}); delete one of them`;
      problems.push({ path, part: 'key', message });
    } else if (value !== undefined) {
      // Without a column every row lacks the value.
      if (by === undefined) fixed.push({ ...target, value });
      else whenBlank.set(target.field, value);
    }
  }
  checkOneTemplate(inEveryRow, located, problems);

  const auto = job.source.decimal === 'auto';
  // What a field made of several columns holds is no cell that a survey could look at.
  const cells = located.filter(({ textOf }) => !textOf);
  const amounts = cells.filter(({ spec, options }) => spec.type.kind === 'decimal' && !options.decimal);
  const decimal = (auto && input.decimal) || surveyDecimals(auto ? amounts : [], sample.rows, sample.delimiter);
  const fileRules: FileRules = {
    decimal: job.source.decimal === 'auto' ? decimal.rule : { sign: job.source.decimal, why: STATED },
    dates: formats(job.source.dates, ['source', 'dates'], problems),
    isNull,
    whenBlank,
  };
  const columns = located.map((one) => compileColumn(one, input, fileRules, problems));
  const key = job.match.key.flatMap((name, i) => {
    const path = ['match', 'key', i];
    const target = find(name, path, 'value');
    if (target && !setBy.has(target.field))
      problems.push({ path, part: 'value', message: `the key \`${name}\` is not mapped to any column` });
    return target ? [target.field] : [];
  });
  return {
    /** In the order of the file. */
    columns: columns.sort((a, b) => a.index - b.index),
    fixed,
    /** Where columns and constants set each field. */
    setBy: setBy as ReadonlyMap<string, KeyPath>,
    /** Every field that rows may set, with a column, constant or default. */
    fields: [...new Set([...setBy.keys(), ...inEveryRow.map(({ field }) => field)])],
    /** `match.key` as canonical fields. */
    key,
    warnings: [
      ...(unmapped.length > 0
        ? [
            `Not imported, because the job maps no field to ${unmapped.length === 1 ? 'it' : 'them'}: ${quoted(unmapped)}. Map a heading to ~ to leave it out without this warning.`,
          ]
        : []),
      ...(decimal.warning ? [decimal.warning] : []),
    ],
    decimal,
    evidence: decimal.evidence ? [decimal.evidence] : [],
    /** Every reason why the job cannot run on this file, and remarks. */
    problems,
  };
}

/** Compiles one column; its own settings go before those of the file. */
function compileColumn(
  located: LocatedColumn,
  { job, meta }: MappingInput,
  fileRules: FileRules,
  problems: JobFault[],
): Column {
  const { options, heading, field, spec } = located;
  const dates = options.dates ? located.dates : fileRules.dates;
  const values = translations(located, job, problems);
  const clears = (options.blank ?? job.blank) === 'clear' ? null : undefined;
  const convert = makeConverter(spec, {
    decimal: options.decimal ? { sign: options.decimal, why: STATED } : fileRules.decimal,
    format: meta.format,
    column: heading,
    ...(dates ? { dates } : {}),
  });
  const { isNull } = fileRules;
  const stated = (text: string) => isNull(text) || (values?.has(foldText(text)) ?? false);
  const cellKind = located.textOf ? undefined : spec.type.kind;
  const cut = options.overflow === 'cut' ? cutter(located) : undefined;
  return {
    ...located,
    convert,
    ...(cellKind && FEW_TEXTS.has(cellKind) ? { cache: new Map() } : {}),
    needsCheck: !SELF_CHECKED.has(spec.type.kind),
    ...(values ? { values } : {}),
    isNull,
    ...(cellKind === 'text' ? { remarks: nullWordCounter(heading, stated) } : {}),
    ...(cut ? { cut } : {}),
    required: options.required ?? false,
    whenBlank: values?.get('') ?? fileRules.whenBlank.get(field) ?? clears,
  };
}

function nullTest(words: readonly string[]): (text: string) => boolean {
  const folded = new Set(words.map(foldText));
  const longest = Math.max(0, ...[...words, ...folded].map(({ length }) => length));
  return (text) => text.length <= longest && folded.has(foldText(text));
}

function claim(
  setBy: Map<string, KeyPath>,
  field: string,
  path: KeyPath,
  part: JobFault['part'],
  problems: JobFault[],
): void {
  const before = setBy.get(field);
  if (before === undefined) setBy.set(field, path);
  else problems.push({ path, part, message: `the field is set by ${pathText(before)} already; delete one of them` });
}

/**
 * A record holds the values of one custom field template (interface, section 2.1). Columns of several may be mapped, each
 * row filling those of one; but not where a constant or default gives every row values of one of them.
 */
function checkOneTemplate(inEveryRow: readonly Target[], located: readonly Target[], problems: JobFault[]): void {
  if (inEveryRow.every(({ template }) => template === undefined)) return;
  const templates = new Map(
    [...located, ...inEveryRow].flatMap(({ template }) => (template ? [[template.id, template.name] as const] : [])),
  );
  if (templates.size > 1) {
    const message = `a record holds the values of one custom field template, but ${quoted([...templates.values()], ' and ')} are set, one of them in every row; use one job for each`;
    problems.push({ path: ['columns'], part: 'key', message });
  }
}

function formats(
  sources: readonly string[] | undefined,
  path: KeyPath,
  problems: JobFault[],
): DateFormat[] | undefined {
  if (!sources || sources.length === 0) return undefined;
  return sources.flatMap((source, i) => {
    const format = compileDateFormat(source);
    if (typeof format !== 'string') return [format];
    const message = `the date format "${excerpt(source)}" cannot be used: ${format}`;
    problems.push({ path: [...path, i], part: 'value', message });
    return [];
  });
}

/** The `values` of a column: folded text → value. */
function translations(column: LocatedColumn, job: RowsJob, problems: JobFault[]): Map<string, StagedValue> | undefined {
  const { options, heading } = column;
  if (!options.values) return undefined;
  const values = new Map<string, StagedValue>();
  const seen = new Map<string, string>();
  for (const [text, scalar] of Object.entries(options.values)) {
    const folded = foldText(text);
    const path = [...column.path, 'values', text];
    const earlier = seen.get(folded);
    if (earlier !== undefined) {
      const message = `\`${earlier}\` and \`${text}\` are the same cell text: case and blanks do not count`;
      problems.push({ path, part: 'key', message });
    }
    seen.set(folded, text);
    const value = scalar === null ? null : jobValue(column, scalar, { path, job, column: heading }, problems);
    if (value !== undefined) values.set(folded, value);
  }
  return values;
}
