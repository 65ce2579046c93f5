import path from 'node:path';
import type { SettingName } from './settings-table.js';

/** Variables that are set, by name; none is blank. */
export type Layer = Map<string, string>;

/** How requests are authorised. */
export type Auth =
  | { readonly kind: 'token'; readonly token: string }
  | { readonly kind: 'file'; readonly path: string }
  | {
      readonly kind: 'oauth';
      readonly tokenUrl: string;
      readonly clientId: string;
      readonly clientSecret: string;
      readonly scope?: string;
    };

/** Ways to sign in, each with the variables it needs. */
const AUTH: Readonly<Record<Auth['kind'], readonly SettingName[]>> = {
  token: ['ROWFERRY_API_TOKEN'],
  file: ['ROWFERRY_API_TOKEN_FILE'],
  oauth: [
    'ROWFERRY_OAUTH_TOKEN_URL',
    'ROWFERRY_OAUTH_CLIENT_ID',
    'ROWFERRY_OAUTH_CLIENT_SECRET',
    'ROWFERRY_OAUTH_SCOPE',
  ],
};

/** A way to sign in that the shell states replaces another one in the `.env` file. */
export function dropReplacedSignIn(shell: Layer, file: Layer): void {
  const stated = waysToSignIn(shell);
  if (stated.length === 0) return;
  for (const way of waysToSignIn(file)) {
    if (!stated.includes(way)) for (const name of AUTH[way]) file.delete(name);
  }
}

/** The one way to sign in that is set; two of them, or half of one, are faults. */
export function readAuth(given: Layer, cwd: string, faults: string[]): Auth | undefined {
  const ways = waysToSignIn(given);
  if (ways.length > 1) {
    const names = ways.map((way) => (way === 'oauth' ? 'ROWFERRY_OAUTH_…' : AUTH[way][0]));
    faults.push(`${names.join(' and ')} are set; they are different ways to sign in: keep one`);
    return undefined;
  }
  const value = (name: SettingName) => given.get(name) ?? '';
  switch (ways[0]) {
    case 'token':
      return { kind: 'token', token: value('ROWFERRY_API_TOKEN') };
    case 'file':
      return { kind: 'file', path: path.resolve(cwd, value('ROWFERRY_API_TOKEN_FILE')) };
    case 'oauth': {
      const lacking = AUTH.oauth.filter((name) => name !== 'ROWFERRY_OAUTH_SCOPE' && !given.has(name));
      if (lacking.length > 0) {
        faults.push(`${lacking.join(', ')} ${lacking.length > 1 ? 'are' : 'is'} needed too to sign in by OAuth`);
        return undefined;
      }
      const scope = given.get('ROWFERRY_OAUTH_SCOPE');
      return {
        kind: 'oauth',
        tokenUrl: value('ROWFERRY_OAUTH_TOKEN_URL'),
        clientId: value('ROWFERRY_OAUTH_CLIENT_ID'),
        clientSecret: value('ROWFERRY_OAUTH_CLIENT_SECRET'),
        ...(scope !== undefined && { scope }),
      };
    }
    default:
      return undefined;
  }
}

function waysToSignIn(given: Layer): Auth['kind'][] {
  return (Object.keys(AUTH) as Auth['kind'][]).filter((way) => AUTH[way].some((name) => given.has(name)));
}
