import { join } from 'node:path';
import { makeFolder } from '../../files/make-folder.js';
import { runFailure } from '../../model/error.js';
import type { ReconcileJob } from '../../model/job.js';
import { type Fields, sameValue, valueText } from '../../model/value.js';
import { PAGE_SIZE } from '../../pipeline/match/filter.js';
import { keyText, lookalikeKey } from '../../pipeline/match/key.js';
import {
  filterFor,
  isLookalike,
  keepRecord,
  keysFound,
  type MatchOptions,
  matchKeys,
  noteLookalike,
  type ReadAll,
  recheckMissing,
  recordKey,
} from '../../pipeline/match/match.js';
import { readRecord } from '../../resources/read.js';
import type { ResourceSpec } from '../../resources/spec.js';
import { serviceDir } from '../../service/address.js';
import { openMirror } from '../../service/lists/mirror.js';
import type { Json, Mirror, Readable, Snapshot } from '../../service/port.js';
import { beginMatching, type Matched } from '../rows/match.js';
import type { Planned } from '../rows/planned.js';
import type { Resolved, Staged } from '../rows/stage.js';
import { HOME } from '../run/layout.js';
import { LockedError, takeLock } from '../run/lock.js';
import { learnNames } from '../run/open-service.js';
import type { Run } from '../run/run.js';
import type { Scope } from './scope.js';

/** A record in the job's scope whose key no row of the file has. */
export interface UnmatchedRecord {
  readonly id: number;
  readonly key: string;
  readonly name: string;
  /** It has what the job sets in orphans already. */
  readonly done: boolean;
  /** What it holds in the fields that the job sets in orphans, as texts. */
  readonly held: Readonly<Record<string, string>>;
}

/** The records of the service, held against the keys of the file. */
export interface Compared {
  readonly matched: Matched;
  /** Ascending by id. */
  readonly unmatched: readonly UnmatchedRecord[];
  /** Records in scope; of these without a key; and those outside. */
  readonly records: number;
  readonly withoutKey: number;
  readonly outside: number;
  /** Keys of the file that at least one record has. */
  readonly keysFound: number;
}

/** What is to be known of records that the file does not hold. */
interface UnmatchedOptions {
  readonly scope: Scope | undefined;
  /** What the job sets in orphans; undefined where it only reports them. */
  readonly set: Fields | undefined;
}

/**
 * Puts the records that rows mean into the run's snapshot, and finds those that no row means. These are looked at once all
 * others have told how the service writes dates.
 */
