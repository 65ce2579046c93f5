import { useQuery } from '@tanstack/react-query';
import type { ReactNode } from 'react';
import { Link } from 'wouter';
import type { Plan, RunDetail } from '../../api/schema.js';
import type { ReconcileFacts } from '../../model/reconcile.js';
import { changesText, orphanRule, orphanStateText } from '../../report/wording.js';
import { reportUrl } from '../app/client.js';
import { Pending } from '../app/faults.js';
import { useLabels } from '../app/fields.js';
import { planQuery } from '../app/queries.js';
import { counted, day, number } from '../kit/format.js';
import { Icon } from '../kit/icons.js';
import { Badge, ButtonLink, Card, Notice, TONE_ICONS, type Tone, Warnings } from '../kit/parts.js';
import { Table } from '../kit/table.js';
import { summaryOf } from './words.js';

/** What a run writes, or would: in numbers, against its brakes, and field by field. */

/** `back`: what an undo does to the fields. */
export function RunPlan({ run, show = 'all' }: { run: RunDetail; show?: 'all' | 'fields' | 'back' }) {
  const { data: plan, error } = useQuery(planQuery(run.id));
  if (!plan) return <Pending error={error} what="the plan" />;
  if (show === 'all') return <PlanView plan={plan} run={run} />;
  return <FieldChanges of={plan.fields} run={run} back={show === 'back'} />;
}

export function PlanView({ plan, run }: { plan: Plan; run: RunDetail }) {
  const { brakes, fields, creates, warnings, created, updated, unchanged, cleared, at_risk } = plan;
  const label = useLabels(run.resource);
  const orphans = summaryOf(run)?.reconcile?.orphans;
  const skipped = run.outcomes?.skipped ?? 0;
  const valuesText = (n: number) => (n === 1 ? 'value' : 'values');
  return (
    <div className="stack">
      <dl className="tiles">
        <Figure n={created} what="to create" tone="good" />
        <Figure n={updated} what="to update" tone="good" />
        <Figure n={unchanged} what="unchanged, nothing is sent" />
        {orphans && orphans.acted > 0 && (
          <Figure
            n={orphans.acted}
            what={`not in the file, to ${orphans.action === 'archive' ? 'archive' : 'change'}`}
            tone="warn"
          />
        )}
        {skipped > 0 && <Figure n={skipped} what="skipped" />}
        {cleared > 0 && <Figure n={cleared} what={`${valuesText(cleared)} to empty`} tone="warn" />}
        {at_risk > 0 && <Figure n={at_risk} what={`${valuesText(at_risk)} at risk`} tone="bad" />}
      </dl>
      {brakes.length > 0 && <Brakes of={brakes} />}
      <References run={run} />
      <Warnings of={warnings} />
      {fields.length > 0 && <FieldChanges of={fields} run={run} />}
      {creates.length > 0 && (
        <div>
          <h3>{created > creates.length ? 'The first of the new records' : 'New records'}</h3>
          {creates.map(({ row, key, values }) => (
            <Disclosure
              key={row}
              name={key || `Row ${row}`}
              what={values.flatMap(({ value }) => (value === key ? [] : [value])).join(' · ')}
            >
              {values.map(({ field, value }) => (
                <li key={field}>
                  <bdi className="soft">{label(field)}</bdi>
                  <bdi className="wrap">{value}</bdi>
                </li>
              ))}
            </Disclosure>
          ))}
        </div>
      )}
    </div>
  );
}

/** Records that are created first, because rows name them. */
function References({ run }: { run: RunDetail }) {
  return summaryOf(run)?.references?.map(({ resource, total, first }) => (
    <Disclosure key={resource} name={counted(total, `new ${resource}`)} what="created first, by name alone">
      {first.map(({ name, rows }) => (
        <li key={name}>
          <bdi className="wrap">{name}</bdi>
          <span className="soft">in {counted(rows, 'row')}</span>
        </li>
      ))}
      {total > first.length && <li className="soft">and {number(total - first.length)} more, in references.csv</li>}
    </Disclosure>
  ));
}

function Disclosure({ name, what, children }: { name: string; what: string; children: ReactNode }) {
  return (
    <details className="edits">
      <summary className="cut">
        <bdi>{name}</bdi> <bdi className="soft">{what}</bdi>
      </summary>
      <ul className="pairs stack tight">{children}</ul>
    </details>
  );
}

