import { normaliseKey } from '../../model/value.js';
import type { Page, Readable } from '../port.js';
import { countOf } from '../transport/answer.js';
import type { Call, Settled } from '../transport/send.js';

type Send = (call: Call) => Promise<Settled>;
type ReadPage = (resource: Readable, page: number) => Promise<Page>;

/** There are other ways to find out: a service or proxy that cannot take a GET with a body is not waited for. */
const OPTIONAL = { tries: 2, timeoutMs: 5_000 };

/** Statuses of a service or proxy that takes fewer serial numbers at once. */
const TOO_MANY: ReadonlySet<number> = new Set([400, 413, 414, 422, 431]);
/** So few are refused for another reason. */
const FEWEST = 100;

interface Control {
  /** A serial number that exists; undefined where the first page shows none. */
  readonly serial?: string;
  /** All assets of the company. */
  readonly count: number;
}

/**
 * `GET /asset/?serial_number=list` with a body `{list: […]}` (interface, section 4.4): which of these serial numbers exist.
 *
 * A service or proxy may drop the body of a GET. Then the answer is every asset, or none (a filter for the serial number
 * "list"). So a serial number that is known to exist travels along, and the answer counts only where it comes back and
 * nothing comes back that was not asked for. A list that is refused, perhaps for its length, is asked for in halves.
 */
export function serialProbe(send: Send, page: ReadPage, company: number) {
  let control: Promise<Control> | undefined;
  let useless = false;
  /** Serial numbers that may be asked for at once, as far as refusals have told. */
  let most = Number.POSITIVE_INFINITY;

  async function findControl(first?: Page): Promise<Control> {
    const { count, results } = first ?? (await page('asset', 1));
    for (const record of results) {
      const serial = record['serial_number'];
      if (typeof serial === 'string' && serial.trim() !== '') return { serial, count };
    }
    return { count };
  }

  /** What the service names of these, in requests as large as it takes; ends where the control is not among the answers. */
  async function askFor(serials: readonly string[], known: string): Promise<Set<string> | undefined> {
    const found = new Set<string>();
    for (let at = 0; at < serials.length; ) {
      const list = [...new Set([...serials.slice(at, at + most - 1), known])];
      const answer = await ask(list);
      if (answer === 'too_many' && list.length > FEWEST) {
        most = Math.ceil(list.length / 2);
        continue;
      }
      if (answer === undefined || answer === 'too_many') return undefined;
      if (!answer.has(normaliseKey(known))) return new Set();
      for (const serial of answer) found.add(serial);
      at += most - 1;
    }
    return found;
  }

  /** All serial numbers the service names, or undefined where the answer cannot be one to this question. */
  async function ask(list: readonly string[]): Promise<Set<string> | 'too_many' | undefined> {
    const asked = new Set(list.map(folded));
    const body = JSON.stringify({ list });
    const found = new Set<string>();
    let read = 0;
    for (let number = 1; ; number++) {
      const path = `/asset/?${new URLSearchParams({ company: String(company), serial_number: 'list', page: String(number) })}`;
      const settled = await send({
        kind: 'read',
        method: 'GET',
        path,
        body,
        company,
        optional: OPTIONAL,
        shape: readSerials,
      });
      if (settled.kind === 'missing') return number > 1 ? found : undefined;
      if (settled.kind === 'refused' && TOO_MANY.has(settled.status)) return 'too_many';
      if (settled.kind !== 'ok') return undefined;
      const { serials, count } = settled.value as Serials;
      const before = found.size;
      for (const serial of serials) {
        if (!asked.has(folded(serial))) return undefined;
        found.add(normaliseKey(serial));
      }
      read += serials.length;
      if (serials.length === 0 || read >= count) return read >= count ? found : undefined;
      // Serial numbers may repeat across records; a whole page of repetitions means that pages are not told apart.
      if (found.size === before) return undefined;
    }
  }

  return async function probeSerials(
    serials: readonly string[],
    first?: Page,
  ): Promise<ReadonlySet<string> | 'ignored'> {
    if (serials.length === 0) return new Set();
    if (useless) return 'ignored';
    for (let attempt = 0; attempt < 2; attempt++) {
      control ??= findControl(attempt === 0 ? first : undefined);
      let known: Control;
      try {
        known = await control;
      } catch (error) {
        control = undefined;
        throw error;
      }
      if (known.count === 0) return new Set();
      if (known.serial === undefined) break;
      const found = await askFor(serials, known.serial);
      if (found === undefined) break;
      if (found.has(normaliseKey(known.serial))) {
        return new Set(serials.filter((serial) => found.has(normaliseKey(serial))));
      }
      // The control itself may have been changed or removed meanwhile: once more with another one.
      control = undefined;
    }
    useless = true;
    return 'ignored';
  };
}

/** Services that ignore case still looked at the body. */
function folded(serial: string): string {
  return normaliseKey(serial).toLowerCase();
}

interface Serials {
  readonly serials: readonly string[];
  readonly count: number;
}

/** A page, or a bare list, of texts or of `{serial_number}`. */
function readSerials(json: unknown): Serials | string {
  const envelope = typeof json === 'object' && json !== null ? (json as Record<string, unknown>) : {};
  const list = Array.isArray(json) ? json : (envelope['results'] ?? envelope['list']);
  if (!Array.isArray(list)) return 'the answer is not a list of serial numbers';
  const serials: string[] = [];
  for (const item of list) {
    const serial =
      typeof item === 'object' && item !== null ? (item as Record<string, unknown>)['serial_number'] : item;
    if (typeof serial === 'string') serials.push(serial);
    else if (typeof serial === 'number') serials.push(String(serial));
    else if (serial !== null) return 'the answer is not a list of serial numbers';
    else serials.push('');
  }
  return { serials, count: countOf(envelope['count']) ?? serials.length };
}
