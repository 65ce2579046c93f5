import type { DiffText } from '../model/change.js';
import { shorten } from '../model/control-characters.js';
import type { Issue, IssueCode } from '../model/issue.js';
import { GOOD_OUTCOMES, noOutcomes, type Outcome, type OutcomeCounts, type OutcomeKind } from '../model/outcome.js';
import { faultsOf } from './report-lines.js';
import { countText, type LostRows, type TopFault } from './summary.js';

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
    const key = reasonOf(outcome);
    const reason = of.get(key);
    if (reason) {
      reason.rows++;
      if (reason.first.length < NAMED) reason.first.push(outcome);
    } else if (of.size < MOST_REASONS) of.set(key, { rows: 1, first: [outcome] });
  }

  #addFault({ code, column, field, value }: Issue): void {
    const place = column !== undefined ? { column } : field !== undefined ? { field } : {};
    const key = JSON.stringify([code, place]);
    const isListed = this.#faults.size < MAX_GROUPS || this.#faults.has(key);
    const at = isListed ? key : JSON.stringify([code, {}]);
    const fault = this.#faults.get(at) ?? { code, count: 0, ...(isListed ? place : {}) };
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

/**
 * Values that updates destroyed, or would destroy, that new records lack, and that the service stored in another form: told
 * by the head of every report, since these rows ended well.
 */
export class Losses {
  readonly #rows = { destroyed: 0, missing: 0, other_form: 0 };
  readonly #fields = { destroyed: new Set<string>(), missing: new Set<string>() };
  /** The first value in another form; the first key, by which the next import does not find the record. */
  #example: string | undefined;
  #keyExample: string | undefined;
  /** Rows whose record still holds what they were to clear. */
  #uncleared = 0;

  /** Whether the rows did not all end as well as their outcomes say. */
  get needsPerson(): boolean {
    return this.#keyExample !== undefined || this.#uncleared > 0;
  }

  add({ kind, issues, ref }: Outcome, diff: readonly DiffText[]): void {
    if (kind !== 'updated' && kind !== 'created') return;
    const rekeyed = issues.find(({ code }) => code === 'key_normalised');
    const normalised = rekeyed ?? issues.find(({ code }) => code === 'value_normalised');
    if (issues.some(({ code }) => code === 'not_cleared')) this.#uncleared++;
    if (normalised) this.#rows.other_form++;
    if (normalised) this.#example ??= `row ${ref.row}: ${normalised.message}`;
    if (rekeyed) this.#keyExample ??= `row ${ref.row}: ${rekeyed.message}`;
    const lost =
      kind === 'created'
        ? issues.filter(({ code }) => code === 'would_lose_value')
        : diff.filter((change) => change.kind === 'at_risk');
    if (lost.length === 0) return;
    const what = kind === 'created' ? 'missing' : 'destroyed';
    this.#rows[what]++;
    for (const { field = '' } of lost) this.#fields[what].add(field);
  }

  /** Undefined where there are none. */
  get rows(): LostRows | undefined {
    const { destroyed, missing, other_form: form } = this.#rows;
    return destroyed + missing + form === 0 ? undefined : this.#rows;
  }

  /** One sentence for each that there is. */
  describe(dry: boolean): string[] {
    const { destroyed, missing, other_form: form } = this.#rows;
    const named = (fields: ReadonlySet<string>) => shorten([...fields].join(', '), EXAMPLE);
    const sentences = [
      destroyed > 0 &&
        `${countText(destroyed, 'update')} ${dry ? 'would destroy' : 'destroyed'} values that the row does not set: ${named(this.#fields.destroyed)}. plan.csv has each (at_risk)${dry ? '' : ', before.ndjson the records as they were'}.`,
      missing > 0 &&
        !dry &&
        `The service created ${countText(missing, 'record')} without values that were sent: ${named(this.#fields.missing)}. results.csv has each (would_lose_value).`,
      form > 0 &&
        !dry &&
        `The service stored values of ${countText(form, 'row')} in another form than was sent, such as ${this.#keyExample ?? this.#example}`,
      this.#uncleared > 0 &&
        `The service kept values of ${countText(this.#uncleared, 'updated row')} that were to be cleared. faults.csv has each (not_cleared).`,
    ];
    return sentences.filter((sentence) => sentence !== false);
  }
}
