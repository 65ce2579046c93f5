import type { z } from 'zod';
import { isLoopback } from '../service/address.js';
import { queueRemarks } from './queue-address.js';

/** Webhooks go by the proxies of the environment, too. */
export { proxyAgent, proxyRefusal } from '../service/transport/proxy.js';

export { isLoopback };

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

/** `https://rowferry.example/` → `https://rowferry.example` */
export function consoleAddress(text: string, context: z.core.$RefinementCtx<string>): string {
  const url = URL.canParse(text) ? new URL(text) : undefined;
  if (url && /^https?:$/.test(url.protocol) && url.href === `${url.origin}/`) return url.origin;
  context.addIssue({
    code: 'custom',
    message: 'must be an address without a path, such as https://rowferry.example',
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
  if (addresses.queueUrl !== undefined) found.push(...queueRemarks(addresses.queueUrl));
  return found;
}

/** Shorter parts of a path are words. */
const LONG_PART = 16;

/** What of a webhook's address is secret where a part of it stands alone: passwords, values, long parts of the path. */
export function webhookSecrets(text: string): string[] {
  if (!URL.canParse(text)) return [];
  const { href, password, pathname, searchParams } = new URL(text);
  const long = pathname.split('/').filter((part) => part.length >= LONG_PART);
  return [href, password, ...searchParams.values(), ...long].filter((part) => part !== '' && part !== text);
}
