import { constants } from 'node:fs';
import { copyFile, readdir, readFile, stat, writeFile } from 'node:fs/promises';
import { join, resolve, sep } from 'node:path';
import { Command } from 'commander';
import { codesOf } from '../../model/error.js';
import { HOME, makeFolder, shareLikeFolder } from '../../runs/run/layout.js';
import { type Cli, print } from '../io.js';
import { packageRoot } from '../setup.js';

export function initCommand(cli: Cli): Command {
  return new Command('init')
    .description('make a folder to begin in: settings, example jobs, an inbox; nothing that is there is changed')
    .argument('[dir]', 'the folder; by default this one')
    .addHelpText(
      'after',
      `
Examples:
  $ rowferry init
  $ rowferry init /srv/rowferry`,
    )
    .action((dir: string | undefined) => init(cli, resolve(cli.io.cwd, dir ?? '.')));
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

const HEAD = `# Settings of rowferry. What is blank, or stands behind a #, counts as not set; flags and the shell win over this file.
# It holds a secret: keep it out of version control. All settings: docs/reference/settings.md
`;

async function init(cli: Cli, dir: string): Promise<void> {
  const { SETTINGS, resolveSettings } = await import('../../runs/settings.js');
  const purpose = { what: 'folder', namedBy: '`rowferry init DIR`' };
  const [made, left]: [string[], string[]] = [[], []];
  const note = (name: string, isNew: boolean) => (isNew ? made : left).push(name);
  await makeFolder(dir, purpose);
  const lines = VARIABLES.map(([name, value]) => {
    const { meaning = '', fallback = '' } = SETTINGS.find((row) => row.name === name) ?? {};
    const stated = fallback.includes(' ') ? '' : fallback;
    return `\n# ${meaning.replaceAll('`', '')}\n${value === undefined ? `# ${name}=${stated}` : `${name}=${value}`}\n`;
  });
  note('.env', await isNew(writeFile(join(dir, '.env'), HEAD + lines.join(''), { flag: 'wx', mode: 0o600 })));

  // As `.env` says, which may have been there before.
  const { jobsDir, inbox, home } = resolveSettings({}, {}, dir);
  // The data folder holds copies of files and records: it is never made with the rights of an inbox in it.
  if (inbox.startsWith(join(home, sep))) await makeFolder(home, HOME);
  await makeFolder(jobsDir, purpose);
  for (const name of await readdir(join(packageRoot, 'jobs'))) {
    const to = join(jobsDir, name);
    const fresh = await isNew(copyFile(join(packageRoot, 'jobs', name), to, constants.COPYFILE_EXCL));
    if (fresh) await shareLikeFolder(to);
    note(near(dir, to), fresh);
  }
  note(`${near(dir, inbox)}/`, (await makeFolder(inbox, purpose)) !== undefined);
  const ignore = join(dir, '.gitignore');
  const tracked = await stat(join(dir, '.git')).catch(() => undefined);
  if (tracked) {
    const fresh = await isNew(writeFile(ignore, '.env\n.rowferry/\ninbox/\n', { flag: 'wx' }));
    if (fresh) await shareLikeFolder(ignore);
    note('.gitignore', fresh);
  }
  const exposed = tracked && !/^\/?\.env\*?$/m.test(await readFile(ignore, 'utf8'));
  const sample = near(dir, join(packageRoot, 'fixtures', 'assets-demo.xlsx'));
  print(cli, told({ dir: near(cli.io.cwd, dir), sample, made, left, exposed: exposed === true }));
}

/** False where the file is there already. */
async function isNew(making: Promise<void>): Promise<boolean> {
  try {
    await making;
    return true;
  } catch (error) {
    if (codesOf(error)[0] === 'EEXIST') return false;
    throw error;
  }
}

/** A path as a person in the folder would type it. */
function near(dir: string, path: string): string {
  return path === dir ? '.' : path.startsWith(`${dir}/`) ? path.slice(dir.length + 1) : path;
}

interface Made {
  readonly dir: string;
  readonly sample: string;
  readonly made: readonly string[];
  readonly left: readonly string[];
  readonly exposed: boolean;
}

function told({ dir, sample, made, left, exposed }: Made): string {
  return [
    ...(made.length > 0 ? [`Made in ${dir}: ${made.join(', ')}`] : []),
    ...(left.length > 0 ? [`Left as they were: ${left.join(', ')}`] : []),
    ...(exposed ? ['.gitignore does not list .env: add it, because the token will stand there.'] : []),
    `
What to do next${dir === '.' ? '' : `, in ${dir}`}
  1. Write the address of the service and your token into .env. Without a service, start one to practise on in another
     terminal, with \`npx rowferry sandbox --port 4010 --token demo-token\`, and write http://127.0.0.1:4010 and demo-token.
  2. npx rowferry doctor
  3. npx rowferry import ${sample} --job assets --dry-run
  4. npx rowferry worker             then put spreadsheets into the folders of the inbox`,
  ].join('\n');
}
