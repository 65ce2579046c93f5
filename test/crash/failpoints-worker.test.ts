import { writeFile } from 'node:fs/promises';
import { basename, join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { check, linesOf } from '../invariants/check.js';
import { availableStores, itWith } from '../support/servers.js';
import { until } from '../support/until.js';
import { type Crew, openCrew, told } from '../support/worker.js';
import { failing, hasReached, isTaken, type Moment } from './failpoints.js';

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

/**
 * Drops a file, kills the worker at the moment, `again` the next one at the first occurrence of the same, and lets another
 * one finish. Answers what is wrong.
 */
async function kill(crew: Crew, moment: Moment, from: number, again: boolean): Promise<string[]> {
  const { sandbox } = crew;
  const before = structuredClone(sandbox.raw('asset'));
  const commits = sandbox.commits.length;
  const folders = new Set(await crew.ended());
  const name = `from-${from}.csv`;
  const input = join(crew.dir, name);
  const sheet = ['Name,Serial', ...Array.from({ length: ROWS }, (_, i) => `n${from + i},S${from + i}`)].join('\r\n');
  await writeFile(input, sheet);
  await crew.drop(name, sheet);
  await writeFile(join(crew.inbox, 'assets', `${name}.ready`), '');
  let killed = 0;
  for (const nth of again ? [moment.nth, 1] : [moment.nth]) {
    const notes = join(crew.dir, `milestones-${from}-${killed}`);
    const worker = await crew.worker('w', { early: true, env: failing({ ...moment, nth }, notes) });
    // What is behind the file already does not come again: the second worker then finds nothing to do.
    await until(
      async () => {
        const over = worker.child.signalCode !== null || worker.child.exitCode !== null;
        return over || (killed > 0 && (await isQuiet(crew, folders)) && !hasReached(notes, moment.milestone));
      },
      { withinMs: 90_000, what: `a kill at ${moment.milestone}:${nth}` },
    );
    if (worker.child.signalCode === 'SIGKILL') killed++;
    else await worker.kill();
    if (killed === 0) return [`not killed: ${worker.err().slice(-500)}`];
  }
  const last = await crew.worker('w');
  await until(() => isQuiet(crew, folders), { withinMs: 90_000, what: 'the end of the run' });
  await last.terminate();
  const [folder = '', ...more] = (await crew.ended()).filter((one) => !folders.has(one));
  if (more.length > 0) return [`more than one run: ${more.map((one) => basename(one)).join(', ')}`];
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
  return [...linesOf(violations), ...(created === ROWS ? [] : [`created: ${created}`])];
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
          for (const [at, moment] of moments.entries()) {
            const texts = await kill(crew, moment, at * 100, isTaken(at + crewAt));
            found.push(...texts.map((text) => `killed at ${moment.milestone}:${moment.nth}: ${text}`));
          }
        } finally {
          await crew.close();
        }
        return found;
      }),
    );
    expect(wrong.flat()).toEqual([]);
  });
});
