import type { Field, Suggestion, TableOptions } from '../../api/schema.js';
import type { Correction } from './edits.js';

/** What a person has decided about a file so far. It lies in the browser by the id of the upload; a reload finds it again. */
export interface Draft {
  /** Of the upload. */
  readonly id: string;
  readonly name: string;
  /** When it was last changed, in milliseconds. */
  readonly at: number;
  /** How the table is to be read where detection was overruled. */
  readonly source: TableOptions;
  readonly resource?: string;
  /** In place of columns: the name of a saved job, or the job of a check that somebody else made. */
  readonly job?: string | Readonly<Record<string, unknown>>;
  /** Over what was suggested, by heading; null: not imported. */
  readonly fields: Readonly<Record<string, string | null>>;
  readonly blanks: Readonly<Record<string, 'keep' | 'clear'>>;
  /** Formats of the text dates of a column. */
  readonly dates: Readonly<Record<string, string>>;
  /** By field. */
  readonly constants: Readonly<Record<string, string>>;
  /** Fields that tell records apart; none: every row is a new record. Absent: as suggested. */
  readonly key?: readonly string[];
  /** The latest checks, by their runs. */
  readonly checks: readonly Check[];
}

/** A dry run, and what it was made with. */
export interface Check {
  readonly run: string;
  readonly job: NonNullable<Draft['job']>;
  readonly sent: readonly Correction[];
  /** Corrections since, over what it has shown. */
  readonly edits: readonly Correction[];
}

export function newDraft(id: string, name: string): Draft {
  return { id, name, at: Date.now(), source: {}, fields: {}, blanks: {}, dates: {}, constants: {}, checks: [] };
}

const MOST_CHECKS = 5;

export function withCheck(draft: Draft, check: Check): Draft {
  const others = draft.checks.filter(({ run }) => run !== check.run);
  return { ...draft, checks: [...others, check].slice(-MOST_CHECKS) };
}

/** What was decided about columns goes where they are other columns. */
export function withSource(draft: Draft, source: TableOptions): Draft {
  const { job: _job, key: _key, ...rest } = draft;
  return { ...rest, source, fields: {}, blanks: {}, dates: {}, constants: {} };
}

export function withResource(draft: Draft, resource: string): Draft {
  return { ...withSource(draft, draft.source), resource };
}

/** A column of the file with the field it goes to. */
export interface Mapped {
  readonly heading: string;
  readonly field: string | null;
  /** As it was suggested. */
  readonly asFound: boolean;
}

export function mapping(draft: Draft, { columns }: Suggestion): Mapped[] {
  return columns.map(({ heading, field }) => {
    const chosen = own(draft.fields, heading);
    return chosen === undefined || chosen === field
      ? { heading, field, asFound: true }
      : { heading, field: chosen, asFound: false };
  });
}

const own = <T>(of: Readonly<Record<string, T>>, name: string): T | undefined =>
  Object.hasOwn(of, name) ? of[name] : undefined;

/** A field is given by one column: the one that had it is left out of the import. */
export function withField(draft: Draft, suggestion: Suggestion, heading: string, field: string | null): Draft {
  const before = mapping(draft, suggestion).filter((one) => field !== null && one.field === field);
  const taken = Object.fromEntries(before.map((one) => [one.heading, null]));
  return { ...draft, fields: { ...draft.fields, ...taken, [heading]: field } };
}

/** Required fields that neither a column nor a constant gives. */
export function missing(draft: Draft, suggestion: Suggestion, fields: readonly Field[]): Field[] {
  const given = new Set(mapping(draft, suggestion).map(({ field }) => field));
  return fields.filter(
    ({ name, required }) =>
      (required || suggestion.missing.includes(name)) && !given.has(name) && !computed(suggestion).has(name),
  );
}

const record = (value: unknown): Readonly<Record<string, unknown>> =>
  typeof value === 'object' && value !== null && !Array.isArray(value) ? (value as Record<string, unknown>) : {};

const computed = ({ job }: Suggestion): Set<string> => new Set(Object.keys(record(job['computed'])));

