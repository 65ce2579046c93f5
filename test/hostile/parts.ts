import { buffer } from 'node:stream/consumers';
import yauzl from 'yauzl';

/** Names and texts of everything in a workbook. */
export async function partsOf(path: string): Promise<[name: string, text: string][]> {
  const zip = await yauzl.openPromise(path);
  try {
    const found: [string, string][] = [];
    for await (const entry of zip.eachEntry()) {
      found.push([entry.fileName, (await buffer(await zip.openReadStreamPromise(entry))).toString('utf8')]);
    }
    return found;
  } finally {
    zip.close();
  }
}
