import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { RunError } from '../../src/model/error.js';
import { checkJobFile, checkJobText } from '../../src/runs/job-file.js';
import { resolveSettings } from '../../src/runs/settings.js';

const GOOD =
  'kind: import\nresource: asset\nmatch: { key: serial_number }\ncolumns:\n  Name: name\n  Serial: serial_number\n';

/** Each line stands for nine of the line before it. */
function laughs(levels: number): string {
  const lines = ['a0: &a0 [x, x, x, x, x, x, x, x, x]'];
  for (let i = 1; i < levels; i++)
    lines.push(`a${i}: &a${i} [${Array.from({ length: 9 }, () => `*a${i - 1}`).join(', ')}]`);
  return `${lines.join('\n')}\n`;
}

const wide = (count: number, line: (i: number) => string) =>
  Array.from({ length: count }, (_, i) => line(i)).join('\n');

const BOMBS: readonly (readonly [what: string, text: string, words: RegExp])[] = [
  ['aliases of aliases', GOOD + laughs(12), /aliases|unknown key/],
  ['a merge key of aliases', `${laughs(9)}kind: import\n<<: *a8\n`, /aliases|unknown key|`<<`/],
  ['an alias to itself', `${GOOD}constants: &a { x: *a }\n`, /alias|recursive|circular|constants/i],
  [
    'many aliases of a small anchor',
    `${GOOD}constants:\n  a: &a x\n${wide(1_000, (i) => `  k${i}: *a`)}\n`,
    /aliases|unknown/,
  ],
  ['brackets in brackets', '['.repeat(50_000), /not valid YAML|nested/],
  ['a megabyte of brackets', '['.repeat(999_999), /nested/],
  ['brackets after others that close nothing', `${'] '.repeat(9_000)}\n${'['.repeat(9_000)}`, /nested/],
  ['brackets in brackets, a line each', '[ #]\n'.repeat(200_000), /nested/],
  ['braces in braces', '{a: '.repeat(30_000), /not valid YAML|nested/],
  ['lists in lists, by dashes', `${'- '.repeat(20_000)}x`, /not valid YAML|nested/],
  ['keys in keys', '? '.repeat(45), /plain text/],
  ['thousands of keys in keys', `${GOOD}${'? '.repeat(20_000)}`, /nested/],
  ['thousands of values in values', `${GOOD}${': '.repeat(20_000)}`, /nested/],
  ['keys in keys, a line each', wide(1_000, (i) => `${' '.repeat(i)}?`), /nested|plain text/],
  ['deep indentation', wide(1_000, (i) => `${' '.repeat(i)}a:`), /kind|nested|not valid YAML/],
  ['a tag that makes code', `${GOOD}constants: { name: !!js/function "function () { return 1 }" }\n`, /tag/i],
  ['a tag of another language', `${GOOD}constants: { name: !!python/object/apply:os.system ["id"] }\n`, /tag/i],
  ['a tag of its own', `${GOOD}constants: { name: !include /etc/passwd }\n`, /tag/i],
  ['binary data', `${GOOD}constants: { name: !!binary aGk= }\n`, /constants.name/],
  ['a set', `${GOOD}constants: !!set { name, city }\n`, /constants/],
  ['a key that stands twice', `${GOOD}kind: export\n`, /twice/],
  ['a key that stands twice below', `${GOOD}  Name: city\n`, /twice/],
  ['several documents', `${GOOD}---\n${GOOD}`, /one job/],
  ['keys that are lists', `${GOOD}constants: { [a, b]: c }\n`, /plain text/],
  ['a key of every object', `${GOOD}__proto__: { kind: export }\n`, /__proto__/],
  ['a constant of every object', `${GOOD}constants: { __proto__: x }\n`, /__proto__/],
  ['thousands of keys', GOOD + wide(1_900, (i) => `k${i}: x`), /unknown key/],
  ['tens of thousands of keys', GOOD + wide(50_000, (i) => `k${i}: x`), /at most 2,000/],
  ['one long line', `${GOOD}x: ${'y'.repeat(900_000)}\n`, /unknown key `x`/],
];

