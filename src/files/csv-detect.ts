import { RunError } from '../model/error.js';
import { createRecordFeed } from './csv-feed.js';
import type { SourceLimits } from './limits.js';

const DELIMITERS = [',', ';', '\t', '|'] as const;
const RECORDS = 60;
const OUR_COLUMNS = /(?:^|[,;\t|])"?_row"?([,;\t|])"?_outcome"?\1"?_codes"?\1"?_message"?(?:\1|\s|$)/m;

export interface DialectFinding {
  readonly delimiter: string;
  readonly newline: string;
  readonly evidence: readonly string[];
  readonly warnings: readonly string[];
}

export interface Sample {
  readonly path: string;
  /** UTF-8 bytes from the start of the file. */
  readonly bytes: Buffer;
  /** Whether the sample is the whole file. */
  readonly whole: boolean;
}

interface Score {
  readonly delimiter: string;
  readonly cells: number;
  readonly agreeing: number;
  readonly records: number;
  readonly score: number;
}

export function delimiterName(delimiter: string): string {
  const names: Readonly<Record<string, string>> = { ',': 'comma', ';': 'semicolon', '\t': 'tab', '|': 'pipe' };
  return names[delimiter] ?? `"${delimiter}"`;
}

/** The delimiter a job states: one ASCII character, or its name. */
export function statedDelimiter(text: string): string {
  const names: Readonly<Record<string, string>> = {
    comma: ',',
    semicolon: ';',
    tab: '\t',
    '\\t': '\t',
    pipe: '|',
    space: ' ',
  };
  const delimiter = Object.hasOwn(names, text.toLowerCase()) ? names[text.toLowerCase()]! : text;
  if (/^[\t\x20-\x7e]$/.test(delimiter) && !/["\w']/.test(delimiter)) return delimiter;
  throw new RunError(
    'usage',
    `source.delimiter: "${text}" cannot separate cells. Use auto, or one character such as "," ";" "|" or tab.`,
  );
}

/** How evenly a delimiter cuts the records: the share of records with the most common number of cells, and that number. */
function score(sample: Sample, delimiter: string, limits: SourceLimits): Score {
  const feed = createRecordFeed({ path: sample.path, delimiter, limits, collect: false, whole: false });
  feed.push(sample.bytes);
  if (sample.whole) feed.finish();
  const counts = new Map<number, number>();
  let records = 0;
  let start = 0;
  while (records < RECORDS && feed.next()) {
    const empty = feed.record.count === 1 && feed.position - start <= 2;
    start = feed.position;
    if (empty || feed.record.open) continue;
    records++;
    counts.set(feed.record.count, (counts.get(feed.record.count) ?? 0) + (feed.record.stray < 0 ? 1 : 0.2));
  }
  let best: Score = { delimiter, cells: 1, agreeing: 0, records, score: 0 };
  for (const [cells, agreeing] of counts) {
    const value = cells < 2 ? 0 : (agreeing / records) ** 2 * Math.log2(cells + 1);
    if (value > best.score) best = { delimiter, cells, agreeing: Math.floor(agreeing), records, score: value };
  }
  return best;
}

/** Finds the delimiter (unless it is stated) and the line end from the first records. */
export function detectDialect(sample: Sample, stated: string | undefined, limits: SourceLimits): DialectFinding {
  const evidence: string[] = [];
  const warnings: string[] = [];
  const hint = /^sep=([^\w\s"]|\t)\r?\n/i.exec(sample.bytes.toString('latin1', 0, 8))?.[1];
  // Rows are rejected because they are uneven, so they show less than the heading rowferry gave them.
  const ours = OUR_COLUMNS.exec(sample.bytes.toString('latin1'))?.[1];
  let delimiter: string;
  if (stated !== undefined) {
    delimiter = stated;
    evidence.push(`The delimiter is ${delimiterName(delimiter)}, as stated.`);
  } else if (hint !== undefined) {
    delimiter = hint;
    evidence.push(`The delimiter is ${delimiterName(delimiter)}, as the first line says (sep=).`);
  } else if (ours !== undefined) {
    delimiter = ours;
    evidence.push(`The delimiter is ${delimiterName(delimiter)}, as it stands between the columns of rejected rows.`);
  } else {
    const order = /\.(tsv|tab)(\.gz)?$/i.test(sample.path) ? ['\t', ',', ';', '|'] : DELIMITERS;
    const scores = order.map((candidate) => score(sample, candidate, limits));
    const best = scores.reduce((a, b) => (b.score > a.score ? b : a));
    delimiter = best.delimiter;
    if (best.score === 0) evidence.push('No delimiter cuts the rows into several cells; the table has one column.');
    else {
      evidence.push(
        `The delimiter is ${delimiterName(delimiter)}: it cuts ${best.agreeing} of the first ${best.records} rows ` +
          `into ${best.cells} cells.`,
      );
    }
    const rival = scores.find((other) => other !== best && other.score > 0 && other.score > best.score * 0.8);
    if (rival) {
      warnings.push(
        `The delimiter could also be ${delimiterName(rival.delimiter)} (${rival.agreeing} of ${rival.records} rows ` +
          `with ${rival.cells} cells); state source.delimiter to be certain.`,
      );
    }
  }
  return { delimiter, ...newlineOf(sample, delimiter, limits, evidence, warnings) };
}

function newlineOf(
  sample: Sample,
  delimiter: string,
  limits: SourceLimits,
  evidence: string[],
  warnings: string[],
): Omit<DialectFinding, 'delimiter'> {
  const feed = createRecordFeed({ path: sample.path, delimiter, limits, collect: false, whole: false });
  feed.push(sample.bytes);
  if (sample.whole) feed.finish();
  const ends = { '\r\n': 0, '\n': 0, '\r': 0 };
  let records = 0;
  while (records++ < 2_000 && feed.next()) {
    const last = feed.bytes[feed.position - 1];
    if (last === 0x0a) ends[feed.bytes[feed.position - 2] === 0x0d ? '\r\n' : '\n']++;
    else if (last === 0x0d) ends['\r']++;
  }
  const names = { '\r\n': 'CRLF', '\n': 'LF', '\r': 'CR' } as const;
  const kinds = (Object.keys(ends) as (keyof typeof ends)[]).sort((a, b) => ends[b] - ends[a]);
  const newline = kinds[0]!;
  const present = kinds.filter((kind) => ends[kind] > 0);
  if (present.length === 0) evidence.push('The file has no line end; LF is assumed.');
  else evidence.push(`Rows end with ${names[newline]}.`);
  if (present.length > 1) {
    warnings.push(`Line ends are mixed: ${present.map((kind) => `${names[kind]} ${ends[kind]} times`).join(', ')}.`);
  }
  return { newline: present.length === 0 ? '\n' : newline, evidence, warnings };
}
