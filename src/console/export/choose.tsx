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
        <div key={`${at} ${name}`} className="value-of">
          <strong className="cut">{labelOf(fields, name)}</strong>
          <ValueInput
            field={fields.find((one) => one.name === name)}
            aria-label={`Value of ${labelOf(fields, name)}`}
            placeholder="blank"
            value={value}
            onChange={(next) => onChange(chosen.with(at, [name, next]))}
          />
          <Button
            icon="close"
            aria-label={`Without ${labelOf(fields, name)} ${value}`}
            onClick={() => onChange(chosen.toSpliced(at, 1))}
          />
        </div>
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
