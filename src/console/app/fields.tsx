import { useQuery } from '@tanstack/react-query';
import { type ComponentProps, useId } from 'react';
import type { Field } from '../../api/schema.js';
import type { Choice } from '../kit/choices.js';
import { namesQuery } from './queries.js';

/** Fields of a resource: which one, and what it may hold. */

export function labelOf(fields: readonly Field[], name: string): string {
  return fields.find((one) => one.name === name)?.label ?? name;
}

export function fieldChoices(fields: readonly Field[], groupOf = ({ group }: Field) => group): Choice[] {
  return fields.map((field) => ({ value: field.name, label: field.label, group: groupOf(field), hint: field.name }));
}

/** It is typed, with what it may be where that is known. */
export function ValueInput({
  field,
  value,
  onChange,
  ...rest
}: Omit<ComponentProps<'input'>, 'onChange'> & {
  field: Field | undefined;
  value: string;
  onChange: (value: string) => void;
}) {
  const list = useId();
  const of = field?.of ?? '';
  const { data } = useQuery({ ...namesQuery(of, value), enabled: of !== '' });
  const known = field?.type === 'boolean' ? ['yes', 'no'] : field?.choices.length ? field.choices : data?.names;
  return (
    <>
      <input {...rest} className="input" list={list} value={value} onChange={({ target }) => onChange(target.value)} />
      <datalist id={list}>
        {known?.map((one) => (
          <option key={one} value={one} />
        ))}
      </datalist>
    </>
  );
}
