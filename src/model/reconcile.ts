import type { DiffText } from './change.js';
import type { OutcomeKind } from './outcome.js';

/** What is known of a reconciliation beyond the outcomes of its rows; shapes that runs keep and reports show. */

/** A record of the service, within the job's scope, that the file does not hold. */
export interface Orphan {
  readonly id: number;
  /** Its natural key as text. */
  readonly key: string;
  /** What people call it: name, else number, else ''. */
  readonly name: string;
  /** Calendar date (UTC, `yyyy-MM-dd`) of the first run in a row that did not find it. */
  readonly since: string;
  /** Runs in a row, this one included, with another file each and a certain reading. 0: this run was not certain. */
  readonly absences: number;
  /**
   * `report`: the job only reports it. `wait`: not yet missing often enough. `act`: set or archived now (in a report-only
   * run: would be). `done`: it has the values already. `held`: the job would act, and this run may not (see `why`).
   */
  readonly state: 'report' | 'wait' | 'act' | 'done' | 'held';
  readonly why?: string;
  /** What it holds in the fields that the job sets, as texts; of orphans that are acted on. */
  readonly held?: Readonly<Record<string, string>>;
}

/** How an orphan that was acted on ended. */
export interface OrphanOutcome {
  readonly outcome: OutcomeKind;
  readonly codes: readonly string[];
  readonly message: string;
  readonly changes: readonly Omit<DiffText, 'kind'>[];
}

export type OrphanLine = Orphan & Partial<OrphanOutcome>;

/** Counts of orphans. `fresh`: not missing in the run before; `settled`: have the values already. */
export interface OrphanCounts {
  readonly total: number;
  readonly fresh: number;
  readonly waiting: number;
  readonly acted: number;
  readonly settled: number;
  readonly held: number;
}

/** What a reconciliation found out; `reconcile` in summary.json. Names are never changed, only added to. */
export interface ReconcileFacts {
  /** False: a report-only run. */
  readonly apply: boolean;
  readonly read: {
    /** `full`: the whole list; `delta`: what changed since the last reading. */
    readonly how: 'full' | 'delta';
    /** False: orphans cannot be told. */
    readonly certified: boolean;
    readonly records: number;
    /** One sentence. */
    readonly described: string;
  };
  readonly scope: {
    /** Records of the service that the file is about. */
    readonly records: number;
    /** Of these: without a value in the key, so that no row can mean them. */
    readonly without_key: number;
    readonly outside: number;
    /** `category.name = Laptop`; absent: all. */
    readonly described?: string;
  };
  readonly differences: {
    /** Rows that differ in at least one field. */
    readonly rows: number;
    readonly fields: number;
    /** Fields in which the file's value stands, and in which the service's does. */
    readonly file_stands: number;
    readonly service_stands: number;
    readonly cleared: number;
    readonly by_field: readonly {
      readonly field: string;
      readonly file: number;
      readonly service: number;
      readonly cleared: number;
    }[];
  };
  readonly orphans: OrphanCounts & {
    readonly action: 'report' | 'archive' | 'set';
    readonly after: number;
    /** Why this run may not tell or touch orphans, one sentence. */
    readonly held_reason?: string;
    /** Those that a person wants to see first; none where a summary leaves its machine. */
    readonly first?: readonly OrphanLine[];
  };
  /** The run that this one was compared with. */
  readonly previous?: { readonly run: string; readonly rows: number; readonly at: string };
  /** The plan that was carried out, where it was another run's. */
  readonly approved?: { readonly run: string; readonly by: string; readonly at: string };
}

/** One night in the job's history, newest last. */
export interface Night {
  readonly run: string;
  /** ISO 8601, UTC: when it ended. */
  readonly at: string;
  readonly apply: boolean;
  readonly status: string;
  readonly rows: number;
  /** Per outcome, without zeros. */
  readonly outcomes: Readonly<Record<string, number>>;
  readonly differences: number;
  readonly orphans: number;
  readonly requests: number;
  readonly writes: number;
  readonly seconds: number;
}
