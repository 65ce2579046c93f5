import { closeSync, unlinkSync } from 'node:fs';
import { type BlockReader, blockReader } from '../compact/block-reader.js';
import { numbersByPlace } from '../compact/by-place.js';
import { createHashIndex, hashOf } from '../compact/hash-index.js';
import { openScratchFile, type ScratchFile } from '../compact/scratch-file.js';
import type { Decimal } from '../model/decimal.js';
import type { ResourceName } from '../resources/spec.js';
import { parseJson, stringifyBody } from './json.js';
import type { Json } from './port.js';

/**
 * What we wrote last in each record and reads do not show, as lines `["w",resource,id,{fields}]`: they stay where they were
 * read, and those of this process go to a file of its own. In memory are some 20 bytes a record; a line tells whether it is
 * the one that is looked for, never a hash alone.
 */
export interface LastWritten {
  readonly size: number;
  get(resource: ResourceName, id: number): Json | undefined;
  /** The line to be kept; undefined where nothing is new. */
  remember(resource: ResourceName, id: number, fields: Json): string | undefined;
  /** Where a line of the file begins. */
  show(resource: string, id: number, at: number): void;
  /** Every line that counts. */
  lines(): Iterable<string>;
  close(): void;
}

/** A long id is read as a `Decimal`. */
type Line = readonly [tag: 'w', resource: string, id: number | Decimal, fields: Json];

/**
 * `loaded`: the file whose lines are shown to it, where there is one; it is closed with the rest. `scratch`: a path that
 * nobody else uses, for what is remembered from now on. Errors are those of the system.
 */
export function openLastWritten(loaded: number | undefined, scratch: string): LastWritten {
  const index = createHashIndex();
  /** Twice where a line begins, and 1 more in the file of this process. */
  const places = numbersByPlace();
  const before = loaded === undefined ? undefined : blockReader(loaded);
  let own: ScratchFile | undefined;

  function lineOf(place: number): string {
    const from = Math.floor(place / 2);
    return ((place % 2 === 1 ? own : before) as BlockReader).line(from).toString('utf8');
  }

  /** Number of the record, and its fields. */
  function find(resource: string, id: number): { readonly number: number; readonly fields?: Json } {
    let fields: Json | undefined;
    const number = index.find(hashOf(`${resource}/${id}`), (candidate) => {
      const line = parseJson(lineOf(places.get(candidate) as number)) as Line;
      if (line[1] !== resource || String(line[2]) !== String(id)) return false;
      fields = line[3];
      return true;
    });
    return fields ? { number, fields } : { number };
  }

  function put(known: number, resource: string, id: number, place: number): void {
    places.set(known < 0 ? index.add(hashOf(`${resource}/${id}`)) : known, place);
  }

  return {
    get size() {
      return index.size;
    },
    get: (resource, id) => find(resource, id).fields,
    remember(resource, id, fields) {
      const text = stringifyBody(fields);
      const { number, fields: last } = find(resource, id);
      if (last && stringifyBody(last) === text) return undefined;
      const line = `["w",${JSON.stringify(resource)},${id},${text}]`;
      if (!own) {
        own = openScratchFile(scratch, (cause) => cause);
        // It goes with this process, however that ends.
        unlinkSync(scratch);
      }
      put(number, resource, id, own.append(`${line}\n`) * 2 + 1);
      return line;
    },
    show(resource, id, at) {
      put(find(resource, id).number, resource, id, at * 2);
    },
    *lines() {
      for (let number = 0; number < index.size; number++) yield lineOf(places.get(number) as number);
    },
    close() {
      if (loaded !== undefined) closeSync(loaded);
      own?.close();
    },
  };
}
