import { inWaves } from '../../pipeline/match/filter.js';
import { type Keys, keyOfText } from '../../pipeline/match/key.js';
import { keepRecord, keysFound, type MatchOptions, noteLookalike, recordKey } from '../../pipeline/match/match.js';
import { sentKeyOf } from '../../pipeline/plan/last-writes.js';
import type { PlanOptions } from '../../pipeline/plan/plan.js';
import type { ResourceName, ResourceSpec } from '../../resources/spec.js';
import { serviceName } from '../../service/address.js';
import type { Json, KnownIds, Readable } from '../../service/port.js';
import { withHome } from '../../store/home.js';
import { RunStore } from '../../store/run-store.js';
import { readRequest } from '../run/earlier-run.js';
import { runFolder } from '../run/layout.js';
import type { Run } from '../run/run.js';

const settleMs = ({ settings }: Run): number => settings.settleWindowMs.at(-1) ?? 0;

const serviceOf = ({ settings, request }: Run): string => serviceName(settings.apiUrl, request.company);

/**
 * Runs of the data folder that created records of the kind and ended within the settle window: look-ups may lag behind writes,
 * and not show them yet. To be asked before anything is looked up.
 */
export function recentCreators(run: Run, resource: ResourceName): readonly string[] {
  const since = run.clock.wall() - settleMs(run);
  return withHome(run.settings.home, (home) =>
    home
      .prepare('select run from creator where service = ? and resource = ? and run <> ? and ended > ?')
      .all(serviceOf(run), resource, run.folder.run, since),
  ).map((creator) => String(creator['run']));
}

/** Keeps that the run created records, for those that come right after it. One that was killed is waited for in any case. */
export function noteCreator(run: Run, resource: ResourceName): void {
  if (run.tally.created === 0) return;
  const ended = run.clock.wall();
  withHome(run.settings.home, (home) =>
    home.transaction(() => {
      home.prepare('delete from creator where ended < ?').run(ended - settleMs(run));
      home
        .prepare('insert or replace into creator (service, resource, run, ended) values (?, ?, ?, ?)')
        .run(serviceOf(run), resource, run.folder.run, ended);
    }),
  );
}

interface Creation {
  readonly known: KnownIds;
  readonly spec: ResourceSpec;
  readonly match: Pick<MatchOptions, 'key'>;
}

/** Keeps that a record was created and not seen yet, so that no row with its key creates it once more; undefined: it was seen. */
export function rememberUnseen({ known, spec, match }: Creation, text: string, kept: Json | undefined): void {
  const key = keyOfText(text, match.key.length);
  if (spec.readable && key !== undefined) known.rememberAs(spec.name, sentKeyOf(match.key, key), kept);
}

/** The same of what a run that was killed had created by empty answers. */
export function rememberAbandoned(run: Run, killed: string, { known, spec }: Omit<Creation, 'match'>): void {
  const folder = runFolder(run.settings.home, killed);
  const { match } = readRequest(folder)?.job.job ?? run.job;
  const remember = ({ rows }: RunStore) => {
    for (const batch of rows.rows(`kind = 'created' and id is null`))
      for (const { key } of batch) rememberUnseen({ known, spec, match }, key, {});
  };
  RunStore.query(folder.store, remember, RunStore.openReadOnly);
}

/**
 * Reads by their ids the records that these runs created and the look-up did not find, as if it had shown them, and those whose
 * keys the service was seen to store in another form. `unread`: keys of those that cannot be read yet: they exist, and must not
 * be created a second time; nor those of `unseen`, but by an import with `--force`. `rekeyed`: what has another key than it was created from.
 */
export async function findOwnRecords(
  run: Run,
  keys: Keys,
  match: MatchOptions,
  known: KnownIds,
): Promise<Required<Pick<PlanOptions, 'unread' | 'unseen' | 'rekeyed'>>> {
  const { snapshot, service, spec } = match;
  const unread = new Set<string>();
  const unseen = new Set<string>();
  const rekeyed = new Map<string, { id: number; key: string }>();
  if (!spec.readable || keysFound(keys, snapshot) === keys.size) return { unread, unseen, rekeyed };
  const toRead = new Map<string, { readonly id: number | undefined; readonly isNew: boolean }>();
  for (const key of keys.keys()) {
    const sentKey = sentKeyOf(match.key, key);
    const last = known.lastWrittenAs(spec.name, sentKey);
    if (!last) continue;
    const { id } = last;
    if (typeof id !== 'number') {
      if (snapshot.has(key)) known.rememberAs(spec.name, sentKey, undefined);
      else if (!run.request.force || run.request.kind !== 'import') unseen.add(key);
    } else if (!snapshot.has(key)) toRead.set(key, { id, isNew: false });
  }
  for (const creator of run.creators) {
    const gather = ({ rows }: RunStore) => {
      for (const batch of rows.rows(`kind = 'created'`)) {
        for (const { key: text, id } of batch) {
          const key = keyOfText(text, match.key.length);
          if (key !== undefined && keys.has(key) && !snapshot.has(key)) toRead.set(key, { id, isNew: true });
        }
      }
    };
    RunStore.query(runFolder(run.settings.home, creator).store, gather, RunStore.openReadOnly);
  }
  await inWaves([...toRead], async ([key, { id, isNew }]) => {
    const readAt = match.now();
    const record = id === undefined ? undefined : await service.get(spec.name as Readable, id);
    if (id === undefined || !record) {
      if (isNew) unread.add(key);
      return;
    }
    const current = recordKey(record, match);
    if (current === key) return keepRecord({ id, record, key, readAt }, match);
    rekeyed.set(key, { id, key: current });
    known.rememberAs(spec.name, sentKeyOf(match.key, key), { id });
    // No orphan of a reconciliation: a row means it.
    if (match.lookalikes) noteLookalike(match.lookalikes, current, id);
  });
  return { unread, unseen, rekeyed };
}
