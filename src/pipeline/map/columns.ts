import { TEXT_CUT_PHRASE } from '../../model/change.js';
import { formatNumber } from '../../model/count-text.js';
import { Decimal } from '../../model/decimal.js';
import type { Issue } from '../../model/issue.js';
import { type ColumnTarget, type RowsJob, targetsOf } from '../../model/job.js';
import { type Cell, displayText, type SheetRow } from '../../model/row.js';
import type { SourceMeta } from '../../model/source.js';
import { foldText } from '../../model/value.js';
import type { FieldType, ResourceSpec } from '../../resources/spec.js';
import { checkValue } from '../../resources/value-check.js';
import { isNamedRef, type StagedValue } from '../rows.js';
import { type DecimalRule, decidesSign, surveyDecimals } from './amounts.js';
import { isRefusal, trimText } from './cell-text.js';
import { nullWordCounter, type SynonymCount } from './column-warnings.js';
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
  readonly meta: SourceMeta;
  readonly spec: ResourceSpec;
  readonly catalogue: Catalogue;
  /** Of the file; before it those of the files that its rows came back corrected of. What they decide, no later one changes. */
  readonly samples: readonly Sample[];
  /** The rows were handed over as JSON: none of them need have every key. */
  readonly jsonRows?: boolean;
}

/** A column whose field is found. */
interface LocatedColumn extends Target {
  readonly heading: string;
  /** 0-based position in the file; -1 where the file may lack the heading, and does. */
  readonly index: number;
  readonly options: ColumnTarget;
  /** The key in the job file. */
  readonly where: string;
  /** Its text, where it is put together from several columns. */
  readonly textOf?: ComposeText;
  /** Positions of those columns. */
  readonly parts?: readonly number[];
}

/** A text from the cells of a row, '' where all of them are blank; undefined where none is given. */
type ComposeText = (cells: readonly Cell[]) => string | undefined;

/** What a column of the job sets, also where the file lacks the heading. */
type Assignment = Pick<LocatedColumn, 'field' | 'where'>;

/** How many headings a file must have for a job, and how many of them it lacks. */
export function countHeadings({ columns }: RowsJob, headings: readonly string[]): { needed: number; missing: number } {
  const index = indexHeadings(headings);
  const needed = Object.entries(columns).flatMap(([heading, target]) =>
    targetsOf(target).every(({ optional }) => optional) ? [] : [heading],
  );
  return { needed: needed.length, missing: needed.filter((heading) => index.positions(heading).length === 0).length };
}

/** Finds heading and field of every mapped column, and the headings nobody speaks of. */
function locateColumns(
  { job, meta, spec, catalogue, jsonRows = false }: MappingInput,
  isNull: (text: string) => boolean,
  problems: string[],
): { located: LocatedColumn[]; unmapped: string[]; assignments: Assignment[] } {
  const headings = indexHeadings(meta.headings);
  const located: LocatedColumn[] = [];
  const assignments: Assignment[] = [];
  const mentioned = new Map<string, string>();
  /** Headings that the file may lack. */
  const optionalHeadings = new Set<string>();
  for (const [heading, target] of Object.entries(job.columns)) {
    const where = `columns.${heading}`;
    const before = mentioned.get(foldText(heading));
    if (before !== undefined)
      problems.push(`${where}: the same heading as "${before}" but for case and blanks; delete one of them`);
    mentioned.set(foldText(heading), heading);
    const targets = targetsOf(target);
    if (targets.length === 0 || before !== undefined) continue;
    if (targets.every(({ optional }) => optional)) optionalHeadings.add(foldText(heading));
    const [index, ...further] = headings.positions(heading);
    let fits = false;
    if (isOwnHeading(heading))
      problems.push(`${where}: columns whose heading begins with "_" are never imported; rename the heading`);
    else if (index === undefined && !jsonRows && !optionalHeadings.has(foldText(heading)))
      problems.push(
        `${where}: the file has no such heading; ${headings.missingHint(heading)} Correct the heading, delete this line from the job, or give it \`optional: true\`.`,
      );
    else if (further.length > 0) {
      const matches = [index ?? 0, ...further].map((at) => `"${meta.headings[at]?.trim()}" (column ${at + 1})`);
      problems.push(
        `${where}: several columns of the file have this heading: ${matches.join(', ')}; write "${heading} #1" or "${heading} #2" for the one that is meant, or rename or delete all but one`,
      );
    } else fits = true;
    for (const options of targets) {
      const found = findTarget(options.field, job, spec, catalogue);
      if ('problem' in found) {
        problems.push(`${where}: ${found.problem}`);
        continue;
      }
      assignments.push({ field: found.field, where });
      const at = index ?? -1;
      // A column without a heading is called as the job calls it.
      if (fits)
        located.push({
          ...found,
          heading: meta.headings[at]?.trim() ? meta.headings[at] : heading,
          index: at,
          options,
          where,
        });
    }
  }
  for (const [field, text] of Object.entries(job.computed)) {
    const where = `computed.${field}`;
    const found = findTarget(field, job, spec, catalogue);
    const parts = splitTemplate(text).filter((_, i) => i % 2 === 1);
    const missing = parts.filter((heading) => {
      const { length } = headings.positions(heading);
      return length > 1 || (length === 0 && !jsonRows && !optionalHeadings.has(foldText(heading)));
    });
    for (const heading of parts) mentioned.set(foldText(heading), heading);
    if ('problem' in found) problems.push(`${where}: ${found.problem}`);
    else assignments.push({ field: found.field, where });
    if (parts.length === 0)
      problems.push(
        `${where}: no heading stands in braces, as in "{Vendor} / {Title}"; a fixed value belongs to constants`,
      );
    for (const heading of missing)
      problems.push(
        `${where}: the file has ${headings.positions(heading).length === 0 ? `no heading "${heading}"; ${headings.missingHint(heading)}` : `several headings "${heading}"; rename all but one`}`,
      );
    if ('problem' in found || missing.length > 0 || parts.length === 0) continue;
    const at = (heading: string) => headings.positions(heading)[0] ?? -1;
    const index = parts.map(at).find((one) => one >= 0) ?? -1;
    const textOf = makeComposer(text, at, isNull);
    const heading = meta.headings[index] ?? '';
    located.push({ ...found, heading, index, options: { field }, where, textOf, parts: parts.map(at) });
  }
  const mapped = new Set([...mentioned.values()].flatMap((heading) => headings.positions(heading)));
  const unmapped = meta.headings.filter((heading, index) => {
    const folded = foldText(heading);
    return folded !== '' && !folded.startsWith('_') && !mapped.has(index);
  });
  return { located, assignments, unmapped: [...new Set(unmapped)] };
}

