import { hash53 } from '../../compact/hash-index.js';
import { type Change, UNSEEN_LOSS_PHRASE } from '../../model/change.js';
import { countText } from '../../model/count-text.js';
import { Decimal } from '../../model/decimal.js';
import { fault, type Issue, type IssueCode, warning } from '../../model/issue.js';
import type { RowsJob } from '../../model/job.js';
import type { OutcomeKind } from '../../model/outcome.js';
import { type Fields, isEmpty, isNewRef, isRef, normaliseName, revealHidden, type Value } from '../../model/value.js';
import { isObject, valueAt } from '../../resources/path.js';
import { type FieldReader, fieldReaders } from '../../resources/read.js';
import { readValue, recordId } from '../../resources/read-value.js';
import { checkRecord } from '../../resources/rules.js';
import { NO_LEXICON, type ResourceSpec } from '../../resources/spec.js';
import { createBody } from '../../resources/write.js';
import type { Json, KnownIds, Snapshot } from '../../service/port.js';
import { keyOf, keyText, lookalikeKey } from '../match/key.js';
import type { Lookalikes } from '../match/match.js';
import { nearMatch, SUBCATEGORY, subcategoriesText } from '../resolve/resolve.js';
import { isNoRecord, isRepeated, type ResolvedRow, type RowHead } from '../rows.js';
import type { Memory } from './last-writes.js';
import {
  changesOf,
  isNarrowEnum,
  isWriteOnly,
  type Merge,
  type MergeBase,
  type MergeOptions,
  mergeBaseOf,
  mergeRow,
  severalTemplates,
  templateOf,
  withProbeHint,
  writeOnlyFields,
} from './merge.js';
import { editConflicts, isCellFault, repeatsName, withoutRepeats } from './unchanged-cells.js';

export interface PlanOptions extends MergeOptions {
  readonly job: RowsJob;
  readonly snapshot: Snapshot;
  readonly known: KnownIds;
  readonly memory: Memory;
  /** Records whose key only looks like that of a row. */
  readonly lookalikes?: Lookalikes;
  /** Records that the service counts and does not show, where it does not guard the keys of new ones itself. */
  readonly unshown?: number;
  /** Keys of records that another run has just created, and that cannot be read yet. */
  readonly unread?: ReadonlySet<string>;
  /** Keys from which a run of this home created a record that was never seen. */
  readonly unseen?: ReadonlySet<string>;
  /** Records that runs of this home created from a key, by it, and that have another key. */
  readonly rekeyed?: ReadonlyMap<string, { readonly id: number; readonly key: string }>;
  /** Subcategories of a category; undefined where they are not known. */
  readonly subcategories?: (category: number) => readonly string[] | undefined;
  /** Told of what holds for the whole run, e.g. fields nobody can see; says the same once. */
  readonly warn: (text: string) => void;
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
  return new RowPlan(row, options).decide();
}

class RowPlan {
  private readonly key: string;

  constructor(
    private readonly row: ResolvedRow,
    private readonly options: PlanOptions,
  ) {
    this.key = keyText(row.key.includes('#-') ? namedKey(row, options.job.match.key) : row.key);
  }

  decide(): Change | Promise<Change> {
    const { row, key, options } = this;
    const { spec, job } = options;
    if (isNoRecord(row) || isRepeated(row)) return this.settle('skipped');
    if (row.issues.some(({ code }) => code === 'outcome_unknown')) return this.settle('unknown');
    const ids = this.candidates();
    // A record that has exactly this key is the one that is meant, whatever looks like it.
    if (ids.length > 0 && row.issues.some(isNearMatch))
      return planRow({ ...row, issues: row.issues.filter((issue) => !isNearMatch(issue)) }, options);
    const errors = row.issues.filter((issue) => issue.severity === 'error' && !isNearMatch(issue));
    const isRepetition = errors.every(({ code }) => code === 'duplicate_key' || code === 'duplicate_row');
    if (row.duplicateOf !== undefined && isRepetition) return this.settle('duplicate');
    // A cell at fault may say what the record says already; only where the row meets one record is there something to compare.
    const mayRepeat = ids.length === 1 && job.match.existing === 'update' && errors.every(isCellFault);
    if (errors.length > 0 && !mayRepeat) return this.settle('invalid', row.issues.concat(this.brokenRules(ids)));
    if (ids.length > 1) {
      const text = `${ids.length} records have the key "${key}": ids ${ids.join(', ')}. Match by id, or make the key unique in the service.`;
      return this.refuse('ambiguous', 'ambiguous_match', text);
    }
    const [id] = ids;
    if (id === undefined) return this.planMissing();
    if (job.match.existing === 'skip') return this.settle('skipped', row.issues, { id });
    if (job.match.existing === 'fail') {
      const text = `The ${spec.name} ${id} has the key "${key}", and the job does not update records.`;
      return this.refuse('invalid', 'record_exists', text, { id });
    }
    return this.update(id);
  }

