import { type RunError, runFailure } from '../model/error.js';
import { stringifyBody } from '../model/json.js';
import { NO_REQUESTS } from '../model/progress.js';
import { namesCompany, readAddress, readPath, writePath } from './address.js';
import { anySignal } from './clock.js';
import { type OnOutage, outageReporter } from './pace/breaker.js';
import type {
  Json,
  Log,
  Page,
  PageOptions,
  Readable,
  SerialPage,
  SerialProbe,
  Service,
  WriteAnswer,
  WriteRequest,
} from './port.js';
import { countOf, readPage, readRecord, readWritten, refusesRequest } from './transport/answer.js';
import { type Channel, type ChannelOptions, openChannel } from './transport/channel.js';
import { type Call, type Observe, openSender, type Settled } from './transport/send.js';

export interface ServiceOptions extends Omit<ChannelOptions, 'shared'> {
  readonly company: number;
  /** How long a service that is down is waited for; default 15 min. */
  readonly patienceMs?: number;
  /** The same until it has answered anything at all, whatever: the address may be wrong. Default: as long. Not with a channel. */
  readonly firstAnswerMs?: number;
  readonly log?: Log;
  /** Told when the service does not answer any more, after each time it was asked in vain, and when it is back. */
  readonly onOutage?: OnOutage;
  /** Told of every exchange, for metrics. */
  readonly observe?: Observe;
  /** Ends every wait and refuses new requests; what is in flight is finished, its answer is needed. */
  readonly signal?: AbortSignal;
  /**
   * Asked directly before each try of a writing request, after every wait: false where the right to write may be lost. Then
   * nothing is sent, and the answer is `unsent` with `withheld: 'no_right'`.
   */
  readonly mayWrite?: () => boolean;
  /**
   * Opened for the same address, and left open when this service is closed. Connections, limits, token, clock and time-outs
   * are then the channel's; without one, this service has its own.
   */
  readonly channel?: Channel;
}

/**
 * The service over HTTP. See `Service` for what the operations promise; a `RunError` out of `create` or `update` means
 * that nothing was written. After the signal, reads throw and writes are `unsent`.
 */
export function openService(options: ServiceOptions): Service {
  const { company } = options;
  const channel = options.channel ?? openChannel(options);
  const { address } = channel;
  if (options.channel) checkChannel(options.channel, options.baseUrl);
  const { pacer, tokens, clock } = channel.parts;
  const { signal, release } = anySignal(options.signal, channel.parts.signal);
  const counts = { ...NO_REQUESTS };
  const http = channel.parts.http.share();
  const log = options.log ?? (() => undefined);
  const patienceMs = options.patienceMs ?? 15 * 60_000;
  const notify = outageReporter(clock, log, () => tokens.secrets, options.onOutage);
  const { firstAnswerMs = patienceMs } = options;
  const patience = {
    get ms() {
      const isReached = options.channel !== undefined || channel.parts.http.hasAnswered;
      return isReached ? patienceMs : Math.min(patienceMs, firstAnswerMs);
    },
    notify,
  };
  const lane = pacer.lane(signal, patience);
  const request = openSender({
    ...channel.parts,
    http,
    address,
    lane,
    counts,
    patience,
    log,
    signal,
    ...(options.observe ? { observe: options.observe } : {}),
    ...(options.mayWrite ? { mayWrite: options.mayWrite } : {}),
  });
  let closed = false;

  function send(call: Call): Promise<Settled> {
    if (closed) return Promise.reject(new Error('the connection to the service is closed'));
    return request({ ...call, path: `${address.root}${call.path}` });
  }

  async function page(
    resource: Readable,
    number: number,
    query: Readonly<Record<string, string>> = {},
    { pastEnd = false, isKnown }: PageOptions = {},
  ): Promise<Page> {
    checkQuery(query);
    const params = new URLSearchParams(namesCompany(resource) ? { company: String(company) } : {});
    for (const [name, value] of Object.entries(query)) params.append(name, value);
    params.append('page', String(number));
    const path = `${readPath(resource)}?${params}`;
    const call = {
      kind: 'read',
      method: 'GET',
      path,
      company,
      shape: (json: unknown, text: string) => {
        const page = readPage(json);
        return isKnown && typeof page !== 'string' ? { ...page, text } : page;
      },
      ...(isKnown && {
        known: (text: string) => (isKnown(text) ? { count: 0, results: [], text, known: true } : undefined),
      }),
    } as const;
    let settled = await send(pastEnd ? { ...call, optional: { tries: PAST_END_TRIES } } : call);
    if (pastEnd && settled.kind === 'refused') {
      const { status } = settled;
      if (!TOKEN_STATUSES.includes(status)) return { count: 0, results: [], ...unansweredPart(status) };
      // No word about this page: it is waited for, or refused, as any other.
      settled = await send(call);
    }
    if (settled.kind === 'missing') {
      if (number > 1) return { count: 0, results: [] };
      throw notFoundError(`${address.root}${path}`, company, settled.words);
    }
    return settledValue<Page>(settled);
  }

  async function get(resource: Readable, id: number): Promise<Json | undefined> {
    const path = `${readPath(resource, id)}${namesCompany(resource) ? `?company=${company}` : ''}`;
    // Undefined is no JSON value: a list without the record is wrapped, so that the shape can say so.
    const shape = (json: unknown): unknown => {
      const record = readRecord(json, id);
      return typeof record === 'string' ? record : { record };
    };
    const settled = await send({ kind: 'read', method: 'GET', path, company, shape });
    return settled.kind === 'missing' ? undefined : settledValue<{ record?: Json }>(settled).record;
  }

  async function write(request: WriteRequest, isFresh?: () => boolean, again = false): Promise<WriteAnswer> {
    const { resource, body } = request;
    const settled = await send({
      kind: 'write',
      company,
      body: bodyText(body),
      ...(request.op === 'create'
        ? { method: 'POST', path: `${writePath(resource)}${queryText(request.query)}` }
        : { method: request.method, path: writePath(resource, request.id), ahead: request.ahead === true }),
      ...(isFresh && { isFresh }),
      again,
    });
    switch (settled.kind) {
      case 'ok':
        return { kind: 'done', ...readWritten(settled.value, resource) };
      case 'missing':
        return { kind: 'refused', status: 404, messages: [{ text: settled.words }] };
      default:
        return settled;
    }
  }

  /** Every body names its company (interface, section 1); put in front as text, a copy of the body would cost more. */
  function bodyText(body: Json): string {
    const text = stringifyBody(body);
    if ('company' in body) return text;
    return text === '{}' ? `{"company":${company}}` : `{"company":${company},${text.slice(1)}`;
  }

  return {
    counts,
    get inFlightLimit() {
      return pacer.inFlightLimit;
    },
    page,
    get,
    serialProbe: serialProbe(send, company),
    write,
    async close() {
      closed = true;
      lane.close();
      await http.close();
      release();
      if (!options.channel) await channel.close();
    },
  };
}

