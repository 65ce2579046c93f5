import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { gzipSync } from 'node:zlib';
import iconv from 'iconv-lite';
import { describe, expect, test } from 'vitest';
import { encodeText, isEncodable } from '../../src/files/encoding/encoding.js';
import { openSource } from '../../src/files/open.js';
import { read, refusal, scratch, writeCsv } from './fixtures.js';

const { folder, file } = await scratch();
let count = 0;
const csv = (content: Buffer | string, name = `e${++count}.csv`) => file(name, content);
const cellsOf = (rows: readonly { cells: readonly unknown[] }[]) => rows.map((row) => row.cells);
const codesOf = (row: { faults?: readonly { code: string }[] } | undefined) => row?.faults?.map((f) => f.code) ?? [];

/** A table of names and places, as people of the encoding write them. */
const SAMPLES: readonly (readonly [string, string])[] = [
  ['windows-1252', 'Name,Ort\nMüller & Söhne,Köln\nSociété Générale,Évry\nPeñalver,Logroño\nSørensen,Århus\n'],
  ['windows-1250', 'Nazwa,Miasto\nŁódź,Kraków\nWrocław,Gdańsk\nCzęstochowa,źródło\n'],
  ['windows-1250', 'Jméno,Město\nDvořák,Plzeň\nŘehoř,České Budějovice\nžluťoučký kůň,Třebíč\n'],
  ['iso-8859-2', 'Nazwa,Miasto\nŁódź,Kraków\nGdańsk,Śląsk\nCzęstochowa,źródło\nJaśkiewicz,Poznań\n'],
  ['windows-1251', 'Название,Город\nИванов Иван,Москва\nновый склад,Санкт-Петербург\n'],
  ['koi8-r', 'Название,Город\nИванов Иван,Москва\nновый склад,Санкт-Петербург\n'],
  ['cp866', 'Название,Город\nИванов Иван,Москва\nновый склад,Санкт-Петербург\n'],
  ['windows-1253', 'Όνομα,Πόλη\nΠαπαδόπουλος,Αθήνα\nοδός Ερμού,Θεσσαλονίκη\n'],
  ['windows-1254', 'Ad,Şehir\nÇağlayan,İstanbul\nŞişli,Eskişehir\nIğdır,Muğla\n'],
  ['windows-1255', 'שם,עיר\nתל אביב,ירושלים\nרחוב הרצל,חיפה\nמחשב נייד,מדפסת\nשולחן עבודה,פתח תקווה\n'],
  ['windows-1256', 'الاسم,المدينة\nمحمد أحمد,القاهرة\nشارع الملك,الرياض\n'],
  ['windows-1257', 'Vardas,Miestas\nKėdainiai,Šiauliai\nPanevėžys,Žemaičių\nMažeikių,Klaipėda\n'],
  ['macintosh', 'Name,Ort\nMüller,Köln\nSociété Générale,Zürich\nGrößer,Übersee\n'],
  ['cp850', 'Name,Ort\nMüller,Köln\nSociété Générale,Zürich\nGrößer,Übersee\n'],
  ['shift_jis', '名前,部署\n山田太郎,ノートパソコン\n株式会社テスト,ひらがな|ソ表\n'],
  ['euc-jp', '名前,部署\n山田太郎,ノートパソコン\n株式会社テスト,ひらがな\n'],
  ['gb18030', '资产名称,部门\n联想笔记本电脑,北京市\n张伟,有限公司\n'],
  ['big5', '資產名稱,部門\n筆記型電腦,台北市\n陳大文,有限公司\n'],
  ['euc-kr', '자산명,부서\n노트북,서울특별시\n김철수,주식회사\n'],
];

const rowsOf = (text: string) =>
  text
    .trim()
    .split('\n')
    .map((line) => line.split(','));

