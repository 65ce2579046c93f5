import type { ReconcileFacts } from '../../model/reconcile.js';
import { changesText, orphanRule, orphanStateText } from '../../report/wording.js';
import { API } from '../app/client.js';
import { counted, day, number } from '../kit/format.js';
import { ButtonLink, Card, Notice } from '../kit/parts.js';
import { Table } from '../kit/table.js';

/** Records of the service that the file does not hold, since when, and what becomes of them. */
export function Orphans({ run, orphans }: { run: string; orphans: ReconcileFacts['orphans'] }) {
  const { total, fresh, held_reason: heldReason, first = [] } = orphans;
  return (
    <Card
      flush
      title={`${counted(total, 'record')} of the service ${total === 1 ? 'is' : 'are'} not in the file`}
      beside={
        <ButtonLink
          href={`${API}/runs/${run}/reports/orphans.csv`}
          download
          icon="download"
          look="quiet"
          word="orphans.csv"
        />
      }
    >
      <div className="stack tight pad">
        <p className="soft">
          {fresh > 0 ? `${number(fresh)} for the first time. ` : ''}
          {orphanRule(orphans)}
          {total > first.length && ` Here are the first ${first.length}.`}
        </p>
        {heldReason !== undefined && <Notice tone="warn" title={`Held back: ${heldReason}`} />}
      </div>
      <Table
        low
        label="Records that are not in the file"
        rows={first}
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
                <bdi className="soft">{changesText(line)}</bdi>
              </>
            ),
          },
        ]}
      />
    </Card>
  );
}
