import { closeSync, mkdtempSync, openSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { lineBlocks, openScratchFile } from '../../src/compact/scratch-file.js';

const folder = mkdtempSync(join(tmpdir(), 'scratch-'));
let files = 0;
const fresh = () => join(folder, `${++files}.txt`);

/** Short ones, and such as do not fit into what waits to be written or is read at once. */
const lines = fc.oneof(
  fc.string({ unit: 'grapheme' }).map((text) => text.replaceAll('\n', ' ')),
  fc.integer({ min: 0, max: 40_000 }).map((length) => 'ä'.repeat(length)),
);

describe('a scratch file', () => {
  it('gives back what was written, whenever it is asked for', () => {
    fc.assert(
      fc.property(fc.array(fc.tuple(lines, fc.array(fc.nat(), { maxLength: 3 })), { maxLength: 30 }), (steps) => {
        const file = openScratchFile(fresh(), (cause) => cause);
        const written: { readonly text: string; readonly at: number; readonly end: number }[] = [];
        for (const [text, asked] of steps) {
          const at = file.append(`${text}\n`);
          written.push({ text, at, end: file.end });
          for (const any of asked) {
            const one = written[any % written.length] as (typeof written)[number];
            expect(file.line(one.at).toString('utf8')).toBe(one.text);
            expect(file.read(one.at, one.end).toString('utf8')).toBe(`${one.text}\n`);
          }
        }
        file.close();
        file.close();
      }),
      { numRuns: 50 },
    );
  });

  it('says what the system says in the words of whoever opens it', () => {
    const made = () => openScratchFile(join(folder, 'missing', 'x'), (cause) => new Error('no room', { cause }));
    expect(made).toThrow('no room');
  });
});

describe('the lines of a file', () => {
  it('are those that have their end, each with its place', () => {
    fc.assert(
      fc.property(fc.array(lines, { maxLength: 30 }), fc.boolean(), (texts, ended) => {
        const path = fresh();
        const whole = texts.join('\n') + (ended ? '\n' : '');
        writeFileSync(path, whole);
        const file = openSync(path, 'r');
        const found: [number, string][] = [];
        for (const block of lineBlocks(file))
          for (const { at, bytes } of block) found.push([at, bytes.toString('utf8')]);
        closeSync(file);
        const expected = whole.split('\n').slice(0, -1);
        let at = 0;
        expect(found).toEqual(
          expected.map((text) => {
            const begin = at;
            at += Buffer.byteLength(text) + 1;
            return [begin, text];
          }),
        );
      }),
      { numRuns: 50 },
    );
  });
});
