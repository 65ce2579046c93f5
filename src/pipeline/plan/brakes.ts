import { formatNumber } from '../../model/count-text.js';
import type { Brakes } from '../../model/job.js';
import { withArticle } from '../../model/resource-names.js';
import { quoted } from '../map/headings.js';

/** What a plan would do, counted in rows; `cleared`: rows in which a value would be emptied. */
export interface PlanCounts {
  rows: number;
  /** Rows that are no records; `min_rows` does not count them. */
  noRecords?: number;
  invalid: number;
  creates: number;
  /** Records that would be created because rows name them. */
  named?: number;
  updates: number;
  cleared: number;
  /** Rows in which a field would be changed, by heading, or field that no column sets. */
  updatedBy?: Map<string, number>;
  /** Rows at fault, by heading, or field where no column is to blame. */
  invalidBy?: Map<string, number>;
  /** Rows in which a field would be emptied, likewise. */
  clearedBy?: Map<string, number>;
  /**
   * Records that the file does not hold. `fresh`: it did hold them the time before, or there was none; `acting`: would be set
   * or archived by this run; `scope`: records that the file is about.
   */
  orphans?: { readonly fresh: number; readonly acting: number; readonly scope: number };
}

/** How a brake is judged. */
interface BrakeOptions {
  /** A reconciliation: where the job does not set a brake, its default applies. Contract, section 8. */
  readonly defaults?: boolean;
  /** An import of corrected rows (`holdsCorrections`): a share of a few rows, picked for their faults, says nothing. */
  readonly corrected?: boolean;
}

type LimitName = Exclude<keyof Brakes, 'min_rows'>;

/** Brakes of a reconciliation whose job does not set them. `max_invalid`: a file that cannot be read by half is not the one meant. */
export const RECONCILE_LIMITS: Readonly<Partial<Record<LimitName, string>>> = {
  max_invalid: '50%',
  max_updates: '25%',
  max_orphans: '5%',
  max_cleared: '1%',
  max_change: '5%',
};

/** A default lets so many rows pass whatever their share: among a few rows a share says little. */
const SMALL_COUNT = 10;

const isShare = (limit: string | number): boolean => String(limit).endsWith('%');

/** Whether a brake on rows or records says nothing of them: a share of corrected rows, or of fewer than 10. */
const isExempt = (limit: string | number, of: number, corrected: boolean): boolean =>
  isShare(limit) && (corrected || of < SMALL_COUNT);

/** Whether a file must be planned whole before its first write: also one with too few rows, whose plan may be approved. */
export function needsWholePlan(brakes: Brakes, plan: PlanCounts): boolean {
  const { max_invalid, max_updates, max_creates, max_cleared, max_change } = brakes;
  const limits = [max_invalid, max_updates, max_creates, max_cleared, max_change];
  return recordRows(plan) < brakes.min_rows || limits.some((limit) => limit !== undefined);
}

const recordRows = ({ rows, noRecords = 0 }: PlanCounts): number => rows - noRecords;

