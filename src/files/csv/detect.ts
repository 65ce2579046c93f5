import { usageError } from '../../model/error.js';
import type { SourceLimits } from '../limits.js';
import { createRecordFeed } from './scan.js';

const DELIMITERS = [',', ';', '\t', '|'] as const;
const RECORDS = 60;
const OUR_COLUMNS = /(?:^|[,;\t|])"?_row"?([,;\t|])"?_outcome"?\1"?_codes"?\1"?_message"?(?:\1|\s|$)/m;

interface Sample {
  readonly path: string;
  /** UTF-8 bytes from the start of the file. */
  readonly bytes: Buffer;
  /** Whether the sample is the whole file. */
  readonly whole: boolean;
}

interface Score {
  readonly delimiter: string;
  readonly cells: number;
  /** Cells of the first record. */
  readonly first: number;
  /** Cells of the record that has the fewest. */
  readonly fewest: number;
  readonly agreeing: number;
  readonly records: number;
  readonly score: number;
}

/** What a job may call a delimiter, and what it is called in words. */
const NAMES: Readonly<Record<string, readonly string[]>> = {
  ',': ['comma'],
  ';': ['semicolon'],
  '\t': ['tab', '\\t'],
  '|': ['pipe'],
  ':': ['colon'],
  ' ': ['space'],
  '\x1f': ['unit separator (US)', 'us', '\\x1f'],
};

/** A delimiter in words. */
export function delimiterName(delimiter: string): string {
  return NAMES[delimiter]?.[0] ?? `"${delimiter}"`;
}

/** The delimiter a job states: one ASCII character, or its name. Undefined for what cannot separate cells. */
export function knownDelimiter(text: string): string | undefined {
  const delimiter = Object.keys(NAMES).find((one) => NAMES[one]!.includes(text.toLowerCase())) ?? text;
  return delimiter === '\x1f' || (/^[\t -~]$/.test(delimiter) && !/["\w']/.test(delimiter)) ? delimiter : undefined;
}

export const DELIMITER_RULE = 'cannot separate cells. Use auto, or one character such as "," ";" "|" or tab.';

export function parseDelimiter(text: string): string {
  const delimiter = knownDelimiter(text);
  if (delimiter === undefined) throw usageError(`source.delimiter: "${text}" ${DELIMITER_RULE}`);
  return delimiter;
}

/** How evenly a delimiter cuts the records: the share of records with the most common number of cells, and that number. */
function score(sample: Sample, delimiter: string, limits: SourceLimits): Score {
  const feed = createRecordFeed({
    path: sample.path,
    delimiter,
    limits,
    collect: false,
    complete: false,
    skip: 'lines',
  });
  feed.push(sample.bytes);
  if (sample.whole) feed.finish();
  const counts = new Map<number, number>();
  let records = 0;
  let first = 0;
  let fewest = Number.POSITIVE_INFINITY;
  while (records < RECORDS && feed.next()) {
    if (feed.record.unclosed) continue;
    records++;
    first ||= feed.record.count;
    fewest = Math.min(fewest, feed.record.count);
    counts.set(feed.record.count, (counts.get(feed.record.count) ?? 0) + (feed.record.strayCell < 0 ? 1 : 0.2));
  }
  let best: Score = { delimiter, cells: 1, first, fewest, agreeing: 0, records, score: 0 };
  for (const [cells, agreeing] of counts) {
    const value = cells < 2 ? 0 : (agreeing / records) ** 2 * Math.log2(cells + 1);
    if (value > best.score)
      best = { delimiter, cells, first, fewest, agreeing: Math.floor(agreeing), records, score: value };
  }
  return best;
}

/**
 * The highest score. A character that the first row lacks may be one within the cells of a column (`red|green|blue`): one
 * that cuts every row as the first, but for a few that have a cell too many, is the delimiter then.
 */
function bestOf(scores: readonly Score[]): Score {
  const best = scores.reduce((a, b) => (b.score > a.score ? b : a));
  if (best.first > 1) return best;
  const cutsAll = ({ cells, first, fewest, agreeing, records }: Score) =>
    cells > 1 && cells === first && cells === fewest && records > 2 && agreeing >= records * 0.9;
  return scores.find(cutsAll) ?? best;
}

/**
 * The delimiter that the job states, that the first line names (`sep=;`, then `hinted`), that stands between our columns, or
 * that cuts the first records best.
 */
export function detectDialect(sample: Sample, stated: string | undefined, limits: SourceLimits) {
  const hint = /^"?sep=([^\w\s"]|\t)"?[\r\n]/i.exec(sample.bytes.toString('latin1', 0, 9))?.[1];
  const hinted = hint !== undefined;
  const finding = (delimiter: string, why: string) => {
    const evidence = `The delimiter is ${delimiterName(delimiter)}, ${why}.`;
    return { delimiter, hinted, evidence, warning: undefined };
  };
  if (stated !== undefined) return finding(stated, 'as stated');
  if (hint !== undefined) return finding(hint, 'as the first line says (sep=)');
  // Rows are rejected because they are uneven, so they show less than the heading rowferry gave them.
  const ownDelimiter = sample.bytes.includes('_message')
    ? OUR_COLUMNS.exec(sample.bytes.toString('latin1'))?.[1]
    : undefined;
  if (ownDelimiter !== undefined) return finding(ownDelimiter, 'as it stands between the columns of rejected rows');

  const order = /\.(tsv|tab)(\.gz)?$/i.test(sample.path) ? ['\t', ',', ';', '|'] : DELIMITERS;
  const scores = order.map((candidate) => score(sample, candidate, limits));
  const best = bestOf(scores);
  const rival = scores.find((other) => other !== best && other.score > 0 && other.score > best.score * 0.8);
  const warning =
    rival &&
    `The delimiter could also be ${delimiterName(rival.delimiter)} (${rival.agreeing} of ${rival.records} rows ` +
      `with ${rival.cells} cells); state source.delimiter to be certain.`;
  const evidence =
    best.score === 0
      ? 'No delimiter cuts the rows into several cells; the table has one column.'
      : `The delimiter is ${delimiterName(best.delimiter)}: it cuts ${best.agreeing} of the first ${best.records} rows ` +
        `into ${best.cells} cells.`;
  return { delimiter: best.delimiter, hinted, evidence, warning };
}
