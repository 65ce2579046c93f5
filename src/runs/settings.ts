import { isUtf8 } from 'node:buffer';
import { readFileSync, statSync } from 'node:fs';
import path from 'node:path';
import dotenv from 'dotenv';
import { z } from 'zod';
import { errorText, type RunError, systemCodes, usageError } from '../model/error.js';
import { isWebAddress } from '../model/job.js';
import { nameHint } from '../pipeline/map/headings.js';
import { proxyFaults, proxySecrets } from '../service/transport/proxy.js';
import type { TokenSource } from '../service/transport/token.js';
import {
  consoleAddress,
  networkWarnings,
  queueAddress,
  queueSecrets,
  serviceAddress,
  webhookSecrets,
} from './settings-address.js';

/** A variable that rowferry reads, as data: docs/reference/settings.md and `doctor` show it. */
export interface SettingRow {
  readonly name: string;
  readonly meaning: string;
  /** What holds where it is not set; '' for nothing. */
  readonly fallback: string;
  /** The flag that wins over it. Secrets have none: other users of a machine see command lines. */
  readonly flag?: string;
  /** Its value is never shown. */
  readonly secret?: true;
  /** Right as it is: for trials, and for services and networks out of the ordinary. */
  readonly advanced?: true;
}

interface Setting<T> extends Omit<SettingRow, 'name' | 'fallback'> {
  readonly type: z.ZodType<T>;
  /** The value that holds where none is set, as somebody would write it. */
  readonly fallback?: string;
  /** The same in words, where it follows from other settings. */
  readonly fallbackText?: string;
}

const setting = <T>(meaning: string, type: z.ZodType<T>, more: Omit<Setting<T>, 'meaning' | 'type'> = {}) => ({
  meaning,
  type,
  ...more,
});
/** One that has no value of its own. */
const optional = <T>(meaning: string, type: z.ZodType<T>, more: Omit<Setting<T>, 'meaning' | 'type'> = {}) =>
  setting(meaning, type.optional(), more);

const text = z.string();
const number = (kind: string, form: RegExp, min: number, max: number) =>
  text
    .refine((input) => form.test(input) && Number(input) >= min && Number(input) <= max, {
      message: `must be a ${kind} from ${min} to ${max}`,
    })
    .transform(Number);
const whole = (min: number, max: number) => number('whole number', /^\d{1,15}$/, min, max);
const amount = (min: number, max: number) => number('number', /^\d{1,9}(\.\d{1,6})?$/, min, max);
/** Seconds parted by commas, each later than the one before; in milliseconds. */
const moments = text
  .regex(
    /^\d{1,4}(\.\d{1,3})?(\s*,\s*\d{1,4}(\.\d{1,3})?){0,19}$/,
    'must be seconds parted by commas, such as 1,5,15,45',
  )
  .transform((input) => input.split(',').map((part) => Math.round(Number(part) * 1000)))
  .refine((times) => times.every((at, i) => i === 0 || at > (times[i - 1] ?? 0)), {
    message: 'must ascend: each number of seconds is later than the one before, such as 1,5,15,45',
  });
const PORT = /^(?:(?<host>\[[0-9a-f:.]+\]|[^\s:]+):)?(?<port>\d{1,5})$/i;
const port = text.refine(
  (input) => /^off$/i.test(input) || Number(PORT.exec(input)?.groups?.['port'] ?? 'none') <= 65_535,
  { message: 'must be a port, host:port, or off' },
);
// Not kept as it is checked: a webhook's address may well hold a query.
const webhook = text.refine(isWebAddress, { message: 'must begin with https:// or http://' });
const UNITS: Readonly<Record<string, number>> = { kb: 1024, mb: 1024 ** 2, gb: 1024 ** 3 };
const BYTES = /^(?<count>\d{1,15}(\.\d{1,3})?) ?(?<unit>[kmg]b)?$/i;
const bytes = text.regex(BYTES, 'must be a number of bytes, such as 200 MB or 1 GB').transform((input) => {
  const { count, unit = '' } = BYTES.exec(input)?.groups ?? {};
  return Math.round(Number(count) * (UNITS[unit.toLowerCase()] ?? 1));
});
const LOG_LEVELS = ['fatal', 'error', 'warn', 'info', 'debug', 'trace', 'silent'] as const;