/** `tone`: where it is more than none. */
export function Figure({ n, what, tone = 'calm' }: { n: number; what: string; tone?: Tone }) {
  return (
    <div className={n > 0 ? tone : 'calm'}>
      <dt>{what}</dt>
      <dd className={n > 0 && tone !== 'calm' ? 'toned' : undefined}>
        {tone !== 'calm' && n > 0 && <Icon name={TONE_ICONS[tone]} />}
        {number(n)}
      </dd>
    </div>
  );
}

const BRAKES: Readonly<Record<string, string>> = {
  min_rows: 'Rows in the file',
  max_invalid: 'Rows to correct',
  max_rejected: 'Rows that the service refused',
  max_updates: 'Records to update',
  max_creates: 'Records to create',
  max_cleared: 'Rows that empty a value',
  max_orphans: 'Records missing from the file',
  max_change: 'Rows, against the last run',
  same_file: 'The same file as before',
  unknown_keys: 'Keys that the service does not know',
};

function Brakes({ of }: { of: Plan['brakes'] }) {
  const sorted = [...of].sort((a, b) => Number(b.tripped) - Number(a.tripped));
  return (
    <ul className="limits stack tight">
      {sorted.map(({ name, limit, found, tripped, overridden }) => (
        <li key={name}>
          <Badge
            tone={tripped ? 'bad' : overridden ? 'warn' : 'good'}
            icon={tripped || overridden ? 'stop' : 'check'}
            word={tripped ? 'Stopped' : overridden ? 'Let pass' : 'Within'}
          />
          <span>
            <strong>
              {BRAKES[name] ?? name}: {found || 'nothing to compare with yet'}
            </strong>{' '}
            <span className="soft">
              {limit && `The limit is ${limit} `}(<code>{name}</code>)
            </span>
          </span>
        </li>
      ))}
    </ul>
  );
}

/** Field by field, each to be opened for old → new of its first records. `back`: what an undo does to them. */
function FieldChanges({ of, run, back = false }: { of: Plan['fields']; run: RunDetail; back?: boolean }) {
  const label = useLabels(run.resource);
  if (of.length === 0) {
    const orphans = summaryOf(run)?.reconcile?.orphans.acted ?? 0;
    return <p className="soft">No record that {orphans > 0 ? 'the file holds' : 'was there before'} changes.</p>;
  }
  return (
    <div>
      {of.map(({ field, records, first }) => (
        <Disclosure
          key={field}
          name={label(field)}
          what={`${back ? 'goes back' : 'changes'} in ${counted(records, 'record')}`}
        >
          {first.map(({ row, key, old, new: to, kind }) => (
            <li key={row}>
              <Link href={`/runs/${run.id}?row=${row}`} className="cut">
                <bdi>{key || `Row ${row}`}</bdi>
              </Link>
              {back ? <ValueChange old={to} to={old} kind="set" /> : <ValueChange old={old} to={to} kind={kind} />}
            </li>
          ))}
          {records > first.length && <li className="soft">and {counted(records - first.length, 'more record')}</li>}
        </Disclosure>
      ))}
    </div>
  );
}

const CHANGE_KINDS: Readonly<Record<string, readonly [tone: Tone, word: string]>> = {
  clear: ['warn', 'is emptied'],
  at_risk: ['bad', 'would be lost'],
  preserved: ['calm', 'is carried over'],
  kept: ['calm', 'is left to the service'],
};

export function ValueChange({ old, to, kind }: { old: string; to: string; kind: string }) {
  const [tone, word] = CHANGE_KINDS[kind] ?? [];
  return (
    <span className="wrap">
      <Value>{old}</Value> → <Value fresh={kind === 'set'}>{to}</Value>
      {word && <span className={`toned ${tone}`}> {word}</span>}
    </span>
  );
}

function Value({ children, fresh = false }: { children: string; fresh?: boolean }) {
  return children === '' ? (
    <span className="soft">blank</span>
  ) : (
    <bdi className={fresh ? 'value good' : 'value'}>{children}</bdi>
  );
}

/** Records of the service that the file does not hold, since when, and what becomes of them. */
export function Orphans({ run, orphans }: { run: string; orphans: ReconcileFacts['orphans'] }) {
  const { total, fresh, held_reason: heldReason, first = [] } = orphans;
  const href = reportUrl(run, 'orphans.csv');
  return (
    <Card
      flush
      title={`${counted(total, 'record')} of the service ${total === 1 ? 'is' : 'are'} not in the file`}
      beside={<ButtonLink href={href} download icon="download" look="quiet" word="orphans.csv" />}
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
