import { readFileSync } from 'node:fs';
import path from 'node:path';
import dotenv from 'dotenv';
import { z } from 'zod';
import { RunError } from '../model/error.js';
import { didYouMean } from './nearest.js';
import { remarks, serviceAddress } from './settings-address.js';
import { type Auth, dropReplacedSignIn, type Layer, readAuth } from './settings-auth.js';
import { queueAddress, queueSecrets } from './settings-queue.js';
import { SETTINGS, type SettingName, type SettingRow } from './settings-table.js';
import { amount, moments, whole } from './settings-values.js';
import { type WorkerSettings, workerOf, workerSettings } from './settings-worker.js';

export type { Auth } from './settings-auth.js';
export type { WorkerSettings } from './settings-worker.js';
export { SETTINGS, type SettingName, type SettingRow };

/** Everything the environment says, checked once. Folders are absolute. */
export interface Settings {
  /** `{base_url}` without a slash at the end and without `/api/v2`; absent where none is set. */
  readonly apiUrl?: string;
  readonly auth?: Auth;
  readonly company: number;
  readonly home: string;
  readonly jobsDir: string;
  /** Absent: the embedded queue. May hold a password. */
  readonly queueUrl?: string;
  /** What workers sign with on the queue, itself or the file that holds it; absent: what they sign in to the service with. */
  readonly queueSecret?: string;
  readonly queueSecretFile?: string;
  readonly worker: WorkerSettings;
  readonly concurrency: number;
  readonly maxRps?: number;
  readonly timeoutMs: number;
  readonly patienceMs: number;
  /** Waits before each look-up of a create of unknown effect. */
  readonly settleWindowMs: readonly number[];
  readonly strict: boolean;
  readonly logLevel: LogLevel;
  /** What a person should know, e.g. a token sent without TLS. With `strict` these are faults. */
  readonly warnings: readonly string[];
  /** Texts that may appear in no log, report or message. */
  readonly secrets: readonly string[];
}

/** Command-line flags; undefined where not given. */
export interface SettingFlags {
  readonly apiUrl?: string | undefined;
  readonly company?: string | number | undefined;
  readonly home?: string | undefined;
  readonly jobsDir?: string | undefined;
  readonly concurrency?: string | number | undefined;
  readonly maxRps?: string | number | undefined;
  readonly logLevel?: string | undefined;
  readonly inbox?: string | undefined;
  readonly http?: string | undefined;
}

const LOG_LEVELS = ['fatal', 'error', 'warn', 'info', 'debug', 'trace', 'silent'] as const;
export type LogLevel = (typeof LOG_LEVELS)[number];

const FLAGS: Readonly<Record<keyof SettingFlags, SettingName>> = {
  apiUrl: 'ROWFERRY_API_URL',
  company: 'ROWFERRY_COMPANY',
  home: 'ROWFERRY_HOME',
  jobsDir: 'ROWFERRY_JOBS_DIR',
  concurrency: 'ROWFERRY_CONCURRENCY',
  maxRps: 'ROWFERRY_MAX_RPS',
  logLevel: 'ROWFERRY_LOG_LEVEL',
  inbox: 'ROWFERRY_INBOX',
  http: 'ROWFERRY_HTTP',
};