describe('an encoding is detected', () => {
  test.each(SAMPLES)('%s, and read as people wrote it (61)', async (encoding, text) => {
    const { meta, rows } = await read(await csv(iconv.encode(text, encoding)));
    expect([meta.encoding, meta.headings]).toEqual([encoding, rowsOf(text)[0]]);
    expect(cellsOf(rows)).toEqual(rowsOf(text).slice(1));
    expect(meta.evidence.join(' ')).toContain(`read as ${encoding}: so read, it looks like`);
    expect(meta.warnings.filter((warning) => warning.includes('source.encoding'))).toEqual([]);
  });

  test.each([
    ['utf-16le', true, '名前,部署\n山田太郎,東京都\n株式会社,😀\n有限会社,大阪市中央区本町\n'],
    ['utf-16be', true, '名前,部署\n山田太郎,東京都\n株式会社,😀\n有限会社,大阪市中央区本町\n'],
    ['utf-16le', false, 'Name,Ort\nMüller,Łódź\nPeñalver,5 €\n'],
    ['utf-16be', false, 'Name,Ort\nMüller,Łódź\nPeñalver,5 €\n'],
  ])('%s, byte order mark %s, also gzipped (61, 65)', async (encoding, addBOM, text) => {
    const bytes = iconv.encode(text, encoding, { addBOM });
    for (const content of [bytes, gzipSync(bytes)]) {
      const { meta, rows } = await read(await csv(content));
      expect(meta).toMatchObject({ encoding, bom: addBOM, headings: rowsOf(text)[0] });
      expect(cellsOf(rows)).toEqual(rowsOf(text).slice(1));
    }
  });

  test('a character split between two reads of a large file stays whole', async () => {
    for (const [encoding, text] of SAMPLES.filter(([name]) => /jis|big5|gb|kr|1251/.test(name))) {
      const lines = rowsOf(text)
        .slice(1)
        .map((row) => row.join(','));
      const body = Array.from({ length: 30_000 }, (_, i) => `${lines[i % lines.length]}${'x'.repeat(i % 5)}`);
      const { meta, rows } = await read(await csv(iconv.encode(`a,b\n${body.join('\n')}\n`, encoding)));
      expect([encoding, meta.encoding]).toEqual([encoding, encoding]);
      expect(rows.findIndex(({ cells }, i) => cells.join(',') !== body[i])).toBe(-1);
    }
  });

  test('where two stay plausible one is taken, and a warning shows a cell of both (61)', async () => {
    const { meta } = await read(await csv(iconv.encode('Name,Ort\nEspaña,1\n', 'windows-1252')));
    expect(meta.encoding).toBe('windows-1252');
    expect(meta.warnings.join(' ')).toContain(
      'A cell then reads "España", and as windows-1250 "Espańa"; state source.encoding',
    );
    const kanji = await read(await csv(iconv.encode('a,b\n東京,大阪\n山田,名古屋\n', 'euc-jp')));
    expect(kanji.meta.warnings.join(' ')).toMatch(/and as euc-jp "東京"/);
  });

  test('accents of one language in a word of ASCII letters are no Chinese characters', async () => {
    const text = 'Name,Fach\nÄrzte,Äpfel\nÄcker,Ätna\n';
    const { meta, rows } = await read(await csv(iconv.encode(text, 'windows-1252')));
    expect(meta.encoding).toBe('windows-1252');
    expect(cellsOf(rows)).toEqual(rowsOf(text).slice(1));
  });

  test('bytes that speak for nothing are read as windows-1252, and it is said (61)', async () => {
    const { meta, rows } = await read(await csv(Buffer.from('a,b\nx\x81\x8d,1\ny\x90,2\n', 'latin1')));
    expect(meta.encoding).toBe('windows-1252');
    expect(meta.evidence.join(' ')).toContain('no language was recognised');
    expect(meta.warnings.join(' ')).toContain('windows-1252 is a guess: no language was recognised');
    expect(rows.map(codesOf)).toEqual([['invalid_encoding'], ['invalid_encoding']]);
  });

  test.each([
    // In the encoding it is meant in: Müller in Mac Roman, a price in ISO-8859-15.
    ['M\x9fller', 'windows-1250', 'Mźller'],
    ['5 \xa4', 'cp866', '5 д'],
    ['A\xffB', 'windows-1252', 'AÿB'],
  ])('%j alone tells little: read as %s, with a warning that shows it (103)', async (text, encoding, shown) => {
    const { meta } = await read(await csv(Buffer.from(`a,b\n1,${text}\n`, 'latin1')));
    expect(meta.encoding).toBe(encoding);
    expect(meta.warnings[0]).toMatch(`The encoding ${encoding} is a guess: `);
    expect(meta.warnings[0]).toContain(`"${shown}"; state source.encoding`);
  });

  test('the euro of iso-8859-15 is no ¤, as windows-1252 has it at its place (103)', async () => {
    const text = 'Name,Preis\nMüller Büro,Größe 10 €\nStraße,für Köln 25 €\n';
    const { meta, rows } = await read(await csv(iconv.encode(text, 'iso-8859-15')));
    expect([meta.encoding, cellsOf(rows)]).toEqual(['iso-8859-15', rowsOf(text).slice(1)]);
    const { meta: western } = await read(await csv(iconv.encode(text.replace('€', '¤'), 'windows-1252')));
    expect(western.encoding).toBe('windows-1252');
  });

  test('the same word in the most common encoding is no guess', async () => {
    const { meta } = await read(await csv(Buffer.from('a,b\n1,M\xfcller\n', 'latin1')));
    expect([meta.encoding, meta.warnings]).toEqual(['windows-1252', []]);
  });

  test.each([
    ['an overlong form', [0xc0, 0xaf], '\\xC0\\xAF'],
    ['half of a surrogate pair', [0xed, 0xa0, 0x80], '\\xED\\xA0\\x80'],
    ['a character beyond the last', [0xf5, 0x80, 0x80, 0x80], '\\xF5\\x80\\x80\\x80'],
  ])('ASCII with %s is UTF-8 with a fault, never signs of another encoding (103)', async (_, bytes, shown) => {
    const content = Buffer.concat([Buffer.from('a,b\n1,ok\n2,x'), Buffer.from(bytes), Buffer.from('y\n')]);
    const { meta, rows } = await read(await csv(content));
    expect(meta.encoding).toBe('utf-8');
    expect(meta.warnings[0]).toContain('1 place is written as UTF-8 forbids it');
    expect(rows.map(codesOf)).toEqual([[], ['invalid_encoding']]);
    expect(rows[1]!.cells[1]).toBe(`x${shown}y`);
  });
});

