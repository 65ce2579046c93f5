import { Option } from 'commander';
import { pickDefined } from '../../library/open.js';
import { openSandbox } from '../../library/runs.js';
import { EXIT, errorText, usageError } from '../../model/error.js';
import { type Cli, print, printErr } from '../io.js';
import { CliCommand, onInterrupt, packageFile, wholeNumber } from '../run-command.js';

interface Options {
  host?: string;
  port?: number;
  token?: string;
  seed: 'demo' | 'empty';
  latency?: number;
  fault?: string[];
  responses?: 'full' | 'bare';
}

const several = (value: string, all: string[] = []): string[] => [...all, value];

export function sandboxCommand(cli: Cli): CliCommand {
  return new CliCommand('sandbox')
    .description('a service to try things on: it keeps everything in memory and forgets it when it ends')
    .option('--host <address>', 'address it listens on; by default this machine alone (127.0.0.1)')
    .option('--port <n>', 'port; by default one that is free', wholeNumber(0, 65_535))
    .option('--token <token>', 'bearer token it accepts; by default one is made up')
    .addOption(
      new Option('--seed <seed>', 'demo (a company with records) or empty').choices(['demo', 'empty']).default('demo'),
    )
    .option('--latency <ms>', 'milliseconds before each answer', wholeNumber(0, 600_000))
    .option('--fault <spec>', 'misbehave; can be given several times', several)
    .addOption(
      new Option(
        '--responses <form>',
        'full: writes answer the record (the default); bare: they answer nothing',
      ).choices(['full', 'bare']),
    )
    .helpBelow(`
Examples:
  $ rowferry sandbox --port 4010
  $ rowferry sandbox --latency 50 --responses bare
  $ rowferry sandbox --fault "POST /asset nth=3 status=503" --fault "GET * every=10 status=429 retry_after=2"

It prints two lines to paste into another terminal, and ends with Ctrl-C.`)
    .action(async (options: Options) => {
      cli.code = await serve(cli, options);
    });
}

async function serve(cli: Cli, options: Options): Promise<number> {
  const { parseFault } = await import('../../sandbox/index.js');
  const faults = (options.fault ?? []).map((spec) => {
    try {
      return parseFault(spec);
    } catch (error) {
      throw usageError(`--fault: ${errorText(error)}`);
    }
  });
  const interruption = onInterrupt(() => undefined);
  try {
    const sandbox = await openSandbox({
      faults,
      seed: options.seed,
      ...pickDefined({
        host: options.host,
        port: options.port,
        token: options.token,
        latencyMs: options.latency,
        responses: options.responses,
      }),
    });
    print(
      cli,
      `The sandbox is at ${sandbox.url} and accepts the token ${sandbox.token}. To use it, in another terminal:

export ROWFERRY_API_URL=${sandbox.url}
export ROWFERRY_API_TOKEN=${sandbox.token}
`,
    );
    const file = packageFile(cli.io.cwd, 'fixtures', 'assets-demo.xlsx');
    const job = packageFile(cli.io.cwd, 'jobs', 'assets.yaml');
    printErr(cli, `Then for example: rowferry import ${file} --job ${job}\nCtrl-C ends it.`);
    if (!interruption.signal.aborted) {
      await new Promise<void>((done) => interruption.signal.addEventListener('abort', () => done(), { once: true }));
    }
    await sandbox.close();
    // Being told to end is how a server ends.
    return EXIT.ok;
  } finally {
    interruption.release();
  }
}
