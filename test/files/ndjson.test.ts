import { gzipSync } from 'node:zlib';
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { jsonMembers, parseJsonLine } from '../../src/files/ndjson.js';
import { openSource } from '../../src/files/open.js';
import { read, refusal, scratch } from './fixtures.js';

const { file } = await scratch();
let count = 0;
const ndjson = (content: Buffer | string) => file(`t${++count}.ndjson`, content);

describe('NDJSON', () => {
  test('objects a line: union of keys, typed cells, digits kept, nested keys dotted, line numbers', async () => {
    const text =
      '{"name":"Größe \\u20ac","cost":99999999999999.99,"ok":true}\n\n' +
      '{"cost":1e3,"vendor":{"name":"ACME","address":{"city":"Bonn"}},"tags":["a", 1],"gone":null}\r\n' +
      '{"name":"","cost":null}\n{}\n{"name":"=1","cost":-0.50}';
    for (const content of [text, gzipSync(text), `\ufeff${text}`]) {
      const { meta, rows } = await read(await ndjson(content));
      expect(meta).toMatchObject({ format: 'ndjson', header_row: null, delimiter: null, encoding: 'utf-8' });
      expect(meta.headings).toEqual(['name', 'cost', 'ok', 'vendor.name', 'vendor.address.city', 'tags', 'gone']);
      const n = (value: string, shown = value) => ({ t: 'n', value, shown });
      // What an object lacks was not given; null is a blank cell.
      const no = undefined;
      expect(rows.map(({ row, cells, faults }) => ({ row, cells, ...(faults && { faults }) }))).toEqual([
        { row: 1, cells: ['Größe €', n('99999999999999.99'), { t: 'b', value: true }, no, no, no, no] },
        { row: 3, cells: [no, n('1000', '1e3'), no, 'ACME', 'Bonn', '["a", 1]', ''] },
        { row: 6, cells: ['=1', n('-0.5', '-0.50'), no, no, no, no, no] },
      ]);
    }
  });

  test('keys such as __proto__ are keys; a key that stands twice is a fault', async () => {
    const { meta, rows } = await read(await ndjson('{"__proto__":"x","constructor":1,"a":"1","a":"2"}\n'));
    expect(meta.headings).toEqual(['__proto__', 'constructor', 'a']);
    expect(rows[0]!.cells[0]).toBe('x');
    expect(rows[0]!.faults).toMatchObject([{ code: 'ragged_row', index: 2 }]);
  });

  test('a key that appears after the first 10,000 lines is a fault of its row', async () => {
    const lines = Array.from({ length: 10_100 }, (_, i) => (i === 10_050 ? '{"a":1,"late":2}' : `{"a":${i}}`));
    const { meta, rows } = await read(await ndjson(lines.join('\n')));
    expect(meta.headings).toEqual(['a']);
    expect(rows.filter((row) => row.faults).map((row) => row.row)).toEqual([10_051]);
    expect(rows[10_050]!.faults![0]!.message).toContain('"late"');
  });

  test('a line that is no object is a fault of that line', async () => {
    const { rows } = await read(await ndjson('{"a":1}\n{"a":}\n[1]\n{"a":1} x\n{"a":"\\q"}\n{"a":2}\n'));
    expect(rows.map((row) => [row.row, row.faults?.[0]?.code])).toEqual([
      [1, undefined],
      [2, 'ragged_row'],
      [3, 'ragged_row'],
      [4, 'ragged_row'],
      [5, 'ragged_row'],
      [6, undefined],
    ]);
    expect(rows[1]!.faults![0]!.message).toContain('no JSON object: Unexpected token');
  });

  test('text that cannot be decoded, NUL and giant texts are faults', async () => {
    const bytes = Buffer.concat([
      Buffer.from(`{"a":"${'é'.repeat(20)}"}\n{"a":"x`),
      Buffer.from([0xe9]),
      Buffer.from(`"}\n{"a":"\\u0000"}\n{"a":"${'x'.repeat(32_768)}"}\n{"a":"\\ud800"}\n`),
    ]);
    const { rows } = await read(await ndjson(bytes));
    expect(rows.map((row) => row.faults?.[0]?.code)).toEqual([
      undefined,
      'invalid_encoding',
      'nul_character',
      'cell_too_long',
      'invalid_encoding',
    ]);
    expect([rows[1]!.cells[0], rows[4]!.cells[0]]).toEqual(['x\ufffd', '\ufffd']);
  });

  test('rows keep their line; a line refused before for its form is refused until its mark is deleted', async () => {
    const ours = '"_row":1,"_outcome":"invalid"';
    const lines = [
      '{"a": 1, "_line":"mine"}\r',
      `{"a":1,${ours},"_line":"check"}`,
      `{"a":1,${ours},"_line":null}`,
      `{"a":1,${ours}}`,
    ];
    const { rows } = await read(await ndjson(lines.join('\n')));
    expect(rows.map(({ line }) => line)).toEqual(lines.map((line) => line.trimEnd()));
    expect(rows.map((row) => row.faults?.map(({ code }) => code))).toEqual([
      undefined,
      ['ragged_row'],
      undefined,
      undefined,
    ]);
    expect(rows[1]!.faults![0]!.message).toContain('delete "_line"');
  });

  test('the outermost members of a line as they stand', () => {
    const line = ' {"a,\\"}": "x,]\\\\" , "b" :{"c":[1,{"d":"}"}]},"a":1e3, "b":[ ] } ';
    expect(jsonMembers(line)).toEqual([
      { name: 'a,"}', text: '"a,\\"}": "x,]\\\\"' },
      { name: 'b', text: '"b" :{"c":[1,{"d":"}"}]}' },
      { name: 'a', text: '"a":1e3' },
      { name: 'b', text: '"b":[ ]' },
    ]);
    expect(jsonMembers('{ }')).toEqual([]);
    const value = fc.dictionary(fc.string(), fc.jsonValue(), { maxKeys: 4 });
    fc.assert(
      fc.property(value, fc.nat(2), (object, indent) => {
        const members = jsonMembers(JSON.stringify(object, null, indent));
        expect(JSON.parse(`{${members.map(({ text }) => text).join(',')}}`)).toEqual(
          JSON.parse(JSON.stringify(object)),
        );
        expect(members.map(({ name }) => name)).toEqual(Object.keys(object));
      }),
    );
  });

  test('a last line that is cut off refuses the file', async () => {
    const error = await refusal(openSource(await ndjson('{"a":1}\n{"a":2}\n{"a":"thr')));
    expect(error.message).toContain('last line (3)');
    expect(error.message).toContain('refused whole, nothing was sent');
  });

  test('options that NDJSON has no use for', async () => {
    const path = await ndjson('{"a":1}\n');
    expect((await refusal(openSource(path, { format: 'xlsx' }))).kind).toBe('usage');
    for (const [name, value] of [
      ['sheet', 1],
      ['header_row', 2],
      ['delimiter', ';'],
    ] as const) {
      expect((await openSource(path, { [name]: value })).meta.headings).toEqual(['a']);
    }
    expect((await openSource(path, { format: 'csv' })).meta.format).toBe('csv');
  });

  test('deep nesting ends in a fault, not in a crash', () => {
    expect(parseJsonLine(`${'{"a":'.repeat(100_000)}1`)).toContain('more than 32 levels');
    expect(parseJsonLine(`{"a":${'['.repeat(100_000)}`)).toContain('more than 32 levels');
  });

  test('agrees with JSON.parse on every object, and on what is no JSON', () => {
    const flat = (value: unknown, prefix: string, into: Map<string, string>) => {
      for (const [key, inner] of Object.entries(value as object)) {
        if (inner !== null && typeof inner === 'object' && !Array.isArray(inner)) flat(inner, `${prefix}${key}.`, into);
        else into.set(prefix + key, inner === null ? '' : typeof inner === 'string' ? inner : JSON.stringify(inner));
      }
      return into;
    };
    const object = fc.dictionary(fc.string({ maxLength: 4 }), fc.jsonValue({ maxDepth: 2 }), { maxKeys: 4 });
    fc.assert(
      fc.property(object, (value) => {
        const line = JSON.stringify(value);
        const expected = flat(JSON.parse(line), '', new Map());
        const found = parseJsonLine(line);
        if (typeof found === 'string') throw new Error(found);
        if (found.length !== expected.size) return;
        for (const [heading, cell] of found) {
          const text =
            typeof cell === 'string' ? cell : cell.t === 'n' ? cell.shown : 'value' in cell ? String(cell.value) : '';
          expect(text).toBe(expected.get(heading));
        }
      }),
      { numRuns: 1_000 },
    );
    const damaged = fc.tuple(
      object.map((value) => JSON.stringify(value)),
      fc.nat(),
      fc.constantFrom('', '"', ',', '}', '0', 'e'),
    );
    fc.assert(
      fc.property(damaged, ([line, at, piece]) => {
        const place = at % line.length;
        const bad = line.slice(0, place) + piece + line.slice(place + 1);
        const accepts = (parse: () => unknown) => {
          try {
            const value = parse();
            return typeof value === 'object' && value !== null;
          } catch {
            return false;
          }
        };
        const reference = accepts(() => JSON.parse(bad)) && bad.trimStart().startsWith('{');
        expect(accepts(() => parseJsonLine(bad))).toBe(reference);
      }),
      { numRuns: 2_000 },
    );
  });
});
