import { quote } from './render.js';
import type { Switches } from './switches.js';
import type { Faults } from './write.js';

/** What the service answers, before a fault plan gets hold of it. */
export interface Answer {
  readonly status: number;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string;
}

const JSON_TYPE = { 'content-type': 'application/json' };

export const json = (status: number, body: string, headers: Readonly<Record<string, string>> = {}): Answer => ({
  status,
  headers: body === '' ? headers : { ...JSON_TYPE, ...headers },
  body,
});

/** A refusal about the whole request. */
export function refuse(
  status: number,
  message: string,
  format: Switches['errorFormat'],
  headers: Readonly<Record<string, string>> = {},
): Answer {
  return errorAnswer(status, new Map([['', [message]]]), format, headers);
}

export const refuseFields = (faults: Faults, format: Switches['errorFormat']): Answer =>
  errorAnswer(400, faults, format, {});

export const oneFault = (field: string, message: string): Faults => new Map([[field, [message]]]);

/** The interface does not show the error format (section 7): each of these is met in services of this kind. */
function errorAnswer(
  status: number,
  faults: Faults,
  format: Switches['errorFormat'],
  headers: Readonly<Record<string, string>>,
): Answer {
  const lines = [...faults].flatMap(([field, messages]) => messages.map((message) => ({ field, message })));
  const sentence = lines.map(({ field, message }) => (field ? `${field}: ${message}` : message)).join(' ');
  switch (format) {
    case 'fields':
      if (faults.has('')) return json(status, `{"detail":${quote(sentence)}}`, headers);
      return json(status, JSON.stringify(Object.fromEntries(faults)), headers);
    case 'detail':
      return json(status, `{"detail":${quote(sentence)}}`, headers);
    case 'message':
      return json(status, `{"message":${quote(sentence)}}`, headers);
    case 'errors':
      return json(
        status,
        JSON.stringify({ errors: lines.map(({ field, message }) => (field ? { field, message } : { message })) }),
        headers,
      );
    case 'text':
      return { status, headers: { 'content-type': 'text/plain; charset=utf-8', ...headers }, body: sentence };
    case 'html':
      return {
        status,
        headers: { 'content-type': 'text/html; charset=utf-8', ...headers },
        body: `<!doctype html><html><head><title>Error ${status}</title></head><body><h1>Error ${status}</h1><p>${sentence.replace(/[<>&]/g, (mark) => `&#${mark.charCodeAt(0)};`)}</p></body></html>`,
      };
  }
}
