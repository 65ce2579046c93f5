import type { Issue } from '../model/issue.js';
import type { FieldType } from '../resources/spec.js';
import type { DecimalRule } from './amount.js';
import { type CellRemarks, cellRemarks } from './cell-remarks.js';
import { jobValue } from './constants.js';
import { type Convert, type ConvertOptions, makeConverter } from './convert.js';
import { compileDateFormat, type DateFormat } from './date-format.js';
import { type DateSurvey, surveyDateOrder } from './date-survey.js';
import { surveyDecimals } from './decimal-sign.js';
import { foldText } from './headings.js';
import { quoted } from './nearest.js';
import { type MappingInput, type Placed, place } from './place.js';
import { type PlainCell, plainCell } from './plain-cell.js';
import { separatedNumbers } from './separated-numbers.js';
import type { StagedValue } from './staged.js';
import { findTarget, type Target } from './targets.js';

/** A mapped column, made ready: everything a cell needs is worked out once. */
export interface Column extends Target {
  readonly heading: string;
  /** 0-based position in the file. */
  readonly index: number;
  readonly convert: Convert;
  /** Reads the cells that need no more than this; absent where each needs more. */
  readonly plain?: PlainCell;
  /** What came of texts that are not plain; the texts of a column come again, also the faulty ones: `n/a`, `tbd`, `-`. */
  readonly looked: Map<string, Look>;
  /** Whether the texts that are no fault come again, too. */
  readonly fewTexts: boolean;
  /** Whether values must be checked for length, range and form. */
  readonly checked: boolean;
  /** Folded cell text → value; null: as if the cell were blank. */
  readonly values?: ReadonlyMap<string, StagedValue>;
  /** Whether a trimmed text means blank for the whole file; `values` go before it. */
  readonly isNull: (text: string) => boolean;
  readonly remarks?: CellRemarks;
  readonly required: boolean;
  /** What a blank cell sets; null clears, undefined keeps. */
  readonly whenBlank: StagedValue | undefined;
}

/** What a cell sets, and what is wrong with it. */
export interface Look {
  readonly value: StagedValue | undefined;
  readonly issue?: Issue;
}

/** A value that every row sets. */
export interface Fixed extends Target {
  readonly value: StagedValue;
}

