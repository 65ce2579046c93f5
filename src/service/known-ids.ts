import { parseJson, stringifyBody } from '../model/json.js';
import { normaliseKey } from '../model/value.js';
import type { ResourceName } from '../resources/spec.js';
import { homeExists, openHome, withHome } from '../store/home.js';
import { reached } from '../trace/milestones.js';
import type { Json, KnownIds, KnownKind, ProbedBehaviour } from './port.js';

/** Entries that wait at most; more are written without being asked for. */
const MAX_PENDING = 1_000;

/**
 * What runs learn about records that cannot be listed or are not shown in full: names, what we wrote last in each record and reads
 * do not show, and the same before its id is known. All names are in memory, as are the records without ids; those with one are
 * looked up. What another process learns meanwhile is seen once it is refreshed. Entries wait until they are flushed, so that many
 * share one write to the disk.
 *
 * `service`: `serviceName` of the service and company. Throws a `RunError` where the home cannot be written.
 */
export function openKnownIds(home: string, service: string): KnownIds {
  const database = openHome(home);
  const byName = new Map<KnownKind, Map<string, { name: string; ids: number[] }>>();
  const byId = new Map<KnownKind, Map<number, string>>();
  /** JSON by resource and identity: far smaller than the objects. */
  const withoutId = new Map<string, string>();
  /** By resource and record, what is to be written; undefined is to be removed. */
  const pending = new Map<string, { resource: string; record: string; fields: string | undefined }>();
  let learned: { kind: KnownKind; id: number; key: string; name: string }[] = [];

  const rename = database.prepare('delete from name where service = ? and kind = ? and id = ?');
  const addName = database.prepare('insert or ignore into name (service, kind, id, key, name) values (?, ?, ?, ?, ?)');
  const write = database.prepare(
    'insert or replace into written (service, resource, record, fields) values (?, ?, ?, ?)',
  );
  const remove = database.prepare('delete from written where service = ? and resource = ? and record = ?');
  const selectFields = database.prepare('select fields from written where service = ? and resource = ? and record = ?');

  /** False where nothing is new. A renamed record loses its old name. */
  function learn(kind: KnownKind, id: number, name: string): boolean {
    const ids = mapFor(byId, kind);
    const before = ids.get(id);
    if (before === name) return false;
    const key = normaliseKey(name);
    if (key === '' || !Number.isSafeInteger(id)) return false;
    const names = mapFor(byName, kind);
    const entry = names.get(key) ?? { name, ids: [] };
    names.set(key, entry);
    if (before !== undefined) {
      const old = names.get(normaliseKey(before));
      if (old && old !== entry) old.ids = old.ids.filter((other) => other !== id);
    }
    if (!entry.ids.includes(id)) entry.ids = [...entry.ids, id].sort((a, b) => a - b);
    entry.name = name;
    ids.set(id, name);
    learned.push({ kind, id, key, name });
    return true;
  }

  function save(): void {
    if (learned.length === 0 && pending.size === 0) return;
    database.transaction(() => {
      for (const { kind, id, key, name } of learned) {
        rename.run(service, kind, id);
        addName.run(service, kind, id, JSON.stringify(key), JSON.stringify(name));
      }
      for (const { resource, record, fields } of pending.values()) {
        if (fields === undefined) remove.run(service, resource, record);
        else write.run(service, resource, record, fields);
      }
    });
    learned = [];
    pending.clear();
  }

  function put(resource: string, record: string, fields: string | undefined): void {
    pending.set(`${resource}/${record}`, { resource, record, fields });
    saveMany();
  }

  function saveMany(): void {
    if (learned.length + pending.size >= MAX_PENDING) save();
  }

  function textOf(resource: string, id: number): string | undefined {
    const found = pending.get(`${resource}/${id}`);
    if (found) return found.fields;
    if (!hasRecords(resource)) return undefined;
    return selectFields.get(service, resource, String(id))?.['fields'] as string | undefined;
  }

  /** Of most resources reads show everything, and nothing is kept: each record that is created would be looked up in vain. */
  function hasRecords(resource: string): boolean {
    const known = withRecords.get(resource) ?? selectAny.get(service, resource) !== undefined;
    withRecords.set(resource, known);
    return known;
  }

  const selectNames = database.prepare('select kind, id, name from name where service = ? order by number');
  const selectWithoutId = database.prepare(
    `select resource, record, fields from written where service = ? and record >= '"' and record < '#'`,
  );
  const selectAny = database.prepare(
    `select 1 from written where service = ? and resource = ? and record >= '#' limit 1`,
  );
  const withRecords = new Map<string, boolean>();
  /** Another one once somebody else has written. */
  const selectVersion = database.prepare('pragma data_version');
  let version: unknown;

  function refresh(): void {
    const now = selectVersion.get()?.['data_version'];
    if (now === version) return;
    version = now;
    save();
    for (const { kind, id, name } of selectNames.all(service))
      learn(kind as KnownKind, Number(id), JSON.parse(String(name)) as string);
    learned = [];
    withRecords.clear();
    withoutId.clear();
    for (const { resource, record, fields } of selectWithoutId.all(service))
      withoutId.set(`${resource}/${record}`, String(fields));
  }

  refresh();

  return {
    ids: (kind, name) => byName.get(kind)?.get(normaliseKey(name))?.ids ?? [],
    nameOf: (kind, id) => byId.get(kind)?.get(id),
    learn(kind, id, name) {
      if (learn(kind, id, name)) saveMany();
    },
    *names(kind) {
      for (const { name, ids } of byName.get(kind)?.values() ?? []) if (ids.length > 0) yield name;
    },
    lastWritten: (resource, id) => readBody(textOf(resource, id)),
    remember(resource, id, fields) {
      withRecords.set(resource, true);
      put(resource, String(id), stringifyBody(fields));
    },
    lastWrittenAs: (resource, identity) => readBody(withoutId.get(identityKey(resource, identity))),
    rememberAs(resource, identity, fields) {
      const key = identityKey(resource, identity);
      const text = fields === undefined ? undefined : stringifyBody(fields);
      if (withoutId.get(key) === text) return;
      if (text === undefined) withoutId.delete(key);
      else withoutId.set(key, text);
      put(resource, JSON.stringify(identity), text);
    },
    refresh,
    async flush() {
      save();
      reached('known-durable');
    },
    async close() {
      try {
        save();
      } finally {
        database.close();
      }
    },
  };
}

