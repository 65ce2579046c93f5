import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { createInterface } from 'node:readline/promises';
import { Writable } from 'node:stream';
import { type Command, Option } from 'commander';
import { ROLES, type Role } from '../../api/access/roles.js';
import { EXIT, usageError } from '../../model/error.js';
import type { SettingFlags, Settings } from '../../runs/settings.js';
import { type Cli, print, printErr } from '../io.js';
import { CliCommand, readSettings, wholeNumber } from '../run-command.js';
import { refuseUnknown } from './runs.js';
import { runWorkerToEnd } from './worker.js';

type Options = SettingFlags & { port?: number; open?: true };

export function consoleCommand(cli: Cli): CliCommand {
  return new CliCommand('console')
    .description('a worker with its console: prints a link that opens it in a browser')
    .option(
      '--port <n>',
      'port on this machine alone; by default 8720, or where ROWFERRY_HTTP says',
      wholeNumber(0, 65_535),
    )
    .option('--open', 'open the browser, too')
    .helpBelow(`
Examples:
  $ rowferry console --open
  $ rowferry console user add mara --role operator        who may sign in from other machines
  $ rowferry console key add nightly --role operator      a key for a program: Authorization: Bearer

The link signs in once, within 10 minutes. Where a worker with this data folder runs already, it leads there.
Ctrl-C ends the worker.`)
    .allowExcessArguments(true)
    .action(async (options: Options, self: CliCommand) => {
      await refuseUnknown(self, self.args);
      cli.code = await openConsole(cli, options);
    })
    .settings('inbox', 'concurrency', 'jobsDir', 'home', 'apiUrl', 'maxRps', 'logLevel')
    .addCommand(peopleCommand(cli, 'user'))
    .addCommand(peopleCommand(cli, 'key'));
}

async function openConsole(cli: Cli, { port, open, ...flags }: Options): Promise<number> {
  const http = port === undefined ? undefined : `127.0.0.1:${port}`;
  const settings = await readSettings(cli, { ...flags, http });
  const [{ findConsole }, { isLoopback }, { openUsers }] = await Promise.all([
    import('../../api/access/links.js'),
    import('../../runs/settings-address.js'),
    import('../../api/access/credentials.js'),
  ]);
  const { usersFile } = settings;
  const printLink = linkPrinter(cli, settings, open);
  const requireUsers = async (host: string): Promise<void> => {
    if (isLoopback(host) || (await openUsers(usersFile).all()).length > 0) return;
    throw usageError(
      `Other machines reach ${host}, and nobody may sign in yet. Add somebody first: rowferry console user add NAME --role ${ROLES.join('|')}. Or leave out ROWFERRY_HTTP: the console is for this machine alone then.`,
    );
  };

  const running = await findConsole(settings.home);
  if (running !== undefined) {
    await requireUsers(new URL(running).hostname);
    printErr(cli, `A worker with this data folder runs already, at ${running}.`);
    await printLink(running);
    return EXIT.ok;
  }
  const { http: address } = settings;
  if (!address) throw usageError('ROWFERRY_HTTP is off, and the console needs an address. Say --port 8720.');
  await requireUsers(address.host);
  return runWorkerToEnd(cli, settings, { queueOnly: false, onConsole: printLink });
}

/** Prints a link that signs in at the console that is served at `url`, in whatever process. */
export function linkPrinter(cli: Cli, { home, publicUrl }: Settings, open = false): (url: string) => Promise<void> {
  return async (url) => {
    const [{ makeLinkKey }, { isLoopback }] = await Promise.all([
      import('../../api/access/links.js'),
      import('../../runs/settings-address.js'),
    ]);
    const { hostname } = new URL(url);
    const isAnyAddress = /^(0\.0\.0\.0|\[::\])$/.test(hostname);
    const base = (!isLoopback(hostname) && publicUrl) || (isAnyAddress ? url.replace(hostname, '127.0.0.1') : url);
    const link = `${base}/sign-in?key=${makeLinkKey(home)}`;
    print(
      cli,
      `Console: ${link}\n\nThe link signs in once, within 10 minutes; \`rowferry console\` prints another one.`,
    );
    if (open) await openBrowser(home, link);
  };
}

/**
 * Other users of a machine see what commands are called with: the browser is given a page in the data folder that leads on. Where
 * none opens, there is the link.
 */
