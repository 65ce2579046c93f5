import { useQuery } from '@tanstack/react-query';
import { useLocation, useSearchParams } from 'wouter';
import type { Queue } from '../../api/schema.js';
import { get, send } from '../app/client.js';
import { NotThere, Refused } from '../app/faults.js';
import { useFields } from '../app/fields.js';
import { resourcesQuery, runsQuery, useOnce, useSession, useWhyNot } from '../app/queries.js';
import { usePageTitle } from '../app/shell.js';
import { counted } from '../kit/format.js';
import { Button, Card, Choose } from '../kit/parts.js';
import { RunLines } from '../runs/list.js';
import { Columns, type Filter, Filters } from './choose.js';
import './export.css';

const FORMATS = { xlsx: 'Workbook (.xlsx)', csv: 'Text (.csv)', ndjson: 'Lines of JSON (.ndjson)' } as const;

/** What is asked for, as the address has it. */
interface Wish {
  readonly resource: string;
  readonly columns: readonly string[];
  readonly filters: readonly Filter[];
  readonly format: keyof typeof FORMATS;
  /** To be changed and imported again. */
  readonly editable: boolean;
}

function wishOf(params: URLSearchParams): Wish {
  const format = params.get('format') ?? '';
  return {
    resource: params.get('resource') ?? 'asset',
    columns: params.get('columns')?.split(',') ?? [],
    filters: params.getAll('filter').map((one) => [one.split('=', 1)[0] ?? '', one.slice(one.indexOf('=') + 1)]),
    format: format in FORMATS ? (format as Wish['format']) : 'xlsx',
    editable: params.has('editable'),
  };
}

function addressOf({ resource, columns, filters, format, editable }: Wish): URLSearchParams {
  const params = new URLSearchParams({ resource, format });
  if (columns.length > 0) params.set('columns', columns.join(','));
  for (const [field, value] of filters) params.append('filter', `${field}=${value}`);
  if (editable) params.set('editable', 'yes');
  return params;
}

const NOTHING = { imported: false, fields: [] };

export default function Export() {
  usePageTitle('Export');
  const [params, setParams] = useSearchParams();
  const [, go] = useLocation();
  const { data, error } = useQuery(resourcesQuery);
  const { company_name, company } = useSession();
  const mayNot = useWhyNot('operator');
  const wish = wishOf(params);
  const begin = useOnce({ mutationFn: () => order(wish), onSuccess: ({ id }) => go(`/runs/${id}`) });
  const { data: lately } = useQuery(runsQuery({ kind: 'export', limit: 10 }));
  const change = (next: Partial<Wish>) => setParams(addressOf({ ...wish, ...next }), { replace: true });
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
              onChoose={(name) => change({ resource: name, columns: [], filters: [], editable: false })}
            />
            <Choose
              label="File"
              value={wish.format}
              options={Object.entries(FORMATS)}
              onChoose={(format) => change({ format: format as Wish['format'] })}
            />
          </div>
          <div className="two">
            <fieldset className="field">
              <legend>Columns</legend>
              <Columns fields={fields} chosen={wish.columns} onChange={(columns) => change({ columns })} />
            </fieldset>
            <fieldset className="field">
              <legend>Only records whose…</legend>
              <Filters
                key={wish.resource}
                fields={fields}
                chosen={wish.filters}
                onChange={(filters) => change({ filters })}
              />
            </fieldset>
          </div>
          {imported && (
            <label className="line">
              <input
                type="checkbox"
                checked={wish.editable}
                onChange={({ target }) => change({ editable: target.checked })}
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
      {lately && lately.runs.length > 0 && (
        <Card flush title="Exported lately">
          <RunLines runs={lately.runs} />
        </Card>
      )}
    </div>
  );
}

/** `asset-owner` → `Asset owners` */
function plural(resource: string): string {
  const name = resource.charAt(0).toUpperCase() + resource.slice(1).replaceAll('-', ' ');
  return name.endsWith('y') ? `${name.slice(0, -1)}ies` : `${name}${name.endsWith('s') ? 'es' : 's'}`;
}

function told({ resource, columns, filters }: Wish, company: string): string {
  const which = filters.length === 0 ? 'all records' : 'those that fit';
  const shown = columns.length === 0 ? 'all columns' : counted(columns.length, 'column');
  return `${plural(resource)} of ${company}: ${which}, ${shown}`;
}

/** The file lies in the data folder, under a name of its own; nothing that was exported before is written over. */
async function order({ resource, columns, filters, format, editable }: Wish): Promise<{ id: string }> {
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
