import { cp, lstat, mkdir, mkdtemp, readdir, readFile, rm, stat, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join, resolve, sep } from 'node:path';
import { importFile, openSandbox } from '../../library/runs.js';
import { EXIT, usageError } from '../../model/error.js';
import { createAtomically, HOME, makeFolder } from '../../runs/run/layout.js';
import type { Sandbox } from '../../sandbox/index.js';
import { type Cli, print, printErr } from '../io.js';
import { CliCommand, executeRun, followRun, packageFile, packageRoot } from '../run-command.js';
import { linkPrinter } from './console.js';
import { runWorkerToEnd } from './worker.js';

export function initCommand(cli: Cli): CliCommand {
  return new CliCommand('init')
    .description('make a folder to begin in: settings, example jobs, an inbox; nothing that is there is changed')
    .argument('[dir]', 'the folder; by default this one')
    .helpBelow(`
Examples:
  $ rowferry init
  $ rowferry init /srv/rowferry`)
    .action((dir = '.') => {
      // As of a variable of the shell that is not set.
      if (dir.trim() === '') throw usageError('The name of the folder is blank; give it one, or leave it out.');
      return init(cli, resolve(cli.io.cwd, dir));
    });
}

/** Variables of `.env`, in its order, with what it gives them; undefined: as a remark, with the default. */
const VARIABLES: readonly (readonly [name: string, value?: string])[] = [
  ['ROWFERRY_API_URL', ''],
  ['ROWFERRY_API_TOKEN', ''],
  ['ROWFERRY_COMPANY'],
  ['ROWFERRY_INBOX', 'inbox'],
  ['ROWFERRY_HOME'],
  ['ROWFERRY_JOBS_DIR'],
  ['ROWFERRY_QUEUE_URL'],
  ['ROWFERRY_CONCURRENCY'],
  ['ROWFERRY_MAX_RPS'],
  ['ROWFERRY_LOG_LEVEL'],
];

const head = (
  docs: string,
) => `# Settings of rowferry. What is blank, or stands behind a #, counts as not set; flags and the shell win over this file.
# A value that holds a # stands in quotes. The file holds a secret: keep it out of version control. All settings: ${docs}
`;

async function init(cli: Cli, dir: string): Promise<void> {
  const [{ SETTINGS, resolveSettings }, { relativePath }] = await Promise.all([
    import('../../runs/settings.js'),
    import('../../runs/run/present.js'),
  ]);
  const purpose = { what: 'folder', namedBy: '`rowferry init DIR`' };
  const [created, existing]: [string[], string[]] = [[], []];
  const recordFile = (name: string, isNew: boolean) => (isNew ? created : existing).push(name);
  await makeFolder(dir, purpose);
  const lines = VARIABLES.map(([name, value]) => {
    const { meaning = '', fallback = '' } = SETTINGS.find((row) => row.name === name) ?? {};
    const stated = fallback.includes(' ') ? '' : fallback;
    return `\n# ${meaning.replaceAll('`', '')}\n${value === undefined ? `# ${name}=${stated}` : `${name}=${value}`}\n`;
  });
  recordFile(
    '.env',
    await makeFile(
      join(dir, '.env'),
      head(packageFile(dir, 'docs', 'reference', 'settings.md')) + lines.join(''),
      true,
    ),
  );

  // As `.env` says, which may have been there before.
  const { jobsDir, inbox, home } = resolveSettings({}, {}, dir);
  // The data folder holds copies of files and records: it is never made with the rights of an inbox in it.
  if (inbox.startsWith(join(home, sep))) await makeFolder(home, HOME);
  await makeFolder(jobsDir, purpose);
  for (const name of await readdir(join(packageRoot, 'jobs'))) {
    const to = join(jobsDir, name);
    recordFile(relativePath(to, dir), await makeFile(to, await readFile(join(packageRoot, 'jobs', name))));
  }
  recordFile(`${relativePath(inbox, dir)}/`, (await makeFolder(inbox, purpose)) !== undefined);
  const ignore = join(dir, '.gitignore');
  const tracked = await stat(join(dir, '.git')).catch(() => undefined);
  if (tracked) recordFile('.gitignore', await makeFile(ignore, '.env\n.rowferry/\ninbox/\n'));
  const exposed = tracked && !/^\/?\.env\*?$/m.test(await readFile(ignore, 'utf8'));
  const sample = packageFile(dir, 'fixtures', 'assets-demo.xlsx');
  const here = dir === cli.io.cwd;
  const shown = here ? '.' : relativePath(dir, cli.io.cwd);
  if (created.length > 0) print(cli, `Made in ${shown}: ${created.join(', ')}`);
  if (existing.length > 0) print(cli, `Left as they were: ${existing.join(', ')}`);
  if (exposed) print(cli, '.gitignore does not list .env: add it, because the token will stand there.');
  print(
    cli,
    `
What to do next${here ? '' : `, in ${shown}`}
  1. Write the address of the service and your token into .env. Without a service, start one to practise on in another
     terminal, with \`npx rowferry sandbox --port 4010 --token demo-token\`, and write http://127.0.0.1:4010 and demo-token.
  2. npx rowferry doctor
  3. npx rowferry import ${sample} --job assets --dry-run
  4. npx rowferry worker             then put spreadsheets into the folders of the inbox`,
  );
}

/** False where the file is there already. It appears complete or not at all: the next `init` would keep the half of one. */
async function makeFile(path: string, content: string | Buffer, isPrivate = false): Promise<boolean> {
  if (await lstat(path).catch(() => undefined)) return false;
  await createAtomically(
    path,
    (temporary) => writeFile(temporary, content, { flag: 'wx', mode: isPrivate ? 0o600 : 0o666 }),
    { keepMode: isPrivate },
  );
  return true;
}

export function demoCommand(cli: Cli): CliCommand {
  return new CliCommand('demo')
    .description('import a sheet with good and bad rows into a sandbox of its own')
    .option('--console', 'then show the run in the console, until Ctrl-C')
    .helpBelow('\nIts data folder is .rowferry/demo here, emptied each time; the sandbox ends with the command.')
    .action(async (options: { console?: true }) => {
      cli.code = await demo(cli, options.console === true);
    });
}

/** Slow enough that the progress line can be watched. */
const LATENCY_MS = 30;

async function demo(cli: Cli, withConsole: boolean): Promise<number> {
  const [{ resolveSettings }, { relativePath }] = await Promise.all([
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
    printErr(cli, `Importing ${relativePath(file)} with ${relativePath(jobFile)} into a sandbox at ${sandbox.url}.\n`);
    const demoSettings = resolveSettings({}, settings, home, { envFile: false });
    const { code, result } = await executeRun(cli, demoSettings, { json: false }, (context) => {
      const { signal, listener, log } = context;
      const call = { settings, env: {}, cwd: home, signal, onNotice: listener.notice, log };
      return followRun(importFile({ file, job: jobFile, ...call }), context);
    });
    if (result) {
      const reports = relativePath(result.reportDir);
      print(
        cli,
        nextSteps({ reports, file: relativePath(file), job: relativePath(jobFile), home: relativePath(home) }),
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
  printErr(cli, 'The console starts; this takes some seconds.');
  return runWorkerToEnd(cli, settings, { queueOnly: false, onConsole: linkPrinter(cli, settings) });
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

type DemoPaths = Readonly<Record<'reports' | 'file' | 'job' | 'home', string>>;

const nextSteps = ({ reports, file, job, home }: DemoPaths): string => `
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
