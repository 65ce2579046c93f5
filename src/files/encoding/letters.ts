/**
 * Letters beyond ASCII that languages use, by which encodings of one byte a character are told apart. `rare`: letters
 * that occur, but speak against the language where they are many.
 */
export interface Language {
  readonly common: ReadonlySet<string>;
  readonly rare: ReadonlySet<string>;
  readonly weight: number;
}

function language(common: string, rare = '', weight = 1): Language {
  return { common: both(common), rare: both(rare), weight };
}

/** The letters in both cases. */
function both(letters: string): ReadonlySet<string> {
  return new Set([
    ...letters,
    ...[...letters].map((letter) => letter.toUpperCase()).filter(({ length }) => length === 1),
  ]);
}

const WESTERN = 'text in a Western European language';
const CENTRAL = 'text in a Central European language';
const CYRILLIC = 'text in Cyrillic letters';

/** What an encoding is used for, as evidence says it. */
export const LOOKS_LIKE: Readonly<Record<string, string>> = {
  'windows-1252': WESTERN,
  'windows-1250': CENTRAL,
  'windows-1254': 'Turkish text',
  'windows-1257': 'text in a Baltic language',
  'windows-1251': CYRILLIC,
  'windows-1253': 'Greek text',
  'windows-1255': 'Hebrew text',
  'windows-1256': 'Arabic text',
  'iso-8859-2': CENTRAL,
  'koi8-r': CYRILLIC,
  cp866: CYRILLIC,
  'iso-8859-5': CYRILLIC,
  macintosh: WESTERN,
  cp850: WESTERN,
};

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

/** Languages by encoding, in the order in which encodings are preferred where nothing speaks for one of them. */
export const LANGUAGES: Readonly<Record<string, readonly Language[]>> = {
  'windows-1252': [
    MIXTURE,
    language('éèêàçâîôûùëïœ', 'ÿæü'),
    language('äöüß', 'éèàáó'),
    language('áéíóúñüº', 'çàªïè'),
    language('ãçáéíóõêâúàôº', 'üª'),
    language('àèéìòù', 'îº'),
    language('åäöøæéðþáíóúý', 'üèà'),
    language('ëéïèö', 'üá'),
  ],
  'windows-1250': CENTRAL_EUROPEAN,
  'windows-1254': [language('çğıöşüİ', 'âîûé')],
  'windows-1257': [language('ąčęėįšųūž'), language('āčēģīķļņšūž'), language('äöüõšž')],
  'windows-1251': [
    RUSSIAN,
    language('оанивіетрслкдмпузябгьйчжхюї', 'цщєфґш'),
    language('аиоетнрсвлкдпмзгяъубчцжщх', 'шюйфь'),
    language('аиоенрстјувкдмлпгзбчшцхћж', 'џфљњђ'),
  ],
  'windows-1253': [language('αοιετσνηυρπκμλςωγδθχάίόέήύώ', 'φβξζψϊϋΐΰ΅')],
  'windows-1255': [language('יוהלאתרבמשנםדקחעפצכסגטזןך', 'ףץ')],
  'windows-1256': [language('االيمنرتوبةعدسفهكقحجشصطىخزأإ', 'ضذثئءغظؤآپچژگ')],
  'iso-8859-2': CENTRAL_EUROPEAN,
  'koi8-r': [RUSSIAN],
  cp866: [RUSSIAN],
  'iso-8859-5': [RUSSIAN],
  macintosh: [{ ...MIXTURE, weight: 0.85 }],
  cp850: [{ ...MIXTURE, weight: 0.85 }],
};

/** Letters that stand only at the end of a word. */
export const FINAL = new Set([...'ςםןץףך']);

/** Signs that people do type, beside letters. */
export const SIGNS = new Set([...'“”‘’‚„–—€£°²³½¼§©®™«»·…•±µ×º¿¡¥´\u00a0']);
