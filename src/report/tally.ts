import type { DiffText } from '../model/change.js';
import type { IssueCode } from '../model/issue.js';
import { GOOD_OUTCOMES, noOutcomes, type Outcome, type OutcomeCounts, type OutcomeKind } from '../model/outcome.js';
import { shorten } from '../model/visible.js';
import { faultsOf } from './report-lines.js';
import { count, counted, type LostRows, type SkippedRows, type TopFault } from './summary.js';

/** What the summary and the page show of millions of rows, gathered as they pass. Counts are never capped, details are. */
export interface Tally {
  readonly counts: OutcomeCounts;
  /** The most frequent faults, by code and column (field, where there is none), with the first value of each. */
  readonly topFaults: readonly TopFault[];
  /** The reasons of each outcome that needs a person, the commonest first. */
  readonly samples: Samples;
  readonly skipped: SkippedRows;
  add(outcome: Outcome): void;
}

/** Rows of one outcome that have the same reason. */
export interface Reason {
  readonly rows: number;
  /** The first of them, in input order. */
  readonly first: readonly Outcome[];
}

/** By outcome. */
export type Samples = ReadonlyMap<OutcomeKind, readonly Reason[]>;

const TOP = 10;
/** Reasons of an outcome that are shown, that are told apart, and rows of each that are named. */
const REASONS = 20;
const MOST_REASONS = 200;
const NAMED = 5;
/** A hostile file can invent columns; beyond this many pairs a fault counts under its code alone. */
const MAX_GROUPS = 5000;
const EXAMPLE = 200;

interface Group {
  readonly code: IssueCode;
  readonly column?: string;
  readonly field?: string;
  example?: string;
  count: number;
}

export function createTally(): Tally {
  const counts = noOutcomes();
  const groups = new Map<string, Group>();
  const reasons = new Map<OutcomeKind, Map<string, { rows: number; first: Outcome[] }>>();
  const skipped = { existing: 0, repeated: 0, no_record: 0 };
  return {
    counts,
    skipped,
    get samples() {
      const byMost = (of: Iterable<Reason>) => [...of].sort((a, b) => b.rows - a.rows).slice(0, REASONS);
      return new Map([...reasons].map(([kind, of]) => [kind, byMost(of.values())]));
    },
    get topFaults() {
      return [...groups.values()]
        .sort((a, b) => b.count - a.count)
        .slice(0, TOP)
        .map(({ code, count, column, field, example }) => ({
          code,
          count,
          ...(column === undefined ? {} : { column }),
          ...(field === undefined ? {} : { field }),
          ...(example === undefined ? {} : { example }),
        }));
    },
    add(outcome) {
      counts[outcome.kind]++;
      if (outcome.kind === 'skipped') {
        const has = (wanted: IssueCode) => outcome.issues.some(({ code }) => code === wanted);
        if (has('not_a_record')) skipped.no_record++;
        else if (has('duplicate_row')) skipped.repeated++;
        else if (outcome.id !== undefined) skipped.existing++;
      }
      for (const { code, column, field, value } of faultsOf(outcome)) {
        const place = column === undefined ? { ...(field === undefined ? {} : { field }) } : { column };
        const own = `${code}\0${column ?? ''}\0${column === undefined ? (field ?? '') : ''}`;
        const known = groups.size < MAX_GROUPS || groups.has(own);
        const id = known ? own : `${code}\0\0`;
        let group = groups.get(id);
        if (!group) {
          group = known ? { code, ...place, count: 0 } : { code, count: 0 };
          groups.set(id, group);
        }
        group.count++;
        if (group.example === undefined && value) group.example = shorten(value, EXAMPLE);
      }
      if (GOOD_OUTCOMES.has(outcome.kind)) return;
      const of = reasons.get(outcome.kind) ?? new Map<string, { rows: number; first: Outcome[] }>();
      reasons.set(outcome.kind, of);
      const own = reasonOf(outcome);
      const reason = of.get(own);
      if (reason) {
        reason.rows++;
        if (reason.first.length < NAMED) reason.first.push(outcome);
      } else if (of.size < MOST_REASONS) of.set(own, { rows: 1, first: [outcome] });
    },
  };
}

