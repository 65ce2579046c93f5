import type { ServiceResponse } from '../../src/sandbox/render.js';
import type { Exchange, Http, HttpRequest } from '../../src/service/transport/http.js';
import type { SimService } from './service.js';
import { type Owner, type Timeline, WORLD } from './timeline.js';

/** What may happen to a request on its way. */
export const FAULTS = [
  'refused',
  'cut_before',
  'cut_after',
  'timeout_before',
  'timeout_after',
  'late_commit',
  'late_answer',
  'status_before',
  'status_after',
  'throttled',
  'login_page',
  'truncated',
  'cut_answer',
] as const;
export type Fault = (typeof FAULTS)[number];

export interface Weather {
  /** Milliseconds on the way there and back together. */
  readonly latency: readonly [least: number, most: number];
  /** 0 to 1: requests that meet a fault. */
  readonly faulty: number;
  readonly faults: readonly Fault[];
  /** Requests per second that the service takes, which it does not tell. */
  readonly maxRps?: number;
  /** Times in which nothing gets through. */
  readonly outages: readonly {
    readonly at: number;
    readonly ms: number;
    readonly how: 'refused' | 'busy' | 'silent';
  }[];
}

export const FAIR: Weather = { latency: [5, 40], faulty: 0, faults: [], outages: [] };

export interface NetworkOptions {
  readonly timeline: Timeline;
  readonly service: SimService;
  readonly random: () => number;
  readonly requestMs: number;
  /** How long after a request went out the service may still carry it out at the latest. */
  readonly latestCommitMs: () => number;
  /** Told right before a request takes effect, with when it went out. */
  readonly arriving: (owner: Owner, sent: number) => void;
}

/** The way between simulated processes and the service. */
export interface Network {
  weather: Weather;
  /** A process's connections. */
  connect(): Http;
  /** A process is gone: what the service still works on for it ends soon, as its connection is. */
  abandoned(owner: Owner): void;
  /** Writes that went out and whose effect the service did not tell. */
  readonly open: number;
}

/** Longest time for which the service works on for somebody who is gone; within the last but one look of the settle window. */
const ABANDONED_MS = 10_000;

