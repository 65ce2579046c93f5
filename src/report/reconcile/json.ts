import type { Issue } from '../../model/issue.js';
import { GOOD_OUTCOMES, type Outcome } from '../../model/outcome.js';
import { faultsOf } from '../report-lines.js';
import type { Summary } from '../summary.js';
import type { Found } from './found.js';

/** Format of reconcile.json; members are added, never renamed. */
const VERSION = 1;

type Write = (text: string) => Promise<void>;

/**
 * reconcile.json: everything that a reconciliation found out, for machines. One object whose lists have an item a line:
 * `differences` (as differences.csv), `create`, `orphans`, `ambiguous`, `invalid` (every other row that needs a person) and
 * `history` (30 nights, newest last). Memory does not grow with it.
 */
export async function writeJson(summary: Summary, found: Found, write: Write): Promise<void> {
  const { compared, ...facts } = summary.reconcile ?? {};
  const head = {
    version: VERSION,
    run: summary.run,
    job: summary.job,
    kind: summary.kind,
    resource: summary.resource,
    company: summary.company,
    service: summary.service,
    dry_run: summary.dry_run,
    status: summary.status,
    reason: summary.reason,
    of_run: summary.of_run,
    source: summary.source,
    started_at: summary.started_at,
    finished_at: summary.finished_at,
    seconds: summary.seconds,
    requests: summary.requests,
    warnings: summary.warnings,
    facts,
    rows: summary.rows,
    compared,
  };
  await write(JSON.stringify(head).slice(0, -1));
  await list('differences', found.differences(), write);
  await list('create', mapped(found.created(), line), write);
  await list('orphans', found.orphans(), write);
  await list(
    'ambiguous',
    mapped(
      found.outcomes((kind) => kind === 'ambiguous'),
      line,
    ),
    write,
  );
  await list('invalid', mapped(found.outcomes(isInvalid), line), write);
  await list('history', once(found.nights), write);
  await write('}\n');
}

/** Rows that need a person, other than ambiguous ones, which have a place of their own. */
export function isInvalid(kind: Outcome['kind']): boolean {
  return !GOOD_OUTCOMES.has(kind) && kind !== 'ambiguous';
}

function line(outcome: Outcome) {
  const { ref, key, id, kind } = outcome;
  return {
    row: ref.row,
    key,
    ...(id === undefined ? {} : { id }),
    outcome: kind,
    faults: faultsOf(outcome).map(({ code, message, column, field, value, origin }: Issue) => ({
      code,
      message,
      column,
      field,
      value,
      origin,
    })),
  };
}

async function list(name: string, batches: AsyncIterable<readonly unknown[]>, write: Write): Promise<void> {
  await write(`,\n${JSON.stringify(name)}:[`);
  let first = true;
  for await (const batch of batches) {
    if (batch.length === 0) continue;
    await write(`${first ? '' : ','}\n${batch.map((one) => JSON.stringify(one)).join(',\n')}`);
    first = false;
  }
  await write(']');
}

export async function* mapped<From, To>(
  batches: AsyncIterable<readonly From[]>,
  to: (one: From) => To,
): AsyncGenerator<readonly To[]> {
  for await (const batch of batches) yield batch.map(to);
}

async function* once<T>(items: readonly T[]): AsyncGenerator<readonly T[]> {
  if (items.length > 0) yield items;
}
