import { gzipSync } from 'node:zlib';
import { type Random, randomOf } from '../corpus/random.js';
import { packZip, unpackZip, type ZipEntry } from '../corpus/zip-bytes.js';
import { BYTES, NAMES, NUMBERS, XML_TOKENS } from './dictionary.js';
import { type Seed, seedsOf } from './seeds.js';

/** One input: a good or damaged file of the corpus with mutations. */
export interface FuzzInput {
  readonly from: string;
  readonly bytes: Buffer;
}

/** Makes the inputs of one seed; the same number always gives the same input. `port` is where nothing may connect to. */
export function createMutator(seed: number, port: number): (index: number) => FuzzInput {
  const seeds = seedsOf(port);
  const unpacked = new Map<string, { name: string; data: Buffer }[] | undefined>();
  return (index) => {
    const random = randomOf(Math.imul(seed, 0x85ebca6b) ^ Math.imul(index + 1, 0xc2b2ae35));
    const source = random.pick(seeds);
    if (!unpacked.has(source.name)) unpacked.set(source.name, source.zip ? unpackZip(source.bytes) : undefined);
    const parts = unpacked.get(source.name);
    const bytes = parts
      ? mutatedZip(random, source, parts, seeds, port)
      : mutatedText(random, source.bytes, seeds, port);
    return { from: source.name, bytes: random.chance(0.02) ? gzipSync(bytes, { level: 1 }) : bytes };
  };
}

function mutatedZip(
  random: Random,
  source: Seed,
  parts: readonly { name: string; data: Buffer }[],
  seeds: readonly Seed[],
  port: number,
): Buffer {
  const way = random.int(10);
  if (way < 2) return mutatedBytes(random, source.bytes, seeds);
  if (way === 2) return mutatedHeaders(random, source.bytes);
  let entries: ZipEntry[] = [...parts];
  if (way === 3) entries = mutatedEntries(random, entries);
  else {
    for (let count = random.pick([1, 1, 1, 2, 3]); count > 0; count--) {
      // The sheet itself more often than the rest.
      const sheets = entries.flatMap(({ name }, i) =>
        /sheet\d|content\.xml|sharedStrings|styles/i.test(name) ? [i] : [],
      );
      const at = sheets.length > 0 && random.chance(0.8) ? random.pick(sheets) : random.int(entries.length);
      const entry = entries[at];
      if (entry) entries[at] = { ...entry, data: mutatedXml(random, entry.data as Buffer, port) };
    }
  }
  return packZip(entries, {
    level: random.chance(0.75) ? 0 : 1,
    descriptors: random.chance(0.1),
    zip64: random.chance(0.05),
  });
}

