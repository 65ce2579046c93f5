import { inWaves } from '../../pipeline/match/filter.js';
import { type Keys, keyOfText } from '../../pipeline/match/key.js';
import { keepRecord, keysFound, type MatchOptions, recordKey } from '../../pipeline/match/match.js';
import type { ResourceName } from '../../resources/spec.js';
import { serviceName } from '../../service/address.js';
import type { Readable } from '../../service/port.js';
import { withHome } from '../../store/home.js';
import { RunStore } from '../../store/run-store.js';
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

/**
 * Reads by their ids the records that these runs created and the look-up did not find, as if it had shown them. Returns the keys
 * of those that cannot be read yet: they exist, and must not be created a second time.
 */
export async function findJustCreated(run: Run, keys: Keys, match: MatchOptions): Promise<ReadonlySet<string>> {
  const { snapshot, service, spec } = match;
  const unread = new Set<string>();
  if (run.creators.length === 0 || !spec.readable || keysFound(keys, snapshot) === keys.size) return unread;
  const unseen: { readonly key: string; readonly id: number | undefined }[] = [];
  for (const creator of run.creators) {
    const gather = ({ rows }: RunStore) => {
      for (const batch of rows.rows(`kind = 'created'`)) {
        for (const { key: text, id } of batch) {
          const key = keyOfText(text, match.key.length);
          if (key !== undefined && keys.has(key) && !snapshot.has(key)) unseen.push({ key, id });
        }
      }
    };
    RunStore.query(runFolder(run.settings.home, creator).store, gather, RunStore.openReadOnly);
  }
  await inWaves(unseen, async ({ key, id }) => {
    const readAt = match.now();
    const record = id === undefined ? undefined : await service.get(spec.name as Readable, id);
    if (id === undefined || !record) unread.add(key);
    else if (recordKey(record, match) === key) keepRecord({ id, record, key, readAt }, match);
  });
  return unread;
}
