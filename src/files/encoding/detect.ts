import { iconv } from './encoding.js';

/**
 * Tells encodings apart that no mark gives away, by the lines that hold bytes beyond ASCII. What is read wrongly shows:
 * signs within words, capitals behind small letters, letters of two scripts in a word, letters no one language has
 * together, characters of several bytes that are rare or cut in half.
 */

interface Guess {
  readonly encoding: string;
  /** What speaks for it, as the end of a sentence. */
  readonly reason: string;
  /** What a cell then reads, where that is not certain: in quotation marks, perhaps with another reading. */
  readonly doubt?: string;
}

interface Reading {
  readonly encoding: string;
  readonly score: number;
  /** The places beyond ASCII at least; `whole`: all of the lines. */
  readonly text: string;
  readonly whole: () => string;
  readonly language: string;
}

/** Fewer different words show little, but that of the most common encoding. */
const FEW_WORDS = 5;

/** A reading this near to the best one is told. */
const RIVAL_RATIO = 0.92;

/** Below this nothing was recognised. */
const RECOGNISED = 0.55;

/** The encoding of the lines. Nobody types the sign ¤: where windows-1252 has it, and none of its own signs, it is the euro of iso-8859-15. */
export function guessEncoding(lines: Buffer): Guess {
  const guess = likeliestEncoding(lines);
  const hasEuro = lines.includes(0xa4) && !lines.some((byte) => byte >= 0x80 && byte <= 0x9f);
  if (guess.encoding !== 'windows-1252' || !hasEuro) return guess;
  return { encoding: 'iso-8859-15', reason: 'so read, it has euro signs where others read "¤"' };
}

/** The one whose reading looks most like what people write. */
function likeliestEncoding(lines: Buffer): Guess {
  const words = wordsBeyondAscii(lines);
  const readings = [...asianReadings(lines), ...ENCODINGS.map((one) => byteReading(one, words, lines))];
  const highest = readings.reduce((a, b) => (b.score > a.score + 1e-9 ? b : a));
  // Where windows-1252 reads the very same text, it is the one: nothing speaks for a rarer encoding.
  const western = readings.find(({ encoding }) => encoding === 'windows-1252');
  // Prices in euros, a dash, an apostrophe: signs of their own use tell more than letters of any other encoding.
  if (western && onlySigns(western)) {
    const [sign = ''] = western.text.match(NOT_ASCII) ?? [];
    return { encoding: 'windows-1252', reason: `so read, it holds signs only, such as "${sign}"` };
  }
  const best = western && western.text === highest.text && western.score >= RECOGNISED ? western : highest;
  if (best.score < RECOGNISED) {
    const text = iconv().decode(lines, 'windows-1252');
    const reason = 'no language was recognised, so the most common encoding was taken';
    return { encoding: 'windows-1252', reason, doubt: `"${firstCell(text)}"` };
  }
  const rival = readings
    .filter((other) => other !== best && other.score >= best.score * RIVAL_RATIO && other.text !== best.text)
    // Small letters without capitals often read as Cyrillic capitals.
    .filter(({ text }) => /\p{Script=Cyrillic}/u.test(best.text) || !CYRILLIC_CAPITALS.test(text))
    .sort((a, b) => b.score - a.score)[0];
  const hasFewWords = best !== western && new Set(best.whole().match(BEYOND)).size < FEW_WORDS;
  const reason = `so read, ${hasFewWords ? 'a few words look' : 'it looks'} like ${best.language}`;
  const doubt = rival
    ? difference(best.whole(), rival.whole()).join(`, and as ${rival.encoding} `)
    : hasFewWords && `"${firstCell(best.whole())}"`;
  return { encoding: best.encoding, reason, ...(doubt && { doubt }) };
}

/** What is none of the signs that people type. */
const NO_SIGN = /[^\0-\x7f€£¥’‘‚“„«”»–—•·±…®™©§°º²³½¼µ×\u00a0]/;

/** A sign within a word, but for an apostrophe, or two in a row: the same bytes are letters elsewhere. */
const MISPLACED = /\p{L}[^\0-\x7f’\u00a0]\p{L}|[^\0-\x7f\u00a0“”„‘’«»…]{2}/u;

/** Whether what is beyond ASCII is signs only, each in a place of its own. */
function onlySigns(reading: Reading): boolean {
  return !NO_SIGN.test(reading.text) && /[^\0-\x7f]/.test(reading.text) && !MISPLACED.test(reading.whole());
}

