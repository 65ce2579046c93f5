import { CONCEPTS } from './vocabulary.js';

/**
 * Headings as words that can be compared: case, accents, camelCase, punctuation, plural and usual abbreviations do not
 * count. Both sides, the headings of a file and the vocabulary of the fields, go through the same steps.
 */

export interface Words {
  /** The words that carry the meaning, sorted; what stands in brackets is not among them. */
  readonly words: readonly string[];
  /** The same in the order of the text. */
  readonly ordered: readonly string[];
  /** And in one piece: `post code` and `Postcode` are one. */
  readonly joined: string;
  /** The words of the text as they are spelt. */
  readonly original: readonly string[];
  /** What stands in brackets: `(EUR)`, `(days)`, `(e.g. Hour)`. */
  readonly bracketed: readonly string[];
}

/** No heading is longer; bounds the work on hostile files. */
const LONGEST = 200;

/** `Total HT/an`, `Rate/Monat`: an amount for a time, not two things in one column. */
export const expandRates = (heading: string): string =>
  heading
    .replace(/\s*\/\s*(?:an|jahr|year|año|ano|anno|jaar)(?!\p{L})\.?/giu, ' annual')
    .replace(/\s*\/\s*(?:mois|monat|month|mes|mese|mês|maand)(?!\p{L})\.?/giu, ' monthly');

/** Whole expressions that lose their meaning when they are cut into words. */
const EXPRESSIONS: readonly (readonly [RegExp, string])[] = [
  [/\b(?:number|no|nr|num|count|nombre|anzahl|numero)\.?\s+of\s+(?=\p{L})/giu, 'quantity '],
  [/#\s*of\s+(?=\p{L})/giu, 'quantity '],
  // `# Licences`
  [/^\s*#\s*(?=\p{L}{4,}s$)/giu, 'quantity '],
  [/(?<![\p{L}\p{N}])s\s*\/\s*n(?![\p{L}\p{N}])/giu, 'serial number'],
  [/(?<![\p{L}\p{N}])p\s*\/\s*n(?![\p{L}\p{N}])/giu, 'part number'],
  [/(?<![\p{L}\p{N}])c\s*\/\s*o(?![\p{L}\p{N}])/giu, 'care of'],
  [/\bmaster\s+(?:services?\s+)?agreements?\b/giu, 'msa'],
  [/\bnon\s*-?\s*disclosure(?:\s+agreements?)?\b/giu, 'nda'],
  // `country_id/name`, `assigned_to_id.display_name`
  [/(?<=\p{L})\s+ids?\s*[/.]\s*(?:(?:display|complete)\s+)?name\s*$/giu, ''],
  // `description_en`
  [/(?<=\p{L}{4}\s)(?:en|fr|de|es|pt|it|nl|eng)\s*$/giu, ''],
  // What an amount is held against is not what it is.
  [/\s(?:vs|versus)\b.*$/iu, ''],
  [/\be[\s-]*mails?\b/giu, 'email'],
  [/\b(cap|op)\s+ex\b/giu, '$1ex'],
  [
    /\b(?:contrat[\s-]+cadre|contrato[\s-]+(?:marco|quadro)|contratto[\s-]+quadro|accordo?[\s-]+(?:cadre|quadro)|acordo[\s-]+quadro|acuerdo[\s-]+marco|rahmenvertrag|raam(?:overeenkomst|contract))(?!\p{L})/giu,
    'msa',
  ],
  [/\bbem\.(?!\p{L})/giu, 'note'],
  [/(?<![\p{L}\p{N}])n\s*\/\s*s(?![\p{L}\p{N}])/giu, 'serial number'],
  [
    /\b(?:raz[oó]n\s+social|raison\s+sociale|rag(?:ione|\.)?\s*soc(?:iale|\.)?|raz[aã]o\s+social)(?!\p{L})/giu,
    'company name',
  ],
  [/\bpr[eé][\s-]+(?=avis)/giu, 'pre'],
  [/\bt\/m\b/giu, 'until'],
  // `F. compra`, `Dt. compra`
  [/(?<!\p{L})(?:f|dt)\.\s*(?=\p{L})/giu, 'date '],
  [/\beo\s?l\b/giu, 'end of life'],
  [/\beo\s?s\b/giu, 'end of support'],
  [/\bwi-?fi\b/giu, 'wifi'],
  // `N. di serie`
  [/(?<!\p{L})n\.\s*(?:o(?!\p{L})\s*)?(?=\p{L})/giu, 'number '],
  [
    /(?<!\p{L})(?:[sc]|sin|con|in[ck]l|e[xk]+[ck]l|zzgl|hors|inc|ex|with(?:out)?)\.?[\s/]+(?:iva|igv|vat|tva|mwst|ust|btw|tax(?:es)?)(?!\p{L})/giu,
    ' ',
  ],
  // `Seriennummer`, `Inventar-Nr.`
  [/(\p{L}{3})-?(?:nummer|nr)(?!\p{L})/giu, '$1 number'],
  [/^\s*address\s*1\s*[:–-]\s*(?=\p{L})/iu, ''],
  // An asset has one tag; several are labels.
  [/(?<!\p{L})tags(?!\p{L})/giu, 'labels'],
  // A suite has one number; so many of a thing are no suite.
  [/^\s*units\s*$/iu, 'quantity'],
  [/\bn[°º]|№/giu, 'number '],
  [/#/gu, ' number '],
  [/%/gu, ' percent '],
  [/&/gu, ' and '],
];

/** Articles and connectives of the languages of the vocabulary. */
const FILLERS = new Set(
  `a an the of for at and or is our your und am vom der die das des dem den la le les l el los las d de del du et y per pro van het een
  voor para aan di dei della delle degli dell il lo gli do dos das al ao pelo pela e zum zur 0`.split(/\s+/),
);

export function wordsOf(text: string): Words {
  let whole = cut(expandRates(text.slice(0, LONGEST).normalize('NFKC')));
  const bracketed: string[] = [];
  whole = whole.replace(/[([{<]([^)\]}>]*)[)\]}>]?/gu, (_, inner: string) => {
    bracketed.push(...pieces(inner));
    return ' ';
  });
  for (const [expression, plain] of EXPRESSIONS) whole = whole.replace(expression, plain);
  const all = pieces(whole);
  // A heading that is nothing but an aside or a filler still has its words.
  const main = all.length > 0 ? all : bracketed.splice(0);
  const significant = main.filter((word) => !FILLERS.has(word));
  const words = (significant.length > 0 ? significant : main).flatMap((word) => expand(word));
  return {
    words: [...new Set(words)].sort(),
    ordered: words,
    joined: words.join(''),
    original: main.map(singular),
    bracketed: bracketed.flatMap((word) => expand(word)),
  };
}

