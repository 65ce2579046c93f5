import { parseJson } from '../../model/json.js';
import { scrub } from '../../model/secret-forms.js';
import { recordId } from '../../resources/read-value.js';
import type { Clock } from '../clock.js';
import type { Json, Page, ServiceMessage } from '../port.js';
import type { Exchange } from './http.js';

/** An answer of the service: what it came to, what its body holds, and the service's own words about a refusal. */

/**
 * The one place that decides what an exchange came to, and so whether a request may go out again.
 *
 *   read:   answered → ok | missing (404); anything that may pass → again; 401 → refresh; else stop
 *   write:  2xx → done, or open where the answer makes no sense; 4xx → refused; 429 and never sent → again;
 *           401 → refresh; 403, 407, proxies and redirects → stop; everything else → open: it is never sent again here
 */
export type Verdict =
  | { readonly kind: 'ok'; readonly json: unknown }
  | { readonly kind: 'missing' }
  | { readonly kind: 'refused'; readonly status: number }
  | { readonly kind: 'refresh' }
  | {
      readonly kind: 'again';
      readonly reason: string;
      /** `down`: nobody there or overloaded; `throttled`: 429; `garbled`: an answer that is not JSON. */
      readonly why: 'down' | 'throttled' | 'garbled';
    }
  | { readonly kind: 'open'; readonly answered: boolean; readonly pending?: boolean; readonly reason: string }
  | { readonly kind: 'stop'; readonly why: 'forbidden' | 'proxy' | 'nobody' | 'redirect' | 'refused' | 'too_large' };

export function classify(request: 'read' | 'write', exchange: Exchange): Verdict {
  if (exchange.kind === 'fault') {
    if (exchange.cause === 'proxy') return { kind: 'stop', why: 'proxy' };
    // A write is another worker's, whose service was there a moment ago.
    if (exchange.cause === 'nobody' && request === 'read') return { kind: 'stop', why: 'nobody' };
    if (!exchange.sent) return { kind: 'again', why: 'down', reason: exchange.reason };
    if (request === 'write') {
      const pending = exchange.cause === 'timeout' && exchange.status === undefined;
      return { kind: 'open', answered: false, reason: exchange.reason, ...(pending ? { pending } : {}) };
    }
    if (exchange.cause === 'too_large') return { kind: 'stop', why: 'too_large' };
    return { kind: 'again', why: exchange.cause === 'not_text' ? 'garbled' : 'down', reason: exchange.reason };
  }
  const { status } = exchange;
  if (status >= 200 && status < 300) return request === 'read' ? readBody(exchange) : writtenBody(exchange);
  if (status === 401) return { kind: 'refresh' };
  if (status === 429) return { kind: 'again', why: 'throttled', reason: 'the service asks for a slower pace (429)' };
  if (status === 407) return { kind: 'stop', why: 'proxy' };
  if (status === 403) return { kind: 'stop', why: 'forbidden' };
  // "Not modified" leads nowhere, and of a write says nothing.
  const isUnclear = request === 'write' && status === 304;
  if (status >= 300 && status < 400 && !isUnclear) return { kind: 'stop', why: 'redirect' };
  if (request === 'write') {
    // Said by a gateway that had passed the request on: after 408 and 504 it may still be under way behind it.
    if (status === 408 || status === 502 || status === 504) {
      const reason = `the service answered with status ${status}`;
      return { kind: 'open', answered: false, reason, ...(status === 502 ? {} : { pending: true }) };
    }
    if (isUnclear || status === 425 || status >= 500 || status < 200) {
      return { kind: 'open', answered: true, reason: `the service answered with status ${status}` };
    }
    return { kind: 'refused', status };
  }
  if (status === 404) return { kind: 'missing' };
  // Not implemented will not be implemented by waiting.
  if (status === 501) return { kind: 'stop', why: 'refused' };
  if (status === 408 || status === 425 || status >= 500 || status < 200) {
    return { kind: 'again', why: 'down', reason: `the service answered with status ${status}` };
  }
  return { kind: 'stop', why: 'refused' };
}

/** Refusals that say nothing about what was asked for: they are about the token, the pace, or may pass. */
const NOT_ABOUT_THE_REQUEST: readonly number[] = [401, 403, 407, 408, 425, 429];

/** Whether a status refuses this very request: that page, that order, that record. */
export function refusesRequest(status: number | undefined): boolean {
  return status !== undefined && status >= 400 && status < 500 && !NOT_ABOUT_THE_REQUEST.includes(status);
}

