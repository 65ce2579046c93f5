/** What PostgreSQL says of an error besides its message; pg has the same names. */
const FIELDS = [
  'severity',
  'code',
  'detail',
  'hint',
  'position',
  'where',
  'schema',
  'table',
  'column',
  'dataType',
  'constraint',
  'routine',
] as const;

/** An error as it travels between processes. */
export interface FaultText {
  readonly message: string;
  readonly fields: Readonly<Record<string, string>>;
}

/** An error of PostgreSQL, with its `code` and its other fields as pg has them. */
export class DatabaseFault extends Error {
  override readonly name = 'error';
  declare readonly code?: string;
  declare readonly detail?: string;
  declare readonly constraint?: string;
  constructor(text: FaultText) {
    super(text.message);
    Object.assign(this, text.fields);
  }
}

/** What may be told of an error: PGlite's own also carries the statement and its values, which are nobody's business. */
export function faultText(error: unknown): FaultText {
  if (!(error instanceof Error)) return { message: String(error), fields: {} };
  const fields: Record<string, string> = {};
  for (const name of FIELDS) {
    const value = (error as Error & Partial<Record<string, unknown>>)[name];
    if (typeof value === 'string') fields[name] = value;
  }
  return { message: error.message, fields };
}

/** PGlite itself has failed, not the statement: its memory is in an unknown state, and it has to be opened anew. */
export function isBeyondRepair(error: unknown): boolean {
  if (!(error instanceof Error)) return false;
  if (error.name === 'RuntimeError' || error.name === 'ExitStatus') return true;
  const severity = 'severity' in error ? error.severity : undefined;
  return severity === 'FATAL' || severity === 'PANIC' || /^PGlite (?:is closed|failed to)/.test(error.message);
}