/** A text of `computed` in its parts: fixed, heading, fixed, heading … */
const splitTemplate = (text: string): string[] => text.split(/\{([^{}]+)\}/);

function makeComposer(text: string, at: (heading: string) => number, isNull: (text: string) => boolean): ComposeText {
  const parts = splitTemplate(text).map((part, i) => (i % 2 === 1 ? at(part) : part));
  const textOf = (cell: Cell | undefined) => {
    const plain = trimText(displayText(cell));
    return isNull(plain) ? '' : plain;
  };
  return (cells) => {
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
  at: {
    /** The key in the job file; absent where whoever asks says it. */
    readonly where?: string;
    readonly job: { readonly source: { readonly dates?: readonly string[] | undefined } };
    readonly column?: string;
  },
  problems: string[],
): StagedValue | undefined {
  const where = at.where === undefined ? '' : `${at.where}: `;
  const cell: Cell = typeof scalar === 'number' ? numberCell(scalar) : trimText(String(scalar));
  if (cell === '') {
    problems.push(`${where}the value is blank; state a value, or use \`blank: clear\``);
    return undefined;
  }
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
  if (isRefusal(value)) {
    problems.push(`${where}"${excerpt(String(scalar))}" ${value.why}`);
    return undefined;
  }
  const wrong = isNamedRef(value) ? undefined : checkValue(target.spec, value);
  if (!wrong) return value;
  problems.push(`${where}${wrong.message}`);
  return undefined;
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
  /** By folded text, of a column of listed values. */
  readonly synonymCounts?: Map<string, SynonymCount>;
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
  /** Counts the cells with this text. */
  readonly synonymCounts?: SynonymCount | undefined;
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
  const { job, spec, samples } = input;
  const problems: string[] = [];
  const isNull = nullTest(job.source.null_values ?? []);
  const { located, assignments, unmapped } = locateColumns(input, isNull, problems);
  const setBy = new Map<string, string>();
  for (const { field, where } of assignments) claim(setBy, field, where, problems);
  const lookUp = (names: readonly string[], where: (name: string) => string): [string, Target][] =>
    names.flatMap((name): [string, Target][] => {
      const target = findTarget(name, job, spec, input.catalogue);
      if (!('problem' in target)) return [[name, target]];
      problems.push(`${where(name)}: ${target.problem}`);
      return [];
    });
  const constants = lookUp(Object.keys(job.constants), (name) => `constants.${name}`);
  const defaults = lookUp(Object.keys(job.defaults), (name) => `defaults.${name}`);
  for (const [name, { field }] of constants) {
    // A constant stands in every row, also over a mapped column; the check of the job file remarks on it.
    if (setBy.get(field)?.startsWith('constants.')) claim(setBy, field, `constants.${name}`, problems);
    else setBy.set(field, `constants.${name}`);
  }

  const fixed: Fixed[] = [];
  for (const [name, target] of constants) {
    const value = jobValue(target, job.constants[name]!, { where: `constants.${name}`, job }, problems);
    if (value !== undefined) fixed.push({ ...target, value });
  }
  const whenBlank = new Map<string, StagedValue>();
  for (const [name, target] of defaults) {
    const where = `defaults.${name}`;
    const value = jobValue(target, job.defaults[name]!, { where, job }, problems);
    const by = setBy.get(target.field);
    if (by?.startsWith('constants.')) {
      problems.push(`${where}: the field is a constant already (${by}); delete one of them`);
    } else if (value !== undefined) {
      // Without a column every row lacks the value.
      if (by === undefined) fixed.push({ ...target, value });
      else whenBlank.set(target.field, value);
    }
  }
  const inEveryRow = [...constants, ...defaults].map(([, target]) => target);
  checkOneTemplate(inEveryRow, located, problems);

  const auto = job.source.decimal === 'auto';
  // What a field made of several columns holds is no cell that a survey could look at.
  const cells = located.filter(({ textOf }) => !textOf);
  const amounts = cells.filter(({ spec, options }) => spec.type.kind === 'decimal' && !options.decimal);
  /** Each sample with those before it. */
  const looks = samples.map(({ delimiter }, at) => {
    return { rows: samples.slice(0, at + 1).flatMap(({ rows }) => rows), delimiter };
  });
  const surveys = looks.map(({ rows, delimiter }) => surveyDecimals(auto ? amounts : [], rows, delimiter));
  const survey = surveys.find(decidesSign) ?? surveys.at(-1)!;
  const fileRules: FileRules = {
    decimal: job.source.decimal === 'auto' ? survey.rule : { sign: job.source.decimal, why: STATED },
    dates: formats(job.source.dates, 'source.dates', problems),
    isNull,
    whenBlank,
  };
  const columns = located.map((one) => compileColumn(one, input, fileRules, problems));
  const key = lookUp(job.match.key, (name) => `match.key: ${name}`).map(([name, { field }]) => {
    if (!setBy.has(field)) problems.push(`match.key: ${name} is set by no column; map the column that holds it`);
    return field;
  });
  return {
    /** In the order of the file. */
    columns: columns.sort((a, b) => a.index - b.index),
    fixed,
    /** `match.key` as canonical fields. */
    key,
    warnings: [
      ...(unmapped.length > 0
        ? [
            `Not imported, because the job maps no field to ${unmapped.length === 1 ? 'it' : 'them'}: ${quoted(unmapped)}. Map a heading to ~ to leave it out without this warning.`,
          ]
        : []),
      ...(survey.warning ? [survey.warning] : []),
    ],
    evidence: survey.evidence ? [survey.evidence] : [],
    /** Every reason why the job cannot run on this file, one line each. */
    problems,
  };
}

/** Compiles one column; its own settings go before those of the file. */
function compileColumn(
  located: LocatedColumn,
  { job, meta }: MappingInput,
  fileRules: FileRules,
  problems: string[],
): Column {
  const { options, heading, where, field, spec } = located;
  const dates = options.dates ? formats(options.dates, `${where}.dates`, problems) : fileRules.dates;
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
    ...(cellKind === 'enum' ? { synonymCounts: new Map() } : {}),
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

function claim(setBy: Map<string, string>, field: string, where: string, problems: string[]): void {
  const before = setBy.get(field);
  if (before === undefined) setBy.set(field, where);
  else problems.push(`${where}: the field is set by ${before} already; delete one of them`);
}

/**
 * A record holds the values of one custom field template (interface, section 2.1). Columns of several may be mapped, each
 * row filling those of one; but not where a constant or default gives every row values of one of them.
 */
function checkOneTemplate(inEveryRow: readonly Target[], located: readonly Target[], problems: string[]): void {
  if (inEveryRow.every(({ template }) => template === undefined)) return;
  const templates = new Map(
    [...located, ...inEveryRow].flatMap(({ template }) => (template ? [[template.id, template.name] as const] : [])),
  );
  if (templates.size > 1) {
    problems.push(
      `columns: a record holds the values of one custom field template, but ${quoted([...templates.values()], ' and ')} are set, one of them in every row; use one job for each`,
    );
  }
}

function formats(sources: readonly string[] | undefined, where: string, problems: string[]): DateFormat[] | undefined {
  if (!sources || sources.length === 0) return undefined;
  return sources.flatMap((source) => {
    const format = compileDateFormat(source);
    if (typeof format !== 'string') return [format];
    problems.push(`${where}: "${source}" is no date format: ${format}`);
    return [];
  });
}

/** The `values` of a column: folded text → value. */
function translations(column: LocatedColumn, job: RowsJob, problems: string[]): Map<string, StagedValue> | undefined {
  const { options, heading } = column;
  if (!options.values) return undefined;
  const values = new Map<string, StagedValue>();
  const byFolded = new Map<string, unknown>();
  for (const [text, scalar] of Object.entries(options.values)) {
    const folded = foldText(text);
    const where = `${column.where}.values.${text}`;
    if (byFolded.has(folded) && byFolded.get(folded) !== scalar) {
      problems.push(
        `${where}: the text stands here twice but for case and blanks, with different values; delete one of them`,
      );
    }
    byFolded.set(folded, scalar);
    const value = scalar === null ? null : jobValue(column, scalar, { where, job, column: heading }, problems);
    if (value !== undefined) values.set(folded, value);
  }
  return values;
}
