import type { IssueCode } from '../model/issue.js';
import { GOOD_OUTCOMES, noOutcomes, type Outcome, type OutcomeCounts, type OutcomeKind } from '../model/outcome.js';
import { faultsOf } from './report-lines.js';
import type { TopFault } from './summary.js';

/** What the summary and the page show of millions of rows, gathered as they pass. Counts are never capped, details are. */
export interface Tally {
  readonly counts: OutcomeCounts;
  /** The most frequent faults, by code and column (field, where there is none), with the first value of each. */
  readonly topFaults: readonly TopFault[];
  /** The first rows of each outcome that needs a person, in input order. */
  readonly samples: ReadonlyMap<OutcomeKind, readonly Outcome[]>;
  add(outcome: Outcome): void;
}

const TOP = 10;
const SAMPLES = 20;
/** A hostile file can invent columns; beyond this many pairs a fault counts under its code alone. */
const MAX_GROUPS = 5000;
const EXAMPLE = 200;

interface Group {
  readonly code: IssueCode;
  readonly column?: string;
  readonly field?: string;
  example?: string;
  count: number;
}

export function createTally(): Tally {
  const counts = noOutcomes();
  const groups = new Map<string, Group>();
  const samples = new Map<OutcomeKind, Outcome[]>();
  return {
    counts,
    samples,
    get topFaults() {
      return [...groups.values()]
        .sort((a, b) => b.count - a.count)
        .slice(0, TOP)
        .map(({ code, count, column, field, example }) => ({
          code,
          count,
          ...(column === undefined ? {} : { column }),
          ...(field === undefined ? {} : { field }),
          ...(example === undefined ? {} : { example }),
        }));
    },
    add(outcome) {
      counts[outcome.kind]++;
      for (const { code, column, field, value } of faultsOf(outcome)) {
        const place = column === undefined ? { ...(field === undefined ? {} : { field }) } : { column };
        const own = `${code}\0${column ?? ''}\0${column === undefined ? (field ?? '') : ''}`;
        const known = groups.size < MAX_GROUPS || groups.has(own);
        const id = known ? own : `${code}\0\0`;
        let group = groups.get(id);
        if (!group) {
          group = known ? { code, ...place, count: 0 } : { code, count: 0 };
          groups.set(id, group);
        }
        group.count++;
        if (group.example === undefined && value) group.example = shorten(value, EXAMPLE);
      }
      if (GOOD_OUTCOMES.has(outcome.kind)) return;
      const rows = samples.get(outcome.kind);
      if (!rows) samples.set(outcome.kind, [outcome]);
      else if (rows.length < SAMPLES) rows.push(outcome);
    },
  };
}

/** At most `most` characters, cut between characters, with an ellipsis for what is left out. */
export function shorten(text: string, most: number): string {
  if (text.length <= most) return text;
  const kept = text.slice(0, most - 1);
  const last = kept.charCodeAt(kept.length - 1);
  return `${last >= 0xd800 && last < 0xdc00 ? kept.slice(0, -1) : kept}…`;
}