describe('an encoding is stated', () => {
  test.each(SAMPLES)('%s, in any spelling (61)', async (encoding, text) => {
    const path = await csv(iconv.encode(text, encoding));
    for (const name of [encoding, encoding.toUpperCase(), encoding.replace(/-/g, '')]) {
      const { meta, rows } = await read(path, { encoding: name });
      expect(meta.encoding).toBe(encoding);
      expect(cellsOf(rows)).toEqual(rowsOf(text).slice(1));
    }
  });

  test('ISO-8859-1 is read as windows-1252, because files of that name hold its characters (61)', async () => {
    const { meta, rows } = await read(await csv(Buffer.from('a,b\n5 \x80,caf\xe9\n', 'latin1')), {
      encoding: 'ISO-8859-1',
    });
    expect(meta.encoding).toBe('windows-1252');
    expect(rows[0]!.cells).toEqual(['5 €', 'café']);
  });

  test('UTF-16 without a byte order in the name: the file says it (61)', async () => {
    for (const encoding of ['utf-16be', 'utf-16le']) {
      const { meta } = await read(await csv(iconv.encode('a,b\n1,é\n', encoding, { addBOM: true })), {
        encoding: encoding.slice(0, 6),
      });
      expect(meta.encoding).toBe(encoding);
    }
  });

  test.each(['base64', 'utf-32le', 'hex', 'utf-7', 'klingon-8'])('%s is no encoding of a table', async (encoding) => {
    const error = await refusal(openSource(await csv('a,b\n1,2\n'), { encoding }));
    expect(error.kind).toBe('usage');
    expect(error.message).toContain(`"${encoding}" is no known encoding`);
  });
});

