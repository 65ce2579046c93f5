import { textHash } from '../../compact/hash-index.js';
import { type Change, LOST_UNSEEN } from '../../model/change.js';
import { Decimal } from '../../model/decimal.js';
import { fault, type Issue, type IssueCode, warning } from '../../model/issue.js';
import type { RowsJob } from '../../model/job.js';
import type { OutcomeKind } from '../../model/outcome.js';
import { type Fields, isEmpty, isRef, normaliseName, type Value, valueText, withHidden } from '../../model/value.js';
import { isObject, valueAt } from '../../resources/path.js';
import { type FieldReader, fieldReaders } from '../../resources/read.js';
import { decimalSignOf, readValue, recordId } from '../../resources/read-value.js';
import { checkRecord, PARTNERS } from '../../resources/rules.js';
import type { FieldType, Lexicon, ResourceSpec } from '../../resources/spec.js';
import { lostOnCreate } from '../../resources/write.js';
import type { Json, KnownIds, Snapshot } from '../../service/port.js';
import { keyText, lookOf } from '../match/key.js';
import type { Twins } from '../match/match.js';
import { nearMatch } from '../resolve/resolve.js';
import { isNoRecord, isRepeated, type ResolvedRow, type RowHead } from '../rows.js';
import type { Memory } from './memory.js';
import {
  changesOf,
  heldBy,
  isNarrowEnum,
  type Merge,
  type MergeOptions,
  mergeRow,
  neverShown,
  severalTemplates,
  withProbe,
} from './merge.js';
import { editConflicts, isOfCell, repeatsName, withoutRepeats } from './repeats.js';

export interface PlanOptions extends MergeOptions {
  readonly job: RowsJob;
  readonly snapshot: Snapshot;
  readonly known: KnownIds;
  readonly memory: Memory;
  /** Records whose key only looks like that of a row. */
  readonly twins?: Twins;
  /** Subcategories of a category; undefined where they are not known. */
  readonly subcategories?: (category: number) => readonly string[] | undefined;
  /** Told once for each kind of thing that holds for the whole run, e.g. fields nobody can see. */
  readonly warnOnce: (topic: string, text: string) => void;
}

/**
 * Decides what happens to one row: the only place that chooses between create, update and leaving alone.
 *
 *   no record of the table → skipped
 *   unknown since an earlier run, and not to be looked up → unknown
 *   faulty → invalid        same key as an earlier row → duplicate
 *   no record   → create | skipped | invalid (match.missing)
 *   one record  → unchanged | update | at_risk | conflict | skipped | invalid (match.existing)
 *   several, or one that only looks like it → ambiguous
 *
 * A promise only where a record is to be read.
 */
export function planRow(row: ResolvedRow, options: PlanOptions): Change | Promise<Change> {
  const key = keyText(row.key);
  const settle: Settle = (outcome, issues, more = {}) => ({
    ref: row.ref,
    key,
    kind: 'settled',
    outcome,
    issues: (outcome === 'at_risk' ? withProbe(issues) : issues).map((issue) => withColumn(issue, options.columnOf)),
    ...more,
  });
  const refuse = (outcome: OutcomeKind, code: IssueCode, text: string, more?: object) =>
    settle(outcome, [...row.issues, fault(code, text, keyCell(key, options))], more);
  if (isNoRecord(row) || isRepeated(row)) return settle('skipped', row.issues);
  if (row.issues.some(({ code }) => code === 'outcome_unknown')) return settle('unknown', row.issues);
  const ids = candidates(row, options);
  // A record that has exactly this key is the one that is meant, whatever looks like it.
  if (ids.length > 0 && row.issues.some(isNear))
    return planRow({ ...row, issues: row.issues.filter((issue) => !isNear(issue)) }, options);
  const errors = row.issues.filter((issue) => issue.severity === 'error' && !isNear(issue));
  if (
    row.duplicateOf !== undefined &&
    errors.every((issue) => issue.code === 'duplicate_key' || issue.code === 'duplicate_row')
  ) {
    return settle('duplicate', row.issues);
  }
  // A cell at fault may say what the record says already; only where the row meets one record is there something to compare.
  const mayRepeat = ids.length === 1 && options.job.match.existing === 'update' && errors.every(isOfCell);
  if (errors.length > 0 && !mayRepeat) return settle('invalid', row.issues.concat(ruleIssues(row, options)));
  if (ids.length > 1) {
    const text = `${ids.length} records have the key "${key}": ids ${ids.join(', ')}. Match by id, or make the key unique in the service.`;
    return refuse('ambiguous', 'ambiguous_match', text);
  }
  const id = ids[0];
  const nameless =
    id === undefined && !options.spec.readable ? options.memory.lastWritten(undefined, row.set, undefined) : undefined;
  if (nameless) return planNameless(row, nameless, options, settle);
  if (id === undefined) {
    const twins = nearRecords(row, key, options);
    if (twins.length > 0 || row.issues.some(isNear)) return settle('ambiguous', [...row.issues, ...twins]);
    if (options.job.match.missing === 'skip') return settle('skipped', row.issues);
    if (options.job.match.missing === 'fail' || options.job.match.key.includes('id')) {
      const text = `There is no ${options.spec.name} with the key "${key}", and the job does not create records.`;
      return refuse('invalid', 'record_not_found', text);
    }
    return planCreate(row, key, options, settle);
  }
  if (options.job.match.existing === 'skip') return settle('skipped', row.issues, { id });
  if (options.job.match.existing === 'fail') {
    const text = `The ${options.spec.name} ${id} has the key "${key}", and the job does not update records.`;
    return refuse('invalid', 'record_exists', text, { id });
  }
  return planUpdate(row, key, id, options, settle);
}

