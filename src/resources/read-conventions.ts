import { dateOrderOf } from './calendar.js';
import { customType, entriesOf, fieldsByKey, itemsOf } from './custom.js';
import { stepsOf, valueAt } from './path.js';
import { decimalSignOf } from './read-value.js';
import type { ReadOnlySpec } from './registry.js';
import {
  type DateOrder,
  type DecimalSign,
  type FieldType,
  type Lexicon,
  type ResourceSpec,
  readPaths,
} from './spec.js';

/** How the service shows what the interface leaves open, as far as its records tell. */
export interface ReadConventions {
  readonly dateOrder?: DateOrder | undefined;
  readonly decimalSign?: DecimalSign | undefined;
  /** A date whose day and month could be exchanged, where the order is not known. */
  readonly unclearDate?: Example | undefined;
  /** An amount that could be two, where the decimal sign is not known. */
  readonly unclearAmount?: Example | undefined;
}

/** What a record holds, and in which field. */
export interface Example {
  readonly field: string;
  readonly text: string;
}

type Kind = 'date' | 'amount';

/** What texts tell, with the first that tells it; a kind stands for one that could be read in two ways. */
type Evidence = Map<DateOrder | DecimalSign | Kind, Example>;

/** One column of a template or form, of which only the key is known yet. */
interface Column extends Readonly<Record<Kind, Evidence>> {
  readonly at: 'template' | 'form';
  readonly id: number;
  readonly key: string;
}

/** Looks at records one by one; custom fields count once `conclude` is told what they are. */
export class ConventionSurvey {
  readonly #seen: Evidence = new Map();
  readonly #columns = new Map<string, Column>();
  readonly #fields: readonly { readonly name: string; readonly steps: readonly string[]; readonly kind: Kind }[];

  constructor(private readonly spec: ResourceSpec | ReadOnlySpec) {
    this.#fields = spec.fields.flatMap((field) => {
      if ('kind' in field)
        return field.kind === 'date text' ? { name: field.name, steps: [field.name], kind: 'date' } : [];
      const kind = kindOf(field.type);
      return kind ? readPaths(field).map((path) => ({ name: field.name, steps: stepsOf(path), kind })) : [];
    });
  }

  observe(record: Readonly<Record<string, unknown>>): void {
    const { spec } = this;
    for (const { name, steps, kind } of this.#fields) {
      const value = valueAt(record, steps);
      if (typeof value === 'string') note(this.#seen, kind, name, value);
    }
    if (!('template' in spec)) return;
    this.#seeColumns('template', record[spec.template.read], 'fields');
    if (spec.form?.read) this.#seeColumns('form', record[spec.form.read], 'custom_form_data');
  }

  #seeColumns(at: Column['at'], raw: unknown, values: string): void {
    for (const { id, item } of itemsOf(raw)) {
      for (const [key, value] of entriesOf(item[values])) {
        if (typeof value !== 'string' || !/^[-\d]/.test(value.trim())) continue;
        const columnKey = `${at} ${id} ${key}`;
        const column = this.#columns.get(columnKey) ?? { at, id, key, date: new Map(), amount: new Map() };
        this.#columns.set(columnKey, column);
        note(column.date, 'date', key, value);
        note(column.amount, 'amount', key, value);
      }
    }
  }

  conclude(lexicon: Pick<Lexicon, 'template' | 'form'>): ReadConventions {
    const seen: Evidence = new Map(this.#seen);
    for (const column of this.#columns.values()) {
      const type = typeOf(column, lexicon);
      const kind = type && kindOf(type);
      for (const [tells, example] of kind ? column[kind] : []) if (!seen.has(tells)) seen.set(tells, example);
    }
    const either = <T extends DateOrder | DecimalSign>(one: T, other: T): T | undefined =>
      seen.has(one) === seen.has(other) ? undefined : seen.has(one) ? one : other;
    const dateOrder = either('dmy', 'mdy');
    const decimalSign = either('.', ',');
    const amount = seen.get('amount');
    return {
      dateOrder,
      decimalSign,
      unclearDate: dateOrder ? undefined : seen.get('date'),
      // A lone `1.200` is read as JSON would.
      unclearAmount: decimalSign || !amount?.text.includes(',') ? undefined : amount,
    };
  }
}

function kindOf({ kind }: FieldType): Kind | undefined {
  if (kind === 'date') return 'date';
  return kind === 'decimal' || kind === 'integer' ? 'amount' : undefined;
}

function note(seen: Evidence, kind: Kind, field: string, text: string): void {
  const tells = kind === 'date' ? dateOrderOf(text) : decimalSignOf(text);
  const what = tells === 'either' ? kind : tells;
  if (what && !seen.has(what)) seen.set(what, { field, text });
}

function typeOf({ at, id, key }: Column, lexicon: Pick<Lexicon, 'template' | 'form'>): FieldType | undefined {
  const described = lexicon[at](id);
  if (!described) return undefined;
  const field =
    at === 'template' ? fieldsByKey(described, [key]).get(key) : described.fields.find((one) => one.name === key);
  return field && customType(field.dataType);
}