describe('bytes without a meaning are faults of their cell; of UTF-8 they are spelled out', () => {
  const bad = (encoding: string, before: string, bytes: readonly number[], after: string) =>
    Buffer.concat([iconv.encode(before, encoding), Buffer.from(bytes), iconv.encode(after, encoding)]);
  test.each([
    ['windows-1252', [0x81], '\ufffd'],
    ['windows-1253', [0xd2], '\ufffd'],
    ['utf-8', [0xc0, 0xaf], '\\xC0\\xAF'],
    ['utf-8', [0xed, 0xa0, 0x80], '\\xED\\xA0\\x80'],
    ['utf-8', [0xf4, 0x90, 0x80, 0x80], '\\xF4\\x90\\x80\\x80'],
    ['utf-8', [0xe2, 0x82], '\\xE2\\x82'],
    ['utf-16le', [0x3d, 0xd8], '\ufffd'],
    ['utf-16be', [0xdc, 0x01], '\ufffd'],
    ['shift_jis', [0x81], '\ufffd'],
    ['big5', [0xfe], '\ufffd'],
    ['gb18030', [0xff], '\ufffd'],
    ['euc-kr', [0xc9], '\ufffd'],
    ['euc-jp', [0x8f], '\ufffd'],
  ])('%s %j (61)', async (encoding, bytes, shown) => {
    const { rows } = await read(await csv(bad(encoding, 'a,b\n1,2\nx', bytes, ',3\n4,5\n')), { encoding });
    expect(rows.map(codesOf)).toEqual([[], ['invalid_encoding'], []]);
    expect(rows[1]).toMatchObject({ row: 3, cells: [`x${shown}`, '3'], faults: [{ index: 0 }] });
    expect(rows[1]!.faults![0]!.message).toContain('column A');
    expect(rows[2]!.cells).toEqual(['4', '5']);
  });

  test('a byte too many at the end of UTF-16 (61)', async () => {
    for (const encoding of ['utf-16le', 'utf-16be']) {
      const { rows } = await read(await csv(bad(encoding, 'a,b\n1,2\n3,x', [0x41], '')), { encoding });
      expect(rows.map(codesOf)).toEqual([[], ['invalid_encoding']]);
      expect(rows[1]!.cells[1]).toBe('x\ufffd');
    }
  });

  test('half of a surrogate pair at the border of two reads is whole (61)', async () => {
    const text = `a,b\n${'x'.repeat(11)},😀😀😀\n`.repeat(20_000);
    for (const encoding of ['utf-16le', 'utf-16be']) {
      const { rows } = await read(await csv(iconv.encode(text, encoding, { addBOM: true })));
      expect(rows.every((row) => row.faults === undefined)).toBe(true);
    }
  });
});

