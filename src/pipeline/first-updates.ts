import { isEmpty } from '../model/value.js';
import { isObject } from '../resources/path.js';
import type { ResourceSpec } from '../resources/spec.js';
import { Halted, type Update, type WriteContext, type WriteState } from './writing.js';

/**
 * The first updates of a run go alone and are read back, so that a service that drops a field does it once. Which fields
 * it drops is seen only on a record that holds them: the very first update shows its own, and later ones that carry, set
 * or clear what none has shown yet take a turn, too, up to `MOST_TURNS` in all.
 *
 *   nothing shown yet → one has the turn, all others wait
 *   nothing new in it, or all turns used → it goes at once, beside the others
 *   something new in it → it has the turn, and others with something new wait for its end
 */

/** Each costs a request and the time of one update. */
export const MOST_TURNS = 4;

interface Shown {
  /** What updates that were read back held. */
  readonly parts: Set<string>;
  /** Whether one was read back at all; whoever comes before that waits. */
  verified: boolean;
  turns: number;
  running: Promise<void> | undefined;
  /** What is being found out about updates that seem to have lost something; nobody goes before that. */
  readonly doubts: Set<Promise<void>>;
}

const shownBy = new WeakMap<WriteState, Shown>();

/** Ends a turn; `verified`: the record was read back. */
export type EndTurn = (verified: boolean) => void;

/** Resolves when the update may go: with the means to end its turn, where it is to be read back. */
export async function waitForTurn(change: Update, context: WriteContext): Promise<EndTurn | undefined> {
  const { state, spec } = context;
  if (!spec.readPath) return undefined;
  const shown = shownIn(state);
  for (;;) {
    const [doubt] = shown.doubts;
    if (!doubt) {
      const allShown = shown.turns >= MOST_TURNS || atStake(change, context, shown.parts).length === 0;
      if (shown.verified && allShown) return undefined;
      if (!shown.running) return takeTurn(change, shown, context);
    }
    await (doubt ?? shown.running);
    if (state.stopped || context.signal.aborted) throw new Halted();
  }
}

/** Holds back all updates that have not gone yet, until what is returned is called: one seems to have lost something. */
export function holdOthers(state: WriteState): () => void {
  const { doubts } = shownIn(state);
  let release: () => void = () => undefined;
  const doubt = new Promise<void>((resolve) => {
    release = resolve;
  });
  doubts.add(doubt);
  return () => {
    doubts.delete(doubt);
    release();
  };
}

function shownIn(state: WriteState): Shown {
  let shown = shownBy.get(state);
  if (!shown) {
    shown = { parts: new Set(), verified: false, turns: 0, running: undefined, doubts: new Set() };
    shownBy.set(state, shown);
  }
  return shown;
}

function takeTurn(change: Update, shown: Shown, context: WriteContext): EndTurn {
  let done: () => void = () => undefined;
  shown.running = new Promise((resolve) => {
    done = resolve;
  });
  let ended = false;
  return (verified) => {
    if (ended) return;
    ended = true;
    // A row that told nothing about how the service treats a PUT is no turn, as long as none did: all wait for one.
    if (verified || shown.verified) shown.turns++;
    if (verified) for (const part of atStake(change, context, shown.parts)) shown.parts.add(part);
    shown.verified ||= verified;
    shown.running = undefined;
    done();
  };
}

/** What the update carries, sets or clears and none of `known` has shown; as places in the read form. */
function atStake({ base, set }: Update, { spec }: WriteContext, known: ReadonlySet<string>): string[] {
  const parts: string[] = [];
  const note = (part: string) => {
    if (!known.has(part)) parts.push(part);
  };
  const { places, fields } = visible(spec);
  const record = base.record as Readonly<Record<string, unknown>> | undefined;
  if (record) {
    for (const key of Object.keys(record)) {
      const value = record[key];
      if (value === null || value === '' || value === undefined) continue;
      if (places.has(key)) note(key);
      else if (isObject(value)) {
        for (const part of Object.keys(value)) {
          if (places.has(`${key}.${part}`) && value[part] !== null && value[part] !== '') note(`${key}.${part}`);
        }
      }
    }
    noteCustom(record[spec.template.read], 'fields', note);
    if (spec.form?.read) noteCustom(record[spec.form.read], 'custom_form_data', note);
  }
  for (const field of Object.keys(set)) {
    if (isEmpty(set[field])) note('(cleared)');
    else {
      const place = fields.get(field);
      if (place !== undefined) note(place);
      else if (field.startsWith('template.') || field.startsWith('form.')) note(`(set) ${field.replace(/#\d+/, '')}`);
    }
  }
  return parts;
}

/** Values of templates and forms, each field by itself; rows of one form are alike. */
function noteCustom(raw: unknown, values: string, note: (part: string) => void): void {
  for (const item of Array.isArray(raw) ? raw : [raw]) {
    if (!isObject(item)) continue;
    note(`${values} ${String(item['id'])}`);
    const held = item[values];
    if (!isObject(held)) continue;
    for (const key of Object.keys(held)) {
      if (held[key] !== null && held[key] !== '') note(`${values} ${String(item['id'])} ${key}`);
    }
  }
}

interface Visible {
  /** Places in the read form that an update can carry. */
  readonly places: ReadonlySet<string>;
  /** Place by field. */
  readonly fields: ReadonlyMap<string, string>;
}

const visibleIn = new WeakMap<ResourceSpec, Visible>();

function visible(spec: ResourceSpec): Visible {
  let found = visibleIn.get(spec);
  if (!found) {
    const fields = spec.fields.filter((field) => field.read !== undefined && !field.derived);
    found = {
      places: new Set(fields.flatMap((field) => [field.read ?? '', ...(field.readElse ?? [])])),
      fields: new Map(fields.map((field) => [field.name, field.read ?? ''])),
    };
    visibleIn.set(spec, found);
  }
  return found;
}
