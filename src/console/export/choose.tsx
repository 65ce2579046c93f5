import { useEffect, useState } from 'react';
import type { Field } from '../../api/schema.js';
import { fieldChoices, labelOf, ValueInput } from '../app/fields.js';
import { Combo } from '../kit/choices.js';
import { Button } from '../kit/parts.js';

interface Choosing<T> {
  readonly fields: readonly Field[];
  readonly chosen: readonly T[];
  readonly onChange: (chosen: readonly T[]) => void;
}

/** Which columns, in the order of the file; none chosen means all. */
export function Columns({ fields, chosen, onChange }: Choosing<string>) {
  const without = (name: string) => chosen.filter((one) => one !== name);
  return (
    <div className="stack tight">
      {chosen.length > 0 && (
        <ol className="chosen stack tight">
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
          choices={fieldChoices(fields.filter(({ name }) => !chosen.includes(name)))}
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
export function Filters({ fields, chosen, onChange }: Choosing<Filter>) {
  return (
    <div className="stack tight">
      {chosen.map(([name, value], at) => (
        <Value
          key={`${at} ${name}`}
          field={fields.find((one) => one.name === name)}
          label={labelOf(fields, name)}
          value={value}
          onChange={(next) => onChange(chosen.with(at, [name, next]))}
          onRemove={() => onChange(chosen.toSpliced(at, 1))}
        />
      ))}
      <Combo
        label="Filter by a field"
        value=""
        empty={chosen.length === 0 ? 'All records; filter by…' : 'One more, or another value…'}
        choices={fieldChoices(fields)}
        onChoose={(name) => onChange([...chosen, [name, '']])}
      />
    </div>
  );
}

/** The address has it once it is typed. */
function Value({
  field,
  label,
  value,
  onChange,
  onRemove,
}: {
  field: Field | undefined;
  label: string;
  value: string;
  onChange: (value: string) => void;
  onRemove: () => void;
}) {
  const [typed, type] = useState(value);
  useEffect(() => type(value), [value]);
  return (
    <div className="value-of">
      <strong className="cut">{label}</strong>
      <ValueInput
        field={field}
        aria-label={`Value of ${label}`}
        placeholder="blank"
        value={typed}
        onChange={type}
        onBlur={() => typed !== value && onChange(typed.trim())}
      />
      <Button icon="close" aria-label={`Without ${label} ${value}`} onClick={onRemove} />
    </div>
  );
}