describe('UTF-8 into which text of another encoding was pasted', () => {
  const good = ['Müller,Köln', 'Größe,Zürich'];

  test.each([1, 2, 5])('%i such rows are faults, and the others stay as they are (61)', async (foreign) => {
    const pasted = Array.from({ length: foreign }, (_, i) => `Jäger ${i},Ulm\n`).join('');
    const content = [Buffer.from(`Name,Ort\n${good.join('\n')}\n`), iconv.encode(pasted, 'windows-1252')];
    const { meta, rows } = await read(await csv(Buffer.concat(content)));
    expect(meta.encoding).toBe('utf-8');
    expect(cellsOf(rows.slice(0, 2))).toEqual(good.map((line) => line.split(',')));
    expect(rows.slice(2).map(codesOf)).toEqual(Array.from({ length: foreign }, () => ['invalid_encoding']));
    const places = foreign === 1 ? '1 place is damaged' : `${foreign} places are damaged`;
    expect(meta.warnings).toContainEqual(
      expect.stringMatching(`^The file is UTF-8, but ${places}.*those rows are faults`),
    );
  });

  test.each([
    ['Müller,Köln', [0x41, 0xe9]],
    ['5 €,10 €', [0x80]],
    ['O’Neill,it’s', [0x92]],
    ['Müller,Köln', [0x5a, 0xff]],
    ['测试,b', [0xb2]],
    ['José,Zürich', [0x4d, 0xc3]],
  ])(
    'two good characters, %s, and one bad byte: its cell is a fault, and no other is touched (61)',
    async (line, bytes) => {
      const content = [`Name,Ort\n${line}\nx,`, Buffer.from(bytes), `y\n`].map((part) => Buffer.from(part));
      const { meta, rows } = await read(await csv(Buffer.concat(content)));
      expect(meta.encoding).toBe('utf-8');
      expect(cellsOf(rows)[0]).toEqual(line.split(','));
      expect(rows[0]!.faults).toBeUndefined();
      expect(rows[1]!.faults).toMatchObject([{ code: 'invalid_encoding', index: 1 }]);
      expect(meta.warnings).toContainEqual(expect.stringMatching(/^The file is UTF-8, but 1 place is damaged/));
    },
  );

  test('a pair of signs that happens to be UTF-8 is no proof of it', async () => {
    const { meta, rows } = await read(await csv(iconv.encode('Name,Note\nCAFÉ,“É’\nDÉJÀ,“CAFÉ”\n', 'windows-1252')));
    expect(meta.encoding).toBe('windows-1252');
    expect(cellsOf(rows)).toEqual([
      ['CAFÉ', '“É’'],
      ['DÉJÀ', '“CAFÉ”'],
    ]);
  });
});

describe('byte order marks', () => {
  test('in front of files that were put one behind the other are left out (61, 65)', async () => {
    const part = '\ufeff"Name, full",b\n"x, y",1\n';
    for (const encoding of ['utf-8', 'utf-16le', 'utf-16be']) {
      const { meta, rows } = await read(await csv(iconv.encode(part + part, encoding)), { footer: 'keep' });
      expect(meta).toMatchObject({ encoding, bom: true, headings: ['Name, full', 'b'] });
      expect(rows.map(({ cells }) => cells)).toContainEqual(['x, y', '1']);
      expect(rows.flatMap(({ cells }) => cells).join()).not.toContain('\ufeff');
    }
  });
});

test('a byte order mark counts more than what the job states; UTF-32 is refused by its own (61, 65)', async () => {
  const { meta, rows } = await read(await csv('\ufeffa,b\n1,é\n'), { encoding: 'windows-1252' });
  expect([meta.encoding, rows[0]?.cells]).toEqual(['utf-8', ['1', 'é']]);
  expect(meta.warnings[0]).toContain(
    'source.encoding states windows-1252, but the file begins with the byte order mark',
  );
  for (const encoding of ['utf-32le', 'utf-32be']) {
    const error = await refusal(openSource(await csv(iconv.encode('a,b\n1,é\n', encoding, { addBOM: true }))));
    expect(error.message).toContain('a text in UTF-32');
  }
});

test('valid UTF-8 beyond ASCII counts more than an encoding of one byte that the job states', async () => {
  for (const encoding of ['windows-1252', 'macintosh', 'cp850', 'latin1']) {
    const { meta, rows } = await read(await csv('a,b\n1,Müller – Québec\n'), { encoding });
    expect([meta.encoding, rows[0]?.cells]).toEqual(['utf-8', ['1', 'Müller – Québec']]);
    expect(meta.warnings.join()).toContain('but all bytes beyond ASCII are valid UTF-8');
  }
  // `É®` is valid UTF-8 by chance, and plain ASCII says nothing.
  for (const text of ['NESCAFÉ®', 'plain']) {
    const { meta, rows } = await read(await csv(iconv.encode(`a,b\n1,${text}\n`, 'windows-1252')), {
      encoding: 'windows-1252',
    });
    expect([meta.encoding, rows[0]?.cells]).toEqual(['windows-1252', ['1', text]]);
  }
});

