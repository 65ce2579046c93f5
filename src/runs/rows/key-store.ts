import { createNumberMap } from '../../compact/dense-map.js';
import { createHashIndex, hash32 } from '../../compact/hash-index.js';
import { openScratchFile } from '../../compact/scratch-file.js';
import { type Keys, lookalikeKey } from '../../pipeline/match/key.js';
import type { FirstRow, FirstRows, LookalikeRow } from '../../pipeline/resolve/resolve.js';
import { diskFault } from './row-files.js';

/**
 * The keys of a file, in the order in which they first come, and the first row of each. They lie on the disk as lines
 * `["key",row,content,"spelling"]`, without the spelling where it is the key; in memory are some 20 bytes a key. Whether a
 * key is there is told by its line, never by its hash alone.
 */
interface KeyStore extends Keys, FirstRows {
  /** Makes room; whoever asks the book from now on meets an error. Once more does nothing. */
  close(): void;
}

type Line = readonly [key: string, row: number, content: number, spelling?: string];

type KeyTexts = readonly [key: string, spelling: string];

const NONE: readonly string[] = [];

export function openKeyStore(path: string): KeyStore {
  const file = openScratchFile(path, (error) => diskFault(path, error));
  let open = true;
  let index = createHashIndex();
  /** Where the line of each key begins, by the number of the key. */
  let offsets = createNumberMap();
  /** Spellings of later rows, by the number of the key; nearly always there are none. */
  const laterSpellings = new Map<number, string[]>();
  /** The first key of each look that is not its own look; there are few. */
  const odd = new Map<string, LookalikeRow>();
  /** Keys and their other spellings. */
  let texts = 0;

  function assertOpen(): void {
    if (!open) throw new Error(`the keys in ${path} are asked for after they were let go`);
  }

  /** The line of a key without its line end; valid until the next look at the file. */
  const lineOf = (number: number): Buffer => file.line(offsets.get(number) as number);

  function find(key: string): number {
    assertOpen();
    let prefix: Buffer | undefined;
    return index.find(hash32(key), (number) => {
      prefix ??= Buffer.from(`[${JSON.stringify(key)},`, 'utf8');
      const line = lineOf(number);
      return line.length > prefix.length && line.compare(prefix, 0, prefix.length, 0, prefix.length) === 0;
    });
  }

  function spellingsOf(number: number, [key, spelling]: KeyTexts): readonly string[] {
    const others = laterSpellings.get(number) ?? NONE;
    return spelling === key ? others : [spelling, ...others];
  }

  function at(number: number): readonly [key: string, spellings: readonly string[]] {
    const texts = textsOf(lineOf(number).toString('utf8'));
    return [texts[0], spellingsOf(number, texts)];
  }

  function* entries(): Generator<readonly [key: string, spellings: readonly string[]]> {
    assertOpen();
    let number = 0;
    for (const { bytes } of file.lines()) {
      const texts = textsOf(bytes.toString('utf8'));
      yield [texts[0], spellingsOf(number++, texts)];
    }
  }

  function noteSpelling(number: number, { key, spelling }: FirstRow): void {
    if (spelling === key || at(number)[1].includes(spelling)) return;
    texts++;
    laterSpellings.set(number, [...(laterSpellings.get(number) ?? NONE), spelling]);
  }

  return {
    get size() {
      return index.size;
    },
    get texts() {
      return texts;
    },
    odd,
    has: (key) => find(key) >= 0,
    lookalikeOf({ key, row }) {
      const look = lookalikeKey(key);
      const other = odd.get(look);
      if (look === key) return other;
      if (!other) odd.set(look, { key, row });
      const plain = find(look);
      if (plain < 0) return other;
      const [, earlier] = JSON.parse(lineOf(plain).toString('utf8')) as Line;
      return { key: look, row: earlier };
    },
    get(key) {
      const number = find(key);
      return number < 0 ? undefined : at(number)[1];
    },
    at,
    *keys() {
      for (const [key] of entries()) yield key;
    },
    [Symbol.iterator]: entries,
    note(first) {
      const { key, row, content, spelling } = first;
      const known = find(key);
      if (known >= 0) {
        noteSpelling(known, first);
        const [, earlier, firstContent] = JSON.parse(lineOf(known).toString('utf8')) as Line;
        return { row: earlier, content: firstContent };
      }
      const offset = file.append(
        `${JSON.stringify(spelling === key ? [key, row, content] : [key, row, content, spelling])}\n`,
      );
      texts += spelling === key ? 1 : 2;
      offsets.set(index.add(hash32(key)), offset);
      return undefined;
    },
    close() {
      open = false;
      file.close();
      index = createHashIndex();
      offsets = createNumberMap();
      laterSpellings.clear();
    },
  };
}

/** By hand: JSON.parse puts every short text into the table that V8 keeps for names, 40 bytes and more a key. */
function textsOf(line: string): KeyTexts {
  if (line.includes('\\')) {
    const [key, , , spelling = key] = JSON.parse(line) as Line;
    return [key, spelling];
  }
  const key = line.slice(2, line.indexOf('"', 2));
  if (!line.endsWith('"]')) return [key, key];
  return [key, line.slice(line.lastIndexOf('"', line.length - 3) + 1, -2)];
}
