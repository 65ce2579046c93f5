import { RunError } from '../../model/error.js';

/**
 * The parts of a workbook are UTF-8 with very few exceptions; XML also allows UTF-16, which is turned into UTF-8 here.
 * Undefined for what is not UTF-16. `head` is at least the first four bytes.
 */
export function utf16Decoder(what: string, head: Buffer): ((chunk: Buffer) => Buffer) | undefined {
  const little = (head[0] === 0xff && head[1] === 0xfe) || (head[0] === 0x3c && head[1] === 0 && head[3] === 0);
  const big = (head[0] === 0xfe && head[1] === 0xff) || (head[0] === 0 && head[1] === 0x3c && head[2] === 0);
  if (!little && !big) return undefined;
  const decoder = new TextDecoder(little ? 'utf-16le' : 'utf-16be', { fatal: true });
  return (chunk) => {
    try {
      return Buffer.from(decoder.decode(chunk, { stream: true }), 'utf8');
    } catch (error) {
      const again = 'It was refused whole, nothing was sent. Save the workbook again in the spreadsheet program.';
      throw new RunError('failed', `${what}: the XML is no valid UTF-16. ${again}`, [], { cause: error });
    }
  };
}

/**
 * Refuses a declaration (`<?xml … encoding="…"?>`) of an encoding that is not read. UTF-16 may stand above what is UTF-8
 * in truth: some programs convert the text and leave the declaration.
 */
export function assertReadable(what: string, declaration: string): void {
  const encoding = /\sencoding\s*=\s*["']([\w.:-]{1,40})["']/.exec(declaration)?.[1];
  if (encoding === undefined || /^(?:utf-?8|us-ascii|ascii|utf-?16(?:le|be)?)$/i.test(encoding)) return;
  throw new RunError(
    'failed',
    `${what}: is XML in the encoding ${encoding}; UTF-8 and UTF-16 are read. ` +
      'Open the workbook in the spreadsheet program and save it again.',
  );
}