const schema = z.object({
  ROWFERRY_API_URL: z.string().transform(serviceAddress).optional(),
  ROWFERRY_API_TOKEN: z
    .string()
    .regex(/^[\x21-\x7e]+$/, 'must be one word of plain characters, without blanks or line breaks')
    .optional(),
  ROWFERRY_API_TOKEN_FILE: z.string().optional(),
  ROWFERRY_OAUTH_TOKEN_URL: z.string().transform(serviceAddress).optional(),
  ROWFERRY_OAUTH_CLIENT_ID: z.string().optional(),
  ROWFERRY_OAUTH_CLIENT_SECRET: z.string().optional(),
  ROWFERRY_OAUTH_SCOPE: z.string().optional(),
  ROWFERRY_COMPANY: whole(1, Number.MAX_SAFE_INTEGER).default(1),
  ROWFERRY_HOME: z.string().default('.rowferry'),
  ROWFERRY_JOBS_DIR: z.string().default('jobs'),
  ROWFERRY_QUEUE_URL: z.string().transform(queueAddress).optional(),
  ROWFERRY_QUEUE_SECRET: z.string().min(16, 'must have 16 characters at least').optional(),
  ROWFERRY_QUEUE_SECRET_FILE: z.string().optional(),
  ROWFERRY_CONCURRENCY: whole(1, 1000).default(16),
  ROWFERRY_MAX_RPS: amount(0.01, 100_000).optional(),
  ROWFERRY_TIMEOUT: amount(0.05, 3600).default(30),
  ROWFERRY_PATIENCE: amount(0, 1440).default(15),
  ROWFERRY_SETTLE_WINDOW: moments.default([1000, 5000, 15_000, 45_000]),
  ...workerSettings,
  ROWFERRY_STRICT: z
    .string()
    .regex(/^(0|1|true|false|yes|no|on|off)$/i, 'must be 1 or 0')
    .transform((text) => /^(1|true|yes|on)$/i.test(text))
    .default(false),
  ROWFERRY_LOG_LEVEL: z
    .string()
    .toLowerCase()
    .pipe(z.enum(LOG_LEVELS, `must be one of: ${LOG_LEVELS.join(', ')}`))
    .default('info'),
});

/**
 * Settings from flags, the environment and `cwd/.env`, in this order of precedence. A blank value counts as not set.
 * Throws `RunError('usage')` with every fault in its details; secrets and addresses with passwords are never quoted.
 */
export function resolveSettings(env: NodeJS.ProcessEnv, flags: SettingFlags, cwd: string): Settings {
  const faults: string[] = [];
  const shell = layer(env);
  const file = layer(readDotEnv(cwd));
  const known: readonly string[] = SETTINGS.map((row) => row.name);
  for (const [where, names] of [
    ['', shell],
    [' (in .env)', file],
  ] as const) {
    for (const name of names.keys()) {
      if (!known.includes(name)) faults.push(`${name}${where} is no variable of rowferry${didYouMean(name, known)}`);
    }
  }
  dropReplacedSignIn(shell, file);
  const given = new Map<string, string>([...file, ...shell]);
  const fromFlag = new Map<string, string>();
  for (const [flag, name] of Object.entries(FLAGS)) {
    const value = flags[flag as keyof SettingFlags];
    if (value === undefined) continue;
    given.set(name, String(value).trim());
    fromFlag.set(name, SETTINGS.map((row): SettingRow => row).find((row) => row.name === name)?.flag ?? name);
  }

  const parsed = schema.safeParse(Object.fromEntries(given));
  for (const issue of parsed.error?.issues ?? []) {
    const name = String(issue.path[0]);
    const row: SettingRow | undefined = SETTINGS.find((one) => one.name === name);
    const value = given.get(name) ?? '';
    const quoted =
      row?.secret || /URL$/.test(name) ? '' : ` is "${value.length > 40 ? `${value.slice(0, 37)}...` : value}"; it`;
    faults.push(`${fromFlag.get(name) ?? name}${quoted} ${issue.message}`);
  }
  const auth = readAuth(given, cwd, faults);
  if (given.has('ROWFERRY_QUEUE_SECRET') && given.has('ROWFERRY_QUEUE_SECRET_FILE'))
    faults.push('ROWFERRY_QUEUE_SECRET and ROWFERRY_QUEUE_SECRET_FILE are set; keep one');
  if (!parsed.success || faults.length > 0) throw settingsError(faults);

  const data = parsed.data;
  const warnings = remarks({
    apiUrl: data.ROWFERRY_API_URL,
    tokenUrl: data.ROWFERRY_OAUTH_TOKEN_URL,
    queueUrl: data.ROWFERRY_QUEUE_URL,
  });
  if (data.ROWFERRY_STRICT && warnings.length > 0)
    throw settingsError(warnings.map((one) => `ROWFERRY_STRICT: ${one}`));
  return {
    ...(data.ROWFERRY_API_URL !== undefined && { apiUrl: data.ROWFERRY_API_URL }),
    ...(auth && { auth }),
    company: data.ROWFERRY_COMPANY,
    home: path.resolve(cwd, data.ROWFERRY_HOME),
    jobsDir: path.resolve(cwd, data.ROWFERRY_JOBS_DIR),
    ...(data.ROWFERRY_QUEUE_URL !== undefined && { queueUrl: data.ROWFERRY_QUEUE_URL }),
    ...(data.ROWFERRY_QUEUE_SECRET !== undefined && { queueSecret: data.ROWFERRY_QUEUE_SECRET }),
    ...(data.ROWFERRY_QUEUE_SECRET_FILE !== undefined && {
      queueSecretFile: path.resolve(cwd, data.ROWFERRY_QUEUE_SECRET_FILE),
    }),
    worker: workerOf(data, cwd, path.resolve(cwd, data.ROWFERRY_HOME)),
    concurrency: data.ROWFERRY_CONCURRENCY,
    ...(data.ROWFERRY_MAX_RPS !== undefined && { maxRps: data.ROWFERRY_MAX_RPS }),
    timeoutMs: Math.round(data.ROWFERRY_TIMEOUT * 1000),
    patienceMs: Math.round(data.ROWFERRY_PATIENCE * 60_000),
    settleWindowMs: data.ROWFERRY_SETTLE_WINDOW,
    strict: data.ROWFERRY_STRICT,
    logLevel: data.ROWFERRY_LOG_LEVEL,
    warnings,
    secrets: secretsOf(given),
  };
}

