import type { Evidence, Violation } from './evidence.js';
import { type Facts, gather } from './facts.js';
import { oneOutcome, totals, unknownIsRare } from './rules/outcomes.js';
import { beforeKept, reportsAgree } from './rules/reports.js';
import { idsKnown, toldIsTrue } from './rules/told.js';
import { untouched } from './rules/untouched.js';
import { ambiguousIsLeft, noDouble, nothingElseWritten, notWritten, unchangedSendsNothing } from './rules/written.js';

export type { Evidence, Violation } from './evidence.js';
export { secondRunQuiet } from './rules/second-run.js';

const RULES: readonly ((facts: Facts) => readonly Violation[])[] = [
  oneOutcome,
  totals,
  unknownIsRare,
  noDouble,
  ambiguousIsLeft,
  nothingElseWritten,
  unchangedSendsNothing,
  notWritten,
  toldIsTrue,
  idsKnown,
  untouched,
  reportsAgree,
  beforeKept,
];

/**
 * What of the promise does not hold: "every input row has exactly one outcome; no record is written twice; no value that
 * the row did not map is changed; the report's totals are the truth". Reads the input file, the report files, the
 * service's commits and its records, and shares no code with the program. Holds everything in memory.
 * Throws where a report folder cannot be read at all.
 */
export async function check(evidence: Evidence): Promise<readonly Violation[]> {
  const facts = await gather(evidence);
  return RULES.flatMap((rule) => rule(facts));
}

/** Violations as lines, for the message of a test. */
export function linesOf(violations: readonly Violation[]): string[] {
  return violations.map(({ rule, row, text }) => `${rule}: ${row ? `row ${row} ` : ''}${text}`);
}
