import { createRequire } from 'node:module';
import type Iconv from 'iconv-lite';

/**
 * What the Macintosh encodings are since Mac OS 8.5 (1998) and, Cyrillic, 9.0: the library has what they were before.
 * Byte → character, as in Apple's tables at unicode.org.
 */
const SINCE_1998: Readonly<Record<string, Readonly<Record<number, string>>>> = {
  macintosh: { 189: 'Ω', 219: '€', 240: '\uf8ff' },
  macroman: { 189: 'Ω', 219: '€', 240: '\uf8ff' },
  maciceland: { 189: 'Ω', 219: '€', 240: '\uf8ff' },
  maccroatian: { 189: 'Ω', 216: '\uf8ff', 219: '€' },
  macromania: { 175: 'Ș', 189: 'Ω', 191: 'ș', 219: '€', 222: 'Ț', 223: 'ț', 240: '\uf8ff' },
  macturkish: { 189: 'Ω', 240: '\uf8ff', 245: '\uf8a0' },
  maccyrillic: { 162: 'Ґ', 182: 'ґ', 255: '€' },
  macukraine: { 255: '€' },
  macgreek: { 156: '€', 175: '·', 255: '\u00ad' },
};

let loaded: typeof Iconv | undefined;

/** The library and its tables, loaded by the first file that is not UTF-8. */
export function iconv(): typeof Iconv {
  if (!loaded) {
    const library = createRequire(import.meta.url)('iconv-lite') as typeof Iconv;
    library.encodingExists('macroman');
    for (const [name, changed] of Object.entries(SINCE_1998)) {
      const table = library.encodings![name] as unknown as { chars: string };
      const characters = [...table.chars];
      // The table holds 256 characters, or the upper 128 alone.
      for (const [byte, character] of Object.entries(changed)) {
        characters[characters.length - 0x100 + Number(byte)] = character;
      }
      table.chars = characters.join('');
      delete library._codecDataCache?.[name];
    }
    loaded = library;
  }
  return loaded;
}
