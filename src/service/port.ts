import type { RequestCounts } from '../model/progress.js';
import type { ReadOnlyName, ResourceName } from '../resources/spec.js';

/** A record as the service sent it; its `id` is a number where it can be one. Numbers that a double might not hold are `Decimal`. */
export type Json = Readonly<Record<string, unknown>>;

export type Readable = Exclude<ResourceName, 'customer'> | ReadOnlyName;

export interface Page {
  readonly count: number;
  readonly results: readonly Json[];
  /** It came without a count, which is then that of its records. */
  readonly bare?: true;
  /** Of a page that was asked for with `pastEnd` and is not known to be empty: what came in place of an answer. */
  readonly unanswered?: string;
  /** The answer as it came, where `isKnown` was asked. */
  readonly text?: string;
  /** `isKnown` said so: `count` and `results` are not told again. */
  readonly known?: true;
}

export interface PageOptions {
  /**
   * By the service's own count there is nothing on this page: the list can do without it. A refusal (4xx) means its end,
   * as 404 does on every page; a page that fails twice has no results and is `unanswered`.
   */
  readonly pastEnd?: boolean;
  /** Asked with the text of each clear answer, before it is read: true where the caller knows what such a page holds. */
  readonly isKnown?: (text: string) => boolean;
}

/** What a writing request came to. */
export type WriteAnswer =
  /** A clear 2xx. `record` where the answer carried one, `id` where it carried an id. */
  | { readonly kind: 'done'; readonly id?: number; readonly record?: Json }
  /** A clear 4xx: the service refused it and nothing was written. */
  | { readonly kind: 'refused'; readonly status: number; readonly messages: readonly ServiceMessage[] }
  /** It never reached the service: after all retries, or because it was withheld here. */
  | { readonly kind: 'unsent'; readonly reason: string; readonly withheld?: Withheld }
  /**
   * Whether it took effect is open. `answered`: the service did answer, with an error of its own (5xx). `pending`: it neither
   * answered nor closed the connection in time, and may still be at work on it.
   */
  | { readonly kind: 'open'; readonly answered: boolean; readonly pending?: boolean; readonly reason: string };

/**
 * Why a request was kept back here at the last moment. `stale`: what its body was made from has to be read again.
 * `no_right`: this process may not write any more, somebody else may do so by now.
 */
type Withheld = 'stale' | 'no_right';

/** A writing request, complete. Interface, section 4. */
export type WriteRequest = {
  readonly resource: ResourceName;
  readonly body: Json;
} & (
  | { readonly op: 'create'; readonly query?: Readonly<Record<string, string>> }
  | {
      readonly op: 'update';
      readonly id: number;
      readonly method: 'PUT' | 'PATCH';
      /**
       * When the record that the body was made from has to be read again, in milliseconds since 1970 by the clock of the run's
       * coordinator; absent where it cannot be read. Contract, section 7.
       */
      readonly freshUntil?: number;
      /** It goes before the run's requests that were not held up yet, as a repetition does, so that it does not become stale itself. */
      readonly ahead?: boolean;
    }
);

/** The service's own words about a field (`field` as the service spells it) or about the whole record. */
export interface ServiceMessage {
  readonly field?: string;
  readonly text: string;
}

/**
 * The service as the pipeline sees it. Reads are retried inside; they end in an answer or throw a `RunError`
 * (unreachable for too long, token refused, 403). Writes are never repeated inside after they may have reached the service.
 */
export interface Service {
  readonly counts: Readonly<RequestCounts>;
  /** One page of a list, from 1. A page past the end has no results. Interface, section 8. */
  page(
    resource: Readable,
    page: number,
    query?: Readonly<Record<string, string>>,
    options?: PageOptions,
  ): Promise<Page>;
  /** One record by id; undefined where the service has none. */
  get(resource: Readable, id: number): Promise<Json | undefined>;
  readonly serialProbe: SerialProbe;
  /**
   * The one place from which writing requests go out, whoever sends them. `isFresh` is asked after every wait, directly before
   * each try: where it says no, the answer is `unsent`, withheld as `stale`. `again`: an earlier one was open; it counts as a retry.
   */
  write(request: WriteRequest, isFresh?: () => boolean, again?: boolean): Promise<WriteAnswer>;
  /** Requests that may be in flight now; moves with the service's answers. */
  readonly inFlightLimit: number;
  close(): Promise<void>;
}

/** `GET /asset/?serial_number=list` with a body `{list: […]}`: which of these serial numbers exist. Interface, section 4.4. */
export interface SerialProbe {
  /**
   * A list of so many serial numbers takes no other text. Whoever reads the answers lowers it: where a list is refused for
   * its length, and to 0 where they cannot be believed; then the service is not asked again.
   */
  batchLimit: number;
  /**
   * One page of the answer, from 1; undefined where there is none that can be used. A service that cannot answer is not
   * waited for. Throws only where the token is refused or the run was stopped.
   */
  page(list: readonly string[], page: number): Promise<SerialPage | 'too_many' | undefined>;
}

