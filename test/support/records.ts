import { mkdir } from 'node:fs/promises';
import { join } from 'node:path';
import type { Sandbox } from '../../src/sandbox/index.js';
import { serviceName } from '../../src/service/address.js';
import { openKnownIds, saveBehaviour } from '../../src/service/known-ids.js';
import type { KnownKind, ProbedBehaviour } from '../../src/service/port.js';
import type { Desk } from './desk.js';

export type Raw = Record<string, unknown>;
export type Resource = Parameters<Sandbox['raw']>[0];

/** All stored records by id, whole; without what a write renews although nothing changes (row numbers of forms). */
export function stored(sandbox: Sandbox, resource: Resource): Map<number, Raw> {
  return new Map(sandbox.raw(resource).map((raw) => [raw['id'] as number, plain(raw)]));
}

/** The stored values of one record. */
export function storedOne(sandbox: Sandbox, resource: Resource, id: number): Raw {
  const raw = stored(sandbox, resource).get(id);
  if (!raw) throw new Error(`The sandbox has no ${resource} ${id}.`);
  return raw;
}

type Values = [number, unknown][];

function plain(raw: Raw): Raw {
  const copy = structuredClone(raw);
  const held = (values: Values): Values =>
    values.filter(([, value]) => value !== null && value !== '').sort(([a], [b]) => a - b);
  for (const item of (copy['template'] ?? []) as { values: Values }[]) item.values = held(item.values);
  for (const item of (copy['form_template'] ?? []) as { values: Values; row?: number; parent: unknown }[]) {
    item.values = held(item.values);
    delete item.row;
    item.parent = item.parent !== null;
  }
  for (const [key, value] of Object.entries(copy)) if (value === '') delete copy[key];
  return copy;
}

/** Puts names into the home that earlier runs would have learned. */
export async function teach(desk: Desk, kind: KnownKind, names: Readonly<Record<number, string>>): Promise<void> {
  await mkdir(desk.home, { recursive: true });
  const known = openKnownIds(desk.home, serviceName(desk.sandbox.url, 1));
  for (const [id, name] of Object.entries(names)) known.learn(kind, Number(id), name);
  await known.flush();
  await known.close();
}

export const DEMO_MODELS = { 1: 'Latitude 5450', 2: 'ThinkPad T14', 3: 'PowerEdge R660', 4: 'Catalyst 9300' };

/** What `doctor --probe` would have found out. */
export async function probed(desk: Desk, found: Partial<ProbedBehaviour>): Promise<void> {
  await mkdir(desk.home, { recursive: true });
  saveBehaviour(desk.home, serviceName(desk.sandbox.url, 1), {
    probedAt: '2026-01-01T00:00:00.000Z',
    putAccepts: [],
    ...found,
  });
}

/** A home folder that knows nothing, at the same service. */
export function strangerHome(desk: Desk, name = 'stranger'): { env: Record<string, string> } {
  return { env: { ROWFERRY_HOME: join(desk.dir, name) } };
}