/** Their messages measure the value. */
const MEASURED: ReadonlySet<IssueCode> = new Set<IssueCode>(['too_long', 'wrong_length', 'out_of_range']);

/** What rows of the same reason have alike: their faults, whatever the values are that messages quote and measure. */
function reasonOf(outcome: Outcome): string {
  const faults = faultsOf(outcome).map(({ code, column, field, message, value }) => {
    const text = value ? message.replaceAll(`"${value}"`, '""') : message;
    return [code, column, field, MEASURED.has(code) ? text.replace(/\d+/g, '0') : text];
  });
  return JSON.stringify(faults);
}

/**
 * Values that updates destroyed, or would destroy, that new records lack, and that the service stored in another form: told
 * by the head of every report, since these rows ended well.
 */
export interface Losses {
  add(outcome: Outcome, diff: readonly DiffText[]): void;
  /** One sentence for each that there is. */
  told(dryRun: boolean): string[];
  /** Undefined where there are none. */
  readonly rows: LostRows | undefined;
}

const FIELDS = 5;

export function createLosses(): Losses {
  const [destroyed, lacking, tidied] = [new Told(), new Told(), new Told()];
  return {
    add(outcome, diff) {
      const { kind, issues } = outcome;
      if (kind !== 'updated' && kind !== 'created') return;
      if (kind === 'updated') destroyed.note(diff.filter((change) => change.kind === 'at_risk'));
      if (issues.length === 0) return;
      const of = (code: IssueCode) => issues.filter((issue) => issue.code === code);
      tidied.note(of('value_normalised'), outcome);
      if (kind === 'created') lacking.note(of('would_lose_value'), outcome);
    },
    get rows() {
      const rows = { destroyed: destroyed.rows, missing: lacking.rows, other_form: tidied.rows };
      return rows.destroyed + rows.missing + rows.other_form === 0 ? undefined : rows;
    },
    told(dry) {
      const where = `plan.csv has each (at_risk)${dry ? '' : ', before.ndjson the records as they were'}.`;
      const would = dry ? 'would destroy' : 'destroyed';
      const sentences = [
        destroyed.rows > 0 &&
          `${counted(destroyed.rows, 'update')} ${would} values that the row does not set: ${destroyed.named()}. ${where}`,
        lacking.rows > 0 &&
          !dry &&
          `The service created ${counted(lacking.rows, 'record')} without values that were sent: ${lacking.named()}. results.csv has each (would_lose_value).`,
        tidied.rows > 0 &&
          !dry &&
          `The service stored ${counted(tidied.values, 'value')} of ${counted(tidied.rows, 'row')} in another form than was sent, such as ${tidied.example}`,
      ];
      return sentences.filter((sentence) => sentence !== false);
    },
  };
}

/** Rows and values of one kind. */
class Told {
  rows = 0;
  values = 0;
  example: string | undefined;
  readonly #fields = new Map<string, number>();

  note(found: readonly { readonly field?: string; readonly message?: string }[], outcome?: Outcome): void {
    const [first] = found;
    if (!first) return;
    this.rows++;
    this.values += found.length;
    if (outcome) this.example ??= `row ${outcome.ref.row}: ${first.message}`;
    for (const { field = '' } of found) this.#fields.set(field, (this.#fields.get(field) ?? 0) + 1);
  }

  /** `city in 3, name in 1` */
  named(): string {
    const most = [...this.#fields].sort((a, b) => b[1] - a[1]);
    const list = most.slice(0, FIELDS).map(([field, times]) => `${field} in ${count(times)}`);
    return `${list.join(', ')}${most.length > FIELDS ? ' and others' : ''}`;
  }
}