/** Whether the answer means "too much at once": what pacing slows down for. */
export function loadOf(exchange: Exchange): 'throttled' | 'overloaded' | 'fine' | 'unclear' {
  if (exchange.kind === 'fault') {
    return exchange.cause === 'timeout' ? 'overloaded' : 'unclear';
  }
  if (exchange.status === 429) return 'throttled';
  if (exchange.status === 503 || exchange.status === 504 || exchange.status === 408) return 'overloaded';
  return exchange.status < 500 ? 'fine' : 'unclear';
}

/** What says that the service may be away: nobody there, no answer, or a status of a service that does not work. */
export function outageReason(exchange: Exchange): string | undefined {
  if (exchange.kind === 'fault') {
    return exchange.cause === 'too_large' || exchange.cause === 'not_text' ? undefined : exchange.reason;
  }
  const { status } = exchange;
  // Not implemented, or another version of HTTP: that is an answer.
  if (status < 500 || status === 501 || status === 505) return undefined;
  return `the service answered with status ${status}`;
}

const SHORTEST_HOLD_MS = 1_000;
const LONGEST_HOLD_MS = 15 * 60_000;

/**
 * `Retry-After` in milliseconds, in seconds or as an HTTP date, clamped to 1 s – 15 min; undefined where there is none or
 * it cannot be read. A date is measured against the service's own `Date` where it sent one.
 */
export function retryAfter(value: string | undefined, date: string | undefined, clock: Clock): number | undefined {
  if (value === undefined) return undefined;
  const text = value.trim();
  let ms: number;
  if (/^[+-]?\d+(\.\d+)?$/.test(text)) ms = Number(text) * 1000;
  else {
    const then = Date.parse(text);
    if (Number.isNaN(then)) return undefined;
    const serviceNow = date === undefined ? Number.NaN : Date.parse(date);
    ms = then - (Number.isNaN(serviceNow) ? clock.wall() : serviceNow);
  }
  return Math.min(LONGEST_HOLD_MS, Math.max(SHORTEST_HOLD_MS, ms));
}

type Answer = Exchange & { kind: 'answer' };

function readBody(answer: Answer): Verdict {
  const json = jsonIn(answer.text);
  if (json !== undefined) return { kind: 'ok', json };
  return { kind: 'again', why: 'garbled', reason: notJson(answer) };
}

function writtenBody(answer: Answer): Verdict {
  if (answer.text.trim() === '') return { kind: 'ok', json: undefined };
  const json = jsonIn(answer.text);
  if (json === undefined) return { kind: 'open', answered: false, reason: notJson(answer) };
  if (answer.status === 207 || carriesFault(json)) {
    const reason = `the service answered with status ${answer.status}, but the answer speaks of an error`;
    return { kind: 'open', answered: true, reason };
  }
  return { kind: 'ok', json };
}

/** A 2xx whose body is an error envelope is no clear success: a gateway or the service hid a fault in it. */
function carriesFault(json: unknown): boolean {
  if (typeof json !== 'object' || json === null || Array.isArray(json) || 'id' in json) return false;
  const { error, errors, success } = json as Record<string, unknown>;
  const some = (value: unknown): boolean =>
    typeof value === 'object' && value !== null ? Object.keys(value).length > 0 : Boolean(value);
  return some(error) || some(errors) || success === false;
}

function notJson(answer: Answer): string {
  if (answer.contentType.includes('html') || /^\s*<(!doctype|html)/i.test(answer.text)) {
    return `the answer (status ${answer.status}) is a web page, not JSON; a login page or a proxy may stand in between`;
  }
  return `the answer (status ${answer.status}) is not complete JSON`;
}

/** What the bodies of clear answers hold: shapes that make no sense are a `string` that says why. */

/** Undefined where the text is no JSON. */
export function jsonIn(text: string): unknown {
  try {
    return parseJson(text);
  } catch {
    return undefined;
  }
}

function isRecord(value: unknown): value is Json {
  return typeof value === 'object' && value !== null && !Array.isArray(value) && !('isLosslessNumber' in value);
}

/** `{count, results}` (interface, section 8), or a bare list: all there is, unless the next page shows others. */
export function readPage(json: unknown): Page | string {
  if (Array.isArray(json)) {
    if (!json.every(isRecord)) return 'the list holds something that is not a record';
    return { count: json.length, results: json.map(withNumericId), bare: true };
  }
  if (!isRecord(json)) return 'the answer is not a list';
  const { results } = json;
  const count = countOf(json['count']);
  if (count === undefined) return `"count" is ${shortJson(json['count'])}, not a number of records`;
  if (!Array.isArray(results)) return '"results" is not a list';
  if (!results.every(isRecord)) return '"results" holds something that is not a record';
  return { count, results: results.map(withNumericId) };
}

