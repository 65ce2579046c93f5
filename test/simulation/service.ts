import type { WritableName } from '../../src/sandbox/kinds.js';
import { seedCompanies } from '../../src/sandbox/seed/demo.js';
import { createRateLimit, type RateLimit } from '../../src/sandbox/server.js';
import type { Commit } from '../../src/sandbox/service.js';
import { createService, type Execute } from '../../src/sandbox/service.js';
import { DEFAULT_SWITCHES, type Switches } from '../../src/sandbox/switches.js';
import { asObject, toJson } from '../../src/sandbox/values.js';
import { createWorld } from '../../src/sandbox/world.js';
import { insertRecord, rawValues, write } from '../../src/sandbox/write.js';

/** The sandbox's service without HTTP, and the door behind it. */
export interface SimService {
  readonly execute: Execute;
  readonly commits: readonly Commit[];
  readonly rate: RateLimit;
  tokens: ReadonlySet<string>;
  readonly switches: Readonly<Switches>;
  setSwitches(changes: Partial<Switches>): void;
  raw(resource: WritableName): Record<string, unknown>[];
  /** One record's stored values. */
  stored(resource: WritableName, id: number): Record<string, unknown> | undefined;
  insert(resource: WritableName, bodies: readonly object[]): number[];
  edit(resource: WritableName, id: number, changes: object): void;
  remove(resource: WritableName, id: number): void;
}

export function openSimService(now: () => number, onCommit: (commit: Commit) => void): SimService {
  const world = createWorld({ ...DEFAULT_SWITCHES }, now);
  seedCompanies(world);
  const commits: Commit[] = [];
  let tokens: ReadonlySet<string> = new Set();
  const execute = createService({
    world,
    tokens: () => tokens,
    keepBodies: true,
    recordCommit(one) {
      const commit = { sequence: commits.length + 1, ...one };
      commits.push(commit);
      onCommit(commit);
    },
  });
  const members = (body: object) => {
    const parsed = asObject(toJson(body));
    if (!parsed) throw new TypeError('a body must be an object');
    return parsed;
  };
  return {
    execute,
    commits,
    rate: createRateLimit(undefined, now),
    get tokens() {
      return tokens;
    },
    set tokens(given) {
      tokens = given;
    },
    switches: world.switches,
    setSwitches: world.setSwitches,
    raw: (resource) => [...world.table(resource).all()].map((record) => rawValues(record)),
    stored(resource, id) {
      const record = world.table(resource).get(id);
      return record && rawValues(record);
    },
    insert: (resource, bodies) => bodies.map((body) => insertRecord(world, resource, members(body)).id),
    remove: (resource, id) => world.remove(resource, id),
    edit(resource, id, changes) {
      const current = world.table(resource).get(id);
      if (!current) throw new Error(`there is no ${resource} ${id}`);
      const { company } = current;
      const body = members(changes);
      const written = write(world, { resource, operation: 'patch', company, body, current, inserted: true });
      if (!written.ok) throw new Error(`this change is not valid: ${JSON.stringify([...written.faults])}`);
    },
  };
}