export function openNetwork(options: NetworkOptions): Network {
  const { timeline, service, random, requestMs, arriving } = options;
  const late = new Map<symbol, { readonly owner: Owner; readonly at: number; bring(ms: number): void }>();
  let weather = FAIR;
  let open = 0;
  let number = 0;

  const between = (least: number, most: number) => least + random() * (most - least);

  function execute(request: HttpRequest): ServiceResponse {
    const mark = request.path.indexOf('?');
    const headers: Record<string, string> = {};
    for (let at = 0; at + 1 < request.headers.length; at += 2) {
      headers[String(request.headers[at]).toLowerCase()] = String(request.headers[at + 1]);
    }
    return service.execute({
      method: request.method,
      path: mark < 0 ? request.path : request.path.slice(0, mark),
      query: new URLSearchParams(mark < 0 ? '' : request.path.slice(mark + 1)),
      origin: 'http://service.test',
      headers,
      body: Buffer.from(request.body ?? '', 'utf8'),
      requestId: `r${++number}`,
    });
  }

  const answer = ({ status, headers, body }: ServiceResponse): Exchange => {
    const { 'retry-after': retryAfter, location } = headers;
    return {
      kind: 'answer',
      status,
      contentType: headers['content-type'] ?? '',
      text: body,
      ...(retryAfter === undefined ? {} : { retryAfter }),
      ...(location === undefined ? {} : { location }),
    };
  };
  const fault = (cause: 'connect' | 'timeout' | 'cut', sent: boolean, status?: number): Exchange => ({
    kind: 'fault',
    cause,
    sent,
    reason: cause === 'timeout' ? 'no complete answer in time' : 'the connection was lost',
    ...(status === undefined ? {} : { status }),
  });

  function pick(): Fault | undefined {
    if (weather.faults.length === 0 || random() >= weather.faulty) return undefined;
    return weather.faults[Math.floor(random() * weather.faults.length)];
  }

  function statusAnswer(status: number): ServiceResponse {
    const body = random() < 0.5 ? '{"detail":"The service failed."}' : '<html><body>Bad gateway</body></html>';
    return { status, headers: { 'content-type': body.startsWith('<') ? 'text/html' : 'application/json' }, body };
  }

  /** A 429 in one of the forms in which services ask for a pause, sound or not. */
  function throttle(): ServiceResponse {
    const forms = ['1', '2', '0', '-5', '999999', 'soon', undefined, new Date(timeline.now + 3_000).toUTCString()];
    const form = forms[Math.floor(random() * forms.length)];
    // A pause of a quarter of an hour is asked for now and then only.
    const retryAfter = form === '999999' && random() < 0.9 ? '1' : form;
    const headers: Record<string, string> = { 'content-type': 'application/json' };
    if (retryAfter !== undefined) headers['retry-after'] = retryAfter;
    return { status: 429, headers, body: '{"detail":"Request was throttled."}' };
  }

  function limited(): ServiceResponse | undefined {
    const wait = service.rate.take();
    if (wait === 0) return undefined;
    return { status: 429, headers: { 'retry-after': String(Math.ceil(wait / 1000)) }, body: '{"detail":"Throttled."}' };
  }

  /** What becomes of a request. `told` is called once, at the moment the process hears of it. */
  function carry(request: HttpRequest, owner: Owner, told: (exchange: Exchange) => void): void {
    const sent = timeline.now;
    const write = request.method !== 'GET';
    const there = between(...weather.latency) / 2;
    const back = between(...weather.latency) / 2;
    const allowed = Math.min(requestMs, request.timeoutMs ?? requestMs);
    let done = false;
    const tell = (ms: number, exchange: Exchange): void => {
      timeline.after(
        ms,
        () => {
          if (done) return;
          done = true;
          if (write && isOpen(exchange)) open++;
          told(exchange);
        },
        owner,
      );
    };
    tell(allowed, fault('timeout', true));
    /** The request reaches the service, and something comes back. */
    const arrive = (ms: number, then: (given: () => ServiceResponse) => void): void => {
      timeline.after(
        ms,
        () => {
          arriving(owner, sent);
          then(() => limited() ?? execute(request));
        },
        WORLD,
      );
    };
    const outage = weather.outages.find(({ at, ms }) => timeline.now >= at && timeline.now < at + ms);
    if (outage?.how === 'refused') {
      tell(there, fault('connect', false));
      return;
    }
    if (outage?.how === 'silent') return;
    if (outage) {
      tell(there + back, answer(statusAnswer(503)));
      return;
    }
    const status = [500, 502, 503, 504, 408][Math.floor(random() * 5)] ?? 500;
    switch (pick()) {
      case 'refused':
        tell(there, fault('connect', false));
        break;
      case 'cut_before':
        tell(there, fault('cut', true));
        break;
      case 'timeout_before':
        break;
      case 'status_before':
        tell(there + back, answer(statusAnswer(status)));
        break;
      case 'throttled':
        tell(there + back, answer(throttle()));
        break;
      case 'login_page':
        tell(
          there + back,
          answer({
            status: 200,
            headers: { 'content-type': 'text/html' },
            body: '<!doctype html><title>Sign in</title>',
          }),
        );
        break;
      case 'cut_after':
        arrive(there, (given) => {
          given();
          tell(back, fault('cut', true));
        });
        break;
      case 'timeout_after':
        arrive(there, (given) => void given());
        break;
      case 'late_commit':
        lateCommit(request, owner, allowed);
        break;
      case 'late_answer':
        arrive(there, (given) => tell(between(0, allowed * 1.2), answer(given())));
        break;
      case 'status_after':
        arrive(there, (given) => {
          given();
          tell(back, answer(statusAnswer(status)));
        });
        break;
      case 'truncated':
        arrive(there, (given) => {
          const whole = given();
          tell(
            back,
            answer({
              ...whole,
              body: whole.body.length > 1 ? whole.body.slice(0, whole.body.length >> 1) : '{"id": 1',
            }),
          );
        });
        break;
      case 'cut_answer':
        arrive(there, (given) => tell(back, fault('cut', true, given().status)));
        break;
      case undefined:
        arrive(there, (given) => tell(back, answer(given())));
        break;
    }
  }

  /** Never answered; carried out when nobody waits for it any more, or just before. */
  function lateCommit(request: HttpRequest, owner: Owner, allowed: number): void {
    const sent = timeline.now;
    const at = sent + Math.max(allowed, between(0.5 * allowed, options.latestCommitMs()));
    const id = Symbol();
    const put = (ms: number) =>
      timeline.after(
        ms,
        () => {
          late.delete(id);
          arriving(owner, sent);
          execute(request);
        },
        WORLD,
      );
    let handle = put(at - timeline.now);
    // Nobody waits for it: it must not keep the world alive.
    late.set(id, {
      owner,
      at,
      bring(ms) {
        handle.cancel();
        handle = put(ms);
      },
    });
  }

  return {
    get weather() {
      return weather;
    },
    set weather(given) {
      weather = given;
      service.rate.set(given.maxRps);
    },
    connect() {
      const live = new Set<Promise<Exchange>>();
      let closed = false;
      const user = (own: Set<Promise<Exchange>>): Pick<Http, 'exchange' | 'close'> => {
        let over = false;
        return {
          exchange(request) {
            if (closed || over) return Promise.reject(new Error('the connection to the service is closed'));
            const { owner } = timeline;
            const one = new Promise<Exchange>((resolve) => {
              carry(request, owner, (exchange) => {
                own.delete(one);
                live.delete(one);
                resolve(exchange);
              });
            });
            own.add(one);
            live.add(one);
            return one;
          },
          async close() {
            over = true;
            await Promise.all(own);
          },
        };
      };
      return {
        ...user(live),
        hasAnswered: true,
        share: () => user(new Set()),
        async close() {
          closed = true;
          await Promise.all(live);
        },
      };
    },
    abandoned(owner) {
      for (const one of late.values()) {
        if (one.owner === owner && one.at > timeline.now + ABANDONED_MS) one.bring(random() * ABANDONED_MS);
      }
    },
    get open() {
      return open;
    },
  };
}

function isOpen(exchange: Exchange): boolean {
  if (exchange.kind === 'fault') return exchange.sent;
  return (
    exchange.status >= 500 ||
    exchange.status === 408 ||
    (exchange.status < 300 && !/^\s*($|[{[].*[}\]]\s*$)/s.test(exchange.text))
  );
}
