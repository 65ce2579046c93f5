import { useQuery } from '@tanstack/react-query';
import type { OrphanLine, ReconcileFacts } from '../../model/reconcile.js';
import { orphanRule, orphanStateText } from '../../report/wording.js';
import { API, ApiError } from '../app/client.js';
import { ActionError } from '../app/faults.js';
import { fromTsv } from '../grid/clipboard.js';
import { counted, day, number } from '../kit/format.js';
import { ButtonLink, Card, Notice, Skeleton } from '../kit/parts.js';
import { Table } from '../kit/table.js';

const MOST_LISTED = 100;
/** Characters of the report that are looked at for them: it may hold as many records as the service does. */
const MOST_READ = 64_000;

/** Records of the service that the file does not hold, since when, and what becomes of them. */
export function Orphans({ run, orphans }: { run: string; orphans: ReconcileFacts['orphans'] }) {
  const address = `${API}/runs/${run}/reports/orphans.csv`;
  const lines = useQuery({
    queryKey: ['runs', run, 'orphans', {}],
    queryFn: ({ signal }) => firstOrphans(address, signal),
    staleTime: Number.POSITIVE_INFINITY,
  });
  const { total, fresh, held_reason: heldReason } = orphans;
  return (
    <Card
      flush
      title={`${counted(total, 'record')} of the service ${total === 1 ? 'is' : 'are'} not in the file`}
      beside={<ButtonLink href={address} download icon="download" look="quiet" word="orphans.csv" />}
    >
      <div className="stack tight pad">
        <p className="soft">
          {fresh > 0 ? `${number(fresh)} for the first time. ` : ''}
          {orphanRule(orphans)}
          {total > MOST_LISTED && ` Here are the first ${MOST_LISTED}.`}
        </p>
        {heldReason !== undefined && <Notice tone="warn" title={`Held back: ${heldReason}`} />}
        <ActionError error={lines.error} />
        {lines.isPending && <Skeleton what="the records" />}
      </div>
      {lines.data && (
        <Table
          low
          label="Records that are not in the file"
          rows={lines.data}
          keyOf={({ id }) => id}
          columns={[
            {
              head: 'Record',
              of: ({ id, key, name }) => (
                <>
                  <bdi>{key || `id ${id}`}</bdi> {name !== key && <bdi className="soft">{name}</bdi>}
                </>
              ),
            },
            { head: 'Missing since', of: ({ since }) => day(since) },
            { head: 'Runs', num: true, of: ({ absences }) => number(absences) },
            {
              head: 'What becomes of it',
              of: (line) => (
                <>
                  {orphanStateText(line) + (line.why ? ` (${line.why})` : '')}{' '}
                  <bdi className="soft">{line.changesText}</bdi>
                </>
              ),
            },
          ]}
        />
      )}
    </Card>
  );
}

/** As orphans.csv has it. */
type ListedOrphan = Omit<OrphanLine, 'changes'> & { readonly changesText: string };

async function firstOrphans(address: string, signal: AbortSignal): Promise<ListedOrphan[]> {
  const response = await fetch(address, { signal });
  if (!response.ok || !response.body) throw new ApiError(response.status, 'The list of these records is not there.');
  let text = '';
  const reader = response.body.pipeThrough(new TextDecoderStream()).getReader();
  for (let part = await reader.read(); !part.done && text.length < MOST_READ; part = await reader.read())
    text += part.value;
  await reader.cancel();
  const [head = [], ...rows] = fromTsv(text, ',');
  // The last line may have been cut.
  const whole = rows.filter((cells) => cells.length === head.length).slice(0, MOST_LISTED);
  return whole.map((cells) => {
    const of = Object.fromEntries(head.map((name, at) => [name, cells[at] ?? '']));
    const { id, absences, outcome, changes: changesText = '', ...rest } = of;
    const numbers = { id: Number(id), absences: Number(absences) };
    return { ...rest, ...numbers, changesText, ...(outcome && { outcome }) } as ListedOrphan;
  });
}
