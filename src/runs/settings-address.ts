import type { z } from 'zod';

/** Addresses in settings. Faults never quote the address: it may hold a password. */

/** `https://records.example/api/v2/` → `https://records.example`; for a token address only the checks matter. */
export function serviceAddress(text: string, context: z.core.$RefinementCtx<string>): string {
  const fail = (message: string) => {
    context.addIssue({ code: 'custom', message, input: '' });
    return '';
  };
  if (!URL.canParse(text)) return fail('must be an address such as https://records.example');
  const url = new URL(text);
  if (url.protocol !== 'http:' && url.protocol !== 'https:') return fail('must begin with https:// or http://');
  if (url.username !== '' || url.password !== '') {
    return fail('must not hold a user name or password; state the token in ROWFERRY_API_TOKEN');
  }
  if (url.hash !== '' || url.search !== '') return fail('must end before any ? or #');
  return `${url.origin}${url.pathname.replace(/\/+$/, '').replace(/\/api\/v2$/, '')}`;
}

const QUEUE = /^(rediss?|rediss?\+(sentinel|cluster)|postgres|postgresql):\/\/[^\s/]+(\/\S*)?$/i;

/** Only the form is checked here; the worker opens it. */
export function queueAddress(text: string, context: z.core.$RefinementCtx<string>): string {
  if (QUEUE.test(text)) return text;
  context.addIssue({
    code: 'custom',
    message:
      'must begin with redis://, rediss://, redis+sentinel://, redis+cluster:// or postgres:// and name a host; leave it unset for the embedded queue',
    input: '',
  });
  return '';
}

/** Ways in which a token, a password or the data could be read by others on the network. */
export function remarks(addresses: {
  readonly apiUrl: string | undefined;
  readonly tokenUrl: string | undefined;
  readonly queueUrl: string | undefined;
}): string[] {
  const found: string[] = [];
  for (const [name, text] of [
    ['ROWFERRY_API_URL', addresses.apiUrl],
    ['ROWFERRY_OAUTH_TOKEN_URL', addresses.tokenUrl],
  ] as const) {
    if (text?.startsWith('http:') && !isLoopback(new URL(text).hostname)) {
      found.push(`${name} is http:// to another machine: the token travels readable; use https://`);
    }
  }
  const queue = addresses.queueUrl && /^(\w+)[^:]*:\/\/(?:([^@/]*)@)?([^/]+)/i.exec(addresses.queueUrl);
  if (!queue) return found;
  const [, scheme, user, hosts] = queue;
  const local = hosts!.split(',').every((host) => isLoopback(host.replace(/:\d+$/, '')));
  if (local) return found;
  if (scheme!.toLowerCase() === 'redis') {
    found.push('ROWFERRY_QUEUE_URL is redis:// to another machine: jobs travel readable; use rediss://');
  }
  if (!user?.includes(':')) {
    found.push('ROWFERRY_QUEUE_URL holds no password: whoever reaches the queue can give orders');
  }
  return found;
}

function isLoopback(host: string): boolean {
  return /^(localhost|127(\.\d{1,3}){3}|\[?::1\]?)$/i.test(host);
}