export interface SerialPage {
  readonly serials: readonly string[];
  /** Of all pages. */
  readonly count: number;
}

/** Records kept on disk with their keys in memory; what a mirror or look-ups found. */
export interface Snapshot {
  /** Adds or replaces a record under its id and key. `text`: its JSON on one line, where the caller has it. */
  add(id: number, record: Json, key: string, readAt: number, text?: string): void;
  /** Ids of the records with this key, ascending. */
  ids(key: string): readonly number[];
  /** Notes a record that nobody is likely to ask for: it is kept nowhere, and read from the service where somebody does. */
  addFingerprint(id: number, key: string, fingerprint: number): void;
  hasId(id: number): boolean;
  has(key: string): boolean;
  /** The id of the only record with this key, if it was noted with this fingerprint. */
  idByFingerprint(key: string, fingerprint: number): number | undefined;
  get(id: number): Promise<{ readonly record: Json; readonly readAt: number } | undefined>;
  readonly size: number;
  close(): Promise<void>;
}

/** What earlier runs learned about one service address and company; kept in the home folder. */
export interface KnownIds {
  /** Ids that are known under this name, ascending; empty where none is. */
  ids(kind: KnownKind, name: string): readonly number[];
  nameOf(kind: KnownKind, id: number): string | undefined;
  learn(kind: KnownKind, id: number, name: string): void;
  /** All names of a kind, for suggestions. */
  names(kind: KnownKind): Iterable<string>;
  /** The values of a record that reads never show, or a customer's whole record, as our last write left them. */
  lastWritten(resource: ResourceName, id: number): Json | undefined;
  remember(resource: ResourceName, id: number, fields: Json): void;
  /** The same of a record whose id is not known (yet), by what identifies it. */
  lastWrittenAs(resource: ResourceName, identity: string): Json | undefined;
  /** Undefined forgets it: the record has its id now, or was never made. */
  rememberAs(resource: ResourceName, identity: string, fields: Json | undefined): void;
  /** Takes in what others have learned since it was opened. */
  refresh(): void;
  /** Makes everything learned durable. */
  flush(): Promise<void>;
  close(): Promise<void>;
}

export type KnownKind = 'customer' | 'business-unit' | 'hardware-model' | 'country';

/** What `doctor --probe` found out about this service and company; absent facts are unknown. */
export interface ProbedBehaviour {
  readonly probedAt: string;
  /** Fields (job names) that a PUT keeps when they are sent although the interface does not list them. */
  readonly putAccepts: readonly string[];
  /** What a PUT does to fields that are left out. */
  readonly omitted?: 'nulled' | 'kept';
  readonly patch?: boolean;
  readonly filters?: Readonly<Record<string, 'exact' | 'ignores_case' | 'contains' | 'ignored'>>;
  readonly uniqueField?: 'rejects' | 'upserts' | 'ignored';
}

/** A record of the service as it was read, and when (milliseconds since 1970). */
export interface MirrorRecord {
  readonly record: Json;
  readonly readAt: number;
  /** Its JSON, on one line. */
  readonly text: string;
}

/**
 * All records of a list as the service holds them now, read the cheapest way that is certain. Performance page, "Delta
 * read"; interface, section 8.
 */
export interface Mirror {
  readonly how: 'full' | 'delta';
  /** Whether "not in the list" may be concluded. */
  readonly certified: boolean;
  /** What did not fit, in words; empty where certified. */
  readonly problems: readonly string[];
  /** How it was read, in one sentence for the summary: `read the whole list, 100,000 records on 4,000 pages`. */
  readonly described: string;
  readonly count: number;
  /** Ascending by id, in batches. May be called several times; shows what `recheck` has read, too. */
  records(): AsyncIterable<readonly MirrorRecord[]>;
  /**
   * What has changed or come since the reading (or the last `recheck`), for a request or two; `certain` where all others are
   * surely as they were read, else they are as likely as their age says. Undefined where that cannot be told so: every record
   * must then be read again before it is written.
   */
  recheck(): Promise<{ readonly records: readonly MirrorRecord[]; readonly certain: boolean } | undefined>;
  /** These records are about to be written by this run: what is kept of them is not to be believed by the next reading. */
  noteWritten(ids: Iterable<number>): void;
  /** Keeps what was read for the next run, if it was certain. */
  close(): Promise<void>;
}

/** Takes log lines for programs; no field holds a secret. */
export type Log = (level: 'debug' | 'info' | 'warn' | 'error', event: string, fields: Record<string, unknown>) => void;