async function openBrowser(home: string, link: string): Promise<void> {
  const page = join(home, 'open-console.html');
  await writeFile(page, `<!doctype html>\n<meta http-equiv="refresh" content="0; url=${link}">\n`, { mode: 0o600 });
  const [command, ...words] =
    process.platform === 'darwin' ? ['open'] : process.platform === 'win32' ? ['cmd', '/c', 'start', ''] : ['xdg-open'];
  if (command === undefined) return;
  const { spawn } = await import('node:child_process');
  spawn(command, [...words, page], { stdio: 'ignore', detached: true })
    .on('error', () => undefined)
    .unref();
}

const HELP = {
  user: 'people who may sign in to the console from other machines, by name and password',
  key: 'keys for programs that use the API: Authorization: Bearer KEY',
} as const;

function peopleCommand(cli: Cli, kind: 'user' | 'key'): CliCommand {
  const command = new CliCommand(kind).description(HELP[kind]);
  const add = new CliCommand('add')
    .description(
      kind === 'user' ? 'add somebody; asks for the password, or reads it from stdin' : 'make a key and print it, once',
    )
    .argument('<name>')
    .addOption(
      new Option(
        '--role <role>',
        'viewer reads, operator runs and changes, approver approves and forces; required',
      ).choices([...ROLES]),
    )
    .action(async (name: string, { role }: { role?: Role }, self: Command) => {
      if (role === undefined) throw usageError(`Say what ${name} may do: --role ${ROLES.join('|')}.`);
      const { people, open } = await openPeople(cli, self);
      if (kind === 'key') {
        print(cli, await people.addKey(open.keys, name, role));
        printErr(cli, 'This is shown once: keep it where the program finds it.');
        return;
      }
      const password = await people.hashPassword(await readPassword(cli, people.MIN_PASSWORD_LENGTH));
      await open.users.add({ name, role, password });
      printErr(cli, `${name} may sign in as ${role}: ${open.usersFile}`);
    });
  const list = new CliCommand('list')
    .description('name and role, a line each')
    .action(async (_options: object, self: Command) => {
      const { open } = await openPeople(cli, self);
      const all = await (kind === 'user' ? open.users : open.keys).all();
      for (const one of all) print(cli, `${one.name}\t${one.role}${'made_at' in one ? `\t${one.made_at}` : ''}`);
      if (all.length === 0)
        printErr(cli, `There is no ${kind} yet: rowferry console ${kind} add NAME --role ${ROLES.join('|')}`);
    });
  const remove = new CliCommand('remove')
    .description('from now on; sessions that are open end, too')
    .argument('<name>')
    .action(async (name: string, _options: object, self: Command) => {
      const { open } = await openPeople(cli, self);
      const removed = await (kind === 'user' ? open.users : open.keys).remove(name);
      if (!removed) throw usageError(`There is no ${kind} ${name}.`);
      printErr(cli, `The ${kind} ${name} is removed.`);
    });
  for (const one of [add, list, remove]) command.addCommand(one.settings('home'));
  return command;
}

async function openPeople(cli: Cli, command: Command) {
  // `console` knows `--home`, too, and takes it wherever it stands.
  const { home } = command.optsWithGlobals<{ home?: string }>();
  const settings: Settings = await readSettings(cli, { home });
  const people = await import('../../api/access/credentials.js');
  const { HOME, makeFolder } = await import('../../runs/run/layout.js');
  await makeFolder(settings.home, HOME);
  const { usersFile } = settings;
  return { people, open: { usersFile, users: people.openUsers(usersFile), keys: people.openKeys(settings.home) } };
}

/** Typed twice on a terminal, where it is not shown; otherwise the first line of stdin. */
async function readPassword({ io }: Cli, least: number): Promise<string> {
  const terminal = io.stdin.isTTY === true;
  const silent = new Writable({ write: (_chunk, _encoding, done) => done() });
  const lines = createInterface({ input: io.stdin, output: silent, terminal });
  lines.on('SIGINT', () => process.emit('SIGINT'));
  const read = lines[Symbol.asyncIterator]();
  const ask = async (question: string): Promise<string> => {
    if (terminal) io.stderr.write(question);
    const { value = '' } = await read.next();
    if (terminal) io.stderr.write('\n');
    return value;
  };
  try {
    const password = await ask('Password: ');
    if (password.length < least) throw usageError(`A password has ${least} characters at least.`);
    if (terminal && (await ask('Again: ')) !== password) throw usageError('The two are not the same. Begin anew.');
    return password;
  } finally {
    lines.close();
  }
}