export interface ColumnPlan {
  /** In the order of the file. */
  readonly columns: readonly Column[];
  readonly fixed: readonly Fixed[];
  /** `match.key` as canonical fields. */
  readonly key: readonly string[];
  readonly warnings: readonly string[];
  readonly evidence: readonly string[];
  /** Every reason why the job cannot run on this file, one line each. */
  readonly problems: readonly string[];
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
const SOUND: ReadonlySet<FieldType['kind']> = new Set(['boolean', 'country', 'date', 'reference']);

/** Columns of these kinds hold few distinct texts, and of amounts few that are no plain numbers. */
const FEW_TEXTS: ReadonlySet<FieldType['kind']> = new Set(['boolean', 'country', 'date', 'decimal', 'enum']);

/** Fits the columns, constants and defaults of a job to a file; collects every fault instead of stopping at the first. */
export function compileColumns(input: MappingInput): ColumnPlan {
  const { job, spec, sample } = input;
  const problems: string[] = [];
  const { placed, meant, unmapped } = place(input, problems);
  const setBy = new Map<string, string>();
  for (const { field, where } of meant) claim(setBy, field, where, problems);
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
  const everywhere = [...constants, ...defaults].map(([, target]) => target);
  oneTemplate([...everywhere, ...placed.filter(({ options }) => options.default !== undefined)], placed, problems);

  const auto = job.source.decimal === 'auto';
  const amounts = placed.filter((one) => one.spec.type.kind === 'decimal' && !one.options.decimal);
  const survey = surveyDecimals(auto ? amounts : [], sample);
  const ofFile: FileRules = {
    decimal: job.source.decimal === 'auto' ? survey.rule : { sign: job.source.decimal, why: STATED },
    dates: formats(job.source.dates, 'source.dates', problems),
    isNull: nullTest(job.source.null_values ?? []),
    whenBlank,
  };
  const dates = new Map<Placed, DateSurvey>();
  for (const one of placed) {
    if (one.spec.type.kind === 'date' && !ofFile.dates && !one.options.dates)
      dates.set(one, surveyDateOrder(one, sample));
  }
  const columns = placed.map((one) => compileColumn(one, input, ofFile, dates.get(one), problems));
  const key = lookUp(job.match.key, (name) => `match.key: ${name}`).map(([name, { field }]) => {
    if (!setBy.has(field)) problems.push(`match.key: ${name} is set by no column; map the column that holds it`);
    return field;
  });
  return {
    columns: columns.sort((a, b) => a.index - b.index),
    fixed,
    key,
    warnings: [
      ...(unmapped.length > 0
        ? [
            `Not imported, because the job maps no field to ${unmapped.length === 1 ? 'it' : 'them'}: ${quoted(unmapped)}. Map a heading to ~ to leave it out without this warning.`,
          ]
        : []),
      ...(survey.warning ? [survey.warning] : []),
      ...[...dates.values()].flatMap((one) => one.warnings),
      ...placed.flatMap((one) => (one.spec.type.kind === 'text' ? (separatedNumbers(one, sample) ?? []) : [])),
    ],
    evidence: [...(survey.evidence ? [survey.evidence] : []), ...[...dates.values()].flatMap((one) => one.evidence)],
    problems,
  };
}

/** Compiles one column; its own settings go before those of the file. */
function compileColumn(
  placed: Placed,
  { job, meta }: MappingInput,
  ofFile: FileRules,
  shown: DateSurvey | undefined,
  problems: string[],
): Column {
  const { options, heading, index, where, field, name, spec } = placed;
  const read: Read = (scalar, at) => jobValue(placed, scalar, { where: at, job, column: heading }, problems);
  const dates = options.dates ? formats(options.dates, `${where}.dates`, problems) : ofFile.dates;
  const values = translations(placed, read, problems);
  const ownDefault = options.default === undefined ? undefined : read(options.default, `${where}.default`);
  const clears = (options.blank ?? job.blank) === 'clear' ? null : undefined;
  const converting: ConvertOptions = {
    decimal: options.decimal ? { sign: options.decimal, why: STATED } : ofFile.decimal,
    format: meta.format,
    column: heading,
    ...(dates ? { dates } : {}),
    ...(shown ? { orders: shown.orders } : {}),
  };
  const convert = makeConverter(spec, converting);
  const { isNull } = ofFile;
  const plainly = values ? undefined : plainCell(spec, convert, converting);
  const plain =
    plainly && job.source.null_values ? (text: string) => (isNull(text) ? undefined : plainly(text)) : plainly;
  const stated = (text: string) => isNull(text) || (values?.has(foldText(text)) ?? false);
  const remarks = cellRemarks(heading, spec.type, stated);
  return {
    field,
    name,
    spec,
    heading,
    index,
    convert,
    ...(plain ? { plain } : {}),
    looked: new Map(),
    fewTexts: FEW_TEXTS.has(spec.type.kind),
    checked: !SOUND.has(spec.type.kind),
    ...(values ? { values } : {}),
    isNull,
    ...(remarks ? { remarks } : {}),
    required: options.required ?? false,
    whenBlank: ownDefault ?? values?.get('') ?? ofFile.whenBlank.get(field) ?? clears,
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
function oneTemplate(everywhere: readonly Target[], placed: readonly Target[], problems: string[]): void {
  if (everywhere.every(({ template }) => template === undefined)) return;
  const templates = new Map(
    [...placed, ...everywhere].flatMap(({ template }) => (template ? [[template.id, template.name] as const] : [])),
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

type Read = (scalar: string | number | boolean, where: string) => StagedValue | undefined;

/** The `values` of a column: folded text → value. */
function translations(
  { options, where }: Placed,
  read: Read,
  problems: string[],
): Map<string, StagedValue> | undefined {
  if (!options.values) return undefined;
  const values = new Map<string, StagedValue>();
  const written = new Map<string, unknown>();
  for (const [text, scalar] of Object.entries(options.values)) {
    const folded = foldText(text);
    const at = `${where}.values.${text}`;
    if (written.has(folded) && written.get(folded) !== scalar) {
      problems.push(
        `${at}: the text stands here twice but for case and blanks, with different values; delete one of them`,
      );
    }
    written.set(folded, scalar);
    const value = scalar === null ? null : read(scalar, at);
    if (value !== undefined) values.set(folded, value);
  }
  return values;
}
