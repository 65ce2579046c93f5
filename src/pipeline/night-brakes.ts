import { withArticle } from '../model/article.js';
import { foldText, isOwnHeading } from './headings.js';
import { quoted } from './nearest.js';

/** Brakes of a reconciliation that ask whether the file is the one that is meant at all. Contract, section 8. */

/** What a brake came to: `tripped` stops a run unless the job only warns, `remark` is said and stops nothing. Sentences. */
export interface BrakeFinding {
  readonly tripped?: string;
  readonly remark?: string;
}

/** How many names a sentence lists. */
const NAMED = 8;

/**
 * How the headings of a file differ from those of the file before. Compared as a job's headings are: without case, repeated
 * blanks and Unicode form. `mapped`: the headings that the job maps, as the file or the job spells them.
 */
export function headingsChanged(
  previous: readonly string[],
  now: readonly string[],
  mapped: Iterable<string>,
): BrakeFinding {
  const before = distinct(previous);
  const after = distinct(now);
  const gone = [...before].filter(([folded]) => !after.has(folded)).map(([, heading]) => heading);
  const added = [...after].filter(([folded]) => !before.has(folded)).map(([, heading]) => heading);
  const used = new Set([...mapped].map(foldText));
  const inBoth = (folded: string) => used.has(folded) && before.has(folded) && after.has(folded);
  const was = [...before.keys()].filter(inBoth);
  const moved = [...after].filter(([folded]) => inBoth(folded)).filter(([folded], at) => folded !== was[at]);
  const parts = [
    ...(gone.length > 0 ? [`${columns(gone)} of the previous file ${gone.length === 1 ? 'is' : 'are'} missing`] : []),
    ...(moved.length > 0
      ? [`${columns(moved.map(([, heading]) => heading))} stand${moved.length === 1 ? 's' : ''} in another order`]
      : []),
  ];
  if (parts.length > 0) {
    const new_ = added.length > 0 ? `; ${columns(added)} ${added.length === 1 ? 'is' : 'are'} new` : '';
    return {
      tripped: `headings: ${parts.join(', and ')}${new_}. Values may stand under a wrong heading: compare the file with the one before.`,
    };
  }
  if (added.length === 0) return {};
  return { remark: `The previous file did not have ${columns(added)}.` };
}

/** Heading by folded form; blank ones and rowferry's own remarks left out, of equal ones the first. */
function distinct(headings: readonly string[]): Map<string, string> {
  const found = new Map<string, string>();
  for (const heading of headings) {
    const folded = foldText(heading);
    if (folded === '' || isOwnHeading(heading) || found.has(folded)) continue;
    found.set(folded, heading);
  }
  return found;
}

function columns(headings: readonly string[]): string {
  const more = headings.length - NAMED;
  const named = quoted(headings.slice(0, NAMED));
  return `${headings.length === 1 ? 'the column' : 'the columns'} ${named}${more > 0 ? ` and ${more} more` : ''}`;
}

/** What `unknownKeys` looks at. */
export interface KeyCounts {
  /** Keys of the file. */
  readonly keyed: number;
  /** Of these: keys that at least one record has. */
  readonly matched: number;
  /** Records of the service, in the job's scope, that have a key. */
  readonly records: number;
}

/** Keys or records so few say nothing of where a file is from. */
const FEW = 10;

/** The sentence of the brake `unknown_keys`: less than half of the keys that could be known are. */
export function unknownKeys(
  { keyed, matched, records }: KeyCounts,
  at: { readonly company: number; readonly companyName?: string; readonly resource: string },
): string | undefined {
  if (keyed <= FEW || records <= FEW || matched * 2 >= Math.min(keyed, records)) return undefined;
  const known = matched === 0 ? 'none' : `only ${shown(matched)}`;
  const name = at.companyName === undefined ? '' : `, ${quoted([at.companyName])}`;
  return (
    `unknown_keys: of the ${shown(keyed)} keys of the file ${known} ${matched > 1 ? 'are' : 'is'} known to the service, which holds ${shown(records)} records that could be meant. ` +
    `Is it the file of another company (this is company ${at.company}${name}) or of another resource (this job takes ${withArticle(at.resource)} a row), or are its keys written otherwise than before?`
  );
}

const shown = (count: number): string => count.toLocaleString('en-US');