/** What a command needs that talks to the service. Throws `RunError('usage')` naming the variables that lack. */
export function requireService(settings: Settings): { readonly apiUrl: string; readonly auth: Auth } {
  const { apiUrl, auth } = settings;
  if (apiUrl !== undefined && auth !== undefined) return { apiUrl, auth };
  const lacking = [
    ...(apiUrl === undefined ? ['ROWFERRY_API_URL is not set: the address of the service, without /api/v2'] : []),
    ...(auth === undefined
      ? ['ROWFERRY_API_TOKEN is not set (or ROWFERRY_API_TOKEN_FILE, or the ROWFERRY_OAUTH_… variables)']
      : []),
  ];
  throw new RunError(
    'usage',
    'The service is not set up. Set these variables in the shell or in a .env file here; to try without a service, start `rowferry sandbox`.',
    lacking,
  );
}

/** The variables of rowferry among others; blank ones count as not set. */
function layer(env: Readonly<Record<string, string | undefined>>): Layer {
  const found: Layer = new Map();
  for (const [name, value] of Object.entries(env)) {
    const text = value?.trim();
    if (/^ROWFERRY_/i.test(name) && text) found.set(name, text);
  }
  return found;
}

function readDotEnv(cwd: string): Record<string, string> {
  const file = path.join(cwd, '.env');
  try {
    return dotenv.parse(readFileSync(file));
  } catch (error) {
    const code = error instanceof Error && 'code' in error ? String(error.code) : 'unreadable';
    if (code === 'ENOENT') return {};
    throw new RunError('usage', `${file} cannot be read (${code}).`, [], { cause: error });
  }
}

function secretsOf(given: Layer): string[] {
  const secrets = SETTINGS.map((row): SettingRow => row)
    .filter((row) => row.secret && row.name !== 'ROWFERRY_QUEUE_URL')
    .flatMap((row) => given.get(row.name) ?? []);
  const webhook = given.get('ROWFERRY_NOTIFY_URL');
  return [
    ...secrets,
    ...queueSecrets(given.get('ROWFERRY_QUEUE_URL') ?? ''),
    ...(webhook === undefined ? [] : webhookSecrets(webhook)),
  ];
}

/** Shorter parts of a path are words. */
const LONG_PART = 16;

/** What of a webhook's address is secret where a part of it stands alone: passwords, values, long parts of the path. */
function webhookSecrets(text: string): string[] {
  if (!URL.canParse(text)) return [];
  const { href, password, pathname, searchParams } = new URL(text);
  const long = pathname.split('/').filter((part) => part.length >= LONG_PART);
  return [href, password, ...searchParams.values(), ...long].filter((part) => part !== '' && part !== text);
}

function settingsError(faults: readonly string[]): RunError {
  const count = faults.length === 1 ? 'A setting is' : `${faults.length} settings are`;
  return new RunError(
    'usage',
    `${count} wrong. Correct what is listed (the README's table of settings says what each means).`,
    faults,
  );
}