/**
 * The same for most rows of a file that was imported before, without a look at their values: undefined unless the row meets
 * one record, and both have the same fingerprint. Then `planRow` would come to just this.
 */
export function planByFingerprint(head: RowHead, options: PlanOptions): Change | undefined {
  const { snapshot, job, columnOf } = options;
  if (head.fingerprint === undefined || job.match.existing !== 'update') return undefined;
  const id = snapshot.like(head.key, head.fingerprint);
  if (id === undefined) return undefined;
  const issues = head.issues.map((issue) => withColumn(issue, columnOf));
  return { ref: head.ref, key: keyText(head.key), kind: 'unchanged', id, issues };
}

/** A customer that an earlier run created by a request whose answer told no id: it exists, and cannot be updated. */
function planNameless(row: ResolvedRow, remembered: Json, options: PlanOptions, settle: Settle): Change {
  if (options.job.match.existing === 'skip') return settle('skipped', row.issues);
  const merge = mergeRow(row.set, heldBy(undefined, remembered, options), options);
  if (changesOf(merge.diff).length === 0) return settle('unchanged', row.issues);
  return settle(
    'at_risk',
    [
      ...row.issues,
      fault(
        'would_lose_value',
        `The ${options.spec.name} was created by an earlier run, and the service did not tell its id: it cannot be updated from here. Match it by \`id\`, with the id the service shows.`,
        keyCell(keyText(row.key), options),
      ),
    ],
    { diff: merge.diff },
  );
}

/** Ends a row that leads to no request. */
type Settle = (outcome: OutcomeKind, issues: readonly Issue[], more?: object) => Change;

function candidates(row: ResolvedRow, options: PlanOptions): readonly number[] {
  if (row.key === '') return [];
  if (options.spec.name !== 'customer') return options.snapshot.ids(row.key);
  return options.job.match.key[0] === 'id' ? [Number(row.key)] : options.known.ids('customer', row.key);
}

const isNear = ({ code }: Issue): boolean => code === 'near_match';

/** The fault of a row whose key no record has, and of which some have one that looks the same. */
function nearRecords(row: ResolvedRow, key: string, options: PlanOptions): Issue[] {
  const { twins } = options;
  const found = row.key === '' || !twins?.size ? undefined : twins.get(lookOf(row.key));
  if (!found) return [];
  const shown = [...found].map(([id, other]) => `${id} ("${withHidden(keyText(other))}")`).join(', ');
  const records = found.size === 1 ? `the record ${shown}` : `the records ${shown}`;
  return [nearMatch(row.key, records, keyCell(key, options))];
}

