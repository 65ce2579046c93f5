import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Answer } from './answer.js';
import type { FaultAction } from './fault.js';

/** How an answer goes over the wire, whole or in the ways a fault makes it go. */

export function send(response: ServerResponse, { status, headers, body }: Answer): void {
  if (response.destroyed) return;
  const bytes = Buffer.byteLength(body);
  response.writeHead(status, status === 204 ? headers : { ...headers, 'content-length': bytes });
  response.end(body);
}

/** A reset, so that the client sees ECONNRESET rather than an orderly end. */
export function reset(request: IncomingMessage): void {
  request.socket.resetAndDestroy();
}

/** The status line and headers go out, and a beginning of the body; then the connection is reset. */
export function resetAfterStatus(request: IncomingMessage, response: ServerResponse, answer: Answer): void {
  const body = answer.body || '{}';
  response.writeHead(answer.status, { ...answer.headers, 'content-length': Buffer.byteLength(body) });
  // A reset overtakes what the client has not read yet: leave it the time of a breath.
  response.write(body.slice(0, 1), () => setTimeout(() => reset(request), 25).unref());
}

/** One byte every `ms`; stops when the client has gone. */
export function drip(response: ServerResponse, answer: Answer, ms: number): void {
  const bytes = Buffer.from(answer.body || '{}');
  response.writeHead(answer.status, { ...answer.headers, 'content-length': bytes.length });
  let sent = 0;
  const timer = setInterval(() => {
    if (response.destroyed) return clearInterval(timer);
    response.write(bytes.subarray(sent, ++sent));
    if (sent < bytes.length) return;
    clearInterval(timer);
    response.end();
  }, ms);
  response.on('close', () => clearInterval(timer));
}

/** A list whose only result is a text of so many megabytes; made as fast as the client reads. */
export function huge(response: ServerResponse, megabytes: number): void {
  const chunk = Buffer.alloc(65_536, 'x');
  let left = Math.ceil(megabytes * 16);
  response.writeHead(200, { 'content-type': 'application/json' });
  response.write('{"count":1,"next":null,"previous":null,"results":["');
  const pump = (): void => {
    while (left > 0) {
      if (response.destroyed) return;
      left--;
      if (!response.write(chunk)) {
        response.once('drain', pump);
        return;
      }
    }
    response.end('"]}');
  };
  pump();
}

const LOGIN_PAGE = `<!doctype html><html><head><title>Sign in</title></head>
<body><h1>Sign in to continue</h1><form method="post"><input name="user"><input name="password" type="password"></form></body></html>`;

/** The answer of a fault that does not look at the request. */
export function fixedAnswer(
  action: Extract<FaultAction, { kind: 'status' | 'html_login' | 'redirect' }>,
  now: number,
): Answer {
  if (action.kind === 'html_login') {
    return { status: 200, headers: { 'content-type': 'text/html; charset=utf-8' }, body: LOGIN_PAGE };
  }
  if (action.kind === 'redirect') {
    return { status: action.status, headers: { location: action.location }, body: '' };
  }
  const { status, retryAfter, retryAfterDate } = action;
  const body = action.body ?? `{"detail":"Fault plan: status ${status}."}`;
  const headers: Record<string, string> = { 'content-type': action.contentType ?? typeOf(body) };
  if (retryAfterDate !== undefined) headers['retry-after'] = new Date(now + retryAfterDate * 1000).toUTCString();
  else if (retryAfter !== undefined) headers['retry-after'] = String(retryAfter);
  return { status, headers, body: status === 204 ? '' : body };
}

function typeOf(body: string): string {
  if (/^\s*[{[]/.test(body)) return 'application/json';
  return /^\s*</.test(body) ? 'text/html; charset=utf-8' : 'text/plain; charset=utf-8';
}

/** An answer as a fault spoils it; answers that the fault does not concern stay as they are. */
export function spoil(answer: Answer, action: FaultAction, ownAddress: string): Answer {
  switch (action.kind) {
    case 'truncated_json':
      return { ...answer, body: answer.body.length > 1 ? answer.body.slice(0, answer.body.length >> 1) : '{"id": 1' };
    case 'malformed_json':
      return {
        ...answer,
        headers: { ...answer.headers, 'content-type': 'application/json' },
        body: `{"id": 1,, ${answer.body.slice(1)}`,
      };
    case 'wrong_count':
      return {
        ...answer,
        body: answer.body.replace(/^\{"count":(\d+)/, (_all, count: string) => {
          return `{"count":${Math.max(0, Number(count) + action.by)}`;
        }),
      };
    case 'next': {
      const address = JSON.stringify(action.address === 'loop' ? ownAddress : action.address);
      return {
        ...answer,
        body: answer.body.replace(/^(\{"count":\d+,"next":)(?:null|"[^"]*")/, (_all, head: string) => head + address),
      };
    }
    default:
      return answer;
  }
}
