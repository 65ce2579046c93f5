import { useQuery } from '@tanstack/react-query';
import { type ComponentProps, useCallback, useId, useMemo } from 'react';
import type { Field, Resource } from '../../api/schema.js';
import type { Choice } from '../kit/choices.js';
import { customFieldsQuery, namesQuery, resourcesQuery } from './queries.js';

/** One that is not known may be a custom one: `template.Finance.Cost Centre` → `Finance: Cost Centre`. */
export function labelOf(fields: readonly Field[], name: string): string {
  return fields.find((one) => one.name === name)?.label ?? name.replace(/^(?:template|form)\.([^.]*)\./, '$1: ');
}

const NO_FIELDS: readonly Field[] = [];

export function useResourceFields(resource: string | undefined): readonly Field[] {
  const { data } = useQuery(resourcesQuery);
  return data?.resources.find(({ name }) => name === resource)?.fields ?? NO_FIELDS;
}

/** What people call the fields of a resource; one that is not known keeps its name. */
export function useLabels(resource: string | undefined): (name: string) => string {
  const fields = useResourceFields(resource);
  return useCallback((name) => labelOf(fields, name), [fields]);
}

export function fieldChoices(fields: readonly Field[], groupOf = ({ group }: Field) => group): Choice[] {
  return fields.map((field) => ({ value: field.name, label: field.label, group: groupOf(field), hint: field.name }));
}

/** Those of the resource, and the custom ones of this service. */
export function useFields({ name, fields }: Pick<Resource, 'name' | 'fields'>, on = true): Field[] {
  const { data } = useQuery({ ...customFieldsQuery(name), enabled: on });
  return useMemo(() => {
    const custom = (data?.names ?? []).map((own): Field => {
      return { ...CUSTOM_FIELD, choices: [], name: own, label: labelOf([], own) };
    });
    return [...fields, ...custom];
  }, [fields, data]);
}

const CUSTOM_FIELD = {
  group: 'Custom fields',
  type: 'text',
  required: false,
  of: null,
  written: true,
  updated: true,
} as const;

interface ValueInputProps extends Omit<ComponentProps<'input'>, 'onChange'> {
  readonly field: Field | undefined;
  readonly value: string;
  readonly onChange: (value: string) => void;
}

/** It is typed, with what it may be where that is known. */
export function ValueInput({ field, value, onChange, ...rest }: ValueInputProps) {
  const list = useId();
  const of = field?.of ?? '';
  const { data } = useQuery({ ...namesQuery(of, value), enabled: of !== '' });
  const suggestions = field?.type === 'boolean' ? ['yes', 'no'] : field?.choices.length ? field.choices : data?.names;
  return (
    <>
      <input {...rest} className="input" list={list} value={value} onChange={({ target }) => onChange(target.value)} />
      <datalist id={list}>
        {suggestions?.map((one) => (
          <option key={one} value={one} />
        ))}
      </datalist>
    </>
  );
}
