import { readFile } from 'node:fs/promises';
import { runFailure, usageError } from '../../model/error.js';
import { type Clock, wait } from '../clock.js';
import { jsonIn, messageLine, readMessages } from './answer.js';
import { type Exchange, openHttp } from './http.js';

/** Where the bearer token comes from. Contract, section 2; interface, section 5. */
export type TokenSource =
  | { readonly kind: 'token'; readonly token: string }
  /** The file is read again when the service refuses the token. */
  | { readonly kind: 'file'; readonly path: string }
  /** OAuth 2.0 client credentials (RFC 6749, section 4.4). */
  | {
      readonly kind: 'oauth';
      readonly tokenUrl: string;
      readonly clientId: string;
      readonly clientSecret: string;
      readonly scope?: string;
    };

export interface Token {
  /** The value of the Authorization header. */
  readonly header: string;
}

export type TokenKeeper = ReturnType<typeof openToken>;

interface TokenTimes {
  readonly connectMs: number;
  readonly requestMs: number;
  readonly patienceMs: number;
}

interface Fetched {
  readonly token: string;
  /** Milliseconds of life from now, where the giver said so. */
  readonly lifeMs?: number;
}

const FILE_ATTEMPTS = 8;
const FILE_WAIT_MS = 250;

/**
 * The token that all requests share.
 *
 *   none → fetching → held → (refused by the service, or about to expire) → fetching → held …
 *
 * While one fetch is under way everybody waits for it; nobody fetches a second time.
 */
export function openToken(source: TokenSource, times: TokenTimes, clock: Clock, signal?: AbortSignal) {
  const secrets = new Set<string>();
  if (source.kind === 'oauth') secrets.add(source.clientSecret).add(basicPair(source));
  let cached: Token | undefined;
  let renewAt = Number.POSITIVE_INFINITY;
  let fetching: Promise<Token> | undefined;
  let refusedToken: string | undefined;
  let hadOne = false;

  async function fetchToken(): Promise<Token> {
    const fetched: Fetched =
      source.kind === 'token'
        ? { token: source.token }
        : source.kind === 'file'
          ? { token: await readTokenFile(source.path, refusedToken, clock, signal) }
          : await askForToken(source, times, clock, { secrets: [...secrets], isFirst: !hadOne }, signal);
    const token = fetched.token.trim().replace(/^bearer\s+/i, '');
    if (!/^[\x21-\x7e]+$/.test(token)) throw usageError(unusable(source, token), [], { code: 'token_unavailable' });
    hadOne = true;
    secrets.add(token);
    renewAt = fetched.lifeMs === undefined ? Number.POSITIVE_INFINITY : clock.now() + fetched.lifeMs * 0.9;
    cached = { header: `Bearer ${token}` };
    return cached;
  }

  return {
    kind: source.kind,
    /** At once where a token is held; a promise while one is being fetched. RunError('failed') where none can be had. */
    current(): Token | Promise<Token> {
      if (cached && clock.now() < renewAt) return cached;
      fetching ??= fetchToken().finally(() => {
        fetching = undefined;
      });
      return fetching;
    },
    /** Tells that the service refused this token; the next `current()` fetches another, unless somebody already did. */
    refused(token: Token): void {
      if (token !== cached) return;
      refusedToken = token.header.slice('Bearer '.length);
      cached = undefined;
    },
    /** Everything that must not appear in any text. */
    get secrets(): readonly string[] {
      return [...secrets];
    },
  };
}

/** The file may be read in the moment it is rewritten (it is empty or gone then), or shortly before: it is given two seconds. */
async function readTokenFile(
  path: string,
  refused: string | undefined,
  clock: Clock,
  signal?: AbortSignal,
): Promise<string> {
  for (let attempt = 1; ; attempt++) {
    const isLast = attempt > FILE_ATTEMPTS;
    let text: string;
    try {
      text = (await readFile(path, 'utf8')).trim();
    } catch (cause) {
      if (!isLast && (await wait(clock, FILE_WAIT_MS, signal))) continue;
      const why = cause instanceof Error && 'code' in cause ? String(cause.code) : 'unknown fault';
      const advice = "Check ROWFERRY_API_TOKEN_FILE and the file's permissions.";
      throw runFailure(`The token file "${path}" cannot be read (${why}). ${advice}`, [], {
        cause,
        code: 'token_unavailable',
      });
    }
    if (isLast || (text !== '' && text !== refused)) return text;
    if (!(await wait(clock, FILE_WAIT_MS, signal))) return text;
  }
}

