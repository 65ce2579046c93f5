import { closeSync, openSync, writeSync } from 'node:fs';
import { resolve } from 'node:path';
import { Command } from 'commander';
import { openSandbox } from '../../library/runs.js';
import { codesOf, EXIT, RunError } from '../../model/error.js';
import { type Cli, print, tell } from '../io.js';
import { given, onInterrupt } from '../run-command.js';

interface Options {
  host?: string;
  port?: string;
  token?: string;
  seed?: string;
  latency?: string;
  fault?: string[];
  switch?: string[];
  responses?: string;
  maxRps?: string;
  commitLog?: string;
}

const several = (value: string, all: string[] = []): string[] => [...all, value];

export function sandboxCommand(cli: Cli): Command {
  return new Command('sandbox')
    .description('a service to try things on: it keeps everything in memory and forgets it when it ends')
    .option('--host <address>', 'address it listens on; by default this machine alone (127.0.0.1)')
    .option('--port <n>', 'port; by default one that is free')
    .option('--token <token>', 'bearer token it accepts; by default one is made up')
    .option('--seed <seed>', 'demo (a company with records, the default) or empty')
    .option('--latency <ms>', 'milliseconds before each answer')
    .option('--fault <spec>', 'misbehave; can be given several times', several)
    .option('--switch <name=value>', 'what the interface leaves open; can be given several times', several)
    .option('--responses <form>', 'full: writes answer the record (the default); bare: they answer nothing')
    .option('--max-rps <n>', 'a limit of requests per second that it does not tell; beyond it 429')
    .option('--commit-log <file>', 'writes each write that took effect as a line of JSON')
    .addHelpText(
      'after',
      `
Examples:
  $ rowferry sandbox --port 4010
  $ rowferry sandbox --latency 50 --responses bare
  $ rowferry sandbox --fault "POST /asset nth=3 status=503" --fault "GET * every=10 status=429 retry_after=2"
  $ rowferry sandbox --switch filters=contains --switch lag=2000

It prints two lines to paste into another terminal, and ends with Ctrl-C.`,
    )
    .action(async (options: Options) => {
      cli.code = await serve(cli, options);
    });
}

async function serve(cli: Cli, options: Options): Promise<number> {
  const { io } = cli;
  const { parseFault, parseSwitches } = await import('../../sandbox/index.js');
  const faults = (options.fault ?? []).map((spec) => inFlag(`--fault "${spec}"`, () => parseFault(spec)));
  const switches = inFlag('--switch', () => parseSwitches(options.switch ?? []));
  if (switches.responses !== undefined && options.responses !== undefined) {
    throw new RunError('usage', '--responses and --switch responses=… say the same; leave one of them out.');
  }
  const { commitLog } = options;
  // Lines are written as they come: a reader sees each write before the client is answered.
  const log = commitLog && inFlag(`--commit-log ${commitLog}`, () => openSync(resolve(io.cwd, commitLog), 'w'));
  const interruption = onInterrupt(() => undefined);
  try {
    const sandbox = await openSandbox({
      faults,
      switches,
      seed: oneOf('--seed', options.seed, ['demo', 'empty']) ?? 'demo',
      ...given({
        host: options.host,
        port: wholeNumber('--port', options.port, 65_535),
        token: options.token,
        latencyMs: wholeNumber('--latency', options.latency, 600_000),
        responses: oneOf('--responses', options.responses, ['full', 'bare']),
        maxRps: wholeNumber('--max-rps', options.maxRps, 1_000_000, 1),
      }),
      ...(log ? { onCommit: (commit) => writeSync(log, `${JSON.stringify(commit)}\n`) } : {}),
    }).catch((error: unknown) => {
      throw new RunError('failed', portAdvice(error, options.port), [], { cause: error });
    });
    print(
      cli,
      `The sandbox is at ${sandbox.url} and accepts the token ${sandbox.token}. To use it, in another terminal:

export ROWFERRY_API_URL=${sandbox.url}
export ROWFERRY_API_TOKEN=${sandbox.token}
`,
    );
    tell(cli, 'Then for example: rowferry import fixtures/assets-demo.xlsx --job assets\nCtrl-C ends it.');
    if (!interruption.signal.aborted) {
      await new Promise<void>((done) => interruption.signal.addEventListener('abort', () => done(), { once: true }));
    }
    await sandbox.close();
    // Being told to end is how a server ends.
    return EXIT.ok;
  } finally {
    interruption.release();
    if (log) closeSync(log);
  }
}

function oneOf<T extends string>(flag: string, value: string | undefined, values: readonly T[]): T | undefined {
  if (value === undefined) return undefined;
  const found = values.find((one) => one === value);
  if (found === undefined) throw new RunError('usage', `${flag} is "${value}"; it must be ${values.join(' or ')}.`);
  return found;
}

/** What the sandbox says about a flag's value, with the flag. */
function inFlag<T>(flag: string, read: () => T): T {
  try {
    return read();
  } catch (error) {
    throw new RunError('usage', `${flag}: ${error instanceof Error ? error.message : String(error)}`);
  }
}

function wholeNumber(flag: string, value: string | undefined, most: number, least = 0): number | undefined {
  if (value === undefined) return undefined;
  if (!/^\d{1,9}$/.test(value) || Number(value) > most || Number(value) < least) {
    throw new RunError('usage', `${flag} is "${value}"; it must be a whole number from ${least} to ${most}.`);
  }
  return Number(value);
}

function portAdvice(error: unknown, port: string | undefined): string {
  const [code] = codesOf(error);
  if (code === 'EADDRINUSE') return `Port ${port} is in use; choose another one with --port, or leave it out.`;
  if (code === 'EACCES') return `Port ${port} may not be used by this user; choose one above 1023.`;
  return `The sandbox could not start: ${error instanceof Error ? error.message : String(error)}`;
}