/** The record with its id as a number, also where it was sent as a text. */
function withNumericId(record: Json): Json {
  if (typeof record['id'] !== 'string') return record;
  const id = recordId(record['id']);
  return id === undefined ? record : { ...record, id };
}

/** A number of records, also as a text of digits. */
export function countOf(value: unknown): number | undefined {
  const count = typeof value === 'string' && /^\d{1,15}$/.test(value) ? Number(value) : value;
  return typeof count === 'number' && Number.isSafeInteger(count) && count >= 0 ? count : undefined;
}

/** The record asked for; undefined where an enveloped answer does not hold it. */
export function readRecord(json: unknown, id: number): Json | undefined | string {
  const list = Array.isArray(json)
    ? json
    : isRecord(json) && Array.isArray(json['results'])
      ? json['results']
      : undefined;
  if (list) {
    const item = list.find((one): one is Json => isRecord(one) && recordIdOf(one) === id);
    return item && withNumericId(item);
  }
  if (!isRecord(json)) return 'the answer is not a record';
  const record = recordIdOf(json) === undefined && isRecord(json['data']) ? json['data'] : json;
  const found = recordIdOf(record);
  if (found !== undefined && found !== id) return `the answer is the record with id ${found}`;
  return withNumericId(record);
}

/** Id and record from the answer to a write; their place is not documented, so every usual one is looked at. */
export function readWritten(json: unknown, resource: string): { readonly id?: number; readonly record?: Json } {
  const bare = recordId(json);
  if (bare !== undefined) return { id: bare };
  const outer = Array.isArray(json) && json.length === 1 ? json[0] : json;
  if (!isRecord(outer)) return {};
  const own = recordIdOf(outer);
  if (own !== undefined) return { id: own, record: outer };
  const nested = [outer[resource], outer['data'], outer['result'], outer['record'], outer['results']]
    .flat()
    .find(isRecord);
  const inner = nested && recordIdOf(nested);
  if (nested && inner !== undefined) return { id: inner, record: nested };
  const elsewhere = [outer[`${resource}_id`], outer['pk'], outer['data'], outer[resource]];
  const named = elsewhere.map(recordId).find((id) => id !== undefined);
  const record = nested ?? outer;
  return { ...(named === undefined ? {} : { id: named }), ...(Object.keys(record).length > 0 ? { record } : {}) };
}

/** A record's own id; licenses call it `license_id` (interface, section 2.6). */
export function recordIdOf(record: Json): number | undefined {
  return recordId(record['id']) ?? recordId(record['license_id']);
}

function shortJson(value: unknown): string {
  const text = JSON.stringify(value) ?? 'absent';
  return text.length > 40 ? `${text.slice(0, 39)}…` : text;
}

/**
 * The service's own words about a refusal. The format of errors is not documented (interface, section 7): understood are
 * `{field: [texts]}`, `{detail}`, `{message}`, `{error}`, `{errors: […]}`, `{errors: {…}}`, lists of `{field, message}`,
 * objects nested in these, plain text, and web pages (title and text).
 */

const MAX_CHARACTERS = 2_000;
const MAX_MESSAGES = 50;
const MAX_DEPTH = 8;

/** Envelopes: their name says nothing about a field. */
const WRAPPERS = new Set([
  'detail',
  'details',
  'error',
  'errors',
  'message',
  'messages',
  'msg',
  'title',
  'error_description',
  'error_message',
  'non_field_errors',
  'nonFieldErrors',
  '__all__',
  'faults',
]);
/** Technical fields beside the words: left out as long as there are words; a list of texts is about a field of this name. */
const NOISE = new Set([
  'status',
  'status_code',
  'statusCode',
  'code',
  'type',
  'instance',
  'timestamp',
  'request_id',
  'requestId',
  'trace_id',
  'traceId',
  'jsonapi',
  'links',
  'meta',
  'pointer',
  'success',
  'ok',
]);
const FIELD_KEYS = ['field', 'field_name', 'fieldName', 'param', 'parameter', 'property', 'attribute', 'path', 'loc'];
const TEXT_KEYS = ['message', 'messages', 'detail', 'error', 'errors', 'msg', 'text', 'reason', 'title', 'description'];

