import { useQuery } from '@tanstack/react-query';
import { useId, useState } from 'react';
import type { Field as ResourceField } from '../../api/schema.js';
import { namesQuery } from '../app/queries.js';
import { Combo } from '../kit/choices.js';
import { Button, Chip } from '../kit/parts.js';

type Fields = readonly ResourceField[];

const labelOf = (fields: Fields, name: string) => fields.find((one) => one.name === name)?.label ?? name;

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
  const move = (at: number, to: number) => {
    const next = chosen.filter((_, place) => place !== at);
    onChange([...next.slice(0, to), chosen[at]!, ...next.slice(to)]);
  };
  return (
    <div className="stack tight">
      {chosen.length > 0 && (
        <ol className="chosen">
          {chosen.map((name, at) => (
            <li key={name} className="line">
              <bdi className="grow cut">{labelOf(fields, name)}</bdi>
              <Button
                icon="up"
                aria-label={`${labelOf(fields, name)}: before`}
                why={at === 0 ? 'It is the first.' : undefined}
                onClick={() => move(at, at - 1)}
              />
              <Button
                icon="close"
                aria-label={`Leave ${labelOf(fields, name)} out`}
                onClick={() => onChange(chosen.filter((one) => one !== name))}
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
          choices={fields
            .filter(({ name }) => !chosen.includes(name))
            .map(({ name, label, group }) => ({ value: name, label, group, hint: name }))}
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
  const [open, setOpen] = useState<string>();
  const named = [...new Set([...filters.map(([field]) => field), ...(open === undefined ? [] : [open])])];
  return (
    <div className="stack tight">
      {named.map((name) => (
        <div key={name} className="filter line">
          <strong>{labelOf(fields, name)}</strong> is
          {filters
            .filter(([field]) => field === name)
            .map((one) => (
              <Chip key={one[1]} on icon="close" onClick={() => onChange(filters.filter((other) => other !== one))}>
                <bdi>{one[1] || 'blank'}</bdi>
                <span className="unseen">, remove</span>
              </Chip>
            ))}
          <Value
            field={fields.find((one) => one.name === name)}
            name={labelOf(fields, name)}
            onAdd={(value) => {
              if (!filters.some(([field, other]) => field === name && other === value))
                onChange([...filters, [name, value]]);
            }}
          />
        </div>
      ))}
      <div>
        <Combo
          label="Filter by a field"
          value=""
          empty={filters.length === 0 ? 'All records; filter by…' : 'Filter by one more field…'}
          choices={fields
            .filter(({ name }) => !named.includes(name))
            .map(({ name, label, group }) => ({ value: name, label, group, hint: name }))}
          onChoose={setOpen}
        />
      </div>
    </div>
  );
}

/** A value that is typed, with what it may be where that is known. */
function Value({
  field,
  name,
  onAdd,
}: {
  field: ResourceField | undefined;
  name: string;
  onAdd: (value: string) => void;
}) {
  const list = useId();
  const [typed, type] = useState('');
  const of = field?.of ?? '';
  const { data } = useQuery({ ...namesQuery(of, typed), enabled: of !== '' });
  const known = field?.type === 'boolean' ? ['yes', 'no'] : field?.choices.length ? field.choices : data?.names;
  return (
    <form
      className="line"
      onSubmit={(event) => {
        event.preventDefault();
        onAdd(typed.trim());
        type('');
      }}
    >
      <input
        className="input"
        aria-label={`Value of ${name}`}
        placeholder={field?.type === 'date' ? '2026-03-31' : 'a value'}
        list={known ? list : undefined}
        value={typed}
        onChange={({ target }) => type(target.value)}
      />
      {known && (
        <datalist id={list}>
          {known.map((one) => (
            <option key={one} value={one} />
          ))}
        </datalist>
      )}
      <Button type="submit">{typed.trim() === '' ? 'Add “blank”' : 'Add'}</Button>
    </form>
  );
}
