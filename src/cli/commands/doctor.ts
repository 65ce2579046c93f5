import { createInterface } from 'node:readline/promises';
import { asRunError, EXIT, RunError, usageError } from '../../model/error.js';
import type { Check } from '../../runs/doctor/checks.js';
import type { SettingFlags, Settings } from '../../runs/settings.js';
import { type Cli, print, printErr, printJson, reportInterrupted } from '../io.js';
import { CliCommand, onInterrupt, readSettings } from '../run-command.js';

type Options = SettingFlags & { probe?: true; yes?: true; json?: true };

export function doctorCommand(cli: Cli): CliCommand {
  return new CliCommand('doctor')
    .description('check settings, service, token, company, queue and folders, and say what to do')
    .option('--probe', 'also ask the service, on scratch records that stay, what its interface leaves open')
    .option('--yes', 'agree to the probe without being asked')
    .option('--json', 'print the result as one JSON object')
    .helpBelow(`
Examples:
  $ rowferry doctor
  $ rowferry doctor --probe            asks before it writes
  $ rowferry doctor --probe --yes      for scripts

Exit code 0 if all is well, 1 if something is not, 2 if the settings are not.`)
    .action(async (options: Options) => {
      cli.code = await doctor(cli, options);
    })
    .settings('apiUrl', 'company', 'home');
}

async function doctor(cli: Cli, options: Options): Promise<number> {
  const { runChecks, checksExitCode, probeBlockers } = await import('../../runs/doctor/checks.js');
  const settings = await readSettings(cli, options).catch((error: unknown) => {
    if (error instanceof RunError) return error;
    throw error;
  });
  const interruption = onInterrupt(() => undefined);
  try {
    const checks = await runChecks(settings, {
      signal: interruption.signal,
      inspectQueue: async (given) => (await import('../../api/client.js')).inspectQueue(given),
    });
    const code = checksExitCode(checks);
    if (!options.json) for (const check of checks) print(cli, checkText(check));
    const blockers = probeBlockers(checks);
    let probe: unknown;
    if (options.probe && (settings instanceof Error || blockers.length > 0)) {
      const refused = `The probe was left out: put right first what is marked ${MARKS.bad} (${blockers.join(', ')}).`;
      printErr(cli, refused);
      probe = { refused };
    } else if (options.probe && !(settings instanceof Error)) {
      probe = await probeIfAgreed(cli, settings, options, interruption.signal);
    }
    if (options.json) printJson(cli, { ok: code === EXIT.ok, checks, ...(probe ? { probe } : {}) });
    return interruption.exitCode() ?? code;
  } catch (error) {
    const code = interruption.exitCode();
    if (code === undefined) throw error;
    const { message, details } = asRunError(error);
    reportInterrupted(cli, message, code, options.json === true, { details });
    // What the probe wrote until then.
    for (const detail of details) printErr(cli, `  ${detail}`);
    return code;
  } finally {
    interruption.release();
  }
}

const MARKS = { ok: '✓', warn: '!', bad: '✗' } as const;

function checkText(check: Check): string {
  const [first = '', ...rest] = check.found.split('\n');
  const lines = [
    `${MARKS[check.state]} ${check.name.padEnd(12)} ${first}`,
    ...rest.map((line) => `${' '.repeat(15)}${line}`),
  ];
  if (check.advice) lines.push(`${' '.repeat(15)}→ ${check.advice}`);
  return lines.join('\n');
}

async function probeIfAgreed(cli: Cli, settings: Settings, options: Options, signal: AbortSignal): Promise<unknown> {
  const { PROBE_CONSENT, runProbe } = await import('../../runs/doctor/probe.js');
  printErr(cli, `\n${PROBE_CONSENT}`);
  if (!options.yes && !(await confirmProbe(cli, signal))) {
    const refused = 'Nothing was written.';
    printErr(cli, refused);
    return { refused };
  }
  const result = await runProbe(settings, { signal });
  if (!options.json) {
    const width = Math.max(...result.findings.map((finding) => finding.about.length));
    print(cli, ['', ...result.findings.map(({ about, text }) => `${about.padEnd(width)}  ${text}`)].join('\n'));
    print(cli, `\nKept in ${settings.home} and used from now on.\nLeft behind: ${result.leftBehind.join(', ')}`);
  }
  return result;
}

async function confirmProbe(cli: Cli, signal: AbortSignal): Promise<boolean> {
  const { stdin, stderr } = cli.io;
  if (!stdin.isTTY || !stderr.isTTY) {
    throw usageError('--probe writes to the service and asks first; outside a terminal add --yes to agree.');
  }
  const dialogue = createInterface({ input: stdin, output: stderr });
  dialogue.on('SIGINT', () => process.emit('SIGINT'));
  try {
    // Ctrl-C and Ctrl-D are a no, too.
    const answer = await dialogue.question('Go on? [y/N] ', { signal }).catch(() => '');
    return /^y(es)?$/i.test(answer.trim());
  } finally {
    dialogue.close();
  }
}