function mutatedXml(random: Random, data: Buffer, port: number): Buffer {
  if (random.chance(0.2)) return mutatedBytes(random, data, []);
  const tokens = data.toString('latin1').match(/<[^>]*>|[^<]+/g) ?? [];
  for (let count = random.pick([1, 1, 2, 3, 5]); count > 0 && tokens.length > 0; count--) {
    const at = random.int(tokens.length);
    const token = tokens[at]!;
    switch (random.int(9)) {
      case 0:
        tokens.splice(at, random.between(1, 3));
        break;
      case 1:
        tokens.splice(at, 0, token);
        break;
      case 2: {
        const other = random.int(tokens.length);
        tokens[at] = tokens[other]!;
        tokens[other] = token;
        break;
      }
      case 3:
        tokens[at] = tokenOf(random, port);
        break;
      case 4:
        tokens.splice(at, 0, tokenOf(random, port));
        break;
      case 5:
        tokens[at] = token.replace(/=("|')[^"']*\1/, (_, q: string) => `=${q}${random.pick(NUMBERS)}${q}`);
        break;
      case 6:
        tokens[at] = token.replace(/\d+/, () => random.pick(NUMBERS));
        break;
      case 7: {
        const block = tokens.slice(at, at + random.between(1, 12));
        tokens.splice(at, 0, ...Array.from({ length: random.pick([1, 3, 60]) }, () => block).flat());
        break;
      }
      default:
        tokens[at] =
          token.slice(0, random.int(token.length + 1)) + random.pick(BYTES) + token.slice(random.int(token.length + 1));
    }
  }
  return Buffer.from(tokens.join(''), 'latin1');
}

const tokenOf = (random: Random, port: number) => random.pick(XML_TOKENS).replaceAll('{port}', String(port));

/** Entries dropped, doubled, renamed, swapped, or with headers that lie. */
function mutatedEntries(random: Random, entries: ZipEntry[]): ZipEntry[] {
  const at = random.int(entries.length);
  const entry = entries[at]!;
  const copy = [...entries];
  switch (random.int(6)) {
    case 0:
      copy.splice(at, 1);
      return copy;
    case 1:
      copy.push({ ...entry, name: random.chance(0.5) ? entry.name : entry.name.toUpperCase() });
      return copy;
    case 2:
      copy[at] = { ...entry, name: random.pick(NAMES) };
      return copy;
    case 3:
      copy[at] = { ...entry, data: entries[random.int(entries.length)]!.data };
      return copy;
    case 4:
      copy[at] = { ...entry, statedSize: random.pick([0, 1, 0x7fffffff, 0xfffffffe]) };
      return copy;
    default:
      copy[at] = {
        ...entry,
        ...random.pick([{ method: random.int(100) }, { statedCrc: 0 }, { encrypted: true }, { stored: true }]),
      };
      return copy;
  }
}

/** Fields of the zip file's own headers, overwritten. */
function mutatedHeaders(random: Random, bytes: Buffer): Buffer {
  const copy = Buffer.from(bytes);
  const signatures: number[] = [];
  for (
    let at = copy.indexOf('PK', 0, 'latin1');
    at >= 0 && signatures.length < 200;
    at = copy.indexOf('PK', at + 2, 'latin1')
  )
    signatures.push(at);
  for (let count = random.between(1, 3); count > 0 && signatures.length > 0; count--) {
    const at = random.pick(signatures) + random.between(4, 46);
    if (at + 4 > copy.length) continue;
    if (random.chance(0.5)) copy.writeUInt16LE(random.pick([0, 1, 8, 0xff, 0x7fff, 0xffff]), at);
    else copy.writeUInt32LE(random.pick([0, 1, 0x7fffffff, 0xffffffff, copy.length, copy.length - 1]), at);
  }
  return copy;
}

function mutatedText(random: Random, bytes: Buffer, seeds: readonly Seed[], port: number): Buffer {
  let text = bytes;
  for (let count = random.pick([1, 1, 2, 4]); count > 0; count--) {
    if (random.chance(0.5)) {
      text = mutatedBytes(random, text, seeds);
      continue;
    }
    const at = random.int(text.length + 1);
    const token = random.chance(0.7)
      ? random.pick(BYTES)
      : random.chance(0.5)
        ? random.pick(NUMBERS)
        : tokenOf(random, port);
    const times = random.pick([1, 1, 2, 3, 300]);
    text = Buffer.concat([text.subarray(0, at), Buffer.from(token.repeat(times), 'latin1'), text.subarray(at)]);
  }
  return random.chance(0.04)
    ? Buffer.concat([Buffer.from([0xff, 0xfe]), Buffer.from(text.toString('latin1'), 'utf16le')])
    : text;
}

/** Bits, bytes, cuts, splices and doubled blocks. */
function mutatedBytes(random: Random, bytes: Buffer, seeds: readonly Seed[]): Buffer {
  let copy = Buffer.from(bytes);
  for (let count = random.pick([1, 1, 1, 2, 4, 16]); count > 0 && copy.length > 0; count--) {
    const at = random.int(copy.length);
    const length = random.between(1, Math.min(64, copy.length - at));
    switch (random.int(7)) {
      case 0:
        copy[at]! ^= 1 << random.int(8);
        break;
      case 1:
        copy[at] = random.int(256);
        break;
      case 2:
        copy = random.chance(0.5) ? copy.subarray(0, at) : copy.subarray(at);
        break;
      case 3:
        copy = Buffer.concat([copy.subarray(0, at), copy.subarray(at + length)]);
        break;
      case 4: {
        const block = copy.subarray(at, at + length);
        copy = Buffer.concat([
          copy.subarray(0, at),
          ...Array.from({ length: random.pick([1, 2, 100]) }, () => block),
          copy.subarray(at),
        ]);
        break;
      }
      case 5: {
        if (seeds.length === 0) break;
        const other = random.pick(seeds).bytes;
        copy = Buffer.concat([copy.subarray(0, at), other.subarray(random.int(other.length))]);
        break;
      }
      default:
        copy = Buffer.concat([copy.subarray(0, at), Buffer.from(random.pick(BYTES), 'latin1'), copy.subarray(at)]);
    }
    if (copy.length > 600_000) copy = copy.subarray(0, 600_000);
  }
  return copy;
}
