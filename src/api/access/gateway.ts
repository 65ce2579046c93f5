import type { Socket } from 'node:net';
import { getConnInfo } from '@hono/node-server/conninfo';
import { type Context, Hono, type MiddlewareHandler } from 'hono';
import { bodyLimit } from 'hono/body-limit';
import { getCookie, setCookie } from 'hono/cookie';
import { etag } from 'hono/etag';
import { isLoopback } from '../../runs/settings-address.js';
import type { ApiDeps } from '../app.js';
import { API_PATH, type Api, type Caller, closeUnread, problem } from '../operation.js';
import { signIn } from '../schema.js';
import type { Pages } from './pages.js';
import { type Access, type NewSession, type Refusal, SESSION_MS } from './sign-in.js';

export interface GatewayOptions {
  readonly access: Access;
  readonly audit: ApiDeps['audit'];
  readonly pages: Pages;
  /** The address that is listened on. */
  readonly host: string;
  /** `Settings.console` */
  readonly publicUrl?: string | undefined;
  readonly proxyHeader?: string | undefined;
  /** Told of the connections of those who have signed in. */
  readonly known?: (connection: Socket) => void;
}

/** What the HTTP server hands to every request. */
interface Bindings {
  readonly incoming?: { readonly socket: Socket };
}
type GatewayEnv = { Bindings: Bindings };

/**
 * The way in over HTTP: finds out who asks, keeps out whom a browser was tricked into asking for, then lets the API or the pages
 * answer. Who may come in how:
 *
 *   Authorization: Bearer → a key; no browser sends one by itself, so nothing else is looked at
 *   cookie → a session; a change needs proof that a page of this very origin asked for it
 *   neither → the pages and signing in alone
 */
export function openGateway({ access, audit, pages, host, publicUrl, proxyHeader, known }: GatewayOptions) {
  const publicHost = publicUrl === undefined ? undefined : new URL(publicUrl).hostname;
  const isLoopbackOnly = isLoopback(host);
  let api: Api | undefined;

  const clientAddress = (c: Context): string => {
    // The last one was written by the proxy itself; those before it by whoever came to it.
    const forwardedFor = proxyHeader && c.req.header(proxyHeader)?.split(',').at(-1)?.trim();
    if (forwardedFor) return forwardedFor.slice(0, 64);
    return c.env?.incoming ? (getConnInfo(c).remote.address ?? 'unknown') : 'unknown';
  };

  /** Loopback names on loopback (a page whose name was made to point here, DNS rebinding, carries that name); else the public one. */
  const isOwnHost = (c: Context): boolean => {
    const name = hostName(c);
    if (name === undefined) return false;
    if (name === publicHost) return true;
    return isLoopbackOnly ? name === host || isLoopback(name) : publicHost === undefined;
  };

  const isSecure = (c: Context): boolean => publicUrl?.startsWith('https:') === true && hostName(c) === publicHost;

  /** Whether a page of this origin asks. */
  function isSameOrigin(c: Context): boolean {
    const site = c.req.header('sec-fetch-site');
    if (site !== undefined && site !== 'same-origin') return false;
    const origin = c.req.header('origin');
    if (origin === undefined) return site !== undefined;
    if (origin === publicUrl) return true;
    return (
      hostName(c) !== publicHost && URL.canParse(origin) && new URL(origin).host === c.req.header('host')?.toLowerCase()
    );
  }

  /** The pages are open to people only where somebody can sign in. */
  const arePagesOpen = async (): Promise<boolean> => isLoopbackOnly || (await access.hasUsers());

  // Browsers send cookies to every port of a host: two consoles on one machine need two names.
  const cookieName = (c: Context): string => {
    const port = (c.env as Bindings | undefined)?.incoming?.socket.localPort ?? 0;
    return isSecure(c) ? `__Host-rowferry-${port}` : `rowferry-${port}`;
  };
  const setSessionCookie = (c: Context, session: string, maxAge: number): void =>
    setCookie(c, cookieName(c), session, {
      maxAge,
      path: '/',
      httpOnly: true,
      sameSite: 'Strict',
      secure: isSecure(c),
    });

  /** A new session for somebody who showed who they are; the one that their browser had before ends. */
  async function admit(c: Context, { who, session }: NewSession): Promise<void> {
    const before = getCookie(c, cookieName(c));
    if (before !== undefined) access.signOut(before);
    await audit(who, 'sign-in');
    setSessionCookie(c, session, SESSION_MS / 1000);
  }

  const forward = (c: Context, request: Request, who: Caller, isStillIn?: () => Promise<boolean>) =>
    api ? api.fetch(request, { ...(c.env as Bindings), who, isStillIn }) : notReady(c);

  const app = new Hono<GatewayEnv>();
  const ownHost: MiddlewareHandler = async (c, next) => {
    if (c.req.header('authorization') !== undefined || isOwnHost(c)) return next();
    const names = publicUrl ?? 'localhost and its loopback addresses';
    const text = `This address answers to ${names} only.`;
    return c.req.path.startsWith(`${API_PATH}/`) ? problem(c, 421, text) : c.text(`${text}\n`, 421);
  };
  app.use(ownHost, closeUnread);

  const smallBody = bodyLimit({ maxSize: 16 * 1024, onError: (c) => problem(c, 413, 'That is no name and password.') });
  app.post(`${API_PATH}/session`, smallBody, async (c) => {
    if (!isSameOrigin(c)) return problem(c, 403, CROSS_SITE);
    if (!/^application\/json\b/i.test(c.req.header('content-type') ?? '')) return problem(c, 415, 'JSON is expected.');
    const { data } = signIn.safeParse(await c.req.json().catch(() => undefined));
    if (!data) return problem(c, 400, 'A JSON object with `name` and `password` is expected.');
    const entry = await access.byPassword(data.name, data.password, clientAddress(c));
    if (typeof entry === 'string') return refuse(c, entry, 'Name or password is wrong.');
    await admit(c, entry);
    const session = await forward(c, new Request(new URL(`${API_PATH}/session`, c.req.url)), entry.who);
    return c.body(await session.text(), session.status as 200, {
      'content-type': session.headers.get('content-type') ?? '',
    });
  });

  app.get('/sign-in', async (c, next) => {
    const key = c.req.query('key');
    if (key === undefined) return next();
    if (!(await arePagesOpen())) return c.text(NO_USERS, 403);
    const entry = access.byLink(key, clientAddress(c));
    if (typeof entry !== 'string') {
      await admit(c, entry);
      return c.redirect('/', 303);
    }
    if (entry === 'wrong' && (await pages.areBuilt())) return c.redirect('/sign-in?expired', 303);
    return c.text(entry === 'wrong' ? EXPIRED : TOO_MANY, entry === 'wrong' ? 403 : 429, { 'retry-after': '60' });
  });

  app.all(`${API_PATH}/*`, async (c) => {
    const session = getCookie(c, cookieName(c));
    const { authorization } = c.req.header();
    const find = async (): Promise<Caller | Refusal> =>
      authorization === undefined
        ? ((await access.bySession(session ?? '')) ?? 'wrong')
        : access.byKey(/^Bearer +(\S{1,200})$/i.exec(authorization)?.[1] ?? '', clientAddress(c));
    if (authorization === undefined) {
      const isChange = !['GET', 'HEAD', 'OPTIONS'].includes(c.req.method);
      const site = c.req.header('sec-fetch-site');
      // No page sends neither a cookie nor where it comes from: a program that forgot its key.
      const keyless = session === undefined && site === undefined && c.req.header('origin') === undefined;
      const isForeign = isChange ? !keyless && !isSameOrigin(c) : site === 'cross-site' || site === 'same-site';
      if (isForeign) return problem(c, 403, CROSS_SITE);
      // What a form of any page can send; nothing here takes it.
      if (isChange && FORM_TYPES.test(c.req.header('content-type') ?? '')) return problem(c, 415, 'JSON is expected.');
    }
    const who = await find();
    if (typeof who === 'string') {
      const how = isLoopbackOnly ? SIGN_IN_LOCAL : SIGN_IN;
      return refuse(c, who, authorization === undefined ? how : NO_KEY);
    }
    if (c.env?.incoming) known?.(c.env.incoming.socket);
    if (c.req.method === 'DELETE' && c.req.path === `${API_PATH}/session`) {
      if (session !== undefined && access.signOut(session)) await audit(who, 'sign-out');
      setSessionCookie(c, '', 0);
      return c.body(null, 204);
    }
    return forward(c, c.req.raw, who, async () => typeof (await find()) === 'object');
  });

  app.get('*', etag(), async (c) => ((await arePagesOpen()) ? pages.answer(c) : c.text(NO_USERS, 403)));

  return {
    app,
    ownHost,
    arePagesOpen,
    /** From now on the API is answered; before, everybody is asked to wait. */
    serve(opened: Api): void {
      api = opened;
    },
  };
}