/** One sentence for each brake the plan trips; none: the run may write. Contract, section 8. */
export function trippedByPlan(
  brakes: Brakes,
  plan: PlanCounts,
  previousRows: number | undefined,
  { defaults = false, corrected = false }: BrakeOptions = {},
): string[] {
  const sentences: string[] = [];
  const check = (name: LimitName, { count, of, describe, atHalf = false, exempt }: BrakeCount) => {
    const own = brakes[name];
    if (own !== undefined) {
      if (exempt?.(own)) return;
      if (exceeds(own, count, of))
        sentences.push(`${name}: ${describe(shareOf(own, count, of))}; the job allows ${own}.`);
      return;
    }
    const limit = defaults ? RECONCILE_LIMITS[name] : undefined;
    // Half of a short list is what a file that was cut leaves behind.
    const many = count > SMALL_COUNT || (atHalf && of > SMALL_COUNT && count * 2 >= of);
    if (limit === undefined || !many || !exceeds(limit, count, of)) return;
    const rule = `the limit is ${limit} where the job sets no other (\`brakes.${name}\`)`;
    sentences.push(`${name}: ${describe(shareOf(limit, count, of))}; ${rule}.`);
  };
  const ofRows = (count: number, what: string): BrakeCount => ({
    count,
    of: plan.rows,
    describe: (share) => `${formatNumber(count)} of ${formatNumber(plan.rows)} rows${share} ${what}`,
    exempt: (limit) => isExempt(limit, plan.rows, corrected),
  });

  const records = recordRows(plan);
  if (records < brakes.min_rows) {
    const rows = records === 0 ? 'no data rows' : `${formatNumber(records)} data row${records === 1 ? '' : 's'}`;
    sentences.push(`min_rows: the file has ${rows}; the job asks for at least ${formatNumber(brakes.min_rows)}.`);
  }
  check('max_invalid', ofRows(plan.invalid, `cannot be imported as they are${fieldsCounted(plan.invalidBy)}`));
  check('max_updates', ofRows(plan.updates, `would be updated${fieldsCounted(plan.updatedBy)}`));
  const { creates, named = 0 } = plan;
  const both = (share: string) =>
    `${formatNumber(creates)} of ${formatNumber(plan.rows)} rows and ${formatNumber(named)} record${named === 1 ? '' : 's'} that rows name${share} would be created`;
  const created = ofRows(creates + named, 'would be created');
  check('max_creates', named > 0 ? { ...created, describe: both } : created);
  const cleared = `would have a value cleared${fieldsCounted(plan.clearedBy)}`;
  check('max_cleared', { ...ofRows(plan.cleared, cleared), exempt: () => false });
  if (plan.orphans) check('max_orphans', orphansCounted(plan.orphans));
  if (previousRows !== undefined && !corrected) check('max_change', rowsChanged(plan.rows, previousRows));
  return sentences;
}

/**
 * What a brake looks at; `describe` in words, with the share it is. `atHalf`: half of a list is much also where the list is short.
 * `exempt`: whether a limit that the job sets is not asked.
 */
interface BrakeCount {
  readonly count: number;
  readonly of: number;
  describe(share: string): string;
  readonly atHalf?: boolean;
  exempt?(limit: string | number): boolean;
}

function orphansCounted({ fresh, acting, scope }: NonNullable<PlanCounts['orphans']>): BrakeCount {
  const count = Math.max(fresh, acting);
  const what =
    acting > fresh ? 'are missing from the file and would be changed for it' : 'are newly missing from the file';
  const describe = (share: string) => `${formatNumber(count)} of ${formatNumber(scope)} records${share} ${what}`;
  return { count, of: scope, describe, atHalf: true };
}

function rowsChanged(rows: number, previous: number): BrakeCount {
  const count = Math.abs(rows - previous);
  const describe = (share: string) =>
    `the file has ${formatNumber(rows)} rows, the last successful run had ${formatNumber(previous)}${share && `: a change of${share.replace(/[()]/g, '')}`}`;
  return {
    count,
    of: previous,
    describe,
    atHalf: true,
    exempt: (limit) => isShare(limit) && rows < SMALL_COUNT && previous < SMALL_COUNT,
  };
}

/** ` (room 200, asset_notes 80 and 3 other fields)`; the most first. */
function fieldsCounted(counts: ReadonlyMap<string, number> = new Map()): string {
  const fields = [...counts].filter(([, count]) => count > 0).sort(([a, x], [b, y]) => y - x || (a < b ? -1 : 1));
  if (fields.length === 0) return '';
  const named = fields.slice(0, 5).map(([field, count]) => `${field} ${formatNumber(count)}`);
  const more = fields.length - named.length;
  const others = more === 0 ? '' : ` and ${more} other field${more === 1 ? '' : 's'}`;
  return ` (${named.join(', ')}${others})`;
}