/** Cuts at underscores and in camelCase. */
const cut = (text: string) =>
  text
    .replaceAll('_', ' ')
    .replace(/(\p{Ll})(\p{Lu})/gu, '$1 $2')
    .replace(/(\p{Lu})(\p{Lu}\p{Ll})/gu, '$1 $2');

/** Cuts at blanks, punctuation and between letters and digits; lower case without accents. */
function pieces(text: string): string[] {
  return text
    .replace(/ß/gu, 'ss')
    .replace(/(\p{L})(\p{N})/gu, '$1 $2')
    .replace(/(\p{N})(\p{L})/gu, '$1 $2')
    .replace(/(?<!\p{N})0+(?=\p{N})/gu, '')
    .normalize('NFKD')
    .replace(/\p{M}/gu, '')
    .toLowerCase()
    .split(/[^\p{L}\p{N}]+/u)
    .filter((word) => word !== '');
}

function expand(word: string): string[] {
  return (conceptsOf(word) ?? [word]).map(singular);
}

const ALL_CONCEPTS = new Set([...CONCEPTS.values()].flat());

/** Whether it is what words of headings stand for. */
export const isConcept = (word: string): boolean => ALL_CONCEPTS.has(word);

const conceptsOf = (word: string): readonly string[] | undefined => {
  const found = lookUpConcept(word) ?? lookUpConcept(singular(word)) ?? splitCompound(word);
  // `Gebaeude`, `gueltig`
  return found || !UMLAUT.test(word) ? found : conceptsOf(word.replace(UMLAUT, '$1'));
};

const UMLAUT = /([aou])e/;

function lookUpConcept(word: string): readonly string[] | undefined {
  return CONCEPTS.get(word) ?? (ALL_CONCEPTS.has(word) ? [word] : undefined);
}

/** No word that means something is longer. */
const LONGEST_COMPOUND = 40;

/** `dataaquisicao` and `datadaaquisicao`: what stands between the parts. */
const JOINT = /^(?:d[aeo]|del|du)(?=.{3})/;

/** `Vertragsende`, `Contractwaarde`, `warrantydate`: the parts of a word all of whose parts are known. */
function splitCompound(word: string): readonly string[] | undefined {
  for (let at = Math.min(word.length, LONGEST_COMPOUND) - 3; at >= (/^(?:id|nr)/.test(word) ? 2 : 3); at--) {
    const head = word.slice(0, at);
    const first =
      lookUpConcept(head) ??
      (/(?:s|n|en|es)$/.test(head) ? lookUpConcept(head.replace(/(?:es|en|s|n)$/, '')) : undefined);
    const tail = word.slice(at);
    const rest = first && (conceptsOf(tail) ?? (JOINT.test(tail) ? conceptsOf(tail.replace(JOINT, '')) : undefined));
    if (rest) return [...first, ...rest];
  }
  return undefined;
}

/** The plural is cut on both sides, so that it does not matter whether what is left is a word. */
function singular(word: string): string {
  if (/(?:[ui]ngen|ciones|sses)$/.test(word)) return word.slice(0, -2);
  if (word.endsWith('ien')) return word.slice(0, -1);
  if (word.length < 4 || !word.endsWith('s') || /(?:ss|us|is)$/.test(word)) return word;
  return word.endsWith('ies') ? `${word.slice(0, -3)}y` : word.slice(0, -1);
}
