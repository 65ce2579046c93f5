import type { RowsJob } from '../../model/job.js';
import { type Fields, isEmpty, sameValue, type Value } from '../../model/value.js';
import type { Json, KnownIds } from '../../service/port.js';
import { keyOf } from '../match/key.js';
import { decodeFields, encodeFields } from '../rows.js';
import { isWriteOnly, type MergeOptions } from './merge.js';

interface MemoryOptions extends Pick<MergeOptions, 'spec' | 'specOf'> {
  readonly known: KnownIds;
  readonly job: RowsJob;
}

/** As what the id of a record is kept that was created from a key. No identity of a record: those are a field, `=` and a key. */
export const sentKeyOf = (fields: readonly string[], key: string): string => `created ${fields.join('+')}=${key}`;

/**
 * What our own last writes left in records where reads do not show it, one for each run; kept in the home folder.
 *
 * An update notes what it is about to leave there before it goes out: where its outcome never becomes known, because the
 * process dies or the service is silent, a later update carries this over, not what was before.
 */
export class Memory {
  /** Updates that this run is sending, which to itself are not done yet; with what an earlier one without a known outcome left. */
  private readonly inFlight = new Map<string, Json | undefined>();
  private flushed: Promise<void> | undefined;

  constructor(private readonly options: MemoryOptions) {}

  /** Keeps what cannot be read back: a customer whole, of other records the fields that reads do not show. */
  remember(id: number, fields: Fields): void {
    const { spec, known } = this.options;
    this.forgetWithoutId(fields);
    if (spec.name === 'customer' && typeof fields['name'] === 'string') known.learn('customer', id, fields['name']);
    const kept = this.fieldsToKeep(fields);
    if (spec.name === 'customer' || Object.keys(kept).length > 0 || known.lastWritten(spec.name, id)) {
      known.remember(spec.name, id, encodeFields(kept) as Json);
    }
  }

  /** The service may keep the record of this row under another key, by which no row finds it. */
  rememberKey(id: number, fields: Fields): void {
    const { spec, known, job } = this.options;
    known.rememberAs(spec.name, sentKeyOf(job.match.key, keyOf(fields, job.match.key)), { id });
  }

  /** The same before the record has an id: kept from before the request goes out until the id is known. The answer takes it back. */
  rememberWithoutId(fields: Fields): (() => void) | undefined {
    const { spec, known } = this.options;
    const kept = this.fieldsToKeep(fields);
    if (Object.keys(kept).length === 0) return undefined;
    const before = this.identities(fields).map((one) => [one, known.lastWrittenAs(spec.name, one)] as const);
    for (const [identity] of before) known.rememberAs(spec.name, identity, encodeFields(kept) as Json);
    return () => {
      for (const [identity, was] of before) known.rememberAs(spec.name, identity, was);
    };
  }

  /** The record has its id now, or was not made after all. */
  forgetWithoutId(fields: Fields): void {
    const { spec, known } = this.options;
    for (const identity of this.identities(fields)) known.rememberAs(spec.name, identity, undefined);
  }

  /** What our last write left in a record that reads do not show; the row and the record are what identifies it. */
  lastWritten(id: number | undefined, row: Fields, record: Json | undefined): Json | undefined {
    const { spec, known } = this.options;
    const natural = record?.[spec.naturalKeys[0]];
    const own = typeof natural === 'string' ? { ...row, [spec.naturalKeys[0]]: natural } : row;
    let last = id === undefined ? undefined : known.lastWritten(spec.name, id);
    for (const identity of last ? [] : this.identities(own)) last ??= known.lastWrittenAs(spec.name, identity);
    return id === undefined ? last : this.withSent(id, row, last);
  }

  /** What an update is about to leave in a record and reads do not show; on disk when this resolves. */
  async rememberSent(id: number, changed: Fields): Promise<void> {
    const { spec, known } = this.options;
    const sent = Object.entries(changed).filter(([field]) => !spec.readable || isWriteOnly(field, this.options));
    if (sent.length === 0) return;
    const key = this.sentKey(id);
    if (!this.inFlight.has(key)) this.inFlight.set(key, known.lastWrittenAs(spec.name, key));
    known.rememberAs(spec.name, key, {
      ...this.inFlight.get(key),
      ...(encodeFields(Object.fromEntries(sent)) as Json),
    });
    // Those that go out together share one write to the disk.
    this.flushed ??= new Promise<void>((resolve) => setImmediate(resolve)).then(() => {
      this.flushed = undefined;
      return known.flush();
    });
    await this.flushed;
  }

  /** The outcome of the update is known: the record holds what was carried and set, also of an earlier update. */
  forgetSent(id: number): void {
    const key = this.sentKey(id);
    this.options.known.rememberAs(this.options.spec.name, key, undefined);
    this.inFlight.delete(key);
  }

  /** The update did not take effect: what an earlier one may have left is as uncertain as before. */
  revertSent(id: number): void {
    const key = this.sentKey(id);
    if (!this.inFlight.has(key)) return;
    this.options.known.rememberAs(this.options.spec.name, key, this.inFlight.get(key));
    this.inFlight.delete(key);
  }

  /** No identity of a record: those are a field, `=` and a key. */
  private sentKey(id: number): string {
    return `sent ${this.options.spec.name} ${id}`;
  }

  /**
   * Adds what an update without a known outcome was to leave there. Whether it did is not certain: what the row itself sets
   * counts as a change, whichever of both values it has.
   */
  private withSent(id: number, row: Fields, last: Json | undefined): Json | undefined {
    const { spec, known } = this.options;
    const key = this.sentKey(id);
    const sent = this.inFlight.has(key) ? this.inFlight.get(key) : known.lastWrittenAs(spec.name, key);
    if (!sent) return last;
    // A record that cannot be read is known whole or not at all.
    if (last === undefined && !spec.readable) return undefined;
    const fields: Record<string, Value> = decodeFields(last ?? {});
    for (const [field, value] of Object.entries(decodeFields(sent))) {
      const own = row[field];
      if (own === undefined || (sameValue(own, fields[field]) && !sameValue(own, value))) fields[field] = value;
    }
    return encodeFields(fields) as Json;
  }

  /** By its natural key and by the key of the job: the next job may match by another one. */
  private identities(fields: Fields): string[] {
    const natural = this.options.spec.naturalKeys[0];
    const { key } = this.options.job.match;
    const found: string[] = [];
    const byNatural = keyOf(fields, [natural]);
    if (byNatural !== '') found.push(`${natural}=${byNatural}`);
    if (key.length === 1 && (key[0] === natural || key[0] === 'id')) return found;
    const byKey = keyOf(fields, key);
    if (byKey !== '') found.push(`${key.join('+')}=${byKey}`);
    return found;
  }

  private fieldsToKeep(fields: Fields): Record<string, Value> {
    if (this.options.spec.name === 'customer') return { ...fields };
    const kept: Record<string, Value> = {};
    for (const field of Object.keys(fields)) {
      if (isWriteOnly(field, this.options) && !isEmpty(fields[field])) kept[field] = fields[field]!;
    }
    return kept;
  }
}