describe('a job file that is a bomb', () => {
  it.each(BOMBS)('is refused in words, quickly: %s (88)', (_, text, words) => {
    const before = process.memoryUsage().heapUsed;
    const started = performance.now();
    const { job, problems } = checkJobText(text);
    const ms = performance.now() - started;
    expect(job).toBeUndefined();
    const errors = problems.filter(({ severity }) => severity === 'error').map(({ message }) => message);
    expect(errors.join('\n').slice(0, 3_000)).toMatch(words);
    expect(errors.join('\n')).not.toMatch(/\bat \w+ \(|node_modules/);
    expect(ms).toBeLessThan(10_000);
    expect(process.memoryUsage().heapUsed - before).toBeLessThan(600 * 1024 * 1024);
  });

  it('takes no time over brackets that nest too deep (88)', () => {
    const started = performance.now();
    for (const open of ['[', '{a: ', '[\n', '[\n  ', '[{a: ']) {
      const { problems } = checkJobText(`${GOOD}x: ${open.repeat(100_000)}`);
      expect(problems[0]?.message).toMatch(/nested too deeply/);
    }
    expect(performance.now() - started).toBeLessThan(500);
  });

  it('is none for brackets in texts, nor for lists side by side', () => {
    const columns = wide(200, (i) => `  "Price [ no. ${i}": [name, asset_notes] # [ {`);
    const { problems } = checkJobText(`${GOOD}${columns}\n`);
    expect(problems.map(({ message }) => message).join()).not.toMatch(/nested/);
  });

  it('leaves objects as they were (82, 88)', () => {
    checkJobText(`${GOOD}__proto__: { polluted: 1 }\nconstructor: { prototype: { polluted: 1 } }\n`);
    checkJobText(`${GOOD}<<: { __proto__: { polluted: 1 } }\n`);
    expect('polluted' in {}).toBe(false);
  });
});

describe('files around a job', () => {
  let dir: string;
  beforeAll(async () => {
    dir = await mkdtemp(join(tmpdir(), 'rowferry-bombs-'));
  });
  afterAll(() => rm(dir, { recursive: true, force: true }));

  it('a job file over a megabyte is not read at all (88)', async () => {
    await writeFile(join(dir, 'big.yaml'), `${GOOD}# ${'x'.repeat(1024 * 1024)}\n`);
    const said = await checkJobFile(join(dir, 'big.yaml'), { jobsDir: dir }).then(
      () => '',
      (error: unknown) => (error instanceof RunError ? error.message : String(error)),
    );
    expect(said).toMatch(/big\.yaml is \d+ bytes long; a job file may have 1048576 at most/);
  });

  it.each([
    ['names that refer to each other', `ROWFERRY_HOME=\${ROWFERRY_JOBS_DIR}\nROWFERRY_JOBS_DIR=\${ROWFERRY_HOME}\n`],
    ['commands', 'ROWFERRY_HOME=$(touch planted)\n'],
    ['__proto__', '__proto__=x\nconstructor=y\ntoString=z\n'],
    ['100,000 lines', wide(50_000, (i) => `K${i}=v`)],
    ['a quote that stays open', `ROWFERRY_HOME="${'x'.repeat(100_000)}\n`],
    ['blanks', `${' '.repeat(20_000)}\n`.repeat(3)],
  ])('a .env with %s is text and nothing else, read at once (88)', async (_, text) => {
    await writeFile(join(dir, '.env'), text);
    const started = performance.now();
    try {
      expect(resolveSettings({}, {}, dir).home).not.toContain('planted)x');
    } catch (error) {
      expect(error).toBeInstanceOf(RunError);
    }
    expect(performance.now() - started).toBeLessThan(10_000);
    expect(Object.hasOwn(Object.prototype, 'x')).toBe(false);
  });
});
