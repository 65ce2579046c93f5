import type { FieldSpec, FieldType, ReferenceTarget } from './spec.js';

/** Operations a field takes part in under its own name: read, create, update. */
export type Operations = 'r' | 'c' | 'rc' | 'rcu' | 'cu' | '';

type More = Omit<Partial<FieldSpec>, 'name' | 'label' | 'type' | 'section'>;

type Define = (name: string, label: string, type: FieldType, operations: Operations, more?: More) => FieldSpec;

/** A maker of field descriptions of one section of the interface; `more` overrides the paths. */
export function fieldsOf(section: string): Define {
  return (name, label, type, operations, more = {}) => ({
    name,
    label,
    type,
    section,
    ...(operations.includes('r') ? { read: name } : {}),
    ...(operations.includes('c') ? { create: name } : {}),
    ...(operations.includes('u') ? { update: name } : {}),
    ...more,
  });
}

export const text = (max?: number): FieldType => (max === undefined ? { kind: 'text' } : { kind: 'text', max });
export const email = (max: number): FieldType => ({ kind: 'email', max });
export const reference = (to: ReferenceTarget): FieldType => ({ kind: 'reference', to });
export const choice = (values: readonly string[], synonyms: Readonly<Record<string, string>> = {}): FieldType => ({
  kind: 'enum',
  values,
  synonyms,
});

export const date: FieldType = { kind: 'date' };
export const yesNo: FieldType = { kind: 'boolean' };
export const country: FieldType = { kind: 'country' };
export const id: FieldType = { kind: 'integer', min: 1 };

/** Interface, section 2.1: every money-like field of a body. */
export const MONEY_MIN = '0';
export const MONEY_MAX = '999999999999999';
export const money: FieldType = { kind: 'decimal', min: MONEY_MIN, max: MONEY_MAX };
