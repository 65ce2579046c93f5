import { LineCounter, parseDocument } from 'yaml';
import type { Fault } from './fault.js';
import { FAULT_ACTIONS, FaultSyntax, faultOf, MATCH_KEYS, parseFault } from './fault-text.js';
import { didYouMean } from './nearest.js';

/**
 * A fault plan as a file: YAML or JSON, a list of faults, or `{ seed, faults: [...] }`. A fault is its text form, or
 *
 *   match: { method: POST, path: /asset, nth: 3, every, from, to, probability, seed }
 *   action: close_after                        (a name alone)
 *   action: { status: 503, retry_after: 2 }    (a name with its value, and options)
 *   action: { kind: late_commit, ms: 400 }     (as the program's own interface spells it)
 *
 * The plan's `seed` draws the lots of every fault that names no seed of its own, each its own.
 */

/** Options of the program's interface and what the text form calls them. */
const SPELLINGS: Readonly<Record<string, string>> = {
  retryAfter: 'retry_after',
  retryAfterDate: 'retry_after_date',
  contentType: 'content_type',
  megabytes: 'mb',
};

const PLAN_KEYS = ['seed', 'faults'] as const;
const FAULT_KEYS = ['match', 'action'] as const;
const TARGET_KEYS = ['method', 'path', ...MATCH_KEYS];
/** Lots of neighbouring faults are drawn from seeds far apart. */
const SEED_STEP = 7919;

type Members = Readonly<Record<string, unknown>>;

/** Reads the text of a fault plan; throws an `Error` that says what is wrong and in which fault. */
export function parseFaultPlan(text: string): Fault[] {
  const lines = new LineCounter();
  const document = parseDocument(text, { lineCounter: lines });
  const [broken] = document.errors;
  if (broken) {
    const { line } = lines.linePos(broken.pos[0]);
    throw new Error(`Line ${line} of the fault plan cannot be read: ${broken.message.split('\n')[0]}`);
  }
  const plan: unknown = document.toJS({ maxAliasCount: 0 });
  const { seed, list } = partsOf(plan);
  return list.map((entry, index) => {
    try {
      return seeded(faultFrom(entry), seed, index);
    } catch (error) {
      throw new Error(`Fault ${index + 1} of the plan: ${error instanceof Error ? error.message : String(error)}`);
    }
  });
}

function partsOf(plan: unknown): { readonly seed: number | undefined; readonly list: readonly unknown[] } {
  if (Array.isArray(plan)) return { seed: undefined, list: plan };
  if (!isMembers(plan) || !Array.isArray(plan['faults'])) {
    throw new Error('A fault plan is a list of faults, or a seed and a list: { seed: 7, faults: [...] }.');
  }
  onlyKeys(plan, PLAN_KEYS, 'The fault plan');
  const { seed } = plan;
  if (seed !== undefined && !Number.isSafeInteger(seed))
    throw new Error('The seed of the fault plan must be a whole number.');
  return { seed: seed as number | undefined, list: plan['faults'] };
}

function faultFrom(entry: unknown): Fault {
  if (typeof entry === 'string') return parseFault(entry);
  if (!isMembers(entry))
    throw new FaultSyntax('it must be a text such as "POST /asset nth=3 status=503", or match and action');
  onlyKeys(entry, FAULT_KEYS, 'it');
  const match = entry['match'] ?? {};
  if (!isMembers(match))
    throw new FaultSyntax('match must hold method, path and numbers, as in { method: POST, path: /asset }');
  onlyKeys(match, TARGET_KEYS, 'match');
  const given = actionOf(entry['action']);
  for (const key of MATCH_KEYS) if (match[key] !== undefined) given.set(key, textOf(match[key], key));
  return faultOf(textOf(match['method'] ?? '*', 'method'), textOf(match['path'] ?? '*', 'path'), given);
}

/** The action and its options as the text form has them. */
function actionOf(action: unknown): Map<string, string | undefined> {
  if (typeof action === 'string') {
    const name = action.trim();
    if (FAULT_ACTIONS.includes(name)) return new Map([[name, undefined]]);
    throw new FaultSyntax(
      `there is no action "${name}"${didYouMean(name, FAULT_ACTIONS) || ` (there are ${FAULT_ACTIONS.join(', ')})`}`,
    );
  }
  if (!isMembers(action)) throw new FaultSyntax('it needs an action, as in action: { status: 503 }');
  const { kind, ...options } = action;
  const given = new Map<string, string | undefined>();
  if (kind !== undefined) for (const [key, value] of actionOf(kind)) given.set(key, value);
  for (const [key, value] of Object.entries(options)) {
    let name = SPELLINGS[key] ?? key;
    // The status of a redirect is an option of it, not another action.
    if (name === 'status' && kind === 'redirect') name = 'code';
    if (value === false) continue;
    given.set(name, value === true || value === null ? undefined : textOf(value, key));
  }
  return given;
}

function seeded(fault: Fault, seed: number | undefined, index: number): Fault {
  if (seed === undefined || fault.match.seed !== undefined) return fault;
  return { ...fault, match: { ...fault.match, seed: seed + index * SEED_STEP } };
}

const isMembers = (value: unknown): value is Members =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

function onlyKeys(given: Members, known: readonly string[], what: string): void {
  const stranger = Object.keys(given).find((key) => !known.includes(key));
  if (stranger === undefined) return;
  throw new FaultSyntax(
    `${what} cannot hold "${stranger}"${didYouMean(stranger, known) || ` (only ${known.join(', ')})`}`,
  );
}

function textOf(value: unknown, key: string): string {
  if (typeof value === 'string' || typeof value === 'number') return String(value);
  throw new FaultSyntax(`${key} must be a text or a number`);
}
