import { createRequire } from 'node:module';
import type { EnvHttpProxyAgent } from 'undici';
import { usageError } from '../../model/error.js';
import { isLoopback } from '../address.js';

const PROXY_VARIABLES = ['http_proxy', 'HTTP_PROXY', 'https_proxy', 'HTTPS_PROXY'] as const;
const SCHEMES: ReadonlySet<string> = new Set(['http:', 'https:', 'socks5:', 'socks:']);

/** As other programs read it: `proxy.example:3128` is an address, too. */
const addressOf = (text: string): string => (/^[a-z][\w+.-]*:\/\//i.test(text) ? text : `http://${text}`);

/** The first of these variables that names a proxy. */
function proxyOf(env: NodeJS.ProcessEnv, ...names: readonly string[]): string | undefined {
  const text = names.map((name) => env[name]?.trim()).find((one) => one);
  return text === undefined ? undefined : addressOf(text);
}

/** What is wrong with the addresses of proxies. They are not repeated: passwords stand in them. */
export function proxyFaults(env: NodeJS.ProcessEnv): string[] {
  return PROXY_VARIABLES.filter((name) => env[name]?.trim() && !isProxy(addressOf(env[name].trim()))).map(
    (name) =>
      `${name} is no address of a proxy, such as http://user:password@proxy.example:3128 (nothing behind the port; in the password %40 for @, %2F for /, %25 for %, and so on)`,
  );
}

function isProxy(address: string): boolean {
  const url = URL.canParse(address) ? new URL(address) : undefined;
  if (!url || !SCHEMES.has(url.protocol) || url.hostname === '') return false;
  // Such as of a password with / in it: what is behind the host leads nowhere.
  if (!/^\/?$/.test(url.pathname) || url.search !== '' || url.hash !== '') return false;
  return decoded(url.username) !== undefined && decoded(url.password) !== undefined;
}

/** Passwords in the addresses of proxies, as they stand there, decoded, and as they are sent. */
export function proxySecrets(env: NodeJS.ProcessEnv): string[] {
  return PROXY_VARIABLES.flatMap((name) => {
    const text = addressOf(env[name]?.trim() ?? '');
    if (!URL.canParse(text)) return [];
    const { username, password } = new URL(text);
    if (password === '') return [];
    const [user = username, plain = password] = [decoded(username), decoded(password)];
    return [password, plain, Buffer.from(`${user}:${plain}`).toString('base64')];
  });
}

/** Undefined where a percent sign begins no character. */
function decoded(text: string): string | undefined {
  try {
    return decodeURIComponent(text);
  } catch {
    return undefined;
  }
}

/** An agent that goes by the proxies and `NO_PROXY` of the environment; undefined where none is named for this address. */
export function proxyAgent(
  origin: string,
  options: EnvHttpProxyAgent.Options,
  env: NodeJS.ProcessEnv = process.env,
): EnvHttpProxyAgent | undefined {
  const httpProxy = proxyOf(env, 'http_proxy', 'HTTP_PROXY');
  const httpsProxy = proxyOf(env, 'https_proxy', 'HTTPS_PROXY');
  const { protocol, hostname } = new URL(origin);
  const named = httpProxy ?? (protocol === 'https:' ? httpsProxy : undefined);
  // A proxy would look for this machine on its own.
  if (named === undefined || isLoopback(hostname)) return undefined;
  const [fault] = proxyFaults(env);
  if (fault !== undefined) throw usageError(`${fault}.`);
  const require = createRequire(import.meta.url);
  const { EnvHttpProxyAgent: Agent } = require('undici') as { readonly EnvHttpProxyAgent: typeof EnvHttpProxyAgent };
  return new Agent({ ...options, ...(httpProxy && { httpProxy }), ...(httpsProxy && { httpsProxy }) });
}

const REFUSALS: Readonly<Record<string, string>> = {
  403: 'it does not allow this address',
  407: 'it wants a user name and password: http://user:password@proxy.example:3128',
  502: 'it cannot reach the host',
  503: 'it cannot reach the host',
  504: 'the host did not answer it in time',
};

/** What a proxy answered that made no way to the host, and whether another try may end otherwise. */
export function proxyRefusal(error: Error): { readonly words: string; readonly final: boolean } | undefined {
  const status = /^Proxy response \((\d+)\)/.exec(error.message)?.[1];
  if (status === undefined) return undefined;
  const why = REFUSALS[status] ? `: ${REFUSALS[status]}` : '';
  return {
    words: `the proxy of HTTPS_PROXY or HTTP_PROXY refused with status ${status}${why}`,
    final: status === '407' || status === '403',
  };
}
