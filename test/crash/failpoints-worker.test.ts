import { rename, writeFile } from 'node:fs/promises';
import { basename, join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { check, linesOf } from '../invariants/check.js';
import { availableStores, itWith } from '../support/servers.js';
import { until } from '../support/until.js';
import { type Crew, openCrew, type RunningWorker, told } from '../support/worker.js';
import { armable, armed, failing, hasReached, isTaken, type Moment } from './failpoints.js';

const ROWS = 16;

/** Dealt out to crews that work side by side. */
const MOMENTS: readonly (readonly Moment[])[] = [
  [
    { milestone: 'claimed', nth: 1 },
    { milestone: 'request-kept', nth: 1 },
    { milestone: 'outcome-noted', nth: 3 },
    { milestone: 'reports-moved', nth: 1 },
  ],
  [
    { milestone: 'claim-noted', nth: 1 },
    { milestone: 'intent-durable', nth: 1 },
    { milestone: 'reports-written', nth: 1 },
    { milestone: 'ticket-ended', nth: 1 },
  ],
  [
    { milestone: 'offered', nth: 1 },
    { milestone: 'sent', nth: 8 },
    { milestone: 'archived', nth: 1 },
    { milestone: 'acknowledged', nth: 1 },
  ],
];

/** Where a worker that finished one trial is told when to die in the next. */
const orderOf = (crew: Crew, from: number) => join(crew.dir, `kill-${from}`);

/**
 * Drops a file, kills the worker at the moment, `again` the next one at the first occurrence of the same, and lets another
 * one finish, which the next trial begins with. Answers what is wrong, and that worker.
 */
async function kill(
  crew: Crew,
  moment: Moment,
  trial: { readonly from: number; readonly next: number; readonly again: boolean; readonly idle?: RunningWorker },
): Promise<{ readonly wrong: string[]; readonly last?: RunningWorker }> {
  const { from, again, idle } = trial;
  const { sandbox } = crew;
  const before = structuredClone(sandbox.raw('asset'));
  const commits = sandbox.commits.length;
  const folders = new Set(await crew.ended());
  const name = `from-${from}.csv`;
  const input = join(crew.dir, name);
  if (idle) {
    const order = orderOf(crew, from);
    await writeFile(`${order}.tmp`, armed(moment));
    await rename(`${order}.tmp`, order);
  }
  const sheet = ['Name,Serial', ...Array.from({ length: ROWS }, (_, i) => `n${from + i},S${from + i}`)].join('\r\n');
  await writeFile(input, sheet);
  await crew.drop(name, sheet);
  await writeFile(join(crew.inbox, 'assets', `${name}.ready`), '');
  let killed = 0;
  for (const nth of again ? [moment.nth, 1] : [moment.nth]) {
    const notes = join(crew.dir, `milestones-${from}-${killed}`);
    const begin = () => crew.worker('w', { early: true, env: failing({ ...moment, nth }, notes) });
    const worker = killed === 0 && idle ? idle : await begin();
    // What is behind the file already does not come again: the second worker then finds nothing to do.
    await until(
      async () => {
        const over = worker.child.signalCode !== null || worker.child.exitCode !== null;
        return over || (killed > 0 && (await isQuiet(crew, folders)) && !hasReached(notes, moment.milestone));
      },
      { what: `a kill at ${moment.milestone}:${nth}` },
    );
    if (worker.child.signalCode === 'SIGKILL') killed++;
    else await worker.kill();
    if (killed === 0) return { wrong: [`not killed: ${worker.err().slice(-500)}`] };
  }
  const last = await crew.worker('w', { env: armable(orderOf(crew, trial.next)) });
  await until(() => isQuiet(crew, folders), { what: 'the end of the run' });
  // The queue knows it too: what comes next is killed at a moment of its own.
  const active = () => last.metric(/^rowferry_queue_jobs\{(?=.*queue="rowferry").*state="active"/);
  await until(async () => (await active()) === 0, { what: 'an idle queue' });
  const [folder = '', ...more] = (await crew.ended()).filter((one) => !folders.has(one));
  if (more.length > 0) return { wrong: [`more than one run: ${more.map((one) => basename(one)).join(', ')}`], last };
  const { summary } = await told(folder);
  const violations = await check({
    resource: 'asset',
    keyField: 'serial_number',
    before,
    after: sandbox.raw('asset'),
    commits: sandbox.commits.slice(commits),
    input,
    columns: { Name: 'name', Serial: 'serial_number' },
    runs: [folder],
    open: killed,
  });
  const created = summary.rows['created'];
  return { wrong: [...linesOf(violations), ...(created === ROWS ? [] : [`created: ${created}`])], last };
}

async function isQuiet(crew: Crew, before: ReadonlySet<string>): Promise<boolean> {
  return (await crew.ended()).some((one) => !before.has(one));
}

describe.skipIf((await itWith('redis')) !== it)('a worker with a drop folder', { timeout: 400_000 }, () => {
  it('killed at a milestone, and the next one there again: another one finishes, nothing twice (37)', async () => {
    const store = (await availableStores()).find(({ name }) => name === 'redis');
    if (!store) throw new Error('no redis');
    const wrong = await Promise.all(
      MOMENTS.map(async (moments, crewAt) => {
        const crew = await openCrew({ server: await store.start() });
        const found: string[] = [];
        try {
          let idle: RunningWorker | undefined;
          for (const [at, moment] of moments.entries()) {
            const again = isTaken(at + crewAt);
            const trial = { from: at * 100, next: (at + 1) * 100, again, ...(idle && { idle }) };
            const { wrong: texts, last } = await kill(crew, moment, trial);
            found.push(...texts.map((text) => `killed at ${armed(moment)}: ${text}`));
            idle = last;
          }
          // The last one ends as it should.
          if (idle) expect((await idle.terminate()).code).toBe(0);
        } finally {
          await crew.close();
        }
        return found;
      }),
    );
    expect(wrong.flat()).toEqual([]);
  });
});