function planCreate(row: ResolvedRow, key: string, options: PlanOptions, settle: Settle): Change {
  const fields = createFields(row);
  const conflict = severalTemplates(Object.keys(fields), options.lexicon);
  const issues = [...row.issues, ...check(fields, row, 'create', options), ...(conflict ? [conflict] : [])];
  for (const loss of lostOnCreate(options.spec, options.company, fields, options.lexicon)) {
    issues.push(
      warning(
        'field_not_updatable',
        `The field ${loss.field} cannot be set when a record is created: ${loss.why}. It is left out.`,
        {
          field: loss.field,
          value: loss.text,
        },
      ),
    );
  }
  if (issues.some((issue) => issue.severity === 'error')) return settle('invalid', issues);
  const columns = issues.map((issue) => withColumn(issue, options.columnOf));
  return { ref: row.ref, key, kind: 'create', fields, issues: columns, ...(row.after ? { after: row.after } : {}) };
}

/** The values of a row that make up a new record: most rows are filled, and need no copy. */
export function createFields({ set }: Pick<ResolvedRow, 'set'>): Fields {
  const names = Object.keys(set);
  if (!names.some((field) => isEmpty(set[field]))) return set;
  const fields: Record<string, Fields[string]> = {};
  for (const field of names) if (!isEmpty(set[field])) fields[field] = set[field] ?? null;
  return fields;
}

async function planUpdate(
  given: ResolvedRow,
  key: string,
  id: number,
  options: PlanOptions,
  settle: Settle,
): Promise<Change> {
  const base = await options.snapshot.get(id);
  const remembered = options.memory.lastWritten(id, given.set, base?.record);
  if (!base && !remembered) {
    // There is nothing that its cells could repeat.
    if (given.issues.some((issue) => issue.severity === 'error')) return settle('invalid', given.issues);
    if (repeatsName(given.set, options.spec.name === 'customer' ? options.known.nameOf('customer', id) : undefined))
      return settle('unchanged', given.issues, { id });
    return settle(
      'at_risk',
      [
        ...given.issues,
        fault(
          'would_lose_value',
          `The ${options.spec.name} ${id} exists, but the service does not let it be read, and no run kept in this home folder wrote it: an update would replace the whole record by this row.`,
          keyCell(key, options),
        ),
      ],
      { id },
    );
  }
  const held = heldBy(base?.record, remembered, options);
  const { row, carried } = withoutRepeats(given, held, options);
  if (row.issues.some((issue) => issue.severity === 'error')) return settle('invalid', row.issues);
  const merge = mergeRow(row.set, held, options);
  const issues = [...row.issues, ...merge.issues];
  const failed = issues.some((issue) => issue.severity === 'error');
  const changes = changesOf(merge.diff);
  if (!failed && changes.length === 0 && !row.after) {
    const kept = merge.diff.filter((one) => one.kind === 'kept');
    return {
      ref: row.ref,
      key,
      kind: 'unchanged',
      id,
      ...(kept.length > 0 ? { diff: kept } : {}),
      issues: issues.map((issue) => withColumn(issue, options.columnOf)),
    };
  }
  if (options.job.write.method === 'put') issues.push(...carried);
  const policy = options.job.write.at_risk;
  const endangered = new Set(merge.risks.map((risk) => risk.field));
  const checked = check(merge.target, row, 'update', options).filter((issue) => {
    // What the record holds and the row does not set is a matter of risk, not of the row; but no update goes out that
    // lacks what every update must have.
    if (endangered.has(issue.field)) return policy === 'warn';
    // What only updates ask for, and the record has never had, is the service's own business.
    if (issue.code === 'required' && options.specOf(issue.field ?? '')?.requiredOnUpdate)
      return changes.some((one) => one.field === issue.field);
    return issue.code !== 'status_not_writable' || changes.some((one) => one.field === 'status');
  });
  const conflicts = editConflicts(row.edited, changes, held, options);
  issues.push(...checked, ...pairIssues(merge, row, held.base, options));
  const outcome = issues.some((issue) => issue.severity === 'error') ? 'invalid' : 'conflict';
  if (outcome === 'invalid' || conflicts.length > 0)
    return settle(outcome, [...issues, ...conflicts], { id, diff: merge.diff });
  if (merge.unseen.length > 0) {
    warnUnseen(merge.unseen, options);
    if (policy === 'strict') {
      issues.push(
        fault(
          'would_lose_value',
          `Reads do not show ${merge.unseen.join(', ')}, and no run kept in this home folder wrote them: an update may destroy them. \`rowferry doctor --probe\` asks the service.`,
          {
            field: merge.unseen.find((field) => !field.includes(' ')) ?? 'template',
          },
        ),
      );
      return settle('at_risk', [...issues, ...merge.risks], { id, diff: merge.diff });
    }
  }
  if (merge.risks.length > 0 && policy !== 'warn')
    return settle('at_risk', [...issues, ...merge.risks], { id, diff: merge.diff });
  const lost = merge.risks.map((issue) => ({ ...issue, severity: 'warning' as const }));
  return {
    ref: row.ref,
    key,
    kind: 'update',
    id,
    set: row.set,
    diff: merge.diff,
    base: { record: base?.record ?? null, readAt: base?.readAt ?? 0 },
    issues: [...issues, ...lost].map((issue) => withColumn(issue, options.columnOf)),
    ...(row.after ? { after: row.after } : {}),
  };
}

