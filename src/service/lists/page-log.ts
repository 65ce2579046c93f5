import { openScratchFile } from '../../compact/scratch-file.js';
import { parseJson } from '../../model/json.js';
import { reached } from '../../trace/milestones.js';
import type { Json } from '../port.js';
import { readPage } from '../transport/answer.js';
import { diskFault } from './snapshot.js';

export type PageLog = ReturnType<typeof openPageLog>;

/** No page holds so many records. */
const PAGE = 0x10_0000;

/**
 * The records that a read was given, page by page: a line `[record, …]` each, or, where all records of a page are new, the page
 * as it came. The file begins anew, and is not made durable: what is lost can be read again. A record's place is a number from 1.
 */
export function openPageLog(path: string) {
  const file = openScratchFile(path, (cause) => diskFault(path, cause));
  /** Where each line begins; the end of the last one. */
  const offsets = [0];

  function records(line: number): readonly Json[] {
    const bytes = file.read(offsets[line - 1] as number, offsets[line] as number);
    const page = readPage(parseJson(bytes.toString('utf8')));
    if (typeof page === 'string') throw new Error(`the log ${path} of what was read was changed: ${page}`);
    return page.results;
  }

  return {
    /** `text`: JSON of so many records, on one line. Where they stand then. Throws a `RunError` where the disk cannot be written. */
    append(text: string, count: number): readonly number[] {
      file.append(`${text}\n`);
      const line = offsets.push(file.end) - 1;
      reached('page-kept');
      return Array.from({ length: count }, (_, index) => line * PAGE + index);
    },
    /** The records at these places, in this order. */
    read(places: readonly number[]): Json[] {
      let line = 0;
      let found: readonly Json[] = [];
      return places.map((place) => {
        const wanted = Math.floor(place / PAGE);
        if (wanted !== line) found = records(wanted);
        line = wanted;
        return found[place % PAGE] as Json;
      });
    },
    close: () => file.close(),
  };
}
