import { useQuery } from '@tanstack/react-query';
import { useLocation } from 'wouter';
import type { Accepted, Field, Queue } from '../../api/schema.js';
import { capital } from '../../report/words.js';
import { get, send } from '../app/client.js';
import { NotThere, Refused } from '../app/faults.js';
import { fieldChoices, labelOf, useFields, ValueInput } from '../app/fields.js';
import { resourcesQuery, useOnce, useSession, useWhyNot } from '../app/queries.js';
import { useAddress, usePageTitle } from '../app/shell.js';
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
type Wish = ReturnType<typeof wishOf>;

/** What is asked for, as the address has it. */
function wishOf(params: URLSearchParams) {
  const format = params.get('format') ?? '';
  return {
    resource: params.get('resource') ?? 'asset',
    columns: params.get('columns')?.split(',') ?? [],
    filters: params.getAll('filter').map((one): Filter => {
      const end = one.indexOf('=');
      return [one.slice(0, end), one.slice(end + 1)];
    }),
    format: format in FORMATS ? format : 'xlsx',
    /** To be changed and imported again. */
    editable: params.has('editable'),
  };
}

const NOTHING = { imported: false, fields: [] };

export default function Export() {
  usePageTitle('Export');
  const [params, set] = useAddress();
  const [, go] = useLocation();
  const { data, error } = useQuery(resourcesQuery);
  const { company_name, company } = useSession();
  const mayNot = useWhyNot('operator');
  const wish = wishOf(params);
  const begin = useOnce({ mutationFn: () => order(wish), onSuccess: ({ id }) => go(`/runs/${id}`) });
  const resources = data?.resources.filter(({ exported }) => exported) ?? [];
  const { imported, fields: own } = resources.find(({ name }) => name === wish.resource) ?? NOTHING;
  const fields = useFields({ name: wish.resource, fields: own }, imported);
  if (!data) return <NotThere page="Export" error={error} />;
  return (
    <div className="stack export">
      <h1>{told(wish, company_name ?? `company ${company}`)}</h1>
      <Card title="What goes into the file">
        <div className="stack">
          <div className="line wide">
            <Choose
              label="Records"
              value={wish.resource}
              options={resources.map(({ name }) => [name, plural(name)])}
              onChoose={(resource) => set({ resource, columns: null, filter: null, editable: null }, true)}
            />
            <Choose
              label="File"
              value={wish.format}
              options={Object.entries(FORMATS)}
              onChoose={(format) => set({ format }, true)}
            />
          </div>
          <div className="two">
            <fieldset className="field">
              <legend>Columns</legend>
              <Columns
                fields={fields}
                chosen={wish.columns}
                onChange={(columns) => set({ columns: columns.join() }, true)}
              />
            </fieldset>
            <fieldset className="field">
              <legend>Only records whose…</legend>
              <Filters
                fields={fields}
                chosen={wish.filters}
                onChange={(filters) => set({ filter: filters.map((one) => one.join('=')) }, true)}
              />
            </fieldset>
          </div>
          {imported && (
            <label className="line">
              <input
                type="checkbox"
                checked={wish.editable}
                onChange={({ target }) => set({ editable: target.checked ? 'yes' : null }, true)}
              />
              To be changed and imported again
            </label>
          )}
          <div className="line wide">
            <Button look="primary" icon="export" why={mayNot} busy={begin.isPending} onClick={() => begin.mutate()}>
              Export
            </Button>
            <span className="soft">{mayNot ?? 'Nothing is written to the service.'}</span>
          </div>
          <Refused error={begin.error} />
        </div>
      </Card>
    </div>
  );
}

interface Choosing<T> {
  readonly fields: readonly Field[];
  readonly chosen: readonly T[];
  readonly onChange: (chosen: readonly T[]) => void;
}

/** Which columns, in the order in which they were chosen; none means all. */
function Columns({ fields, chosen, onChange }: Choosing<string>) {
  const without = (name: string) => chosen.filter((one) => one !== name);
  return (
    <div className="stack tight">
      {chosen.length > 0 && (
        <ol className="chosen stack tight">
          {chosen.map((name) => {
            const label = labelOf(fields, name);
            return (
              <li key={name} className="line">
                <bdi className="grow cut">{label}</bdi>
                <Button icon="close" aria-label={`Leave ${label} out`} onClick={() => onChange(without(name))} />
              </li>
            );
          })}
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

/** Of several values of a field any one will do; of several fields all have to fit. */
function Filters({ fields, chosen, onChange }: Choosing<Filter>) {
  return (
    <div className="stack tight">
      {chosen.map(([name, value], at) => {
        const label = labelOf(fields, name);
        const without = () => onChange(chosen.toSpliced(at, 1));
        return (
          <div key={`${at} ${name}`} className="value-of">
            <strong className="cut">{label}</strong>
            <ValueInput
              field={fields.find((one) => one.name === name)}
              aria-label={`Value of ${label}`}
              placeholder="blank"
              value={value}
              onChange={(next) => onChange(chosen.with(at, [name, next]))}
            />
            <Button icon="close" aria-label={`Without ${label} ${value}`} onClick={without} />
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
  const name = capital(resource.replaceAll('-', ' '));
  return name.endsWith('y') ? `${name.slice(0, -1)}ies` : `${name}${name.endsWith('s') ? 'es' : 's'}`;
}

function told({ resource, columns, filters }: Wish, company: string): string {
  const which = filters.length === 0 ? 'all records' : 'those that fit';
  const shown = columns.length === 0 ? 'all columns' : counted(columns.length, 'column');
  return `${plural(resource)} of ${company}: ${which}, ${shown}`;
}

/** The file lies in the data folder, under a name of its own; nothing that was exported before is written over. */
async function order({ resource, columns, filters, format, editable }: Wish): Promise<Accepted> {
  const { roots } = await get<Queue>('/queue');
  const moment = new Date().toISOString().replace(/\D/g, '');
  const name = `exports/${resource}s-${moment.slice(0, 8)}-${moment.slice(8)}.${format}`;
  const filter = Object.fromEntries(
    filters.map(([field]) => [field, filters.filter(([other]) => other === field).map(([, value]) => value)]),
  );
  // The first folder that a worker may use is its data folder.
  const output = roots?.[0] === undefined ? name : `${roots[0]}/${name}`;
  const job = { kind: 'export', resource, ...(columns.length > 0 && { columns }), filter, editable, output };
  return send('POST', '/runs', { kind: 'export', job });
}