/** Values that belong together, of which the row changes one alone. */
function pairIssues(merge: Merge, row: ResolvedRow, base: Fields, options: PlanOptions): Issue[] {
  return [...categoryIssues(merge, options), ...partnerIssues(merge, row, base)];
}

/** A new contact beside the e-mail of the former one may be nobody's contact: it is written as the row says, and told. */
function partnerIssues({ diff }: Merge, { set }: ResolvedRow, base: Fields): Issue[] {
  const changed = new Map(changesOf(diff).map((one) => [one.field, one]));
  return PARTNERS.flatMap((pair) => pair.map((field, at) => [field, pair[1 - at] ?? ''] as const)).flatMap(
    ([field, other]) => {
      const change = changed.get(field);
      if (!change || isEmpty(change.old) || isEmpty(change.new) || isEmpty(base[other]) || other in set) return [];
      const values = `${field} changes from "${valueText(change.old)}" to "${valueText(change.new)}", and the row says nothing of ${other}, which is "${valueText(base[other])}"`;
      return warning('pair_incomplete', `${values} and stays. See that both belong together.`, {
        field: other,
        value: '',
      });
    },
  );
}

/** A category and a subcategory of which one is new have to belong together. */
function categoryIssues({ target, diff }: Merge, { subcategories }: PlanOptions): Issue[] {
  const [category, subcategory] = [target['category.name'], target[SUBCATEGORY]];
  if (!isRef(category) || typeof subcategory !== 'string' || subcategory === '') return [];
  if (!changesOf(diff).some(({ field }) => field === 'category.name' || field === SUBCATEGORY)) return [];
  const known = subcategories?.(category.id);
  if (!known || known.some((one) => normaliseName(one) === normaliseName(subcategory))) return [];
  const list = known.length ? `It has ${known.map((one) => `"${one}"`).join(', ')}.` : 'It has none.';
  return [
    fault(
      'pair_incomplete',
      `The record would have the category ${category.name ? `"${category.name}"` : category.id} and the subcategory "${subcategory}", which that category does not have. ${list} Fill both.`,
      { field: SUBCATEGORY, value: subcategory },
    ),
  ];
}

const SUBCATEGORY = 'category.subcategory';

/** One warning a run for what reads never show, the same for every row; and one for each thing the interface does not name. */
function warnUnseen(unseen: readonly string[], options: PlanOptions): void {
  const hidden = neverShown(options.spec);
  const next = '`at_risk: strict` holds such rows back; `rowferry doctor --probe` asks the service.';
  if (unseen.some((field) => hidden.includes(field)))
    options.warnOnce('unseen', `Reads never show ${hidden.join(', ')}: ${LOST_UNSEEN}. ${next}`);
  for (const field of unseen.filter((one) => !hidden.includes(one)))
    options.warnOnce(
      `unknown ${field}`,
      `Records hold ${field}, which the interface does not name: ${LOST_UNSEEN}. ${next}`,
    );
}

/** A faulty row is also told which rules it breaks, as far as its values allow. */
function ruleIssues(row: ResolvedRow, options: PlanOptions): Issue[] {
  const faulty = new Set(row.issues.map((issue) => issue.field));
  if (candidates(row, options).length > 0 || options.job.match.missing !== 'create') return [];
  return check(row.set, row, 'create', options).filter((issue) => !faulty.has(issue.field));
}

