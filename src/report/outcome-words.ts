import type { OutcomeKind } from '../model/outcome.js';

/** How reports name an outcome, what it means, and what the reader does about it. */
interface Words {
  readonly label: string;
  readonly meaning: string;
  /** The same in a dry run, where it differs. */
  readonly rehearsed?: { readonly label?: string; readonly meaning: string };
  /** Only for outcomes that need a person. */
  readonly next?: string;
}

const WORDS: Readonly<Record<OutcomeKind, Words>> = {
  created: {
    label: 'Created',
    meaning: 'A new record was made.',
    rehearsed: { label: 'Would be created', meaning: 'A new record would be made.' },
  },
  updated: {
    label: 'Updated',
    meaning: 'An existing record got new values; everything else in it was kept.',
    rehearsed: { label: 'Would be updated', meaning: 'An existing record would get new values.' },
  },
  unchanged: {
    label: 'Unchanged',
    meaning: 'The record has these values already; nothing was sent.',
    rehearsed: { meaning: 'The record has these values already; nothing would be sent.' },
  },
  skipped: { label: 'Skipped', meaning: 'Left out by the job’s own rule for existing or missing records.' },
  invalid: {
    label: 'Invalid',
    meaning: 'A value breaks a rule or a name was not found. Checked here, never sent.',
    next: 'Correct the marked cells.',
  },
  duplicate: {
    label: 'Duplicate',
    meaning: 'An earlier row of this file has the same key; the earlier one was handled.',
    next: 'Keep the one row that is right, or give each its own key.',
  },
  ambiguous: {
    label: 'Ambiguous',
    meaning: 'Several records of the service match the row’s key, so none was touched.',
    next: 'Decide which record is meant: use its id, or remove the double in the service.',
  },
  at_risk: {
    label: 'Held back',
    meaning: 'The update would have destroyed a value that cannot be carried over, so it was not sent.',
    next: 'Read which fields are named. Map them in the job, or allow the loss with at_risk: warn.',
  },
  conflict: {
    label: 'Conflict',
    meaning: 'Somebody else changed the same field after the row was planned; nothing was sent.',
    next: 'Look at the record in the service, decide which value stands, and import the row again.',
  },
  rejected: {
    label: 'Refused',
    meaning: 'The service refused the row; its own words are in the message.',
    next: 'Correct what the service names.',
  },
  failed: {
    label: 'Failed',
    meaning: 'The service could not be reached or kept failing; the row was certainly not written.',
    next: 'Nothing is wrong with the row: import it again when the service is well.',
  },
  unknown: {
    label: 'Unknown',
    meaning: 'Sent, but no answer tells whether it took effect. It is never sent again blindly.',
    next: 'Look the record up in the service. If it is missing, import the row again.',
  },
  not_attempted: {
    label: 'Not reached',
    meaning: 'The run stopped before this row.',
    next: 'Resume the run, or import the file again: rows that are in will be found unchanged.',
  },
};

export function outcomeWords(kind: OutcomeKind, dryRun: boolean): { label: string; meaning: string; next?: string } {
  const { label, meaning, rehearsed, next } = WORDS[kind];
  const chosen =
    dryRun && rehearsed ? { label: rehearsed.label ?? label, meaning: rehearsed.meaning } : { label, meaning };
  return next === undefined ? chosen : { ...chosen, next };
}
