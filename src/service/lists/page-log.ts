import { type LineAt, lastLineEnd, openScratchFile, withFault } from '../../compact/scratch-file.js';
import { parseJson } from '../../model/json.js';
import { reached } from '../../trace/milestones.js';
import type { Json } from '../port.js';
import { readPage } from '../transport/answer.js';
import { diskFault } from './snapshot.js';

/** A page as the log keeps it. `at`: the places on the page of records that were new or had changed. */
export interface LoggedPage {
  readonly pass: number;
  readonly page: number;
  readonly count: number;
  readonly keys: readonly number[];
  readonly at: readonly number[];
}

export type PageLog = ReturnType<typeof openPageLog>;

const TAB = 9;
/** No page holds so many records. */
const PAGE = 0x10_0000;

/**
 * The pages that a read was given, in the order in which it took them: after a first line that says what is read (`head`), a
 * line `{page}<tab>[record, …]` each, or, where all records of a page are new, the page as it came. Made where it is missing; a
 * log of something else is replaced. Not made durable: what is lost can be read again. A record's place is a number from 1.
 */
export function openPageLog(path: string, head: string) {
  const fault = (cause: unknown) => diskFault(path, cause);
  let file = openScratchFile(
    path,
    fault,
    withFault(fault, () => lastLineEnd(path)),
  );
  /** Where the line of each page begins; the end of the last one. */
  const offsets = [0];
  let existing: Iterator<LineAt> | undefined = file.lines()[Symbol.iterator]();
  const first = existing.next().value as LineAt | undefined;
  if (first?.bytes.toString('utf8') === head) offsets.push(first.bytes.length + 1);
  else {
    truncate();
    file.append(`${head}\n`);
    offsets.push(file.end);
  }

  /** What stands behind the pages that were gone on with is not believed. */
  function truncate(): void {
    existing = undefined;
    file.close();
    file = openScratchFile(path, fault, offsets.at(-1));
  }

  /** The page that stands last in the log. */
  const placesIn = ({ at }: LoggedPage): number[] => at.map((_, index) => (offsets.length - 2) * PAGE + index);

  function records(number: number): readonly Json[] {
    const found = recordsIn(file.read(offsets[number] as number, offsets[number + 1] as number));
    if (!found) throw new Error(`the log ${path} of what was read from the service was changed by somebody else`);
    return found;
  }

  return {
    /**
     * The next page of a log that was there already; undefined after the last, and where it is not this page of this pass.
     * From there on the log is cut off and written anew.
     */
    next(pass: number, page: number): { readonly line: LoggedPage; readonly places: readonly number[] } | undefined {
      if (!existing) return undefined;
      const { at = 0, bytes } = (existing.next().value as LineAt | undefined) ?? {};
      const line = bytes && parseLine(bytes);
      if (bytes && line?.pass === pass && line.page === page) {
        offsets.push(at + bytes.length + 1);
        return { line, places: placesIn(line) };
      }
      truncate();
      return undefined;
    },
    /** `text`: JSON of the records at `at`, on one line. Where they stand then. Throws a `RunError` where the disk cannot be written. */
    append(line: LoggedPage, text: string): readonly number[] {
      file.append(`${JSON.stringify(line)}\t${text}\n`);
      offsets.push(file.end);
      reached('page-kept');
      return placesIn(line);
    },
    /** The records at these places, in this order. */
    read(places: readonly number[]): Json[] {
      let number = -1;
      let found: readonly Json[] = [];
      return places.map((place) => {
        const wanted = Math.floor(place / PAGE);
        if (wanted !== number) found = records(wanted);
        number = wanted;
        return found[place % PAGE] as Json;
      });
    },
    flush: () => file.flush(),
    close(): void {
      try {
        file.flush();
      } finally {
        file.close();
      }
    },
  };
}

/** Undefined where the line is damaged: a disk that lost power may leave blocks of NUL. */
function parseLine(bytes: Buffer): LoggedPage | undefined {
  try {
    const line = JSON.parse(bytes.toString('utf8', 0, bytes.indexOf(TAB))) as LoggedPage;
    return recordsIn(bytes)?.length === line.at.length ? line : undefined;
  } catch {
    return undefined;
  }
}

/** The records in a line; undefined where it is damaged. */
function recordsIn(line: Buffer): readonly Json[] | undefined {
  try {
    const page = readPage(parseJson(line.toString('utf8', line.indexOf(TAB) + 1)));
    return typeof page === 'string' ? undefined : page.results;
  } catch {
    return undefined;
  }
}
