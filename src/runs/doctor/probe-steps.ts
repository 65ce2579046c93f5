import { setTimeout as wait } from 'node:timers/promises';
import { RunError } from '../../model/error.js';
import type { Json, ProbedBehaviour, Readable, Service, WriteAnswer } from '../../service/port.js';

/** What asset and contract probes have in common: finding what was written, and telling how a filter matches. */

const PAGE_SIZE = 25;

export const isBlankField = (record: Json, field: string): boolean =>
  record[field] === null || record[field] === undefined || record[field] === '';

/** The service's own words of a refusal, or why the effect of a write is open. */
export function wordsOf(answer: WriteAnswer): string {
  switch (answer.kind) {
    case 'done':
      return 'done';
    case 'refused':
      return answer.messages.map((m) => (m.field ? `${m.field}: ${m.text}` : m.text)).join('; ') || `${answer.status}`;
    case 'unsent':
    case 'open':
      return answer.reason;
  }
}

/** How a create was answered. */
export function answerForm(answer: WriteAnswer): string {
  if (answer.kind !== 'done') return wordsOf(answer);
  if (answer.record) return 'a create answers the record';
  return answer.id === undefined
    ? 'a create answers nothing; ids are learned by look-up'
    : 'a create answers the id only';
}

/** Records of a list that hold this value; also where the list comes back unfiltered: the newest stand at its end. */
export async function findBy(
  service: Service,
  at: { resource: Readable; parameter: string; field: string; value: string },
): Promise<Json[]> {
  const query = { [at.parameter]: at.value };
  const first = await service.page(at.resource, 1, query);
  const last = Math.ceil(first.count / PAGE_SIZE);
  const tail = last > 1 ? await service.page(at.resource, last, query) : { results: [] };
  return [...first.results, ...tail.results].filter((record) => record[at.field] === at.value);
}

/** Tries until `attempt` gives something or `ms` have passed. Resolves to what it gave and how long it took. */
export async function within<T>(
  ms: number,
  attempt: () => Promise<T | undefined>,
): Promise<{ value: T; after: number } | undefined> {
  const start = performance.now();
  for (let pause = 50; ; pause = Math.min(pause * 2, 2000)) {
    const value = await attempt();
    const after = performance.now() - start;
    if (value !== undefined) return { value, after };
    if (after + pause > ms) return undefined;
    await wait(pause);
  }
}

/** The record once it shows the marker of the last write; undefined where it never does. */
export async function readBack(
  context: ProbeContext,
  at: { resource: Readable; id: number; field: string; marker: string },
): Promise<Json | undefined> {
  const found = await within(context.lagMs, async () => {
    const record = await context.service.get(at.resource, at.id);
    return record?.[at.field] === at.marker ? record : undefined;
  });
  return found?.value;
}

type Matching = 'exact' | 'ignores_case' | 'contains' | 'ignored';

const MATCHING_WORDS: Readonly<Record<Matching, string>> = {
  exact: 'finds the exact value only',
  ignores_case: 'ignores upper and lower case',
  contains: 'finds parts of the value',
  ignored: 'is ignored: the whole list comes back',
};

/** How a list filter matches, asked with a value that one record holds, with variations of it, and with nonsense. */
async function matchingOf(
  service: Service,
  at: { resource: Readable; parameter: string; id: number; value: string; nonsense: string },
): Promise<Matching | undefined> {
  const finds = async (value: string) => {
    const page = await service.page(at.resource, 1, { [at.parameter]: value });
    return { any: page.count > 0, ours: page.results.some((record) => record['id'] === at.id) };
  };
  if ((await finds(at.nonsense)).any) return 'ignored';
  if (!(await finds(at.value)).ours) return undefined;
  if ((await finds(at.value.slice(1, -1))).ours) return 'contains';
  return (await finds(swapCase(at.value))).ours ? 'ignores_case' : 'exact';
}

function swapCase(text: string): string {
  return [...text].map((char) => (char === char.toUpperCase() ? char.toLowerCase() : char.toUpperCase())).join('');
}

/** How the filters of a list match, each asked for a value of the scratch record: parameter → field of its body. */
export async function probeFilters(
  { service, tag }: ProbeContext,
  resource: 'asset' | 'contract',
  scratch: { readonly id: number; readonly listed: Json },
  asked: Readonly<Record<string, string>>,
  say: (about: string, text: string) => void,
): Promise<NonNullable<ProbedBehaviour['filters']>> {
  const found: Record<string, Matching> = {};
  for (const [parameter, field] of Object.entries(asked)) {
    const value = String(scratch.listed[field]);
    const nonsense = `rowferry-nobody-${tag}`;
    const matching = await matchingOf(service, { resource, parameter, id: scratch.id, value, nonsense });
    if (matching) found[`${resource}.${parameter}`] = matching;
    say(
      `filter ${parameter} of ${resource}s`,
      matching ? MATCHING_WORDS[matching] : 'does not find a record by its own value: it is not used',
    );
  }
  return found;
}

/** A write that must have worked for the probe to go on. */
export function mustBeDone(answer: WriteAnswer, what: string, leftBehind: readonly string[]): void {
  if (answer.kind === 'done') return;
  const open = answer.kind === 'open' ? ' Whether it took effect is open.' : '';
  const behind = leftBehind.length === 0 ? 'Nothing was left behind.' : `Left behind: ${leftBehind.join(', ')}.`;
  throw new RunError('failed', `${what} was not accepted: ${wordsOf(answer)}.${open} ${open ? '' : behind}`.trim());
}

/** One thing that was found out, in words. */
export interface Finding {
  readonly about: string;
  readonly text: string;
}

/** What one scratch record taught. */
export interface PartialProbe {
  readonly findings: readonly Finding[];
  readonly putAccepts: readonly string[];
  readonly filters: NonNullable<ProbedBehaviour['filters']>;
  readonly omitted?: 'nulled' | 'kept';
  readonly patch?: boolean;
  readonly uniqueField?: 'rejects' | 'upserts' | 'ignored';
  /** The scratch records, as a person finds them. */
  readonly leftBehind: readonly string[];
}

export interface ProbeContext {
  readonly service: Service;
  readonly company: number;
  /** Part of every scratch name, so that nothing else is found by it. */
  readonly tag: string;
  /** How long to wait until a write shows in lists, milliseconds. */
  readonly lagMs: number;
}