function queryText(query: Readonly<Record<string, string>> = {}): string {
  const text = Object.entries(query).map(([name, value]) => `${name}=${encodeURIComponent(value)}`);
  return text.length === 0 ? '' : `?${text.join('&')}`;
}

/** A page behind the end of a list. */
const PAST_END_TRIES = 2;
/** Answers about who asks, and how often. */
const TOKEN_STATUSES: readonly number[] = [403, 407, 429];

function unansweredPart(status: number): Pick<Page, 'unanswered'> {
  if (refusesRequest(status)) return {};
  if (status === 0) return { unanswered: 'no answer came' };
  return { unanswered: status < 300 ? 'the answer made no sense' : `the service answered with status ${status}` };
}

/** The token of a channel is for its own address alone. */
function checkChannel(channel: Channel, baseUrl: string): void {
  const { origin, root } = readAddress(baseUrl);
  if (origin === channel.address.origin && root === channel.address.root) return;
  throw new Error(`the channel leads to ${channel.address.origin}${channel.address.root}, not to ${origin}${root}`);
}

/** A fault of the calling code, not of the run. */
function checkQuery(query: Readonly<Record<string, string>>): void {
  if (query['serial_number']?.trim() === 'list') {
    throw new Error('serial_number=list is not a filter, it asks for serial numbers only (interface, section 4.4)');
  }
}

/** Reads end in a value or throw: nothing else is left here. */
function settledValue<T>(settled: Settled): T {
  if (settled.kind === 'ok') return settled.value as T;
  throw runFailure(`The service could not be read (${settled.kind}).`);
}

function notFoundError(path: string, company: number, words: string): RunError {
  return runFailure(
    `There is nothing at GET ${path} for company ${company} (404). ${words}` +
      'Check that ROWFERRY_API_URL is the base address without /api/v2, and the company id.',
    [],
    { status: 404 },
  );
}

/** There are other ways to find out: a service or proxy that cannot take a GET with a body is not waited for. */
const OPTIONAL = { tries: 2, timeoutMs: 5_000 };

/** Statuses of a service or proxy that takes fewer serial numbers at once. */
const TOO_MANY: ReadonlySet<number> = new Set([400, 413, 414, 422, 431]);

function serialProbe(send: (call: Call) => Promise<Settled>, company: number): SerialProbe {
  return {
    batchLimit: Number.POSITIVE_INFINITY,
    async page(list, number) {
      const query = new URLSearchParams({ company: String(company), serial_number: 'list', page: String(number) });
      const settled = await send({
        kind: 'read',
        method: 'GET',
        path: `/asset/?${query}`,
        body: JSON.stringify({ list }),
        company,
        optional: OPTIONAL,
        shape: readSerials,
      });
      if (settled.kind === 'refused' && TOO_MANY.has(settled.status)) return 'too_many';
      return settled.kind === 'ok' ? (settled.value as SerialPage) : undefined;
    },
  };
}

/** A page, or a bare list, of texts or of `{serial_number}`. */
function readSerials(json: unknown): SerialPage | string {
  const envelope = typeof json === 'object' && json !== null ? (json as Record<string, unknown>) : {};
  const list = Array.isArray(json) ? json : (envelope['results'] ?? envelope['list']);
  if (!Array.isArray(list)) return 'the answer is not a list of serial numbers';
  const serials: string[] = [];
  for (const item of list) {
    const serial =
      typeof item === 'object' && item !== null ? (item as Record<string, unknown>)['serial_number'] : item;
    if (typeof serial === 'string') serials.push(serial);
    else if (typeof serial === 'number') serials.push(String(serial));
    else if (serial !== null) return 'the answer is not a list of serial numbers';
    else serials.push('');
  }
  return { serials, count: countOf(envelope['count']) ?? serials.length };
}
