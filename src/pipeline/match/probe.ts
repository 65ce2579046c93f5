import { normaliseKey } from '../../model/value.js';
import type { Page, Service } from '../../service/port.js';
import { fairOrder, NOTHING_PROBED, nextProbe, PAGE_SIZE, PROBE_SIZE, type Probed, storedForms } from './filter.js';
import { placesOf, textsOf, type Keys as Values } from './key.js';

/** Requests that tell of so many serial numbers whether they exist, where few do. */
export function probes(values: number): number {
  return Math.ceil(values / PROBE_SIZE);
}

/** What was asked for, in texts, and what of it exists. */
interface ProbeResult extends Probed {
  readonly existing: Values;
  /** The rest was not asked for: the list is cheaper than going on. */
  readonly dear: boolean;
}

/**
 * Which serial numbers exist, up to 500 in one request, each asked for also in the forms that may be stored. Undefined where the
 * service's answer cannot be believed. `first`: page 1 of the list. Interface, section 4.4.
 */
export async function probeValues(values: Values, first: Page, service: Service): Promise<Values | undefined> {
  return (await probe(values, first, service, (texts, { asked }) => Math.min(PROBE_SIZE, texts - asked)))?.existing;
}

/**
 * The same, as long as it is likely to be cheaper than the list (`nextProbe`). Small answers are asked for first, and every
 * answer is a fair sample of the file, wherever in it the new rows stand.
 */
export function probeWhileCheap(values: Values, first: Page, service: Service): Promise<ProbeResult | undefined> {
  return probe(values, first, service, (texts, probed) => nextProbe(first.count, texts, probed));
}

async function probe(
  values: Values,
  first: Page,
  service: Service,
  next: (texts: number, probed: Probed) => number | 'list',
): Promise<ProbeResult | undefined> {
  const valueAt = placesOf(values);
  const texts = textsOf(values);
  const fair = fairOrder(values.size);
  const existing = new Map<string, readonly string[]>();
  let at = 0;
  let probed = NOTHING_PROBED;
  while (at < values.size) {
    const size = next(texts, probed);
    if (size === 'list') return { ...probed, existing, dear: true };
    const batch: string[] = [];
    // The spellings of a value stay together.
    do {
      const [value, spellings] = valueAt(fair(at++));
      batch.push(value, ...spellings);
    } while (at < values.size && batch.length < size);
    const before = service.counts.reads;
    const forms = new Set(batch.flatMap((text) => [text, ...storedForms(text)]));
    const answer = await service.probeSerials([...forms], first);
    if (answer === 'ignored') return undefined;
    let hits = 0;
    const found = new Set([...answer].map(normaliseKey));
    for (const value of found) {
      const spellings = values.get(value);
      if (!spellings || existing.has(value)) continue;
      existing.set(value, spellings);
      hits += 1 + spellings.length;
    }
    const requests = service.counts.reads - before;
    probed = {
      asked: probed.asked + batch.length,
      hits: probed.hits + hits,
      requests: probed.requests + requests,
      whole: probed.whole || (requests === 1 && found.size >= PAGE_SIZE),
    };
  }
  return { ...probed, existing, dear: false };
}