  /** Ends the row without a request. */
  private settle(outcome: OutcomeKind, issues: readonly Issue[] = this.row.issues, extra: object = {}): Change {
    // A probe finds out nothing about records that cannot be read.
    const hasHint = outcome === 'at_risk' && this.options.spec.readable;
    const reported = this.addColumns(hasHint ? withProbeHint(issues) : issues);
    return { ref: this.row.ref, key: this.key, kind: 'settled', outcome, issues: reported, ...extra };
  }

  /** The same for a reason that lies in its key, or in the record that has it. */
  private refuse(outcome: OutcomeKind, code: IssueCode, text: string, extra?: object): Change {
    return this.settle(outcome, [...this.row.issues, fault(code, text, this.keyCell())], extra);
  }

  private keyCell(): Pick<Issue, 'field' | 'value'> {
    return { field: this.options.job.match.key[0] ?? '', value: this.key };
  }

  private addColumns(issues: readonly Issue[]): readonly Issue[] {
    return issues.map((issue) => withColumn(issue, this.options.columnOf));
  }

  /** Ids of the records that have its key. */
  private candidates(): readonly number[] {
    const { key } = this.row;
    const { spec, snapshot, known, job } = this.options;
    if (key === '') return [];
    if (spec.name !== 'customer') return snapshot.ids(key);
    return job.match.key[0] === 'id' ? [Number(key)] : known.ids('customer', key);
  }

  private planMissing(): Change {
    const { row, key } = this;
    const { spec, job, memory } = this.options;
    const lastWrite = spec.readable ? undefined : memory.lastWritten(undefined, row.set, undefined);
    if (lastWrite) return this.createdWithoutId(lastWrite);
    const own = this.options.rekeyed?.get(row.key);
    if (own) {
      const text = `The ${spec.name} ${own.id} was created from the key "${key}", and the service keeps it as "${keyText(own.key)}". Nothing was sent. Write the key as the service keeps it.`;
      return this.refuse('ambiguous', 'near_match', text);
    }
    const nearMatches = this.lookalikeIssues();
    if (nearMatches.length > 0 || row.issues.some(isNearMatch))
      return this.settle('ambiguous', [...row.issues, ...nearMatches]);
    if (job.match.missing === 'skip') return this.settle('skipped');
    if (job.match.missing === 'fail' || job.match.key.includes('id')) {
      const text = `There is no ${spec.name} with the key "${key}", and the job does not create records.`;
      return this.refuse('invalid', 'record_not_found', text);
    }
    if (this.options.unshown) {
      const text = `The service counts ${countText(this.options.unshown, 'record')} more than it shows, and shows none with the key "${key}": one that it hides may have it, and would be there twice. Nothing was sent. Ask whoever runs the service, then take the row up again.`;
      return this.refuse('failed', 'list_incomplete', text);
    }
    if (this.options.unread?.has(row.key)) {
      const text = `Another run has just created the ${spec.name} with the key "${key}", and the service does not show it yet: it would be there twice. Nothing was sent. Take the row up again in a minute.`;
      return this.refuse('failed', 'list_incomplete', text);
    }
    if (this.options.unseen?.has(row.key)) {
      const text = `An earlier run created the ${spec.name} with the key "${key}", and the service has not shown it since: it keeps the key in another form, or the record is gone. Nothing was sent: it would be there twice. Look in the service, and write the key as it stands there. Where the record is gone, an import with --force creates it anew.`;
      return this.refuse('ambiguous', 'near_match', text);
    }
    return this.create();
  }

  /** A customer that an earlier run created by a request whose answer told no id: it exists, and cannot be updated. */
  private createdWithoutId(remembered: Json): Change {
    const { row, options } = this;
    if (options.job.match.existing === 'skip') return this.settle('skipped');
    const { diff } = mergeRow(row.set, mergeBaseOf(undefined, remembered, options), options);
    if (changesOf(diff).length === 0) return this.settle('unchanged');
    const text = `The ${options.spec.name} was created by an earlier run, and the service did not tell its id: it cannot be updated from here. Match it by \`id\`, with the id the service shows.`;
    return this.refuse('at_risk', 'would_lose_value', text, { diff });
  }