function unusable(source: TokenSource, token: string): string {
  const where =
    source.kind === 'file'
      ? `The token file "${source.path}"`
      : source.kind === 'token'
        ? 'ROWFERRY_API_TOKEN'
        : 'The answer of the token service';
  return token === ''
    ? `${where} holds no token.`
    : `${where} holds a token with blanks, line breaks or other characters that cannot stand in a header. It must be the bare token.`;
}

type OauthSource = TokenSource & { kind: 'oauth' };

/** Client id and secret go to the token address and nowhere else. An unreachable token service is waited for. */
async function askForToken(
  source: OauthSource,
  times: TokenTimes,
  clock: Clock,
  { secrets, isFirst }: { readonly secrets: readonly string[]; readonly isFirst: boolean },
  signal?: AbortSignal,
): Promise<Fetched> {
  const url = URL.canParse(source.tokenUrl) ? new URL(source.tokenUrl) : undefined;
  if (!url || !/^https?:$/.test(url.protocol) || url.username || url.password) {
    throw usageError('ROWFERRY_OAUTH_TOKEN_URL is not a plain http or https address.');
  }
  const http = openHttp({ origin: url.origin, connections: 1, ...times, maxAnswerBytes: 1024 * 1024 });
  const until = clock.now() + times.patienceMs;
  let style: 'header' | 'body' = 'header';
  // Nobody waits for a token any more, and asking for one changes nothing.
  const cut = (): void => {
    void http.close(0);
  };
  signal?.addEventListener('abort', cut, { once: true });
  try {
    for (let attempt = 0; ; attempt++) {
      const exchange = await http.exchange(tokenRequest(source, `${url.pathname}${url.search}`, style));
      const answered = exchange.kind === 'answer' && exchange.status < 500 && exchange.status !== 429;
      if (answered && exchange.status >= 200 && exchange.status < 300) return readToken(source, exchange.text);
      if (answered && (exchange.status === 400 || exchange.status === 401) && style === 'header') {
        // Services must accept the header form, yet some know only the fields of the body.
        style = 'body';
        continue;
      }
      const isNobody = exchange.kind === 'fault' && exchange.cause === 'nobody' && isFirst;
      if (answered || isNobody || clock.now() >= until) throw noToken(tokenFault(source, exchange, secrets));
      const delay = Math.min(30_000, 500 * 2 ** attempt, Math.max(50, until - clock.now()));
      if (!(await wait(clock, delay, signal)))
        throw runFailure('Stopped while waiting for a token.', [], { code: 'interrupted' });
    }
  } finally {
    signal?.removeEventListener('abort', cut);
    await http.close();
  }
}

function tokenRequest(source: OauthSource, path: string, style: 'header' | 'body') {
  const form = new URLSearchParams({ grant_type: 'client_credentials' });
  if (source.scope) form.set('scope', source.scope);
  const headers = ['content-type', 'application/x-www-form-urlencoded', 'accept', 'application/json'];
  if (style === 'header') {
    headers.push('authorization', `Basic ${basicPair(source)}`);
  } else {
    form.set('client_id', source.clientId);
    form.set('client_secret', source.clientSecret);
  }
  return { method: 'POST', path, headers, body: form.toString() } as const;
}

/** RFC 6749, section 2.3.1. */
function basicPair({ clientId, clientSecret }: OauthSource): string {
  return Buffer.from(`${encodeURIComponent(clientId)}:${encodeURIComponent(clientSecret)}`).toString('base64');
}

const noToken = (text: string) => runFailure(text, [], { code: 'token_unavailable' });

function readToken(source: OauthSource, text: string): Fetched {
  const json = jsonIn(text);
  const answer = typeof json === 'object' && json !== null ? (json as Record<string, unknown>) : {};
  if (typeof answer['access_token'] !== 'string') {
    throw noToken(
      `The token service at ${tokenAddress(source)} answered without an access_token. Check ROWFERRY_OAUTH_TOKEN_URL.`,
    );
  }
  const seconds = Number(answer['expires_in']);
  return { token: answer['access_token'], ...(seconds > 0 ? { lifeMs: seconds * 1000 } : {}) };
}

function tokenFault(source: OauthSource, exchange: Exchange, secrets: readonly string[]): string {
  if (exchange.kind === 'fault')
    return `The token service at ${tokenAddress(source)} cannot be reached: ${exchange.reason}.`;
  const words = messageLine(readMessages(exchange.status, exchange.text, secrets));
  return (
    `The token service at ${tokenAddress(source)} gave no token (status ${exchange.status}): ${words} ` +
    'Check ROWFERRY_OAUTH_CLIENT_ID, ROWFERRY_OAUTH_CLIENT_SECRET and ROWFERRY_OAUTH_SCOPE.'
  );
}

function tokenAddress(source: OauthSource): string {
  const url = new URL(source.tokenUrl);
  return `${url.origin}${url.pathname}`;
}
