import type { DiffText } from '../model/change.js';
import type { Issue, IssueCode } from '../model/issue.js';
import { GOOD_OUTCOMES, noOutcomes, type Outcome, type OutcomeCounts, type OutcomeKind } from '../model/outcome.js';
import { shorten } from '../model/visible.js';
import { faultsOf } from './report-lines.js';
import { count, counted, type LostRows, type TopFault } from './summary.js';

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

type Writable<T> = { -readonly [K in keyof T]: T[K] };

/** What the summary and the page show of millions of rows, gathered as they pass. Counts are never capped, details are. */
export class Tally {
  readonly counts: OutcomeCounts = noOutcomes();
  readonly #faults = new Map<string, Writable<TopFault>>();
  readonly #reasons = new Map<OutcomeKind, Map<string, { rows: number; first: Outcome[] }>>();

  /** The reasons of each outcome that needs a person, the commonest first. */
  get samples(): Samples {
    return new Map([...this.#reasons].map(([kind, of]) => [kind, byMost(of.values(), ({ rows }) => rows, REASONS)]));
  }

  /** The most frequent faults, by code and column (field, where there is none), with the first value of each. */
  get topFaults(): readonly TopFault[] {
    return byMost(this.#faults.values(), ({ count }) => count, TOP);
  }

  add(outcome: Outcome): void {
    this.counts[outcome.kind]++;
    for (const issue of faultsOf(outcome)) this.#addFault(issue);
    if (GOOD_OUTCOMES.has(outcome.kind)) return;
    const of = this.#reasons.get(outcome.kind) ?? new Map<string, { rows: number; first: Outcome[] }>();
    this.#reasons.set(outcome.kind, of);
    const own = reasonOf(outcome);
    const reason = of.get(own);
    if (reason) {
      reason.rows++;
      if (reason.first.length < NAMED) reason.first.push(outcome);
    } else if (of.size < MOST_REASONS) of.set(own, { rows: 1, first: [outcome] });
  }

  #addFault({ code, column, field, value }: Issue): void {
    const place = column !== undefined ? { column } : field !== undefined ? { field } : {};
    const own = JSON.stringify([code, place]);
    const known = this.#faults.size < MAX_GROUPS || this.#faults.has(own);
    const at = known ? own : JSON.stringify([code, {}]);
    const fault = this.#faults.get(at) ?? { code, count: 0, ...(known ? place : {}) };
    this.#faults.set(at, fault);
    fault.count++;
    if (fault.example === undefined && value) fault.example = shorten(value, EXAMPLE);
  }
}

function byMost<T>(all: Iterable<T>, times: (one: T) => number, most: number): T[] {
  return [...all].sort((a, b) => times(b) - times(a)).slice(0, most);
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

const FIELDS = 5;

/**
 * Values that updates destroyed, or would destroy, that new records lack, and that the service stored in another form: told
 * by the head of every report, since these rows ended well.
 */
export class Losses {
  readonly #destroyed = new Told();
  readonly #lacking = new Told();
  readonly #tidied = new Told();

  add({ kind, issues, ref }: Outcome, diff: readonly DiffText[]): void {
    if (kind !== 'updated' && kind !== 'created') return;
    const of = (code: IssueCode) => issues.filter((issue) => issue.code === code);
    this.#tidied.note(of('value_normalised'), ref.row);
    if (kind === 'created') this.#lacking.note(of('would_lose_value'), ref.row);
    else
      this.#destroyed.note(
        diff.filter((change) => change.kind === 'at_risk'),
        ref.row,
      );
  }

  /** Undefined where there are none. */
  get rows(): LostRows | undefined {
    const rows = { destroyed: this.#destroyed.rows, missing: this.#lacking.rows, other_form: this.#tidied.rows };
    return rows.destroyed + rows.missing + rows.other_form === 0 ? undefined : rows;
  }

  /** One sentence for each that there is. */
  told(dry: boolean): string[] {
    const [destroyed, lacking, tidied] = [this.#destroyed, this.#lacking, this.#tidied];
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
  }
}

/** Rows and values of one kind. */
class Told {
  rows = 0;
  values = 0;
  example: string | undefined;
  readonly #fields = new Map<string, number>();

  note(found: readonly { readonly field?: string | undefined; readonly message?: string }[], row: number): void {
    const [first] = found;
    if (!first) return;
    this.rows++;
    this.values += found.length;
    this.example ??= `row ${row}: ${first.message}`;
    for (const { field = '' } of found) this.#fields.set(field, (this.#fields.get(field) ?? 0) + 1);
  }

  /** `city in 3, name in 1` */
  named(): string {
    const most = [...this.#fields].sort((a, b) => b[1] - a[1]);
    const list = most.slice(0, FIELDS).map(([field, times]) => `${field} in ${count(times)}`);
    return `${list.join(', ')}${most.length > FIELDS ? ' and others' : ''}`;
  }
}