/** Every variable: what it means, what it may be, and what holds without it. */
const TABLE = {
  ROWFERRY_API_URL: optional('Address of the service, without `/api/v2`', text.transform(serviceAddress), {
    flag: '--api-url',
  }),
  ROWFERRY_API_TOKEN: optional(
    'Bearer token',
    text.regex(/^[!#-&(-~]+$/, 'must be one word of plain characters, without quotes, blanks or line breaks'),
    { secret: true },
  ),
  ROWFERRY_API_TOKEN_FILE: optional('File that holds the bearer token; read again when the service answers 401', text),
  ROWFERRY_OAUTH_TOKEN_URL: optional(
    'OAuth 2.0 client credentials: where tokens are issued',
    // Its query belongs to it (RFC 6749, section 3.2).
    text.transform((input, context) => serviceAddress(input.replace(/\?[^#]*/, ''), context)),
  ),
  ROWFERRY_OAUTH_CLIENT_ID: optional('OAuth 2.0: client id', text),
  ROWFERRY_OAUTH_CLIENT_SECRET: optional('OAuth 2.0: client secret', text, { secret: true }),
  ROWFERRY_OAUTH_SCOPE: optional('OAuth 2.0: scope, where the service asks for one', text),
  ROWFERRY_COMPANY: setting('Company id; a job and `--company` win over it', whole(1, Number.MAX_SAFE_INTEGER), {
    fallback: '1',
    flag: '--company',
  }),
  ROWFERRY_HOME: setting('Data folder: runs, what is known of the service, embedded queue, inbox', text, {
    fallback: '.rowferry',
    flag: '--home',
  }),
  ROWFERRY_JOBS_DIR: setting('Folder of the job files', text, { fallback: 'jobs', flag: '--jobs-dir' }),
  ROWFERRY_QUEUE_URL: optional(
    'Queue of the worker: `redis://`, `rediss://`, `redis+sentinel://host,host/name`, `redis+cluster://host,host`, `postgres://`',
    text.transform(queueAddress),
    { fallbackText: 'embedded, in the data folder', secret: true },
  ),
  ROWFERRY_QUEUE_SECRET: optional(
    'What the workers on one queue sign with what they tell each other; the same on all',
    text.min(16, 'must have 16 characters at least'),
    { fallbackText: 'the credentials of the service', secret: true },
  ),
  ROWFERRY_INBOX: optional('Drop folder of the worker', text, {
    fallbackText: '`inbox` in the data folder',
    flag: '--inbox',
  }),
  ROWFERRY_ROOTS: optional(
    'Folders that files of queue jobs may lie in, parted like `PATH`; the data folder and the drop folder always count',
    text,
    { fallbackText: 'the working folder' },
  ),
  ROWFERRY_HTTP: setting(
    'Where the worker answers the console, the API, `/healthz`, `/readyz` and `/metrics`: `port`, `host:port`, or `off`',
    port,
    { fallback: '127.0.0.1:8720', flag: '--http' },
  ),
  ROWFERRY_USERS_FILE: optional('Who may sign in to the console, as `rowferry console user` writes it', text, {
    fallbackText: '`users.json` in the data folder',
  }),
  ROWFERRY_PUBLIC_URL: optional(
    'Address at which people reach the console, such as `https://rowferry.example`; notices link to it',
    text.transform(consoleAddress),
  ),
  ROWFERRY_TRUSTED_PROXY: optional(
    'Header in which the proxy before the console names the address of the browser, such as `X-Forwarded-For`; without it no such header is believed',
    text.regex(/^[A-Za-z][A-Za-z0-9-]{0,63}$/, 'must be the name of a header, such as X-Forwarded-For').toLowerCase(),
  ),
  ROWFERRY_MAX_UPLOAD: setting('The largest file that the console and the API take', bytes, { fallback: '200 MB' }),
  ROWFERRY_NOTIFY_URL: optional('Webhook that is told when a job begins to fail and when it works again', webhook, {
    secret: true,
  }),
  ROWFERRY_SMTP_URL: optional(
    'Mail server for the `notify.email` of jobs: `smtp://user:password@host:587`, or `smtps://` for TLS from the first byte',
    // A path or a query is no part of it: mostly there is a / in the password, and the host is another one.
    text.refine(
      (input) => /^smtps?:\/\/[^/?#]+\/?$/i.test(input) && URL.canParse(input) && new URL(input).hostname !== '',
      {
        message:
          'must be an address such as smtp://user:password@mail.example.com:587; write / ? # and @ in a password as %2F %3F %23 and %40',
      },
    ),
    { secret: true },
  ),
  ROWFERRY_MAIL_FROM: optional('Sender of these mails', z.email('must be an e-mail address'), {
    fallbackText: '`rowferry@` and the name of the machine',
  }),
  ROWFERRY_CONCURRENCY: setting('Most requests in flight per process', whole(1, 1000), {
    fallback: '16',
    flag: '--concurrency',
  }),
  ROWFERRY_MAX_RPS: optional(
    'Ceiling of requests per second, shared by all workers on one queue',
    amount(0.01, 100_000),
    {
      flag: '--max-rps',
    },
  ),
  ROWFERRY_STRICT: setting(
    '`1`: what is only warned of (no TLS, a queue without a password) is refused',
    text
      .regex(/^(0|1|true|false|yes|no|on|off)$/i, 'must be 1 or 0')
      .transform((input) => /^(1|true|yes|on)$/i.test(input)),
    { fallback: '0' },
  ),
  ROWFERRY_KEEP_DAYS: optional(
    'Days that copies of files, rows and `before` of finished runs are kept, and `done/` and `failed/` of the drop folder; `rowferry runs prune` and the worker remove older ones',
    whole(0, 36_500),
    { fallbackText: 'for good', flag: '--keep-days' },
  ),
  ROWFERRY_LOG_LEVEL: setting(
    'fatal, error, warn, info, debug, trace or silent; logs are JSON lines on stderr (pretty on a terminal)',
    text.toLowerCase().pipe(z.enum(LOG_LEVELS, `must be one of: ${LOG_LEVELS.join(', ')}`)),
    { fallback: 'info', flag: '--log-level' },
  ),
  ROWFERRY_TIMEOUT: setting('Seconds until a request counts as unanswered', amount(0.05, 3600), {
    fallback: '30',
    advanced: true,
  }),
  ROWFERRY_PATIENCE: setting('Minutes that a service which is down is waited for', amount(0, 1440), {
    fallback: '15',
    advanced: true,
  }),
  ROWFERRY_SETTLE_WINDOW: setting(
    'Seconds after which a create of unknown effect is looked up, one after another',
    moments,
    { fallback: '1,5,15,45', advanced: true },
  ),
  ROWFERRY_LEASE: setting(
    'Seconds after which a worker that is not heard of counts as gone, and its work goes to others',
    amount(1, 600),
    { fallback: '15', advanced: true },
  ),
} satisfies Readonly<Record<string, Setting<unknown>>>;

type SettingName = keyof typeof TABLE;

export const SETTINGS: readonly (SettingRow & { readonly name: SettingName })[] = Object.entries<Setting<unknown>>(
  TABLE,
).map(([name, { type: _, fallback, fallbackText, ...row }]) => ({
  ...row,
  name: name as SettingName,
  fallback: fallback ?? fallbackText ?? '',
}));

/** Secrets that may lie in a file, which the variable with `_FILE` names. That of the token is followed while a run works. */
const FILE_SECRETS = SETTINGS.filter(({ secret, name }) => secret && name !== 'ROWFERRY_API_TOKEN').map(
  ({ name }) => name,
);
const fileVariable = (name: string): string => `${name}_FILE`;

/** Ways to sign in, each with the variables it needs. */
const AUTH = {
  token: ['ROWFERRY_API_TOKEN'],
  file: ['ROWFERRY_API_TOKEN_FILE'],
  oauth: [
    'ROWFERRY_OAUTH_TOKEN_URL',
    'ROWFERRY_OAUTH_CLIENT_ID',
    'ROWFERRY_OAUTH_CLIENT_SECRET',
    'ROWFERRY_OAUTH_SCOPE',
  ],
} as const satisfies Readonly<Record<TokenSource['kind'], readonly SettingName[]>>;

/** `ROWFERRY_API_URL` → `apiUrl` */
type Camel<T extends string> = T extends `ROWFERRY_${infer Rest}` ? CamelCase<Rest> : never;
type CamelCase<T extends string> = T extends `${infer First}_${infer Rest}`
  ? `${Lowercase<First>}${Capitalize<CamelCase<Rest>>}`
  : Lowercase<T>;

const camelCase = (name: string): string =>
  name
    .replace(/^ROWFERRY_/, '')
    .toLowerCase()
    .replace(/_([a-z])/g, (_, letter: string) => letter.toUpperCase());

/** What the variables hold but those of the sign-in, as the table reads them. */
type VariableValues = {
  readonly [name in Exclude<SettingName, (typeof AUTH)[keyof typeof AUTH][number]> as Camel<name>]: z.output<
    (typeof TABLE)[name]['type']
  >;
};

/**
 * Everything the environment says, checked once, each variable by its name without `ROWFERRY_` in camel case. Folders are
 * absolute. Without `queueUrl` the queue is the embedded one.
 */
export interface Settings
  extends Omit<
    VariableValues,
    'inbox' | 'roots' | 'http' | 'usersFile' | 'timeout' | 'patience' | 'settleWindow' | 'lease'
  > {
  readonly auth: TokenSource | undefined;
  readonly inbox: string;
  readonly roots: readonly string[];
  /** Who may sign in, with what, and what was done: no job reads these, whatever name leads to them. */
  readonly ownFiles: readonly string[];
  /** Undefined for nowhere. `stated`: not the default. */
  readonly http: { readonly host: string; readonly port: number; readonly stated: boolean } | undefined;
  readonly usersFile: string;
  readonly timeoutMs: number;
  readonly patienceMs: number;
  /** How long a service that was never reached is waited for, unless a patience is stated. */
  readonly firstAnswerMs: number;
  /** Waits before each look-up of a create of unknown effect. */
  readonly settleWindowMs: readonly number[];
  readonly leaseMs: number;
  /** What a person should know, e.g. a token sent without TLS. With `strict` these are faults. */
  readonly warnings: readonly string[];
  /** Texts that may appear in no log, report or message. */
  readonly secrets: readonly string[];
}

type InputValue<T> = T extends number
  ? number | string
  : T extends boolean
    ? boolean | string
    : T extends string
      ? T
      : string;

/**
 * Settings as programs and flags give them: the name of the variable without `ROWFERRY_`, in camel case, so that
 * `ROWFERRY_API_URL` is `apiUrl`. A value is what the variable would hold; numbers and booleans may be given as such.
 */
export type SettingsInput = {
  readonly [name in SettingName as Camel<name>]?:
    | InputValue<Exclude<z.output<(typeof TABLE)[name]['type']>, undefined>>
    | undefined;
};

/** Command-line flags that stand in for settings; undefined where not given. Their texts are checked like variables. */
export type SettingFlags = { readonly [name in keyof SettingsInput]?: string | number | undefined };

/** Variables that are set, by name; none is blank. */
type Layer = Map<string, string>;

/** Where settings come from besides what is given. */
interface SettingSources {
  /** File of settings, as `cwd` sees it; false: none. Default: `.env`, which need not be there. */
  readonly envFile?: string | false;
  /** How faults name what was given: by its flag, or as a program writes it. */
  readonly namedAs?: 'flags' | 'options';
}

/**
 * Settings from what is given, the environment, `cwd/.env` and the defaults, in this order of precedence. A blank value counts
 * as not set. Throws `RunError('usage')` with every fault in its details; secrets and addresses with passwords are never quoted.
 */
export function resolveSettings(
  env: NodeJS.ProcessEnv,
  input: SettingsInput | SettingFlags,
  cwd: string,
  { envFile = '.env', namedAs = 'flags' }: SettingSources = {},
): Settings {
  const faults: string[] = proxyFaults(env);
  const shell = layer(env);
  const dotEnv = envFile === false ? { values: {}, warnings: [] } : readDotEnv(path.resolve(cwd, envFile), env);
  const file = layer(dotEnv.values);
  const secretFiles = [...readSecretFiles(shell, new Map(), cwd, faults), ...readSecretFiles(file, shell, cwd, faults)];
  const known: readonly string[] = [...SETTINGS.map((row) => row.name), ...FILE_SECRETS.map(fileVariable)];
  for (const layer of [shell, file])
    for (const name of layer.keys())
      if (!known.includes(name))
        faults.push(`${name}${layer === file ? ' (in .env)' : ''} is no variable of rowferry${nameHint(name, known)}`);
  const own = inputLayer(input, faults);
  // The way to sign in that is stated first replaces any other.
  const signIns = [own, shell, file].map(waysToSignIn).find((ways) => ways.length > 0) ?? [];
  for (const layer of [shell, file])
    for (const way of waysToSignIn(layer)) if (!signIns.includes(way)) for (const name of AUTH[way]) layer.delete(name);
  const stated = new Map([...file, ...shell, ...own]);
  const nameOf = (name: string): string => {
    if (!own.has(name)) return name;
    return namedAs === 'options'
      ? `settings.${camelCase(name)}`
      : (SETTINGS.find((row) => row.name === name)?.flag ?? name);
  };
  const auth = readAuth(stated, cwd, faults);
  const { timeout, patience, settleWindow, lease, ...data } = read(stated, nameOf, faults);
  if (faults.length > 0) throw settingsError(faults);
  const warnings = [
    ...dotEnv.warnings,
    ...networkWarnings({
      apiUrl: data.apiUrl,
      tokenUrl: auth?.kind === 'oauth' ? auth.tokenUrl : undefined,
      queueUrl: data.queueUrl,
    }),
  ];
  if (data.strict && warnings.length > 0) throw settingsError(warnings.map((one) => `ROWFERRY_STRICT: ${one}`));
  const home = path.resolve(cwd, data.home);
  const inbox = path.resolve(cwd, data.inbox ?? path.join(home, 'inbox'));
  const usersFile = path.resolve(cwd, data.usersFile ?? path.join(home, 'users.json'));
  if (auth?.kind === 'file') secretFiles.push(auth.path);
  const patienceMs = Math.round(patience * 60_000);
  const { host = '127.0.0.1', port } = PORT.exec(data.http)?.groups ?? {};
  const roots = data.roots?.split(path.delimiter).filter((one) => one.trim() !== '');
  // The working folder counts where nothing else is stated, unless it is the root of the file system.
  const more = roots?.map((one) => path.resolve(cwd, one.trim())) ?? (path.dirname(cwd) === cwd ? [] : [cwd]);
  return {
    ...data,
    ...{ auth, home, inbox, usersFile, warnings },
    jobsDir: path.resolve(cwd, data.jobsDir),
    roots: [...new Set([home, inbox, ...more])],
    ownFiles: [...secretFiles, usersFile, ...OWN_FILES.map((name) => path.join(home, name))],
    http:
      port === undefined
        ? undefined
        : { host: host.replace(/^\[|\]$/g, ''), port: Number(port), stated: stated.has('ROWFERRY_HTTP') },
    timeoutMs: Math.round(timeout * 1000),
    patienceMs,
    firstAnswerMs: stated.has('ROWFERRY_PATIENCE') ? patienceMs : FIRST_ANSWER_MS,
    settleWindowMs: settleWindow,
    leaseMs: Math.round(lease * 1000),
    secrets: [...secretsOf(stated), ...proxySecrets(env)],
  };
}

/** Somebody may sit and wait; a service that is started beside the command is there by then. */
const FIRST_ANSWER_MS = 30_000;

/** Every setting by its rule, the default where none is stated; what breaks its rule is added to `faults`. */
function read(stated: Layer, nameOf: (name: string) => string, faults: string[]): VariableValues {
  const data: Record<string, unknown> = {};
  for (const [name, { type, fallback, secret }] of Object.entries<Setting<unknown>>(TABLE)) {
    const value = stated.get(name);
    const { data: found, error } = type.safeParse(value ?? fallback);
    if (!SIGN_IN.has(name)) data[camelCase(name)] = found;
    if (!error || value === undefined) continue;
    const excerpt = value.length > 40 ? `${value.slice(0, 37)}...` : value;
    const quoted = secret || /URL$/.test(name) ? '' : ` is "${excerpt}"; it`;
    for (const { message } of error.issues) faults.push(`${nameOf(name)}${quoted} ${message}`);
  }
  // Where a value is lacking there is a fault, and nobody looks at it.
  return data as VariableValues;
}

const SIGN_IN: ReadonlySet<string> = new Set(Object.values(AUTH).flat());

function waysToSignIn(input: Layer): TokenSource['kind'][] {
  return (Object.keys(AUTH) as TokenSource['kind'][]).filter((way) => AUTH[way].some((name) => input.has(name)));
}

/** The one way to sign in that is set; two of them, or half of one, are faults. */
function readAuth(input: Layer, cwd: string, faults: string[]): TokenSource | undefined {
  const ways = waysToSignIn(input);
  if (ways.length > 1) {
    const names = ways.map((way) => (way === 'oauth' ? 'ROWFERRY_OAUTH_…' : AUTH[way][0]));
    faults.push(`${names.join(' and ')} are set; they are different ways to sign in: keep one`);
    return undefined;
  }
  const value = (name: SettingName) => input.get(name) ?? '';
  const [kind] = ways;
  if (kind === undefined) return undefined;
  if (kind === 'token') return { kind, token: value('ROWFERRY_API_TOKEN') };
  if (kind === 'file') return readTokenFile(input, cwd, faults);
  const missing = AUTH.oauth.filter((name) => name !== 'ROWFERRY_OAUTH_SCOPE' && !input.has(name));
  if (missing.length > 0) {
    faults.push(`${missing.join(', ')} ${missing.length > 1 ? 'are' : 'is'} needed too to sign in by OAuth`);
    return undefined;
  }
  const scope = input.get('ROWFERRY_OAUTH_SCOPE');
  return {
    kind,
    tokenUrl: value('ROWFERRY_OAUTH_TOKEN_URL'),
    clientId: value('ROWFERRY_OAUTH_CLIENT_ID'),
    clientSecret: value('ROWFERRY_OAUTH_CLIENT_SECRET'),
    ...(scope !== undefined && { scope }),
  };
}

function readTokenFile(input: Layer, cwd: string, faults: string[]): TokenSource | undefined {
  const file = input.get('ROWFERRY_API_TOKEN_FILE') ?? '';
  const secret = secretIn('ROWFERRY_API_TOKEN_FILE', file, cwd, faults);
  if (secret === undefined) return undefined;
  const { error } = TABLE.ROWFERRY_API_TOKEN.type.safeParse(secret.replace(/^bearer\s+/i, ''));
  for (const { message } of error?.issues ?? [])
    faults.push(`ROWFERRY_API_TOKEN_FILE: the token in ${file} ${message}`);
  return { kind: 'file', path: path.resolve(cwd, file) };
}

/** What a command needs that talks to the service. Throws `RunError('usage')` naming the variables that lack. */
export function requireService(settings: Settings): { readonly apiUrl: string; readonly auth: TokenSource } {
  const { apiUrl, auth } = settings;
  if (apiUrl !== undefined && auth !== undefined) return { apiUrl, auth };
  const missing = [
    ...(apiUrl === undefined ? ['ROWFERRY_API_URL is not set: the address of the service, without /api/v2'] : []),
    ...(auth === undefined
      ? ['ROWFERRY_API_TOKEN is not set (or ROWFERRY_API_TOKEN_FILE, or the ROWFERRY_OAUTH_… variables)']
      : []),
  ];
  throw usageError(
    'The service is not set up. Set these variables in the shell or in a .env file here; to try without a service, start `rowferry sandbox`.',
    missing,
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

/** What was given, by the names of the variables. */
function inputLayer(input: object, faults: string[]): Layer {
  const names = new Map(SETTINGS.map(({ name }) => [camelCase(name), name]));
  const found: Layer = new Map();
  for (const [option, value] of Object.entries(input)) {
    if (value === undefined) continue;
    const name = names.get(option);
    if (name === undefined)
      faults.push(`settings.${option} is no setting of rowferry${nameHint(option, [...names.keys()])}`);
    else found.set(name, String(value).trim());
  }
  return found;
}

/** Files of the data folder that no job reads. */
const OWN_FILES = [
  ...['keys.json', 'users.json', 'audit.ndjson', 'open-console.html'],
  ...['home.db', 'queue.db'].flatMap((name) => [name, `${name}-wal`, `${name}-shm`]),
];

/** Puts what the files hold in the place of their names, but for what `over` states already, and returns their paths. */
function readSecretFiles(stated: Layer, over: Layer, cwd: string, faults: string[]): string[] {
  const read: string[] = [];
  for (const name of FILE_SECRETS) {
    const file = stated.get(fileVariable(name));
    if (file === undefined) continue;
    read.push(path.resolve(cwd, file));
    stated.delete(fileVariable(name));
    if (over.has(name)) continue;
    if (stated.has(name)) {
      faults.push(`${name} and ${fileVariable(name)} are set; keep one`);
      continue;
    }
    const secret = secretIn(fileVariable(name), file, cwd, faults);
    if (secret !== undefined) stated.set(name, secret);
  }
  return read;
}

/** Far more than a secret has. */
const MAX_SECRET_BYTES = 64 * 1024;

function secretIn(variable: string, file: string, cwd: string, faults: string[]): string | undefined {
  const place = path.resolve(cwd, file);
  try {
    // What is no plain file, such as a pipe, may never come to an end.
    const info = statSync(place);
    if (!info.isFile() || info.size > MAX_SECRET_BYTES)
      throw new Error(`is no plain file of at most ${MAX_SECRET_BYTES / 1024} KB, and holds no secret`);
    const bytes = readFileSync(place);
    // Such as of `>` in Windows PowerShell, which writes UTF-16.
    if (bytes.includes(0) || !isUtf8(bytes)) throw new Error('is no UTF-8 text; save it as UTF-8');
    const secret = bytes.toString().trim();
    if (secret === '') throw new Error('is empty');
    return secret;
  } catch (error) {
    const [code] = systemCodes(error);
    faults.push(`${variable}: the file ${file} ${code === undefined ? errorText(error) : `cannot be read (${code})`}`);
    return undefined;
  }
}

function readDotEnv(file: string, env: NodeJS.ProcessEnv) {
  let bytes: Buffer;
  try {
    bytes = readFileSync(file);
  } catch (error) {
    const [code = 'unreadable'] = systemCodes(error);
    if (code === 'ENOENT') return { values: {}, warnings: [] };
    throw usageError(`${file} cannot be read (${code}).`, [], { cause: error });
  }
  // What Windows calls Unicode would be read as no variable at all.
  if (bytes.includes(0)) throw usageError(`${file} is UTF-16, or no text at all. Save it as UTF-8.`);
  const values = dotenv.parse(bytes);
  for (const [name, value] of Object.entries(values))
    if (/^ROWFERRY_/i.test(name) && value.includes('\ufffd'))
      throw usageError(`${name} in ${file} holds a character that is no UTF-8. Save the file as UTF-8.`);
  const name = path.basename(file);
  const ignored = Object.keys(values).filter(
    (one) => /^((https?|no)_proxy|node_extra_ca_certs)$/i.test(one) && env[one] === undefined,
  );
  return {
    values,
    warnings: ignored.map(
      (one) => `${one} stands in ${name}, where it counts for nothing: it is set in the environment alone`,
    ),
  };
}

function secretsOf(input: Layer): string[] {
  const secrets = SETTINGS.filter((row) => row.secret && row.name !== 'ROWFERRY_QUEUE_URL');
  return [
    ...secrets.flatMap((row) => input.get(row.name) ?? []),
    ...queueSecrets(input.get('ROWFERRY_QUEUE_URL') ?? ''),
    ...webhookSecrets(input.get('ROWFERRY_NOTIFY_URL') ?? ''),
    ...webhookSecrets(input.get('ROWFERRY_SMTP_URL') ?? ''),
  ];
}

function settingsError(faults: readonly string[]): RunError {
  const count = faults.length === 1 ? 'A setting is' : `${faults.length} settings are`;
  return usageError(
    `${count} wrong. Correct what is listed (docs/reference/settings.md says what each means).`,
    faults,
  );
}
