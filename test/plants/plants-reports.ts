import type { Plant } from './plant.js';

/** Bugs in what is told. */
export const REPORT_PLANTS: readonly Plant[] = [
  {
    name: 'the last row is left out',
    scenario: 'plain',
    why: 'A row is lost without a word.',
    patches: [
      {
        file: 'files/csv/read.js',
        find: 'if (batch.length > 0)',
        replace: 'batch.pop(); if (batch.length > 0)',
      },
    ],
  },
  {
    name: 'a row is counted twice',
    scenario: 'plain',
    why: 'The totals are not the truth.',
    patches: [
      {
        file: 'report/finish.js',
        find: 'tally.add(outcome);',
        replace: '(tally.add(outcome), outcome.ref.row === 2 && tally.add(outcome));',
      },
    ],
  },
  {
    name: 'rows are told one too low',
    scenario: 'plain',
    why: 'The spreadsheet shows another number.',
    patches: [
      {
        file: 'report/report-lines.js',
        find: 'String(outcome.ref.row),\n        outcome.kind,\n        outcome.key,',
        replace: 'String(outcome.ref.row - 1), outcome.kind, outcome.key,',
      },
    ],
  },
  {
    name: 'an empty answer is a failure',
    scenario: 'plain',
    why: 'A false failure makes people import it again.',
    patches: [
      {
        file: 'pipeline/apply/create.js',
        find: 'return this.created(id, []);',
        replace: "return id === undefined ? this.draft('failed') : this.created(id, []);",
      },
    ],
  },
  {
    name: 'faults are not told',
    scenario: 'plain',
    why: 'Nobody knows what to correct.',
    patches: [
      {
        file: 'report/finish.js',
        find: "await faults(batch.flatMap(({ outcome }) => faultLines(outcome).map(csvLine)).join(''));",
        replace: "await faults('');",
      },
    ],
  },
  {
    name: 'the plan is not told',
    scenario: 'plain',
    why: 'Nobody can see what an update changed.',
    patches: [
      {
        file: 'report/finish.js',
        find: "await plan(batch.map(({ outcome, diff }) => planLines(outcome, diff)).join(''));",
        replace: "await plan('');",
      },
    ],
  },
  {
    name: 'duplicates are not given back',
    scenario: 'plain',
    why: 'The file of the rows to correct is not whole.',
    patches: [
      {
        file: 'report/results.js',
        find: 'const good = [...GOOD_OUTCOMES]',
        replace: "const good = [...GOOD_OUTCOMES, 'duplicate']",
      },
    ],
  },
  {
    name: 'before.ndjson holds what came after',
    scenario: 'plain',
    why: 'An undo would put back the new values.',
    patches: [
      {
        file: 'pipeline/apply/update.js',
        find: 'return { row: ref.row, id, record,',
        replace: 'return { row: ref.row, id, record: { ...record, ...changed },',
      },
    ],
  },
  {
    name: 'before.ndjson is left out',
    scenario: 'plain',
    why: 'Nothing can be put back.',
    patches: [
      {
        file: 'report/finish.js',
        find: 'const MAYBE_WRITTEN = `',
        replace: 'const MAYBE_WRITTEN = `0 and ',
      },
    ],
  },
];
