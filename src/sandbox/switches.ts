import type { DateStyle } from './values.js';

/** Behaviours that the interface leaves open. Each can be switched while the sandbox runs. */
export interface Switches {
  /** `bare` answers writes with an empty body, except create customer (section 4.1). */
  responses: 'full' | 'bare';
  /** How text filters of lists match. `ignored`: the list comes back unfiltered. */
  filters: 'exact' | 'contains' | 'ignore_case' | 'ignored';
  /** What `?unique_field=` does to a create whose value is already there. */
  uniqueField: 'rejects' | 'upserts' | 'ignored';
  /** What a PUT does to fields that its body leaves out. */
  omittedOnPut: 'nulled' | 'kept';
  /** What a PUT does with fields that the documented update body does not list. */
  undocumentedOnPut: 'ignored' | 'accepted' | 'rejected';
  errorFormat: 'fields' | 'detail' | 'errors' | 'message' | 'text' | 'html';
  patch: 'on' | 'off';
  /** `serial_number=list` with a body: answered; answered for all serial numbers; or taken as the serial number "list". */
  probe: 'answers' | 'ignored' | 'plain';
  dates: DateStyle;
  country: 'name' | 'alpha2' | 'alpha3';
  pastEnd: 'not_found' | 'empty';
  /** Milliseconds until lists and filters see a write; reads by id see it at once. */
  lag: number;
  /** `default`: 201 for a create, 200 for an update. */
  writeStatus: 'default' | 200 | 201 | 204;
  /** Whether a single record comes as a list of one. */
  wraps: boolean;
  /** Whether stored text loses its outer blanks. */
  trimsText: 'on' | 'off';
  /** Text is silently cut to this many characters; 0 keeps it whole. */
  cutsText: number;
  /** What a 429 of the hidden limit (`maxRps`) says about waiting. */
  retryAfter: 'seconds' | 'date' | 'none';
  /** Paths with the other slash form: served, redirected, or unknown. */
  slashes: 'both' | 'redirect' | 'not_found';
}

/** What each switch can be set to, the default first; `number`: a whole number from 0, which is the default. */
export const SWITCH_VALUES: { readonly [Name in keyof Switches]: readonly Switches[Name][] | 'number' } = {
  responses: ['full', 'bare'],
  filters: ['exact', 'contains', 'ignore_case', 'ignored'],
  uniqueField: ['rejects', 'upserts', 'ignored'],
  omittedOnPut: ['nulled', 'kept'],
  undocumentedOnPut: ['ignored', 'accepted', 'rejected'],
  errorFormat: ['fields', 'detail', 'errors', 'message', 'text', 'html'],
  patch: ['on', 'off'],
  probe: ['answers', 'ignored', 'plain'],
  dates: ['iso', 'datetime', 'long', 'd/m'],
  country: ['name', 'alpha2', 'alpha3'],
  pastEnd: ['not_found', 'empty'],
  lag: 'number',
  writeStatus: ['default', 200, 201, 204],
  wraps: [false, true],
  trimsText: ['off', 'on'],
  cutsText: 'number',
  retryAfter: ['seconds', 'date', 'none'],
  slashes: ['both', 'redirect', 'not_found'],
};

export const DEFAULT_SWITCHES = Object.fromEntries(
  Object.entries(SWITCH_VALUES).map(([name, values]) => [name, values === 'number' ? 0 : values[0]]),
) as unknown as Readonly<Switches>;