describe('Mac Roman is what it is since 1998', () => {
  test.each([
    ['macintosh', [0xdb, 0xbd, 0xf0], '€Ω\uf8ff'],
    ['Mac Roman', [0xdb, 0xa4, 0x9f], '€§ü'],
  ])('%s %j is %j, in and out (103)', async (encoding, bytes, text) => {
    const content = Buffer.concat([Buffer.from('a,b\n1,'), Buffer.from(bytes), Buffer.from('\n')]);
    const { rows } = await read(await csv(content), { encoding });
    expect(cellsOf(rows)).toEqual([['1', text]]);
    expect([...encodeText(text, encoding)]).toEqual(bytes);
  });
});

describe('what is written can be read again', () => {
  test.each([...SAMPLES, ['utf-16le', 'a,b\n😀,é\n'] as const, ['utf-16be', 'a,b\n😀,é\n'] as const])(
    '%s: same encoding, same delimiter, same cells (61)',
    async (encoding, text) => {
      const rows = rowsOf(text).slice(1);
      const path = join(folder, `again-${encoding}.csv`);
      await writeCsv(path, [['a', 'b'], ...rows], { encoding, delimiter: ';', newline: '\r\n' });
      const { meta, rows: again } = await read(path, { encoding });
      expect(meta).toMatchObject({ encoding, delimiter: ';', newline: '\r\n' });
      expect(cellsOf(again)).toEqual(rows);
      expect(isEncodable(text, encoding)).toBe(true);
    },
  );
});

test('a detected encoding costs one look through a large file more, no memory', async () => {
  const path = join(folder, 'large.csv');
  await writeFile(path, Buffer.from(`a,b\n${'caf\xe9 M\xfcnchen,text\n'.repeat(300_000)}`, 'latin1'));
  const source = await openSource(path);
  let rows = 0;
  for await (const batch of source.rows()) rows += batch.filter(({ cells }) => cells[0] === 'café München').length;
  expect([source.meta.encoding, rows]).toEqual(['windows-1252', 300_000]);
});

describe('signs beyond ASCII, without a letter beyond it', () => {
  test.each([
    '12,50 €',
    '€ 12.50',
    '€12.50',
    'Abo 5 € mtl.',
    '£12.50',
    'it’s',
    'O’Neill',
    'A – B',
    '“best”',
    'and so on…',
    'Excel™ 10',
    '20 °C',
    '90°',
    '§ 5',
    '1\u00a0234,50',
    '12 m²',
    '10 µm',
    '3×4',
    '±5',
  ])('%s is windows-1252, in one row and in thirty', async (text) => {
    for (const rows of [1, 30]) {
      const lines = Array.from({ length: rows }, (_, i) => `Item ${i};${text}`);
      const content = iconv.encode(`Name;Cost\r\n${lines.join('\r\n')}\r\n`, 'windows-1252');
      const { meta, rows: found } = await read(await csv(content));
      expect(meta.encoding).toBe('windows-1252');
      expect(found.at(-1)?.cells[1]).toBe(text);
    }
  });

  test('the same bytes within words are letters', async () => {
    for (const [encoding, text] of [
      ['iso-8859-2', 'Łódź'],
      ['windows-1251', 'Иванов'],
      ['cp866', 'Иванов'],
      ['macintosh', 'Crème Fraîche'],
    ] as const) {
      const { meta } = await read(await csv(iconv.encode(`Name;Cost\n${text};5\n${text};6\n`, encoding)));
      expect(meta.encoding).not.toBe('windows-1252');
    }
  });
});

test('a Polish word of many accents does not make the table Cyrillic', async () => {
  const { meta, rows } = await read(
    await csv(iconv.encode('Name;Town\nŁukasz Żółć;Gdańsk\nŻółkiewski;Łódź\n', 'windows-1250')),
  );
  expect(meta.encoding).toBe('windows-1250');
  expect(rows[0]?.cells).toEqual(['Łukasz Żółć', 'Gdańsk']);
});
