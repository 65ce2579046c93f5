import { expect } from 'vitest';
import { check, linesOf, secondRunQuiet } from '../invariants/check.js';
import { csv, openDesk } from '../support/desk.js';
import { probed } from '../support/records.js';
import { type Combination, switchesOf } from './factors.js';
import { assetSheet, contractSheet, type Sheet, supplierSheet } from './sheets.js';

/** Of the seven creates and three updates, these go wrong; two of the creates and one of the updates take effect all the same. */
const FAULTS = [
  'POST * nth=2 status=500 execute',
  'POST * nth=4 close_after',
  'POST * nth=6 timeout_before',
  'PUT * nth=2 close_after',
];
const OPEN = FAULTS.length;
/** Requests per second that some services of the matrix allow, and do not tell. */
const LIMIT = 40;

const SETTINGS = { ROWFERRY_TIMEOUT: '1', ROWFERRY_SETTLE_WINDOW: '0.05,0.12,0.25' };

function sheetOf({ sheet, dates }: Combination): Sheet {
  const date = (day: string) => (dates === 'd/m' ? day.replace(/-0(\d)$/, '-2$1') : day);
  if (sheet === 'contract') return contractSheet(date);
  if (sheet === 'supplier') return supplierSheet(date);
  return assetSheet(sheet === 'asset, unique_field', date);
}

/** The request that was not answered may still be under way: where the service would take it twice, one row stays unknown. */
function expectOutcomes(outcomes: readonly (string | undefined)[], sheet: Sheet, kept: boolean): void {
  const unknown = outcomes.indexOf('unknown');
  const settled = outcomes.map((one, at) => (at === unknown && !sheet.guarded ? 'created' : one));
  // What no update can say is in no danger where the service is known to keep it.
  expect(settled).toEqual(sheet.outcomes.map((one) => (kept && one === 'at_risk' ? 'updated' : one)));
  expect(unknown >= 0).toBe(!sheet.guarded);
}

/** before.ndjson holds what the service showed: dates in its own style, where the checker knows those of the store. */
const isShownDate = (line: string): boolean => /^before-kept: .* has \w+_date = /.test(line);

/**
 * Imports a sheet into a service of this kind, with faults in the middle, and once more without: every row ends as it must, the
 * promise holds by the service's own books, and the second import sends no writing request.
 */
export async function tryOut(combination: Combination): Promise<void> {
  const sheet = sheetOf(combination);
  // What lags behind has arrived when the clock of the service is put forward: no test waits for it.
  let ahead = 0;
  // As it arrived, but for what was turned away: a request whose connection was gone before anything of it was sent is counted
  // twice by the run.
  let writesTaken = 0;
  const desk = await openDesk({
    now: () => Date.now() + ahead,
    faults: FAULTS,
    switches: switchesOf(combination),
    onAnswer({ method }, status) {
      if (method !== 'GET' && status !== 429) writesTaken++;
    },
    // What the switch is about is said only beyond a limit.
    ...(combination.retryAfter === 'seconds' ? {} : { maxRps: LIMIT }),
  });
  try {
    const { sandbox } = desk;
    sheet.fill(sandbox, combination.more);
    // As `doctor --probe` would have found out: without it nobody can know how a value is cleared.
    const kept = combination.omittedOnPut === 'kept';
    if (kept) await probed(desk, { omitted: 'kept' });
    ahead += 60_000;
    const before = sandbox.raw(sheet.resource);
    const file = await desk.file('rows.csv', csv(sheet.rows));
    const first = await desk.import(file, sheet.job, { env: SETTINGS });
    expectOutcomes(
      first.results.map((row) => row['outcome']),
      sheet,
      kept,
    );
    ahead += 60_000;
    sandbox.setFaults([]);
    const after = sandbox.raw(sheet.resource);
    const writes = sandbox.commits.slice();
    const taken = writesTaken;
    const second = await desk.import(file, sheet.job, { env: SETTINGS });
    const evidence = {
      ...{ resource: sheet.resource, keyField: sheet.keyField, before, after },
      ...{
        commits: sandbox.commits,
        input: file,
        columns: sheet.columns,
        stands: sheet.stands,
        open: OPEN,
        blank: 'clear' as const,
      },
      // The bodies leave them out; that the records hold them is looked at here.
      ...(kept ? { mayLose: sheet.unsaid } : {}),
      runs: [first.reportDir],
    };
    expect(linesOf(await check(evidence)).filter((line) => !isShownDate(line))).toEqual([]);
    const unsaid = (records: readonly Record<string, unknown>[]) =>
      records.flatMap((one) => sheet.unsaid.flatMap((field) => (field in one ? [[one['id'], field, one[field]]] : [])));
    expect(unsaid(after)).toEqual(unsaid(before));
    const again = sandbox.commits.slice(writes.length);
    if (sheet.guarded) {
      expect(linesOf(await secondRunQuiet(first.reportDir, second.reportDir, again))).toEqual([]);
      expect(second.summary.requests.writes).toBe(0);
    } else {
      // What was unknown was looked for again, with all the time in between, and only that was sent.
      expect(second.results.map((row) => row['outcome']).filter((one) => one === 'created')).toHaveLength(1);
      expect(again.map(({ method }) => method)).toEqual(['POST']);
      expect(writesTaken - taken).toBe(1);
    }
  } finally {
    await desk.close();
  }
}
