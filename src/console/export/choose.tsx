import { useQuery } from '@tanstack/react-query';
import { useEffect, useId, useState } from 'react';
import type { Field as ResourceField } from '../../api/schema.js';
import { namesQuery } from '../app/queries.js';
import { Combo } from '../kit/choices.js';
import { Button } from '../kit/parts.js';

type Fields = readonly ResourceField[];

const labelOf = (fields: Fields, name: string) => fields.find((one) => one.name === name)?.label ?? name;

const choicesOf = (fields: Fields) =>
  fields.map(({ name, label, group }) => ({ value: name, label, group, hint: name }));

/** Which columns, in the order of the file; none chosen means all. */
export function Columns({
  fields,
  chosen,
  onChange,
}: {
  fields: Fields;
  chosen: readonly string[];
  onChange: (columns: readonly string[]) => void;
}) {
  const without = (name: string) => chosen.filter((one) => one !== name);
  return (
    <div className="stack tight">
      {chosen.length > 0 && (
        <ol className="chosen">
          {chosen.map((name, at) => (
            <li key={name} className="line">
              <bdi className="grow cut">{labelOf(fields, name)}</bdi>
              {at > 0 && (
                <Button
                  icon="up"
                  aria-label={`${labelOf(fields, name)}: before`}
                  onClick={() => onChange(without(name).toSpliced(at - 1, 0, name))}
                />
              )}
              <Button
                icon="close"
                aria-label={`Leave ${labelOf(fields, name)} out`}
                onClick={() => onChange(without(name))}
              />
            </li>
          ))}
        </ol>
      )}
      <div className="line">
        <Combo
          label="Add a column"
          value=""
          empty={chosen.length === 0 ? 'All columns; choose some…' : 'Add a column…'}
          choices={choicesOf(fields.filter(({ name }) => !chosen.includes(name)))}
          onChoose={(name) => onChange([...chosen, name])}
        />
        {chosen.length > 0 && (
          <Button look="quiet" onClick={() => onChange([])}>
            All columns
          </Button>
        )}
      </div>
    </div>
  );
}

export type Filter = readonly [field: string, value: string];

/** Of several values of a field any one will do; of several fields all have to fit. */
export function Filters({
  fields,
  filters,
  onChange,
}: {
  fields: Fields;
  filters: readonly Filter[];
  onChange: (filters: readonly Filter[]) => void;
}) {
  return (
    <div className="stack tight">
      {filters.map(([name, value], at) => (
        <Value
          key={`${at} ${name}`}
          field={fields.find((one) => one.name === name)}
          label={labelOf(fields, name)}
          value={value}
          onChange={(next) => onChange(filters.map((one, place) => (place === at ? [name, next] : one)))}
          onRemove={() => onChange(filters.filter((_, place) => place !== at))}
        />
      ))}
      <Combo
        label="Filter by a field"
        value=""
        empty={filters.length === 0 ? 'All records; filter by…' : 'One more, or another value…'}
        choices={choicesOf(fields)}
        onChoose={(name) => onChange([...filters, [name, '']])}
      />
    </div>
  );
}

/** It is typed, with what it may be where that is known. */
function Value({
  field,
  label,
  value,
  onChange,
  onRemove,
}: {
  field: ResourceField | undefined;
  label: string;
  value: string;
  onChange: (value: string) => void;
  onRemove: () => void;
}) {
  const list = useId();
  const [typed, type] = useState(value);
  useEffect(() => type(value), [value]);
  const of = field?.of ?? '';
  const { data } = useQuery({ ...namesQuery(of, typed), enabled: of !== '' });
  const known = field?.type === 'boolean' ? ['yes', 'no'] : field?.choices.length ? field.choices : data?.names;
  return (
    <div className="value-of">
      <strong className="cut">{label}</strong>
      <input
        className="input"
        aria-label={`Value of ${label}`}
        placeholder="blank"
        list={list}
        value={typed}
        onChange={({ target }) => type(target.value)}
        onBlur={() => typed !== value && onChange(typed.trim())}
      />
      <datalist id={list}>
        {known?.map((one) => (
          <option key={one} value={one} />
        ))}
      </datalist>
      <Button icon="close" aria-label={`Without ${label} ${value}`} onClick={onRemove} />
    </div>
  );
}