function check(fields: Fields, row: ResolvedRow, operation: 'create' | 'update', options: PlanOptions): Issue[] {
  const found = checkRecord(options.spec, fields, operation);
  return found.length === 0 ? found : found.filter((issue) => issue.field !== row.after?.field);
}

const keyCell = (key: string, { job }: PlanOptions) => ({ field: job.match.key[0] ?? '', value: key });

function withColumn(issue: Issue, columnOf: (field: string) => string | undefined): Issue {
  if (issue.column !== undefined || issue.field === undefined) return issue;
  const column = columnOf(issue.field);
  return column === undefined ? issue : { ...issue, column };
}

/**
 * What the rows of a file set and what records hold in the same fields, each as one number: where both are equal, putting
 * the row onto the record changes nothing. So most rows of a nightly file are decided without a look at their values.
 *
 * Equal numbers of a row and a record that differ have a chance of 1 in 9 × 10^15. Of a row that leaves a field alone which
 * its record holds, or of a value that is spelt another way, the numbers differ although nothing changes: that is found out
 * by looking.
 *
 * `fields`: all that a row may set. Undefined where reads do not show each of them in a place of its own.
 */
export function fingerprints(spec: ResourceSpec, fields: readonly string[]) {
  const readers = fieldReaders(spec);
  const shown = fields.map((field) => readers.get(field));
  if (!shown.every((reader): reader is FieldReader => reader?.field.read !== undefined)) return undefined;
  const columns = shown.map((reader) => ({ ...reader, narrow: isNarrowEnum(reader.field) }));
  return {
    ofRow(set: Readonly<Record<string, Value>>): number {
      let text = '';
      for (let at = 0; at < fields.length; at++) {
        const value = set[fields[at]!];
        if (value !== undefined && !isEmpty(value)) text += entryOf(at, value);
      }
      return textHash(text);
    },
    /**
     * NaN where the record shows a value that means something only with what the run knows besides (the order of day and month,
     * names of records, what was written before), or nothing at all.
     */
    ofRecord(record: Json): number {
      let text = '';
      for (let at = 0; at < columns.length; at++) {
        const column = columns[at]!;
        const value = certainValue(column, record);
        // Such a value may stand for another one, which this program has written and reads do not show.
        if (column.narrow && (isEmpty(value) || value === 'none')) return Number.NaN;
        if (value === undefined) return Number.NaN;
        if (!isEmpty(value)) text += entryOf(at, value);
      }
      return textHash(text);
    },
  };
}

/** A run that knows nothing yet. */
const NOTHING_KNOWN: Lexicon = {
  countryCode: () => undefined,
  template: () => undefined,
  form: () => undefined,
  idOf: () => undefined,
  nameOf: () => undefined,
};

/** The value that a record holds, null for none; undefined where it means something only with what the run knows. */
function certainValue({ field: { type }, paths }: FieldReader, record: Json): Value | undefined {
  for (const steps of paths) {
    const raw = valueAt(record, steps);
    if (raw === undefined || raw === null || raw === '') continue;
    if (type.kind === 'reference') {
      const id = isObject(raw) ? recordId(raw['id']) : undefined;
      return id === undefined ? undefined : { id };
    }
    if (typeof raw === 'string' && isAmount(type) && decimalSignOf(raw) === 'either') return undefined;
    const reading = readValue(type, raw, NOTHING_KNOWN);
    if ('why' in reading) return undefined;
    if (!isEmpty(reading.value)) return reading.value;
  }
  return null;
}

const isAmount = ({ kind }: FieldType): boolean => kind === 'decimal' || kind === 'integer';

/**
 * What a value adds to the text that stands for all of them: the number of its field, its kind, and what it holds. The length
 * of a text stands before it, so that no text looks like the end of one value and the beginning of another.
 */
function entryOf(field: number, value: Value): string {
  if (typeof value === 'string') return `${field}t${value.length}:${value}`;
  if (value instanceof Decimal) return `${field}d${value.text};`;
  if (isRef(value)) return `${field}r${value.id};`;
  return `${field}${JSON.stringify(value)};`;
}