export async function compareRecords(
  run: Run,
  resolved: Resolved,
  mirror: Mirror,
  { scope, set }: UnmatchedOptions,
): Promise<Compared> {
  const { match, snapshot, conclude } = await beginMatching(run, resolved);
  const { keys, lexicon, spec } = resolved;
  /** A record that the file knows stays longest: it shows whether a filter can be believed. */
  const controls: Json[] = [];
  /** Records that no row means, as long as they are few. */
  const candidates: Candidate[] = [];
  const seen = { records: 0, withoutKey: 0 };
  for await (const batch of mirror.records()) {
    for (const { record, readAt, text } of batch) {
      const id = record['id'];
      if (typeof id !== 'number') continue;
      seen.records++;
      const key = recordKey(record, match);
      if (key === '') seen.withoutKey++;
      else if (!keys.has(key)) {
        if (match.lookalikes && isLookalike(key, keys)) noteLookalike(match.lookalikes, key, id);
        if (candidates.length <= MAX_CACHED) candidates.push({ id, key, record });
      } else {
        if (controls.length < PAGE_SIZE) controls.push(record);
        keepRecord({ id, record, key, readAt, text }, match);
      }
    }
  }
  const found = keysFound(keys, snapshot);
  // A record may have slipped through a list that changed while it was read; a probe tells for a request or two.
  const maxLookups = mirror.certified ? MAX_LOOKUPS : Number.POSITIVE_INFINITY;
  const isCertain = await recheckMissing(keys, { count: mirror.count, results: controls }, match, maxLookups);
  if (!mirror.certified && !isCertain) throw runFailure(uncertainText(mirror));
  run.evidence.push(`looking up: ${mirror.described}`);
  const matched = await conclude();

  // A record that a row may mean, because its key looks the same, is no orphan while no other record has the row's key.
  const mayBeMatched = (key: string) => {
    const look = lookalikeKey(key);
    return match.lookalikes?.has(look) === true && !(keys.has(look) && snapshot.has(look));
  };
  const toUnmatched = ({ id, key, record }: Candidate): UnmatchedRecord => ({
    id,
    key: keyText(key),
    name: recordName(record),
    ...currentValues(record, set, spec, lexicon),
  });
  if (!scope && candidates.length <= MAX_CACHED && isTextKey(match)) {
    const unmatched = candidates.filter(({ key }) => !mayBeMatched(key)).map(toUnmatched);
    return { matched, unmatched, ...seen, outside: 0, keysFound: found };
  }
  const unmatched: UnmatchedRecord[] = [];
  let records = 0;
  let withoutKey = 0;
  let outside = 0;
  for await (const batch of mirror.records()) {
    for (const { record } of batch) {
      const id = record['id'];
      if (typeof id !== 'number') continue;
      if (scope && !scope.keeps(record)) {
        outside++;
        continue;
      }
      records++;
      const key = recordKey(record, match);
      if (key === '') withoutKey++;
      else if (!keys.has(key) && !mayBeMatched(key)) {
        unmatched.push(toUnmatched({ id, key, record }));
      }
    }
  }
  if (scope && records === 0 && outside > 0) {
    run.warn(
      `No record is in the scope of the job (${scope.described}): texts are compared with their case. No record can be an orphan.`,
    );
  }
  return { matched, unmatched, records, withoutKey, outside, keysFound: found };
}

/** A record that no row of the file means. */
interface Candidate {
  readonly id: number;
  readonly key: string;
  readonly record: Json;
}

/** More of them are read from the disk again. */
const MAX_CACHED = 1_000;

/** A key that reads the same whatever is learned of how the service writes dates. */
function isTextKey({ key, spec }: Pick<MatchOptions, 'key' | 'spec'>): boolean {
  return key.every(
    (name) => name === 'id' || spec.fields.some((field) => field.name === name && field.type.kind === 'text'),
  );
}

/** Where it is not certain which records there are, a key that was not found is asked for; where that cannot be, nothing is written. */
function uncertainText(mirror: Mirror): string {
  return `The list of the service did not add up whenever it was read (${mirror.problems[0] ?? 'it did not fit together'}), and asking for the keys of the file did not settle it: whether a record exists cannot be told, and nothing was sent. Run the file again when less is going on.`;
}

/** Requests for keys that the list did not show. */
const MAX_LOOKUPS = 4;

function recordName(record: Json): string {
  for (const member of ['name', 'number', 'title']) {
    const value = record[member];
    if (typeof value === 'string' && value.trim() !== '') return value;
  }
  return '';
}

/** What a record holds in the fields that the job sets in orphans. */
export function currentValues(
  record: Json,
  set: Fields | undefined,
  spec: ResourceSpec,
  lexicon: Resolved['lexicon'],
): Pick<UnmatchedRecord, 'done' | 'held'> {
  if (!set) return { done: false, held: {} };
  const { fields } = readRecord(spec, record, lexicon);
  const names = Object.keys(set);
  return {
    done: names.every((field) => sameValue(fields[field], set[field])),
    held: Object.fromEntries(names.map((field) => [field, valueText(fields[field])])),
  };
}

/** So few updates cost next to nothing to read again in any case. */
const FEW_UPDATES = 25;

/**
 * What is written is held against the records as they are at that moment, not as they were when the list was read. Where the
 * service tells in a request or two what has changed since, the rest counts as read just now, or, where that is likely rather
 * than certain, is read again once it is old; else every record is read again before its update. Contract, sections 5
 * (`conflict`) and 7.
 */
