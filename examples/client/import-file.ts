/**
 * Sends a spreadsheet, looks at what an import of it would do, lets it be written where all is well, and prints the rows that
 * need a person. Run it with a runtime that reads TypeScript (Node 22.18 or newer):
 *
 *     ROWFERRY_CONSOLE=http://127.0.0.1:8720 ROWFERRY_KEY=… node examples/client/import-file.ts inventory.xlsx assets
 */
import { randomUUID } from 'node:crypto';
import { readFile } from 'node:fs/promises';
import { basename } from 'node:path';
import { pathToFileURL } from 'node:url';
import type { RunDetail } from './api.ts';
import { type Connection, call, follow } from './client.ts';

export async function importFile(
  connection: Connection,
  file: string,
  job: string,
  print: (line: string) => void,
): Promise<RunDetail> {
  const sent = await call(connection, 'POST /files', {
    query: { name: basename(file) },
    body: await readFile(file),
    headers: { 'content-type': 'application/octet-stream' },
  });
  const run = async (dryRun: boolean): Promise<RunDetail> => {
    const { id } = await call(connection, 'POST /runs', {
      body: { kind: 'import', job, file: sent.id, options: { dry_run: dryRun } },
      // The same order, said again after a connection was cut, is the same run.
      headers: { 'idempotency-key': randomUUID() },
    });
    for await (const { progress, end } of follow(connection, id)) {
      if (end) return end;
      print(`${progress.phase} ${progress.done}${progress.total === null ? '' : ` of ${progress.total}`}`);
    }
    throw new Error('the events ended without an end');
  };
  const checked = await run(true);
  print(`${checked.rows} rows, ${checked.needs_person} need a person`);
  const ended = checked.needs_person === 0 ? await run(false) : checked;
  for (let after: string | undefined; ; ) {
    const page = await call(connection, 'GET /runs/{id}/rows', {
      at: { id: ended.id },
      query: { outcome: 'to_correct,to_look_at', ...(after !== undefined && { after }) },
    });
    for (const { row, key, issues } of page.rows) print(`row ${row} ${key}: ${issues.map((one) => one.message).join(' ')}`);
    if (page.next === null) return ended;
    after = page.next;
  }
}

if (import.meta.url === pathToFileURL(process.argv[1] ?? '').href) {
  const { ROWFERRY_CONSOLE: url = 'http://127.0.0.1:8720', ROWFERRY_KEY: key = '' } = process.env;
  const [file = '', job = ''] = process.argv.slice(2);
  const { status } = await importFile({ url, key }, file, job, (line) => process.stdout.write(`${line}\n`));
  if (status !== 'succeeded') process.exitCode = 3;
}
