import { dateOrderOf } from './calendar.js';
import { customType, entriesOf, fieldsByKey } from './custom.js';
import { isObject, stepsOf, valueAt } from './path.js';
import { decimalSignOf, recordId } from './read-value.js';
import type { DateOrder, DecimalSign, FieldType, Lexicon, ResourceSpec } from './spec.js';

/** How the service shows what the interface leaves open, as far as its records tell. */
export interface Habits {
  readonly dateOrder?: DateOrder;
  readonly decimalSign?: DecimalSign;
  /** A date whose day and month could be exchanged, where the order is not known. */
  readonly unclearDate?: Example;
  /** An amount that could be two, where the decimal sign is not known. */
  readonly unclearAmount?: Example;
}

/** What a record holds, and in which field. */
export interface Example {
  readonly field: string;
  readonly text: string;
}

/** Looks at records one by one; custom fields count once `conclude` is told what they are. */
interface HabitSurvey {
  see(record: Readonly<Record<string, unknown>>): void;
  conclude(lexicon: Pick<Lexicon, 'template' | 'form'>): Habits;
}

/** What dates tell of the order of day and month, with the first text that tells it. */
export type DatesSeen = Map<DateOrder | 'either', Example>;

/** Evidence for each habit, with the first text that bears it. */
interface Evidence {
  readonly dates: DatesSeen;
  readonly amounts: Map<DecimalSign | 'either', Example>;
}

/** One column of a template or form, of which only the key is known yet. */
interface Column extends Evidence {
  readonly kind: 'template' | 'form';
  readonly id: number;
  readonly key: string;
}

const none = (): Evidence => ({ dates: new Map(), amounts: new Map() });

export function habitSurvey(spec: ResourceSpec): HabitSurvey {
  const own = none();
  const columns = new Map<string, Column>();
  const paths = spec.fields.flatMap(({ name, type, read, readElse = [] }) =>
    isDate(type) || isAmount(type)
      ? [...(read === undefined ? [] : [read]), ...readElse].map((path) => ({
          name,
          steps: stepsOf(path),
          date: isDate(type),
        }))
      : [],
  );
  const seeColumns = (kind: Column['kind'], raw: unknown, values: string) => {
    for (const item of Array.isArray(raw) ? raw : [raw]) {
      const id = isObject(item) ? recordId(item['id']) : undefined;
      if (!isObject(item) || id === undefined) continue;
      for (const [key, value] of entriesOf(item[values])) {
        if (typeof value !== 'string' || !/^[-\d]/.test(value.trim())) continue;
        const at = `${kind} ${id} ${key}`;
        const column = columns.get(at) ?? { kind, id, key, ...none() };
        columns.set(at, column);
        noteDate(column.dates, key, value);
        noteAmount(column.amounts, key, value);
      }
    }
  };
  return {
    see(record) {
      for (const { name, steps, date } of paths) {
        const value = valueAt(record, steps);
        if (typeof value !== 'string') continue;
        if (date) noteDate(own.dates, name, value);
        else noteAmount(own.amounts, name, value);
      }
      seeColumns('template', record[spec.template.read], 'fields');
      if (spec.form?.read) seeColumns('form', record[spec.form.read], 'custom_form_data');
    },
    conclude(lexicon) {
      const dates = new Map(own.dates);
      const amounts = new Map(own.amounts);
      for (const column of columns.values()) {
        const type = typeOf(column, lexicon);
        if (type && isDate(type)) addTo(dates, column.dates);
        if (type && isAmount(type)) addTo(amounts, column.amounts);
      }
      return { ...dateHabit(dates), ...amountHabit(amounts) };
    },
  };
}

const isDate = (type: FieldType): boolean => type.kind === 'date';
const isAmount = (type: FieldType): boolean => type.kind === 'decimal' || type.kind === 'integer';

export function noteDate(to: DatesSeen, field: string, text: string): void {
  const tells = dateOrderOf(text);
  if (tells && !to.has(tells)) to.set(tells, { field, text });
}

function noteAmount(to: Evidence['amounts'], field: string, text: string): void {
  const tells = decimalSignOf(text);
  if (tells && !to.has(tells)) to.set(tells, { field, text });
}

function addTo<K>(all: Map<K, Example>, more: ReadonlyMap<K, Example>): void {
  for (const [tells, example] of more) if (!all.has(tells)) all.set(tells, example);
}

function typeOf({ kind, id, key }: Column, lexicon: Pick<Lexicon, 'template' | 'form'>): FieldType | undefined {
  const described = kind === 'template' ? lexicon.template(id) : lexicon.form(id);
  if (!described) return undefined;
  const field =
    kind === 'template' ? fieldsByKey(described, [key]).get(key) : described.fields.find((one) => one.name === key);
  return field && customType(field.dataType);
}

export function dateHabit(seen: DatesSeen): Habits {
  const [dmy, mdy, unclear] = [seen.has('dmy'), seen.has('mdy'), seen.get('either')];
  if (dmy !== mdy) return { dateOrder: dmy ? 'dmy' : 'mdy' };
  return unclear ? { unclearDate: unclear } : {};
}

function amountHabit(seen: Evidence['amounts']): Habits {
  const [point, comma, unclear] = [seen.has('.'), seen.has(','), seen.get('either')];
  if (point !== comma) return { decimalSign: point ? '.' : ',' };
  // A lone `1.200` is read as JSON would.
  return unclear?.text.includes(',') ? { unclearAmount: unclear } : {};
}