const CYRILLIC_CAPITALS = /^(?=.*[А-Я])[^а-яё]*$/su;

/** A word with characters beyond ASCII. */
const BEYOND = /[\p{L}\p{M}]*[^\0-\x7f]+[\p{L}\p{M}]*/gu;

const CELL_END = /[,;\t|\n\r"]/;

const cellExcerpt = (cell: string | undefined) => (cell ?? '').trim().slice(0, 40);

/** The first cell beyond ASCII. */
function firstCell(text: string): string {
  return cellExcerpt(text.split(CELL_END).find((cell) => /[^\0-\x7f]/.test(cell)));
}

/** The first cell that the two readings show otherwise. */
function difference(ours: string, theirs: string): readonly string[] {
  const [a, b] = [ours, theirs].map((text) => text.split(CELL_END)) as [string[], string[]];
  const at = a.findIndex((cell, i) => cell !== b[i]);
  return [a[at], b[at]].map((cell) => `"${cellExcerpt(cell)}"`);
}

const WORD = /[\p{L}\p{M}]+/gu;
const NOT_ASCII = /[^\0-\x7f]/g;
const LETTER = /\p{L}/u;
/** Beside a letter these come from a wrong reading: `³ód¼`. */
const ODD_BESIDE = /[^\0-\x7f“”‘’‚„–—€£°§©®™«»·…•±µ×º´\u00a0]/;
const SCRIPTS = [
  /\p{Script=Latin}/u,
  /\p{Script=Cyrillic}/u,
  /\p{Script=Greek}/u,
  /\p{Script=Hebrew}/u,
  /\p{Script=Arabic}/u,
];

/**
 * The words with bytes beyond ASCII, and one byte beside them, out of the lines: in every encoding of one byte a character
 * no other place says anything about it.
 */
function wordsBeyondAscii(lines: Buffer): Buffer {
  const words = Buffer.allocUnsafe(lines.length);
  let length = 0;
  for (let i = 0, copiedTo = 0; i < lines.length; i++) {
    if (lines[i]! < 0x80) continue;
    let from = i;
    while (from > copiedTo && isLetter(lines[from - 1]!)) from--;
    while (i < lines.length && (lines[i]! >= 0x80 || isLetter(lines[i]!))) i++;
    const end = Math.min(lines.length, i + 1);
    length += lines.copy(words, length, Math.max(copiedTo, from - 1), end);
    copiedTo = end;
  }
  return words.subarray(0, length);
}

/** How the words beyond ASCII of the lines read in an encoding. */
function byteReading(
  [encoding, language, languages]: (typeof ENCODINGS)[number],
  words: Buffer,
  lines: Buffer,
): Reading {
  const text = iconv().decode(words, encoding);
  let all = 0;
  let points = 0;
  for (let i = 0; i < text.length; i++) {
    if (text.charCodeAt(i) < 0x80) continue;
    all++;
    const sign = text[i]!;
    if (!SIGNS.has(sign)) continue;
    const within = LETTER.test(text[i - 1] ?? '') && LETTER.test(text[i + 1] ?? '');
    if (!within || sign === '’') points += 0.8;
  }
  const letters = new Map<string, number>();
  for (const { 0: word, index } of text.matchAll(WORD)) {
    const beyond = word.match(NOT_ASCII);
    if (!beyond) continue;
    const scripts = SCRIPTS.filter((script) => script.test(word)).length;
    // `Gdaсsk` with a Cyrillic letter: nobody writes so.
    if (scripts > 1) points -= 0.5 * beyond.length;
    if (scripts !== 1 || !isPlausibleWord(word, text[index - 1] ?? '', text[index + word.length] ?? '')) continue;
    for (const letter of beyond) letters.set(letter, (letters.get(letter) ?? 0) + 1);
  }
  points += Math.max(...languages.map((one) => pointsOf(letters, one)));
  const whole = () => iconv().decode(lines, encoding);
  return { encoding, text, whole, language, score: points / Math.max(1, all) };
}

function pointsOf(letters: ReadonlyMap<string, number>, { common, rare, weight }: Language): number {
  let points = 0;
  for (const [letter, times] of letters) {
    if (common.has(letter)) points += weight * times;
    else if (rare.has(letter)) points += 0.4 * times;
  }
  return points;
}

/** Whether a word of one script is one that people write: capitals in front or throughout, no sign of another use at it. */
function isPlausibleWord(word: string, before: string, after: string): boolean {
  if (/\p{Script=Latin}/u.test(word) && /[^\0-\x7f]{3}/.test(word.replace(/żół/giu, 'a'))) return false;
  const turn = /\p{Ll}\p{M}*\p{Lu}/u.exec(word);
  if (turn && /[^\0-\x7f]/.test(turn[0])) return false;
  if ([...word.slice(0, -1)].some((letter) => FINAL.has(letter))) return false;
  return !ODD_BESIDE.test(after) && (!ODD_BESIDE.test(before) || before === '¿' || before === '¡');
}

/** Whether a pair of bytes is one of the characters in daily use; encodings put those first. */
type PairTest = (lead: number, trail: number) => boolean;

const ASIAN: readonly { readonly encoding: string; readonly language: string; readonly isCommonPair: PairTest }[] = [
  {
    encoding: 'shift_jis',
    language: 'Japanese',
    isCommonPair: (lead) => (lead >= 0x81 && lead <= 0x83) || (lead >= 0x88 && lead <= 0x97),
  },
  {
    encoding: 'euc-jp',
    language: 'Japanese',
    isCommonPair: (lead) =>
      lead === 0xa1 || lead === 0xa3 || lead === 0xa4 || lead === 0xa5 || (lead >= 0xb0 && lead <= 0xcf),
  },
  {
    encoding: 'gb18030',
    language: 'Chinese (simplified)',
    isCommonPair: (lead, trail) => trail >= 0xa1 && ((lead >= 0xa1 && lead <= 0xa3) || (lead >= 0xb0 && lead <= 0xd7)),
  },
  {
    encoding: 'big5',
    language: 'Chinese (traditional)',
    isCommonPair: (lead) => lead >= 0xa1 && lead <= 0xc6,
  },
  {
    encoding: 'euc-kr',
    language: 'Korean',
    isCommonPair: (lead, trail) => trail >= 0xa1 && ((lead >= 0xa1 && lead <= 0xa3) || (lead >= 0xb0 && lead <= 0xc8)),
  },
];

function isLetter(byte: number): boolean {
  return (byte >= 0x41 && byte <= 0x5a) || (byte >= 0x61 && byte <= 0x7a);
}

/** Fewer characters than this show nothing. */
const FEWEST = 3;

function asianReadings(lines: Buffer): Reading[] {
  return ASIAN.flatMap(({ encoding, language, isCommonPair }) => {
    const text = iconv().decode(lines, encoding);
    const characters = text.match(NOT_ASCII) ?? [];
    const broken = characters.filter((character) => character === '\ufffd').length;
    if (characters.length < FEWEST || broken * 200 > characters.length) return [];
    const counts = { pairs: 0, daily: 0, kana: 0, low: 0, upper: 0, alone: 0 };
    for (let i = 0; i < lines.length; i++) {
      const lead = lines[i]!;
      if (lead < 0x80) continue;
      if (encoding === 'shift_jis' && lead >= 0xa1 && lead <= 0xdf) {
        // Katakana of half width: in use, but nearly any bytes could be some.
        counts.pairs++;
        counts.daily += 0.5;
        continue;
      }
      const before = lines[i - 1] ?? 0;
      const trail = lines[++i] ?? 0;
      counts.pairs++;
      if (isLetter(before) || (before < 0x80 && isLetter(lines[i + 1] ?? 0))) counts.alone++;
      if (isCommonPair(lead, trail)) counts.daily++;
      if (trail < 0xa1) counts.low++;
      if (lead > 0xc8) counts.upper++;
      if (encoding === 'shift_jis' ? lead === 0x82 || lead === 0x83 : lead === 0xa4 || lead === 0xa5) counts.kana++;
    }
    if (counts.pairs === 0) return [];
    const share = (count: number) => count / counts.pairs;
    // A single such character within a word of ASCII letters is an accented letter.
    let score = share(counts.daily) * (1 - 0.5 * share(counts.alone));
    // The encodings share their ranges; each kind of text leaves its own trace in them.
    if (encoding === 'euc-jp') score *= share(counts.kana) > 0.05 ? 1.02 : share(counts.upper) > 0.03 ? 0.94 : 0.88;
    if (encoding === 'gb18030')
      score *= share(counts.kana) > 0.05 ? 0.8 : share(counts.upper) > 0.1 ? 1.01 : counts.pairs < 10 ? 0.95 : 0.85;
    if (encoding === 'euc-kr') score *= share(counts.upper) > 0.03 ? 0.5 : share(counts.kana) > 0.05 ? 0.8 : 1;
    if (encoding === 'big5') score *= share(counts.low) > 0.15 ? 1.01 : 0.8;
    return [{ encoding, score, text, whole: () => text, language }];
  });
}

type Language = ReturnType<typeof language>;

/**
 * Letters beyond ASCII that a language uses, by which encodings of one byte a character are told apart. `rare`: letters
 * that occur, but speak against the language where they are many.
 */
function language(common: string, rare = '', weight = 1) {
  return { common: inBothCases(common), rare: inBothCases(rare), weight };
}

/** The letters in both cases. */
function inBothCases(letters: string): ReadonlySet<string> {
  return new Set([
    ...letters,
    ...[...letters].map((letter) => letter.toUpperCase()).filter(({ length }) => length === 1),
  ]);
}

const CYRILLIC = 'text in Cyrillic letters';

const RUSSIAN = language('оеаинтсрвлкмдпуяыьгзбчй', 'хжшюцщэфёъ');
const CENTRAL_EUROPEAN = [
  language('ąćęłńóśźż', 'üöäéáč'),
  language('áčďéěíňóřšťúůýž', 'öüä'),
  language('áäčďéíľňóôšťúýž', 'ĺŕöü'),
  language('áéíóöőúüű', 'ä'),
  language('čćđšž', 'éöü'),
  language('ăâîşţșț', 'éöü'),
];
/** Explains any mixture of Western languages, so that it counts less than one language does. */
const MIXTURE = language('äöüßàâçèéêëîïôùûáíóúñãõåæøº', 'ìòœÿðþýš', 0.93);

/** What an encoding is used for, in the order in which encodings are preferred where nothing speaks for one of them. */
const ENCODINGS: readonly (readonly [encoding: string, like: string, languages: readonly Language[]])[] = [
  [
    'windows-1252',
    'text in a Western European language',
    [
      MIXTURE,
      language('éèêàçâîôûùëïœ', 'ÿæü'),
      language('äöüß', 'éèàáó'),
      language('áéíóúñüº', 'çàªïè'),
      language('ãçáéíóõêâúàôº', 'üª'),
      language('àèéìòù', 'îº'),
      language('åäöøæéðþáíóúý', 'üèà'),
      language('ëéïèö', 'üá'),
    ],
  ],
  ['windows-1250', 'text in a Central European language', CENTRAL_EUROPEAN],
  ['windows-1254', 'Turkish text', [language('çğıöşüİ', 'âîûé')]],
  ['windows-1257', 'text in a Baltic language', [language('ąčęėįšųūž'), language('āčēģīķļņšūž'), language('äöüõšž')]],
  [
    'windows-1251',
    CYRILLIC,
    [
      RUSSIAN,
      language('оанивіетрслкдмпузябгьйчжхюї', 'цщєфґш'),
      language('аиоетнрсвлкдпмзгяъубчцжщх', 'шюйфь'),
      language('аиоенрстјувкдмлпгзбчшцхћж', 'џфљњђ'),
    ],
  ],
  ['windows-1253', 'Greek text', [language('αοιετσνηυρπκμλςωγδθχάίόέήύώ', 'φβξζψϊϋΐΰ΅')]],
  ['windows-1255', 'Hebrew text', [language('יוהלאתרבמשנםדקחעפצכסגטזןך', 'ףץ')]],
  ['windows-1256', 'Arabic text', [language('االيمنرتوبةعدسفهكقحجشصطىخزأإ', 'ضذثئءغظؤآپچژگ')]],
  ['iso-8859-2', 'text in a Central European language', CENTRAL_EUROPEAN],
  ['koi8-r', CYRILLIC, [RUSSIAN]],
  ['cp866', CYRILLIC, [RUSSIAN]],
  ['iso-8859-5', CYRILLIC, [RUSSIAN]],
  ['macintosh', 'text in a Western European language', [{ ...MIXTURE, weight: 0.85 }]],
  ['cp850', 'text in a Western European language', [{ ...MIXTURE, weight: 0.85 }]],
];

/** Letters that stand only at the end of a word. */
const FINAL = new Set([...'ςםןץףך']);

/** Signs that people do type, beside letters. */
const SIGNS = new Set([...'“”‘’‚„–—€£°²³½¼§©®™«»·…•±µ×º¿¡¥´\u00a0']);