  /** The fault of a row whose key no record has, and of which some have one that looks the same. */
  private lookalikeIssues(): Issue[] {
    const { key } = this.row;
    const { lookalikes } = this.options;
    const found = key === '' || !lookalikes?.size ? undefined : lookalikes.get(lookalikeKey(key));
    if (!found) return [];
    const list = [...found].map(([id, other]) => `${id} ("${revealHidden(keyText(other))}")`).join(', ');
    return [nearMatch(key, `the record${found.size === 1 ? '' : 's'} ${list}`, this.keyCell())];
  }

  private create(): Change {
    const { row, key } = this;
    const { spec, company, lexicon } = this.options;
    const fields = createFields(row);
    const conflict = severalTemplates(Object.keys(fields), lexicon);
    const issues = [...row.issues, ...this.check(fields, 'create'), ...(conflict ? [conflict] : [])];
    for (const { field, text, why } of createBody(spec, company, fields, lexicon).lost) {
      if (conflict && templateOf(field) !== undefined) continue;
      const message = `The field ${field} cannot be set when a record is created: ${why}. It is left out.`;
      issues.push(warning('field_not_updatable', message, { field, value: text }));
    }
    if (issues.some((issue) => issue.severity === 'error')) return this.settle('invalid', issues);
    const after = row.after ? { after: row.after } : {};
    return { ref: row.ref, key, kind: 'create', fields, issues: this.addColumns(issues), ...after };
  }

  private async update(id: number): Promise<Change> {
    const { options, key } = this;
    const { snapshot, memory, job } = options;
    const base = await snapshot.get(id);
    const remembered = memory.lastWritten(id, this.row.set, base?.record);
    if (!base && !remembered) return this.unreadable(id);
    const current = mergeBaseOf(base?.record, remembered, options);
    const { row, carried } = withoutRepeats(this.row, current, options);
    const merge = mergeRow(row.set, current, options);
    const issues = [...row.issues, ...merge.issues];
    const failed = issues.some((issue) => issue.severity === 'error');
    const changes = changesOf(merge.diff);
    // A PUT leaves out what is blank, so that the service clears it.
    if (changes.length === 0 || options.omittedIsKept) warnUncleared(row.set, current, options);
    if (!failed && changes.length === 0 && !row.after) {
      const kept = merge.diff.filter((one) => one.kind === 'kept');
      const diff = kept.length > 0 ? { diff: kept } : {};
      return { ref: row.ref, key, kind: 'unchanged', id, ...diff, issues: this.addColumns(issues) };
    }
    if (job.write.method === 'put') issues.push(...carried);
    const policy = job.write.at_risk;
    const atRisk = new Set(merge.risks.map((risk) => risk.field));
    const faulty = faultyFields(row);
    const target = faulty.size === 0 ? merge.target : withoutFields(merge.target, faulty);
    const checked = this.check(target, 'update').filter((issue) => {
      if (faulty.has(issue.field)) return false;
      // What the record holds and the row does not set is a matter of risk, not of the row; but no update goes out that
      // lacks what every update must have.
      if (atRisk.has(issue.field)) return policy === 'warn';
      // What only updates ask for, and the record has never had, is the service's own business; a subcategory needs its category.
      if (issue.code === 'required' && options.specOf(issue.field ?? '')?.requiredOnUpdate)
        return changes.some(({ field }) => field === issue.field || field === SUBCATEGORY);
      return issue.code !== 'status_not_writable' || changes.some((one) => one.field === 'status');
    });
    const conflicts = editConflicts(row.edited, changes, current, options);
    // A record may break a rule itself, in values that the row leaves as they are.
    const before = new Set(checked.length > 0 ? this.check(current.base, 'update').map(({ message }) => message) : []);
    const next = `The record ${id} is so already, and this row does not change it: correct it in the service, or by a column of the file.`;
    for (const issue of checked)
      issues.push(before.has(issue.message) ? { ...issue, message: `${issue.message} ${next}` } : issue);
    issues.push(...categoryIssues({ target, diff: merge.diff }, options));
    const outcome = issues.some((issue) => issue.severity === 'error') ? 'invalid' : 'conflict';
    if (outcome === 'invalid' || conflicts.length > 0)
      return this.settle(outcome, [...issues, ...conflicts], { id, diff: merge.diff });
    const { unseen } = merge;
    if (unseen.length > 0) {
      warnUnseen(unseen, options);
      if (policy === 'strict') {
        const text = `Reads do not show ${unseen.join(', ')}, and no run kept in this home folder wrote them: an update may destroy them. \`rowferry doctor --probe\` asks the service.`;
        const field = unseen.find((one) => !one.includes(' ')) ?? 'template';
        issues.push(fault('would_lose_value', text, { field }));
        return this.settle('at_risk', [...issues, ...merge.risks], { id, diff: merge.diff });
      }
    }
    if (merge.risks.length > 0 && policy !== 'warn')
      return this.settle('at_risk', [...issues, ...merge.risks], { id, diff: merge.diff });
    const lost = merge.risks.map((issue) => ({ ...issue, severity: 'warning' as const }));
    return {
      ref: row.ref,
      key,
      kind: 'update',
      id,
      set: row.set,
      diff: merge.diff,
      base: { record: base?.record ?? null, readAt: base?.readAt ?? 0 },
      issues: this.addColumns([...issues, ...lost]),
      ...(row.after ? { after: { ...row.after, old: current.base[row.after.field] ?? null } } : {}),
    };
  }

