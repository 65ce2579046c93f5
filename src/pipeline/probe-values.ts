import { normaliseKey } from '../model/value.js';
import type { Page, Service } from '../service/port.js';
import { listIsCheaper } from './filter.js';

/** Serial numbers asked for in one probe. */
const PROBE_SIZE = 500;

/** Requests that tell of so many serial numbers whether they exist. */
export function probes(values: number): number {
  return Math.ceil(values / PROBE_SIZE);
}

type Values = ReadonlyMap<string, readonly string[]>;

/**
 * Which serial numbers exist, 500 in one request, each asked for also in spellings that look like it. Every batch is a
 * fair sample of the file, so that after each of them it can be told whether going on would cost more than the list:
 * `dear`. Undefined where the service's answer cannot be believed. `first`: page 1 of the list. Interface, section 4.4.
 */
export async function probeValues(values: Values, first: Page, service: Service): Promise<Values | 'dear' | undefined> {
  const all = [...values].flatMap(([value, spellings]) => [value, ...spellings]);
  const batches = probes(all.length);
  const existing = new Map<string, readonly string[]>();
  for (let batch = 0; batch < batches; batch++) {
    const answer = await service.probeSerials(all.filter((_, at) => at % batches === batch).flatMap(likely), first);
    if (answer === 'ignored') return undefined;
    for (const serial of answer) {
      const value = normaliseKey(serial);
      const spellings = values.get(value);
      if (spellings) existing.set(value, spellings);
    }
    const expected = Math.round((existing.size * batches) / (batch + 1));
    const rest = batches - batch - 1;
    if (rest > 0 && listIsCheaper(first.count, expected + rest)) return 'dear';
  }
  return existing;
}

/** Spellings of the same key that look alike: with an outer blank, and with accents as characters of their own (NFD). */
function likely(serial: string): readonly string[] {
  return [...new Set([serial, `${serial} `, ` ${serial}`, serial.normalize('NFD')])];
}
