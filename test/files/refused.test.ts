import { execFileSync } from 'node:child_process';
import { mkdir } from 'node:fs/promises';
import { join } from 'node:path';
import { gzipSync } from 'node:zlib';
import { describe, expect, test } from 'vitest';
import type { SourceLimits } from '../../src/files/limits.js';
import { openSource } from '../../src/files/open.js';
import { bookOf, bookParts, refusal, scratch, textRows, zipOf } from './fixtures.js';

const { file, folder } = await scratch();
let count = 0;
const refused = async (content: Buffer | string, limits: Partial<SourceLimits> = {}, name = `t${++count}.xlsx`) => {
  const error = await refusal(openSource(await file(name, content), {}, limits));
  expect(error.kind).toBe('failed');
  expect(error.message).not.toMatch(/\n\s+at /);
  return error.message;
};
const xml = textRows([
  ['A', 'B'],
  ['1', '2'],
]);

describe('files that are no table', () => {
  const ole = Buffer.concat([Buffer.from('d0cf11e0a1b11ae1', 'hex'), Buffer.alloc(2_000)]);
  test.each<[string, Buffer | string, string]>([
    ['an empty file', '', 'the file is empty'],
    ['only blanks', ' \r\n\r\n  ', 'holds no rows'],
    ['legacy .xls', ole, 'old binary format (.xls'],
    [
      'a workbook with a password',
      Buffer.concat([ole, Buffer.from('EncryptedPackage', 'utf16le'), Buffer.alloc(100)]),
      'protected by a password',
    ],
    ['PDF', '%PDF-1.7\n%\xe2\xe3', 'a PDF document'],
    ['HTML under the name .xls', '\n<html><body><table><tr><td>1</td></tr></table></body></html>', 'an HTML page'],
    ['HTML that begins with a row', '<tr><td>1</td></tr>', 'an HTML page'],
    ['HTML with a document type', '<!DOCTYPE html>\n<html></html>', 'an HTML page'],
    ['HTML in UTF-16', Buffer.from('\ufeff<html><table>', 'utf16le'), 'an HTML page'],
    [
      'Excel 2003 XML',
      '<?xml version="1.0"?><Workbook xmlns="urn:schemas-microsoft-com:office:spreadsheet"/>',
      'XML spreadsheet of Excel 2003',
    ],
    ['a JSON array', '[{"a":1}]', 'a JSON array'],
    ['a file packed twice', gzipSync(gzipSync('Name,Serial\nA,1\n')), 'a gzip file within another'],
    ['a picture', Buffer.from('\x89PNG\r\n\x1a\n', 'latin1'), 'a PNG image'],
    [
      'binary data',
      Buffer.from(Array.from({ length: 4_000 }, (_, i) => (i * 7919) % 31)),
      'neither text nor a workbook',
    ],
    ['an empty gzip file', gzipSync(''), 'empty once unpacked'],
  ])('%s is named as such (75)', async (_, content, words) => {
    expect(await refused(content)).toContain(words);
  });

  test.each<[string, Record<string, string>, string]>([
    ['a Word document', { 'word/document.xml': '<w/>' }, 'a Word document'],
    ['.xlsb', { 'xl/workbook.bin': 'x' }, '(.xlsb)'],
    ['a zip of photographs', { 'a.jpg': 'x', 'b.jpg': 'y' }, 'holds no workbook (it holds: a.jpg, b.jpg)'],
    ['an empty zip', {}, 'it holds: nothing'],
  ])('%s is named as such (75)', async (_, parts, words) => {
    expect(await refused(zipOf(Object.entries(parts).map(([name, data]) => ({ name, data }))))).toContain(words);
  });

  test('a missing file, a folder and a pipe', async () => {
    expect((await refusal(openSource(join(folder, 'none.csv')))).message).toContain('there is no such file');
    await mkdir(join(folder, 'dir.csv'));
    expect((await refusal(openSource(join(folder, 'dir.csv')))).message).toContain('this is a folder');
    execFileSync('mkfifo', [join(folder, 'pipe.csv')]);
    expect((await refusal(openSource(join(folder, 'pipe.csv')))).message).toContain('this is a pipe');
  });
});

describe('damaged and cut-off files', () => {
  test('gzip cut anywhere after its first bytes', async () => {
    const whole = gzipSync(`a,b\n${Array.from({ length: 500 }, (_, i) => `${i},${i * 7}`).join('\n')}`);
    for (const keep of [20, Math.floor(whole.length / 2), whole.length - 1]) {
      expect(await refused(whole.subarray(0, keep))).toContain('the gzip file is cut off');
    }
    const bad = Buffer.from(whole);
    bad[whole.length - 6]! ^= 0xff;
    expect(await refused(bad)).toContain('gzip file is damaged');
  });
});

describe('hostile files', () => {
  test('a zip bomb is refused by the sizes it states, and by those it hides (78)', async () => {
    const zeros = Buffer.alloc(3_000_000);
    const limits = { ratioFromBytes: 1_000_000, ratio: 100 };
    const bomb = (extra: object) =>
      zipOf([...bookParts({ sheets: [{ xml }] }), { name: 'xl/x.xml', data: zeros, ...extra }]);
    expect(await refused(bomb({}), limits)).toContain('100 times its size');
    const hidden = bookOf({
      sheets: [{ xml }],
      replace: { 'xl/worksheets/sheet1.xml': { data: zeros, statedSize: 1_000 } },
    });
    expect(await refused(hidden, limits)).toContain('sheet1.xml');
    expect(await refused(gzipSync(zeros), limits)).toContain('100 times its size');
    expect(await refused(gzipSync(Buffer.alloc(300_000, 'a,b\n')), { unpackedBytes: 100_000 })).toContain(
      'unpacks to more',
    );
  });
});