  /** A record that cannot be read and that no run of ours is known to have written. */
  private unreadable(id: number): Change {
    const { row } = this;
    const { spec, known } = this.options;
    // There is nothing that its cells could repeat.
    if (row.issues.some((issue) => issue.severity === 'error')) return this.settle('invalid');
    if (repeatsName(row.set, spec.name === 'customer' ? known.nameOf('customer', id) : undefined))
      return this.settle('unchanged', row.issues, { id });
    const unread = spec.readable
      ? `The ${spec.name} ${id} exists, but the service does not let it be read`
      : `The service does not let ${spec.name}s be read`;
    const text = `${unread}, and no run kept in this home folder wrote the ${spec.name} ${id}: an update would replace the whole record by this row. Change it in the service.`;
    return this.refuse('at_risk', 'would_lose_value', text, { id });
  }

  /** A faulty row that meets no record is also told which rules it breaks, as far as its values allow. */
  private brokenRules(ids: readonly number[]): Issue[] {
    const { row } = this;
    if (ids.length > 0 || this.options.job.match.missing !== 'create') return [];
    // Of cells that are not certain no rule can be told.
    if (row.issues.some(({ code }) => code === 'ragged_row' || code === 'stray_quote')) return [];
    const faulty = faultyFields(row);
    return this.check(row.set, 'create').filter((issue) => !faulty.has(issue.field));
  }

  private check(fields: Fields, operation: 'create' | 'update'): Issue[] {
    const found = checkRecord(this.options.spec, fields, operation);
    return found.length === 0 ? found : found.filter((issue) => issue.field !== this.row.after?.field);
  }
}

/** Fields whose values nobody knows: rules are judged by the others. */
const faultyFields = ({ issues }: ResolvedRow): ReadonlySet<string | undefined> =>
  new Set(issues.flatMap(({ severity, field }) => (severity === 'error' ? [field] : [])));

const withoutFields = (fields: Fields, left: ReadonlySet<string | undefined>): Fields =>
  Object.fromEntries(Object.entries(fields).filter(([field]) => !left.has(field)));

/** The key with the names of records that are still to be created, in place of what stands for their ids. */
function namedKey({ set }: ResolvedRow, key: readonly string[]): string {
  const nameOf = (value: Value = null): Value => (isNewRef(value) ? (value.name ?? null) : value);
  return keyOf(Object.fromEntries(key.map((field) => [field, nameOf(set[field])])), key);
}

const isNearMatch = ({ code }: Issue): boolean => code === 'near_match';

/** The values of a row that make up a new record: most rows are filled, and need no copy. */
export function createFields({ set }: Pick<ResolvedRow, 'set'>): Fields {
  const names = Object.keys(set);
  if (!names.some((field) => isEmpty(set[field]))) return set;
  const fields: Record<string, Fields[string]> = {};
  for (const field of names) if (!isEmpty(set[field])) fields[field] = set[field] ?? null;
  return fields;
}

