import { secretForms } from '../../model/secret-forms.js';
import type { ServiceMessage } from '../port.js';
import { jsonIn } from './answer.js';

export type Log = (level: 'debug' | 'info' | 'warn' | 'error', event: string, fields: Record<string, unknown>) => void;

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
  const clean = bounded(found, secrets);
  return clean.length > 0 ? clean : [{ text: `The service gave no reason (status ${status}).` }];
}

/** The messages in one line, for errors of the whole run. */
export function messageLine(messages: readonly ServiceMessage[]): string {
  return messages.map(({ field, text }) => (field ? `${field}: ${text}` : text)).join('; ');
}

/** Replaces every known secret, and anything that stands where a bearer token stands. */
export function scrub(text: string, secrets: readonly string[]): string {
  let out = text.replace(/\b(bearer|basic)\s+[\w.~+/=-]{4,}/gi, '$1 ***');
  for (const secret of secrets) {
    if (secret.length < 4) continue;
    for (const form of secretForms(secret)) out = out.replaceAll(form, '***');
  }
  return out;
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

function bounded(found: readonly ServiceMessage[], secrets: readonly string[]): ServiceMessage[] {
  const out: ServiceMessage[] = [];
  let left = MAX_CHARACTERS;
  for (const message of found) {
    const field = message.field === undefined ? undefined : plain(message.field, secrets).slice(0, 200);
    const text = plain(message.text, secrets);
    const room = left - (field?.length ?? 0);
    if (room <= 1 || text === '') continue;
    const kept = text.length > room ? `${text.slice(0, room - 1)}…` : text;
    left -= kept.length + (field?.length ?? 0);
    out.push({ ...(field ? { field } : {}), text: kept });
  }
  return out;
}

/** Escape sequences and control characters would act on the terminal that shows them. */
function plain(text: string, secrets: readonly string[]): string {
  return scrub(text, secrets)
    .replace(/\p{Cc}\[[\d;]*[A-Za-z]/gu, '')
    .replace(/[\p{Cc}\p{Cf}]+/gu, ' ')
    .replace(/ {2,}/g, ' ')
    .trim();
}