/** Undefined where a person must choose. */
export function keyOf(draft: Draft, { key }: Suggestion): readonly string[] | undefined {
  return draft.key ?? (key ? [key.field] : undefined);
}

/** What `POST /runs` takes as `job`. Undefined while the columns are not known. */
export function jobOf(draft: Draft, suggestion: Suggestion | undefined): NonNullable<Draft['job']> | undefined {
  if (draft.job !== undefined) return draft.job;
  if (!suggestion) return undefined;
  const found = record(suggestion.job['columns']);
  const columns = mapping(draft, suggestion).map(({ heading, field, asFound }) => {
    const base = asFound ? own(found, heading) : field;
    if (field === null || base === undefined) return [heading, null];
    const blank = own(draft.blanks, heading);
    const dates = own(draft.dates, heading);
    if (!blank && !dates) return [heading, base];
    const full = typeof base === 'string' ? { field: base } : record(base);
    return [heading, { ...full, ...(blank && { blank }), ...(dates && { dates: [dates] }) }];
  });
  const constants = Object.entries(draft.constants).filter(([, value]) => value !== '');
  return {
    ...suggestion.job,
    kind: 'import',
    resource: suggestion.resource,
    source: { ...record(suggestion.job['source']), ...draft.source },
    columns: Object.fromEntries(columns),
    match: matchOf(draft, suggestion),
    constants: { ...record(suggestion.job['constants']), ...Object.fromEntries(constants) },
  };
}

function matchOf(draft: Draft, suggestion: Suggestion): Record<string, unknown> {
  const { unique_field: _, ...match } = record(suggestion.job['match']);
  const key = keyOf(draft, suggestion) ?? [];
  if (draft.key === undefined) return { ...record(suggestion.job['match']) };
  const [only] = key.length === 1 ? key : [];
  const unique = suggestion.resource === 'asset' && (only === 'name' || only === 'serial_number');
  return {
    ...match,
    key: key.length === 0 ? 'none' : (only ?? [...key]),
    ...(unique && { unique_field: only }),
  };
}

/** Heading to the first field it goes to; nothing where the job is known by its name alone. */
export function targetsOf(job: NonNullable<Draft['job']>): Map<string, string> {
  const targets = new Map<string, string>();
  for (const [heading, given] of Object.entries(record(typeof job === 'string' ? {} : job['columns']))) {
    const first: unknown = Array.isArray(given) ? given[0] : given;
    const field = typeof first === 'string' ? first : record(first)['field'];
    if (typeof field === 'string') targets.set(heading, field);
  }
  return targets;
}

// Kept in the browser

const PREFIX = 'rowferry.import.';
/** Uploads are removed some time after they were last used. */
const KEPT_MS = 7 * 24 * 60 * 60 * 1000;

/** What of the browser's storage is used. */
export interface Shelf {
  readonly length: number;
  key(at: number): string | null;
  getItem(name: string): string | null;
  setItem(name: string, text: string): void;
  removeItem(name: string): void;
}

export function load(shelf: Shelf, id: string): Draft | undefined {
  try {
    const kept = JSON.parse(shelf.getItem(PREFIX + id) ?? 'null') as Partial<Draft> | null;
    return kept ? { ...newDraft(id, ''), ...kept, id } : undefined;
  } catch {
    return undefined;
  }
}

export function keep(shelf: Shelf, draft: Draft): void {
  try {
    shelf.setItem(PREFIX + draft.id, JSON.stringify({ ...draft, at: Date.now() }));
  } catch {
    // The shelf is full, or the browser gives none: the page goes on without.
  }
}

/** The latest first; those whose upload must be gone are taken off the shelf. */
export function drafts(shelf: Shelf): Draft[] {
  const names = Array.from({ length: shelf.length }, (_, at) => shelf.key(at) ?? '');
  const all = names.filter((name) => name.startsWith(PREFIX)).map((name) => load(shelf, name.slice(PREFIX.length)));
  return all
    .filter((draft) => draft !== undefined)
    .filter((draft) => {
      const fresh = Date.now() - draft.at < KEPT_MS;
      if (!fresh) shelf.removeItem(PREFIX + draft.id);
      return fresh;
    })
    .sort((a, b) => b.at - a.at);
}