/** At least one message; at most 2,000 characters in all; without secrets and control characters. */
export function readMessages(status: number, text: string, secrets: readonly string[] = []): readonly ServiceMessage[] {
  const found: ServiceMessage[] = [];
  const body = text.slice(0, 200_000);
  const json = jsonIn(body);
  if (json === undefined) {
    const words = /^\s*</.test(body) ? pageText(body) : body;
    if (words.trim()) found.push({ text: words });
  } else {
    collect(json, undefined, found, 0);
  }
  const clean = limitMessages(found, secrets);
  return clean.length > 0 ? clean : [{ text: `The service gave no reason (status ${status}).` }];
}

/** The messages in one line, for errors of the whole run. */
export function messageLine(messages: readonly ServiceMessage[]): string {
  return messages.map(({ field, text }) => (field ? `${field}: ${text}` : text)).join('; ');
}

function collect(value: unknown, field: string | undefined, found: ServiceMessage[], depth: number): void {
  if (found.length >= MAX_MESSAGES || depth > MAX_DEPTH || value === null || value === undefined) return;
  if (Array.isArray(value)) {
    for (const item of value) collect(item, field, found, depth + 1);
    return;
  }
  if (typeof value !== 'object') {
    found.push({ ...(field ? { field } : {}), text: String(value) });
    return;
  }
  const record = value as Record<string, unknown>;
  const named = FIELD_KEYS.find((key) => typeof record[key] === 'string' || Array.isArray(record[key]));
  const texts = TEXT_KEYS.find((key) => typeof record[key] === 'string' || Array.isArray(record[key]));
  if (named && texts && named !== texts && depth > 0 && isFieldName(record[named])) {
    collect(record[texts], join(field, [record[named]].flat().join('.')), found, depth + 1);
    return;
  }
  // Of one fault in several words the most exact is enough.
  const keys = Object.keys(record).filter((key) => key !== 'title' || typeof record['detail'] !== 'string');
  const worded = keys.filter((key) => !NOISE.has(key) || Array.isArray(record[key]));
  for (const key of worded.length > 0 ? worded : keys) {
    collect(record[key], WRAPPERS.has(key) ? field : join(field, key), found, depth + 1);
  }
}

/** `path` and `loc` may hold anything; only what looks like a name is taken for one. */
function isFieldName(value: unknown): boolean {
  return [value].flat().every((part) => typeof part === 'number' || /^[\w.[\]/-]{1,100}$/.test(String(part)));
}

function join(field: string | undefined, key: string): string {
  return field ? `${field}.${key}` : key;
}

function pageText(html: string): string {
  const title = /<title[^>]{0,200}>([^<]{0,500})/i.exec(html)?.[1] ?? '';
  const text = html.replace(/<(script|style|head)\b[\s\S]*?(<\/\1\s*>|$)/gi, ' ').replace(/<[^>]*>?/g, ' ');
  const words = text.replace(/\s+/g, ' ').trim();
  const both = title.trim() && !words.startsWith(title.trim()) ? `${title.trim()}: ${words}` : words || title;
  return both
    .replace(/&nbsp;/g, ' ')
    .replace(/&lt;/g, '<')
    .replace(/&gt;/g, '>')
    .replace(/&quot;/g, '"')
    .replace(/&#0?39;/g, "'")
    .replace(/&amp;/g, '&');
}

function limitMessages(found: readonly ServiceMessage[], secrets: readonly string[]): ServiceMessage[] {
  const out: ServiceMessage[] = [];
  let remaining = MAX_CHARACTERS;
  for (const message of found) {
    const field = message.field === undefined ? undefined : sanitise(message.field, secrets).slice(0, 200);
    const text = sanitise(message.text, secrets);
    const room = remaining - (field?.length ?? 0);
    if (room <= 1 || text === '') continue;
    const fitted = text.length > room ? `${text.slice(0, room - 1)}…` : text;
    remaining -= fitted.length + (field?.length ?? 0);
    out.push({ ...(field ? { field } : {}), text: fitted });
  }
  return out;
}

/** Escape sequences and control characters would act on the terminal that shows them. */
function sanitise(text: string, secrets: readonly string[]): string {
  return scrub(text, secrets)
    .replace(/\p{Cc}\[[\d;]*[A-Za-z]/gu, '')
    .replace(/[\p{Cc}\p{Cf}]+/gu, ' ')
    .replace(/ {2,}/g, ' ')
    .trim();
}