export async function recheck(
  { matched }: Compared,
  mirror: Mirror,
  readAnew: ReadAll,
  planned: Planned,
): Promise<Matched> {
  const seen = await mirror.recheck();
  const { snapshot, keys, match } = matched;
  for (const { record, readAt } of seen?.records ?? []) {
    const id = record['id'];
    if (typeof id !== 'number') continue;
    const key = recordKey(record, match);
    if (!keys.has(key) && !snapshot.hasId(id)) continue;
    keepRecord({ id, record, key, readAt }, match);
  }
  if (!seen) await lookForCreated(matched, readAnew, planned);
  const few = [...planned.values()].filter(({ op }) => op === 'update').length <= FEW_UPDATES;
  const now = matched.match.now();
  const fresh: Snapshot = {
    ...snapshot,
    get size() {
      return snapshot.size;
    },
    async get(id) {
      const found = await snapshot.get(id);
      return found && { record: found.record, readAt: !seen || few ? 0 : seen.certain ? now : found.readAt };
    },
  };
  return {
    ...matched,
    snapshot: fresh,
    readLate: true,
    match: { ...match, snapshot: fresh },
    options: { ...matched.options, snapshot: fresh },
  };
}

/** Keys that are to be created and that somebody may have created meanwhile: the list that was read does not tell. */
async function lookForCreated({ keys, match }: Matched, readAll: ReadAll, planned: Planned): Promise<void> {
  const created = new Set([...planned.values()].flatMap(({ op, key }) => (op === 'create' ? [key] : [])));
  const wanted = new Map<string, readonly string[]>();
  for (const [key, spellings] of keys) if (created.has(keyText(key))) wanted.set(key, spellings);
  if (filterFor(match)) await matchKeys(wanted, { ...match, readAll });
}

/** Reads what the service holds of the job's resource: once a run, whoever wants to know of it. */
export async function openJobMirror(run: Run, job: ReconcileJob, { service, spec, known }: Staged): Promise<Mirror> {
  const resource = spec.name as Readable;
  const dir = await mirrorFolder(run, resource);
  run.progress('looking up', 0);
  const mirror = await openMirror(service, resource, {
    dir,
    fullEvery: job.read.full_every,
    now: run.now,
    onRecords(records) {
      for (const record of records) learnNames(spec.name, record, known);
    },
  });
  run.closers.push(() => mirror.close());
  return mirror;
}

/** What was read last time lies in the data folder; while another run uses it, this one reads for itself. */
async function mirrorFolder(run: Run, resource: string): Promise<string> {
  const { home } = run.settings;
  const shared = join(serviceDir(home, run.request.service, run.request.company), 'mirror', resource);
  await makeFolder(shared, HOME);
  try {
    run.closers.push(await takeLock(join(shared, 'lock'), `The list of ${resource} records`));
    return shared;
  } catch (error) {
    if (!(error instanceof LockedError)) throw error;
    const own = join(run.folder.dir, 'work', 'mirror');
    await makeFolder(own, HOME);
    return own;
  }
}

/** The same lists, but for the one that was read already. */
export function withMirror(readAll: ReadAll, resource: Readable, mirror: Mirror): ReadAll {
  const all: (...args: Parameters<ReadAll>) => ReturnType<ReadAll> = async (wanted, visit, options) => {
    if (wanted !== resource) return readAll(wanted, visit, options);
    for await (const batch of mirror.records()) {
      for (const { record, readAt } of batch) visit([record], readAt);
    }
    return { certified: mirror.certified, unshown: 0, confirm: async () => mirror.certified };
  };
  return Object.assign(all, {
    async first(wanted: Readable) {
      if (wanted !== resource) return readAll.first(wanted);
      for await (const batch of mirror.records()) {
        return { count: mirror.count, results: batch.slice(0, PAGE_SIZE).map(({ record }) => record) };
      }
      return { count: 0, results: [] };
    },
    has: (wanted: Readable) => wanted === resource || readAll.has(wanted),
  });
}
