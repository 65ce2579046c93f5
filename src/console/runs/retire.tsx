import { useQuery } from '@tanstack/react-query';
import { ValueInput } from '../app/fields.js';
import { resourcesQuery } from '../app/queries.js';
import { Choose, Field } from '../kit/parts.js';

/** What an undo gives to the records that the run created; nothing where `field` is ''. */
export interface Retirement {
  readonly field: string;
  readonly value: string;
}

interface RetireProps {
  readonly resource: string;
  readonly value: Retirement;
  readonly onChange: (value: Retirement) => void;
}

export function Retire({ resource, value: { field, value }, onChange }: RetireProps) {
  const { data } = useQuery(resourcesQuery);
  const fields = data?.resources.find(({ name }) => name === resource)?.fields.filter(({ written }) => written) ?? [];
  // One of them mostly says that a record is out of use.
  const choices = fields.toSorted((a, b) => Number(b.type === 'choice') - Number(a.type === 'choice'));
  const chosen = fields.find(({ name }) => name === field);
  return (
    <div className="fields">
      <Choose
        label="Records that it created get"
        value={field}
        options={[['', 'what its job says, else nothing'], ...choices.map(({ name, label }) => [name, label] as const)]}
        onChoose={(name) => onChange({ field: name, value: '' })}
      />
      {chosen && (
        <Field label={chosen.label}>
          {(props) => (
            <ValueInput {...props} field={chosen} value={value} onChange={(text) => onChange({ field, value: text })} />
          )}
        </Field>
      )}
    </div>
  );
}