/** What a braked run tells people to do. The same words for every run: a report-only run says what one that writes would say. */
export const AFTER_BRAKE =
  'Nothing was written: look at the report first. If all of it is meant, `rowferry runs approve RUN --by NAME`, with the id of this run, ' +
  'carries out exactly this plan; a new run with `--force` passes its brakes.';

/** Which brake a sentence is about, and what it found, without the limit and what follows. */
export function parseBrake(sentence: string): { readonly name: string; readonly found: string } {
  const [, name = '', found = ''] = /^(\w+): (.+?)(?:; |\. |\.$)/s.exec(sentence) ?? [];
  return { name, found };
}

/** How many more refusals the brake on them lets pass; undefined where it stops nothing. */
export function refusalsLeft(
  { max_rejected: limit }: Brakes,
  rejected: number,
  of: number,
  corrected: boolean,
): number | undefined {
  if (limit === undefined || isExempt(limit, of, corrected)) return undefined;
  return Math.max(0, maxOf(limit, of) - rejected);
}

/** The brake that works while writing. `what`: what is written. */
export function trippedByRejections(
  brakes: Brakes,
  rejected: number,
  of: number,
  { corrected = false, what = 'rows' }: Pick<BrakeOptions, 'corrected'> & { readonly what?: 'rows' | 'records' } = {},
): string | undefined {
  const { max_rejected: limit } = brakes;
  if (limit === undefined || isExempt(limit, of, corrected) || !exceeds(limit, rejected, of)) return undefined;
  return `max_rejected: the service refused ${rejected} of ${of} ${what}, the job allows ${limit}.`;
}

/** The most that a limit lets pass. */
function maxOf(limit: string | number, of: number): number {
  const text = String(limit);
  if (!isShare(text)) return Number(text);
  // In whole numbers: 0.57% of 10,000 is 57, not 56.99999999999999.
  const [whole = '', fraction = ''] = text.slice(0, -1).split('.');
  return Number((BigInt(whole + fraction) * BigInt(of)) / 10n ** BigInt(fraction.length + 2));
}

const exceeds = (limit: string | number, count: number, of: number): boolean => count > maxOf(limit, of);

/** ` (31.2%)` beside a limit that is a share. */
function shareOf(limit: string | number, count: number, of: number): string {
  if (!isShare(limit) || of === 0) return '';
  const percent = (count / of) * 100;
  return ` (${percent >= 100 ? Math.round(percent) : Number(percent.toFixed(2))}%)`;
}

/** Brakes of a reconciliation that ask whether the file is the one that is meant at all. Contract, section 8. */

/** What a brake came to: `tripped` stops a run unless the job only warns, `remark` is said and stops nothing. Sentences. */
export interface BrakeFinding {
  readonly tripped?: string;
  readonly remark?: string;
}

/** What `unknownKeys` looks at. */
interface KeyCounts {
  /** Keys of the file. */
  readonly keyed: number;
  /** Of these: keys that at least one record has. */
  readonly matched: number;
  /** Records of the service, in the job's scope, that have a key. */
  readonly records: number;
}

/** The sentence of the brake `unknown_keys`: less than half of the keys that could be known are. */
export function unknownKeys(
  { keyed, matched, records }: KeyCounts,
  at: { readonly company: number; readonly companyName?: string; readonly resource: string },
): string | undefined {
  if (keyed <= SMALL_COUNT || records <= SMALL_COUNT || matched * 2 >= Math.min(keyed, records)) return undefined;
  const known = matched === 0 ? 'none' : `only ${formatNumber(matched)}`;
  const name = at.companyName === undefined ? '' : `, ${quoted([at.companyName])}`;
  return (
    `unknown_keys: of the ${formatNumber(keyed)} keys of the file ${known} ${matched > 1 ? 'are' : 'is'} known to the service, which holds ${formatNumber(records)} records that could be meant. ` +
    `Is it the file of another company (this is company ${at.company}${name}) or of another resource (this job takes ${withArticle(at.resource)} a row), or are its keys written otherwise than before?`
  );
}
