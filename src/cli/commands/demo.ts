import { cp, mkdir, mkdtemp, rm, stat, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { Command } from 'commander';
import { importFile, openSandbox } from '../../library/runs.js';
import { EXIT } from '../../model/error.js';
import type { Sandbox } from '../../sandbox/index.js';
import { type Cli, print, tell } from '../io.js';
import { carryOut, shown } from '../run-command.js';
import { packageRoot } from '../setup.js';
import { linkTeller } from './console.js';
import { runToItsEnd } from './worker.js';

export function demoCommand(cli: Cli): Command {
  return new Command('demo')
    .description('import a sheet with good and bad rows into a sandbox of its own')
    .option('--console', 'then show the run in the console, until Ctrl-C')
    .addHelpText(
      'after',
      '\nIts data folder is .rowferry/demo here, emptied each time; the sandbox ends with the command.',
    )
    .action(async (options: { console?: true }) => {
      cli.code = await demo(cli, options.console === true);
    });
}

/** Slow enough that the progress line can be watched. */
const LATENCY_MS = 30;

async function demo(cli: Cli, withConsole: boolean): Promise<number> {
  const [{ resolveSettings }, { nearPath }] = await Promise.all([
    import('../../runs/settings.js'),
    import('../../runs/run/present.js'),
  ]);
  const file = join(packageRoot, 'fixtures', 'assets-demo.xlsx');
  const jobFile = join(packageRoot, 'jobs', 'assets.yaml');
  const home = await freshHome(cli.io.cwd);
  const sandbox = await openSandbox({ seed: 'demo', latencyMs: LATENCY_MS });
  try {
    // Settings of its own: nothing of the user's environment or .env file reaches the demo, and the reverse.
    const settings = { apiUrl: sandbox.url, apiToken: sandbox.token, home, concurrency: 4 };
    tell(cli, `Importing ${nearPath(file)} with ${nearPath(jobFile)} into a sandbox at ${sandbox.url}.\n`);
    const shownBy = resolveSettings({}, settings, home, { envFile: false });
    const { code, result } = await carryOut(cli, shownBy, { json: false }, (context) => {
      const { signal, listener, log } = context;
      const call = { settings, env: {}, cwd: home, signal, onNotice: listener.notice, log };
      return shown(importFile({ file, job: jobFile, ...call }), context);
    });
    if (result) {
      print(
        cli,
        nextSteps({
          reports: nearPath(result.reportDir),
          file: nearPath(file),
          job: nearPath(jobFile),
          home: nearPath(home),
        }),
      );
    }
    if (withConsole && result) return await showConsole(cli, home, sandbox);
    // Rows that need a person are what the demo is there to show.
    return code === EXIT.needsPerson ? EXIT.ok : code;
  } finally {
    await sandbox.close();
  }
}

/** A worker with its console over what the demo left. Its jobs are copies: they can be changed there. */
async function showConsole(cli: Cli, home: string, { url, token }: Sandbox): Promise<number> {
  const { resolveSettings } = await import('../../runs/settings.js');
  const jobsDir = join(home, 'job-files');
  await cp(join(packageRoot, 'jobs'), jobsDir, { recursive: true });
  const settings = resolveSettings({}, { apiUrl: url, apiToken: token, home, jobsDir }, home, { envFile: false });
  tell(cli, 'The console starts; this takes some seconds.');
  return runToItsEnd(cli, settings, { queueOnly: false, onConsole: linkTeller(cli, settings) });
}

/** What marks a folder as ours to clear. */
const MARKER = 'made-by-rowferry-demo';

/** `.rowferry/demo` here, emptied; a temporary folder where that one is not ours, or cannot be written. */
async function freshHome(cwd: string): Promise<string> {
  const home = join(cwd, '.rowferry', 'demo');
  try {
    if (await stat(join(home, MARKER)).catch(() => undefined)) await rm(home, { recursive: true });
    // Each level by itself: a recursive `mkdir` never ends in folders that take none, such as /proc.
    await mkdir(dirname(home)).catch((error: NodeJS.ErrnoException) => {
      if (error.code !== 'EEXIST') throw error;
    });
    await mkdir(home);
    await writeFile(join(home, MARKER), '');
    return home;
  } catch {
    return mkdtemp(join(tmpdir(), 'rowferry-demo-'));
  }
}

function nextSteps(paths: { reports: string; file: string; job: string; home: string }): string {
  const { reports, file, job, home } = paths;
  return `
What to try next
  1. Open ${reports}/report.html in a browser: the run on one page.
  2. Start a sandbox of your own in one terminal:
       npx rowferry sandbox --port 4010 --token demo-token
     and in another one:
       export ROWFERRY_API_URL=http://127.0.0.1:4010 ROWFERRY_API_TOKEN=demo-token
       npx rowferry import ${file} --job ${job}
     Run the import a second time: every good row is "unchanged", and nothing is sent.
  3. Correct the red cells of ${reports}/rejected.xlsx and import just these rows:
       npx rowferry import ${reports}/rejected.xlsx --job ${job}
  4. See this run again:  npx rowferry runs show last --home ${home}`;
}
