import { useQuery } from '@tanstack/react-query';
import { useLocation } from 'wouter';
import type { Accepted, Field, Queue } from '../../api/schema.js';
import { capitalize } from '../../report/wording.js';
import { get, type Query, send } from '../app/client.js';
import { ActionError, PagePending } from '../app/faults.js';
import { fieldChoices, labelOf, useFields, ValueInput } from '../app/fields.js';
import { resourcesQuery, useOnce, useSession, useWhyNot } from '../app/queries.js';
import { usePageTitle, useUrlParams } from '../app/shell.js';
import { Combo } from '../kit/choices.js';
import { counted } from '../kit/format.js';
import { Button, Card, Choose } from '../kit/parts.js';
import './export.css';

const FORMATS: Readonly<Record<string, string>> = {
  xlsx: 'Workbook (.xlsx)',
  csv: 'Text (.csv)',
  ndjson: 'Lines of JSON (.ndjson)',
};

type Filter = readonly [field: string, value: string];
type ExportChoice = ReturnType<typeof readChoice>;

/** What is asked for, as the address has it. */
function readChoice(params: URLSearchParams) {
  const format = params.get('format') ?? '';
  return {
    resource: params.get('resource') ?? 'asset',
    columns: params.getAll('column'),
    filters: params.getAll('filter').map((one): Filter => {
      const end = one.indexOf('=');
      return [one.slice(0, end), one.slice(end + 1)];
    }),
    format: format in FORMATS ? format : 'xlsx',
    /** To be changed and imported again. */
    editable: params.has('editable'),
  };
}

export default function Export() {
  usePageTitle('Export');
  const [params, set] = useUrlParams();
  const [, go] = useLocation();
  const { data, error } = useQuery(resourcesQuery);
  const { company_name, company } = useSession();
  const whyNot = useWhyNot('operator');
  const choice = readChoice(params);
  const { resource, columns, filters, format, editable } = choice;
  const change = (to: Query) => set(to, true);
  const begin = useOnce({ mutationFn: () => orderExport(choice), onSuccess: ({ id }) => go(`/runs/${id}`) });
  const resources = data?.resources.filter(({ exported }) => exported) ?? [];
  const { imported, fields: own } = resources.find(({ name }) => name === resource) ?? { imported: false, fields: [] };
  const fields = useFields({ name: resource, fields: own }, imported);
  if (!data) return <PagePending page="Export" error={error} />;
  return (
    <div className="stack export">
      <h1>{summaryText(choice, company_name ?? `company ${company}`)}</h1>
      <Card title="What goes into the file">
        <div className="stack">
          <div className="line wide">
            <Choose
              label="Records"
              value={resource}
              options={resources.map(({ name }) => [name, plural(name)])}
              onChoose={(name) => change({ resource: name, column: null, filter: null, editable: null })}
            />
            <Choose
              label="File"
              value={format}
              options={Object.entries(FORMATS)}
              onChoose={(name) => change({ format: name })}
            />
          </div>
          <div className="two">
            <fieldset className="field">
              <legend>Columns</legend>
              <Columns fields={fields} chosen={columns} onChange={(names) => change({ column: names })} />
            </fieldset>
            <fieldset className="field">
              <legend>Only records whose…</legend>
              <Filters
                fields={fields}
                chosen={filters}
                onChange={(all) => change({ filter: all.map((one) => one.join('=')) })}
              />
            </fieldset>
          </div>
          {imported && (
            <label className="line">
              <input
                type="checkbox"
                checked={editable}
                onChange={({ target }) => change({ editable: target.checked ? 'yes' : null })}
              />
              To be changed and imported again
            </label>
          )}
          <div className="line wide">
            <Button look="primary" icon="export" why={whyNot} change={begin} word="Export" />
            <span className="soft">{whyNot ?? 'Nothing is written to the service.'}</span>
          </div>
          <ActionError error={begin.error} />
        </div>
      </Card>
    </div>
  );
}

interface PickerProps<T> {
  readonly fields: readonly Field[];
  readonly chosen: readonly T[];
  readonly onChange: (chosen: readonly T[]) => void;
}

/** Which columns, in the order in which they were chosen; none means all. */
function Columns({ fields, chosen, onChange }: PickerProps<string>) {
  return (
    <div className="stack tight">
      {chosen.map((name, at) => {
        const label = labelOf(fields, name);
        return (
          <div key={name} className="line">
            <bdi className="grow cut">{label}</bdi>
            <Button icon="close" aria-label={`Leave ${label} out`} onClick={() => onChange(chosen.toSpliced(at, 1))} />
          </div>
        );
      })}
      <Combo
        label="Add a column"
        value=""
        empty={chosen.length === 0 ? 'All columns; choose some…' : 'Add a column…'}
        choices={fieldChoices(fields.filter(({ name }) => !chosen.includes(name)))}
        onChoose={(name) => onChange([...chosen, name])}
      />
    </div>
  );
}

/** Of several values of a field any one will do; of several fields all have to fit. */
function Filters({ fields, chosen, onChange }: PickerProps<Filter>) {
  return (
    <div className="stack tight">
      {chosen.map(([name, value], at) => {
        const label = labelOf(fields, name);
        return (
          <div key={`${at} ${name}`} className="value-of">
            <strong className="cut">{label}</strong>
            <ValueInput
              field={fields.find((one) => one.name === name)}
              aria-label={`Value of ${label}`}
              autoFocus={value === ''}
              placeholder="blank"
              value={value}
              onChange={(next) => onChange(chosen.with(at, [name, next]))}
            />
            <Button
              icon="close"
              aria-label={`Without ${label} ${value}`}
              onClick={() => onChange(chosen.toSpliced(at, 1))}
            />
          </div>
        );
      })}
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

/** `asset-owner` → `Asset owners` */
function plural(resource: string): string {
  const name = capitalize(resource.replaceAll('-', ' '));
  return name.endsWith('y') ? `${name.slice(0, -1)}ies` : `${name}${name.endsWith('s') ? 'es' : 's'}`;
}

function summaryText({ resource, columns, filters }: ExportChoice, company: string): string {
  const recordsText = filters.length === 0 ? 'all records' : 'those that fit';
  const columnsText = columns.length === 0 ? 'all columns' : counted(columns.length, 'column');
  return `${plural(resource)} of ${company}: ${recordsText}, ${columnsText}`;
}

/** The file lies in the data folder, under a name of its own; nothing that was exported before is written over. */
async function orderExport({ resource, columns, filters, format, editable }: ExportChoice): Promise<Accepted> {
  const { roots } = await get<Queue>('/queue');
  const stamp = new Date().toISOString().replace(/\D/g, '');
  const records = plural(resource).toLowerCase().replaceAll(' ', '-');
  const name = `exports/${records}-${stamp.slice(0, 8)}-${stamp.slice(8)}.${format}`;
  const filter = Object.fromEntries(
    filters.map(([field]) => [field, filters.filter(([other]) => other === field).map(([, value]) => value)]),
  );
  // The first folder that a worker may use is its data folder.
  const output = roots?.[0] === undefined ? name : `${roots[0]}/${name}`;
  const job = { kind: 'export', resource, ...(columns.length > 0 && { columns }), filter, editable, output };
  return send('POST', '/runs', { kind: 'export', job });
}