/** A category and a subcategory of which one is new have to belong together. */
function categoryIssues({ target, diff }: Pick<Merge, 'target' | 'diff'>, { subcategories }: PlanOptions): Issue[] {
  const [category, subcategory] = [target['category.name'], target[SUBCATEGORY]];
  if (!isRef(category) || typeof subcategory !== 'string' || subcategory === '') return [];
  if (!changesOf(diff).some(({ field }) => field === 'category.name' || field === SUBCATEGORY)) return [];
  const listed = subcategories?.(category.id);
  if (!listed || listed.some((one) => normaliseName(one) === normaliseName(subcategory))) return [];
  return [
    fault(
      'pair_incomplete',
      `The record would have the category ${category.name ? `"${category.name}"` : category.id} and the subcategory "${subcategory}", which that category does not have. ${subcategoriesText(listed)} Fill both.`,
      { field: SUBCATEGORY, value: subcategory },
    ),
  ];
}

/** One warning a run for what reads never show, the same for every row; and one for each thing the interface does not name. */
function warnUnseen(unseen: readonly string[], options: PlanOptions): void {
  const hidden = writeOnlyFields(options.spec);
  const next = '`at_risk: strict` holds such rows back; `rowferry doctor --probe` asks the service.';
  if (unseen.some((field) => hidden.includes(field)))
    options.warn(`Reads never show ${hidden.join(', ')}: ${UNSEEN_LOSS_PHRASE}. ${next}`);
  for (const field of unseen.filter((one) => !hidden.includes(one)))
    options.warn(`Records hold ${field}, which the interface does not name: ${UNSEEN_LOSS_PHRASE}. ${next}`);
}

/** One warning a run for each field that blank cells clear, and of which nobody knows whether the record holds it. */
function warnUncleared(set: Fields, { record, ours, base }: MergeBase, options: PlanOptions): void {
  if (record === undefined || ours !== undefined) return;
  for (const field of Object.keys(set)) {
    if (!isEmpty(set[field]) || !isEmpty(base[field]) || !isWriteOnly(field, options)) continue;
    if ((options.authorityOf?.(field, set, base) ?? 'file') !== 'file') continue;
    options.warn(
      `Blank cells clear ${field}, but reads ${options.specOf(field)?.read === undefined ? 'never show it' : 'show only some of its values'}: whether it is empty cannot be known of records that no run kept in this home folder wrote, and it is left as it is there. Empty it in the service where it has to be.`,
    );
  }
}

function withColumn(issue: Issue, columnOf: (field: string) => string | undefined): Issue {
  if (issue.column !== undefined || issue.field === undefined) return issue;
  const column = columnOf(issue.field);
  return column === undefined ? issue : { ...issue, column };
}

/**
 * The same for most rows of a file that was imported before, without a look at their values: undefined unless the row meets
 * one record, and both have the same fingerprint. Then `planRow` would come to just this.
 */
export function planByFingerprint(head: RowHead, options: PlanOptions): Change | undefined {
  const { snapshot, job, columnOf } = options;
  if (head.fingerprint === undefined || job.match.existing !== 'update') return undefined;
  const id = snapshot.idByFingerprint(head.key, head.fingerprint);
  if (id === undefined) return undefined;
  const issues = head.issues.map((issue) => withColumn(issue, columnOf));
  return { ref: head.ref, key: keyText(head.key), kind: 'unchanged', id, issues };
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
  const readable = fields.map((field) => readers.get(field));
  if (!readable.every((reader): reader is FieldReader => reader?.field.read !== undefined)) return undefined;
  const columns = readable.map((reader) => ({ ...reader, narrow: isNarrowEnum(reader.field) }));
  return {
    ofRow(set: Readonly<Record<string, Value>>): number {
      let text = '';
      for (let at = 0; at < fields.length; at++) {
        const value = set[fields[at]!];
        if (value !== undefined && !isEmpty(value)) text += entryOf(at, value);
      }
      return hash53(text);
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
      return hash53(text);
    },
  };
}

/** The value that a record holds, null for none; undefined where it means something only with what the run knows. */
function certainValue({ field: { type }, paths }: FieldReader, record: Json): Value | undefined {
  for (const steps of paths) {
    const raw = valueAt(record, steps);
    if (raw === undefined || raw === null || raw === '') continue;
    if (type.kind === 'reference') {
      const id = isObject(raw) ? recordId(raw['id']) : undefined;
      return id === undefined ? undefined : { id };
    }
    const reading = readValue(type, raw, NO_LEXICON);
    if ('why' in reading) return undefined;
    if (!isEmpty(reading.value)) return reading.value;
  }
  return null;
}

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
