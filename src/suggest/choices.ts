import { distance } from 'fastest-levenshtein';
import { foldText } from '../pipeline/headings.js';
import { booleanValue, enumValue } from '../resources/enum-match.js';
import type { FieldSpec, FieldType } from '../resources/spec.js';
import { wordsOf } from './words.js';

/** What the texts of a column mean in a list of the service. */
export interface ChoiceFinding {
  /** Texts that are read without help. */
  readonly known: readonly string[];
  /** Text → value, where it means one value for certain but in other words. */
  readonly suggested: ReadonlyMap<string, string>;
  readonly open: readonly string[];
}

type EnumType = Extract<FieldType, { kind: 'enum' }>;

/** Words of other languages and of everyday use, by field and value; each means one value and no other. */
const WORDS: Readonly<Record<string, Readonly<Record<string, readonly string[]>>>> = {
  status: {
    active: [
      'live',
      'current',
      'valid',
      'running',
      'in effect',
      'aktiv',
      'laufend',
      'actif',
      'en vigueur',
      'activo',
      'vigente',
    ],
    archived: ['archiviert', 'archive', 'archivado'],
    cancelled: ['storniert', 'annule', 'cancelado', 'anulado'],
    draft: ['entwurf', 'brouillon', 'borrador'],
    expired: ['lapsed', 'abgelaufen', 'expire', 'vencido', 'caducado'],
    suspended: ['on hold', 'ausgesetzt', 'suspendu', 'suspendido'],
    terminated: ['gekundigt', 'resilie', 'rescindido'],
  },
  contract_type: {
    buy_side: ['buying', 'purchasing', 'inbound', 'einkauf', 'einkaufsvertrag', 'achat', 'compra'],
    sell_side: ['selling', 'outbound', 'verkauf', 'verkaufsvertrag', 'vente', 'venta'],
  },
  warranty_type: { none: ['without', 'keine', 'aucune', 'ninguna'], oem: ['original manufacturer', 'hersteller'] },
  support_type: { none: ['without', 'keine', 'aucun', 'ninguno'], oem: ['original manufacturer', 'hersteller'] },
  'expenditure_type.type': { capex: ['investition', 'investissement'], opex: ['betrieb', 'exploitation'] },
  financing: { leased: ['leasing', 'gemietet'], self_paid: ['cash', 'own fund', 'eigenmittel'] },
  'contact_person.type': {
    sales: ['vertrieb'],
    billing: ['accounts', 'buchhaltung', 'invoices'],
    technical: ['it', 'technik', 'technique'],
  },
};

export function surveyChoices(field: FieldSpec, texts: Iterable<string>): ChoiceFinding {
  const known: string[] = [];
  const open: string[] = [];
  const suggested = new Map<string, string>();
  const seen = new Set<string>();
  for (const text of texts) {
    // A job translates a text whatever its case, and states it once.
    if (seen.has(foldText(text))) continue;
    seen.add(foldText(text));
    if (isKnown(field.type, text)) known.push(text);
    else {
      const value = field.type.kind === 'enum' ? meant(field, field.type, text) : undefined;
      if (value === undefined) open.push(text);
      else suggested.set(text, value);
    }
  }
  return { known, suggested, open };
}

function isKnown(type: FieldType, text: string): boolean {
  if (type.kind === 'boolean') return booleanValue(text) !== undefined;
  return type.kind === 'enum' && enumValue(type, text) !== undefined;
}

/** Words that a value of a list carries without changing what it says. */
const ADDED = new Set(['contract', 'agreement', 'type', 'status', 'warranty', 'support', 'schedule', 'depreciation']);

/** The only value that the text can mean: an everyday word, the value with words that add nothing, or a misspelling. */
function meant(field: FieldSpec, type: EnumType, text: string): string | undefined {
  const said = wordsOf(text);
  const everyday = Object.hasOwn(WORDS, field.name) ? WORDS[field.name]! : {};
  for (const [value, words] of Object.entries(everyday)) {
    if (type.values.includes(value) && words.some((word) => wordsOf(word).words.join(' ') === said.words.join(' ')))
      return value;
  }
  const bare = text.split(/[\s_-]+/u).filter((word) => !ADDED.has(foldText(word)));
  const shorter = bare.length > 0 ? enumValue(type, bare.join(' ')) : undefined;
  if (shorter !== undefined) return shorter;
  return misspelt(type, text);
}

function misspelt(type: EnumType, text: string): string | undefined {
  const folded = squeeze(text);
  if (folded.length < 6) return undefined;
  const limit = folded.length < 9 ? 1 : 2;
  const near = type.values.filter((value) => distance(squeeze(value), folded) <= limit);
  // `cancelled` and `canceled` are one, `net_30` and `net_60` are not: digits must agree.
  const [only, ...others] = near.filter((value) => value.replace(/\D/g, '') === text.replace(/\D/g, ''));
  return others.length === 0 ? only : undefined;
}

const squeeze = (text: string) => foldText(text).replace(/[^\p{L}\p{N}]/gu, '');
