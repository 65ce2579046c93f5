import { createRoute } from '@hono/zod-openapi';
import { companyName } from '../../runs/run/open-service.js';
import { isLoopback } from '../../runs/settings-address.js';
import { within } from '../../worker/within.js';
import { type Api, type ApiDeps, problems } from '../app.js';
import { session, signIn } from '../schema.js';

/** How long a page waits for the name of the company; it is asked for again by the next one. */
const PATIENCE_MS = 3_000;

/** Who is signed in. Signing in and out is done by the door over HTTP (door.ts); here both are described. */
export function sessionRoutes(app: Api, { settings, version, channel }: ApiDeps): void {
  let name: string | undefined;
  app.openapi(
    createRoute({
      method: 'get',
      path: '/session',
      summary: 'Who is signed in, and what they look at',
      responses: { 200: { description: 'The session.', content: json(session) }, ...problems },
    }),
    async (c) => {
      name ??= await within(PATIENCE_MS, companyName(settings, channel, PATIENCE_MS)).catch(() => undefined);
      const { apiUrl = '', company, console } = settings;
      return c.json(
        {
          ...c.get('who'),
          service: apiUrl,
          company,
          company_name: name ?? null,
          production: !looksLikeTest(apiUrl),
          version: version ?? '0',
          max_upload: console.maxUpload,
        },
        200,
      );
    },
  );
  app.openAPIRegistry.registerPath({
    method: 'post',
    path: '/session',
    summary: 'Sign in with name and password; a cookie holds the session',
    request: { body: { required: true, content: json(signIn) } },
    responses: { 200: { description: 'The session.', content: json(session) }, ...problems },
  });
  app.openAPIRegistry.registerPath({
    method: 'delete',
    path: '/session',
    summary: 'Sign out',
    responses: { 204: { description: 'The session has ended.' }, ...problems },
  });
}

const json = <T>(schema: T) => ({ 'application/json': { schema } });

const TEST_WORDS = /^(sandbox|staging|stage|test|testing|dev|develop|development|demo|uat|qa|preview|local)\d*$/i;

function looksLikeTest(address: string): boolean {
  if (!URL.canParse(address)) return false;
  const { hostname } = new URL(address);
  return isLoopback(hostname) || hostname.split(/[.-]/).some((word) => TEST_WORDS.test(word));
}
