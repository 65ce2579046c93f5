import { companyName } from '../../runs/run/open-service.js';
import { isLoopback } from '../../runs/settings-address.js';
import { withTimeout } from '../../worker/rights.js';
import type { ApiParts } from '../app.js';
import { Cache } from '../cache.js';
import { type Operation, operation } from '../operation.js';
import { session, signIn } from '../schema.js';

/** How long a page waits for the name of the company; what comes later is there for the next one. */
const PATIENCE_MS = 1_000;
/** A service that does not answer is left alone for so long. */
const AGAIN_MS = 30_000;

/** Who is signed in. Signing in and out is done by the door over HTTP (gateway.ts); here both are described. */
export function sessionOperations({ settings, version, channel }: ApiParts): Operation[] {
  const names = new Cache<string | undefined>(1);
  const ask = () => companyName(settings, channel, AGAIN_MS).catch(() => undefined);
  return [
    operation(
      'GET /session',
      { summary: 'Who is signed in, and what they look at', answer: session },
      async ({ who }) => {
        const found = names.get('company', ask, (name) => (name === undefined ? AGAIN_MS : Number.POSITIVE_INFINITY));
        const name = await withTimeout(PATIENCE_MS, found);
        const { apiUrl = '', company, maxUpload } = settings;
        const serviceInfo = {
          service: apiUrl,
          company,
          company_name: name ?? null,
          production: !looksLikeTest(apiUrl),
        };
        return { ...who, version: version ?? '0', max_upload: maxUpload, ...serviceInfo };
      },
    ),
    operation('POST /session', {
      summary: 'Sign in with name and password; a cookie holds the session',
      body: signIn,
      answer: session,
    }),
    operation('DELETE /session', { summary: 'Sign out' }),
  ];
}

const TEST_WORDS = /^(sandbox|staging|stage|test|testing|dev|develop|development|demo|uat|qa|preview|local)\d*$/i;

function looksLikeTest(address: string): boolean {
  if (!URL.canParse(address)) return false;
  const { hostname } = new URL(address);
  return isLoopback(hostname) || hostname.split(/[.-]/).some((word) => TEST_WORDS.test(word));
}