const readBody = (text: string | undefined): Json | undefined =>
  text === undefined ? undefined : (parseJson(text) as Json);

/** Its JSON begins with a quotation mark: no record's id does. */
const identityKey = (resource: ResourceName, identity: string): string => `${resource}/${JSON.stringify(identity)}`;

function mapFor<K, L, V>(maps: Map<K, Map<L, V>>, key: K): Map<L, V> {
  let map = maps.get(key);
  if (!map) {
    map = new Map();
    maps.set(key, map);
  }
  return map;
}

/** What a probe found out about a service and company, by its `serviceName`; undefined where there was none. */
export function loadBehaviour(home: string, service: string): ProbedBehaviour | undefined {
  if (!homeExists(home)) return undefined;
  return withHome(home, (database) => {
    const found = database.prepare('select value from behaviour where service = ?').get(service);
    return found && (JSON.parse(String(found['value'])) as ProbedBehaviour);
  });
}

/** In the place of what an earlier probe found out. */
export function saveBehaviour(home: string, service: string, behaviour: ProbedBehaviour): void {
  withHome(home, (database) =>
    database.transaction(() =>
      database
        .prepare('insert or replace into behaviour (service, value) values (?, ?)')
        .run(service, JSON.stringify(behaviour)),
    ),
  );
}