const FORM_TYPES = /^\s*(application\/x-www-form-urlencoded|text\/plain)\b/i;
const CROSS_SITE =
  'This request does not come from a page of the console itself, and changes nothing. Programs send a key: Authorization: Bearer.';
const SIGN_IN = 'Sign in with name and password, or send a key: Authorization: Bearer.';
const NO_KEY = 'There is no such key. `rowferry console key add` makes one.';
const SIGN_IN_LOCAL =
  'Sign in: `rowferry console` prints a link that does. With users, name and password do, too; programs send a key: Authorization: Bearer.';
const EXPIRED =
  'This link was used before, or is older than 10 minutes. Run `rowferry console` again: it prints a new one.\n';
const TOO_MANY = 'Too many wrong passwords or keys came from this address. Try again in a minute.';
const NO_USERS =
  'The pages are off: this address is reached by other machines, and nobody may sign in yet. On the machine of the worker:\n\n' +
  '  rowferry console user add NAME --role viewer|operator|approver\n';

function refuse(c: Context, why: Refusal, detail: string) {
  if (why === 'too many') return problem(c, 429, TOO_MANY, [], { 'retry-after': '60' });
  return problem(c, 401, detail, [], { 'www-authenticate': 'Bearer realm="rowferry"' });
}

const notReady = (c: Context) =>
  problem(c, 503, 'The worker waits for its queue; this works when it has it.', [], { 'retry-after': '2' });

/** Of the address that was asked for, without a port; undefined where there is none. */
function hostName(c: Context): string | undefined {
  const host = c.req.header('host');
  const url = host === undefined ? undefined : `http://${host}`;
  if (url === undefined || !URL.canParse(url)) return undefined;
  return new URL(url).hostname.replace(/^\[|\]$/g, '');
}
