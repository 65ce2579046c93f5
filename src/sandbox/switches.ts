/** Behaviours that the interface leaves open, and what each can be set to, the default first; `number`: a whole number from 0, which is the default. */
export const SWITCH_VALUES = {
  /** `bare` answers writes with an empty body, except create customer (section 4.1). */
  responses: ['full', 'bare'],
  /** How text filters of lists match. `ignored`: the list comes back unfiltered. */
  filters: ['exact', 'contains', 'ignore_case', 'ignored'],
  /** What `?unique_field=` does to a create whose value is already there. */
  uniqueField: ['rejects', 'upserts', 'ignored'],
  /** What a PUT does to fields that its body leaves out. */
  omittedOnPut: ['nulled', 'kept'],
  /** What a PUT does with fields that the documented update body does not list. */
  undocumentedOnPut: ['ignored', 'accepted', 'rejected'],
  errorFormat: ['fields', 'detail', 'errors', 'message', 'text', 'html'],
  patch: ['on', 'off'],
  /** `serial_number=list` with a body: answered; answered for all serial numbers; or taken as the serial number "list". */
  probe: ['answers', 'ignored', 'plain'],
  dates: ['iso', 'datetime', 'long', 'd/m'],
  country: ['name', 'alpha2', 'alpha3'],
  pastEnd: ['not_found', 'empty'],
  /** Milliseconds until lists and filters see a write; reads by id see it at once. */
  lag: 'number',
  /** `default`: 201 for a create, 200 for an update. */
  writeStatus: ['default', 200, 201, 204],
  /** Whether a single record comes as a list of one. */
  wraps: [false, true],
  /** Whether stored text loses its outer blanks. */
  trimsText: ['off', 'on'],
  /** Text is silently cut to this many characters; 0 keeps it whole. */
  cutsText: 'number',
  /** What a 429 of the hidden limit (`maxRps`) says about waiting. */
  retryAfter: ['seconds', 'date', 'none'],
  /** Paths with the other slash form: served, redirected, or unknown. */
  slashes: ['both', 'redirect', 'not_found'],
} as const;

type Values = typeof SWITCH_VALUES;

/** A value of each switch. All can be switched while the sandbox runs. */
export type Switches = {
  -readonly [Name in keyof Values]: Values[Name] extends readonly (infer Value)[] ? Value : number;
};

export const DEFAULT_SWITCHES = Object.fromEntries(
  Object.entries(SWITCH_VALUES).map(([name, values]) => [name, values === 'number' ? 0 : values[0]]),
) as unknown as Readonly<Switches>;
