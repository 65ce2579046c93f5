import type { OutcomeKind } from '../model/outcome.js';
import type { RunKind } from './summary.js';

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
  skipped: {
    label: 'Skipped',
    meaning:
      'Left out by the job’s own rule for existing or missing records, or no record at all: a total, a note, the heading again.',
  },
  invalid: {
    label: 'Invalid',
    meaning: 'A value breaks a rule or a name was not found. Checked here, never sent.',
    next: 'Correct the marked cells.',
  },
  duplicate: {
    label: 'Duplicate',
    meaning: 'An earlier row of this file has the same key; the earlier one was handled.',
    next: 'Keep the one row that is right, or give each its own key. Take the others out: imported again by itself, such a row overwrites the record of the earlier one.',
  },
  ambiguous: {
    label: 'Ambiguous',
    meaning: 'Several records of the service match the row’s key, so none was touched.',
    next: 'Decide which record is meant: use its id, or remove the double in the service.',
  },
  at_risk: {
    label: 'Held back',
    meaning: 'The update would have destroyed a value that cannot be carried over, so it was not sent.',
    next: 'Read which fields are named. Map them in the job, let `rowferry doctor --probe` find out whether the service keeps them, or allow the loss with at_risk: warn.',
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

/** What is said otherwise of the records that an undo put back. */
const UNDO: Readonly<Partial<Record<OutcomeKind, Partial<Words>>>> = {
  updated: {
    label: 'Put back',
    meaning: 'The record has its earlier values again.',
    rehearsed: { label: 'Would be put back', meaning: 'The record would get its earlier values again.' },
  },
  unchanged: {
    label: 'As before',
    meaning: 'The record has its earlier values already; nothing was sent.',
    rehearsed: { meaning: 'The record has its earlier values already; nothing would be sent.' },
  },
  invalid: {
    label: 'Cannot be undone',
    meaning: 'It cannot be put back; the message says why. Nothing was sent.',
    next: 'Do what the message says, or put the record right in the service.',
  },
  conflict: {
    label: 'Changed since',
    meaning: 'Somebody changed the record after the run; what they entered was left alone.',
    next: 'Look at the record in the service and decide which value stands.',
  },
  at_risk: { next: 'Read which fields are named, and put the record right in the service.' },
  rejected: { next: 'Read what the service names, and put the record right there.' },
  failed: { next: 'Nothing is wrong with the record: undo the run again when the service is well.' },
  unknown: { next: 'Look the record up in the service, then undo the run again: what is back already is left alone.' },
  not_attempted: {
    meaning: 'The run stopped before this record.',
    next: 'Resume the run, or undo again: what is back already is left alone.',
  },
};

/** What is said otherwise of the rows of a nightly file: nobody corrects and imports it, the next one comes by itself. */
const RECONCILE: Readonly<Partial<Record<OutcomeKind, Partial<Words>>>> = {
  updated: {
    label: 'Put right',
    meaning: 'The record differed and got the file’s values; everything else in it was kept.',
    rehearsed: { label: 'Would be put right', meaning: 'The record differs and would get the file’s values.' },
  },
  unchanged: {
    meaning: 'Nothing of the record was to be put right; nothing was sent.',
    rehearsed: { meaning: 'Nothing of the record is to be put right; nothing would be sent.' },
  },
  invalid: { next: 'Correct it in the system that writes the file; the next run takes it up.' },
  duplicate: { next: 'Give each its own key in the system that writes the file.' },
  ambiguous: { next: 'Remove the double in the service, or give one of the records another key.' },
  conflict: { next: 'Look at the record in the service and decide which value stands; the next run compares it anew.' },
  rejected: { next: 'Correct what the service names; the next run takes it up.' },
  failed: { next: 'Nothing is wrong with the row: the next run takes it up, or `rowferry runs retry` does now.' },
  unknown: { next: 'The next run finds out; `rowferry runs retry` does now.' },
  not_attempted: {
    next: 'Resume or approve the run, or wait for the next one: what is right already is left alone.',
  },
};

const OTHERWISE: Readonly<Partial<Record<RunKind, Readonly<Partial<Record<OutcomeKind, Partial<Words>>>>>>> = {
  undo: UNDO,
  reconcile: RECONCILE,
};

/** `run`: what kind of run the row is of; the same outcome asks for something else of a nightly file or an undo. */
export function outcomeWords(
  kind: OutcomeKind,
  dryRun: boolean,
  run: RunKind = 'import',
): { label: string; meaning: string; next?: string } {
  const { label, meaning, rehearsed, next }: Words = { ...WORDS[kind], ...OTHERWISE[run]?.[kind] };
  const chosen =
    dryRun && rehearsed ? { label: rehearsed.label ?? label, meaning: rehearsed.meaning } : { label, meaning };
  return next === undefined ? chosen : { ...chosen, next };
}
