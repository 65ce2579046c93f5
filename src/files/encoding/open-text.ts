import { RunError } from '../../model/error.js';
import { fileBytes } from '../bytes.js';
import type { SourceLimits } from '../limits.js';
import { asciiText } from './byte-text.js';
import { asUtf8, statedEncoding } from './encoding.js';
import { type EncodingFinding, encodingOfHead, encodingOfText, isSavedAsUtf8, utf8Check } from './survey.js';

export interface TextFile {
  readonly path: string;
  readonly gzip: boolean;
  /** The first bytes, unpacked; `whole`: they are all it has. */
  readonly head: Buffer;
  readonly whole: boolean;
}

/** A text file whose encoding is known. */
export interface OpenText<Found> {
  readonly encoding: string;
  /** It begins with the byte order mark of its encoding, which is no part of the text. */
  readonly bom: boolean;
  readonly evidence: string;
  readonly warnings: readonly string[];
  /** From its beginning, as UTF-8. */
  text(): AsyncIterable<Buffer>;
  readonly found: Found;
}

/**
 * Opens a text file and has it looked through by `look`, which asks for the text as often as it likes and reads it to its end
 * the last time. The encoding is that of the byte order mark, the one that is `stated`, or what the bytes tell: the file is
 * taken for UTF-8 while it is looked through, and looked through again where it turns out to be none. Throws `RunError`.
 */
export async function openText<Found>(
  file: TextFile,
  name: string | undefined,
  limits: SourceLimits,
  look: (text: () => AsyncIterable<Buffer>) => Promise<Found>,
): Promise<OpenText<Found>> {
  const raw = () => bytesOf(file, limits);
  const mark = encodingOfHead(file.head);
  const stated = statedEncoding(name, mark);
  const opened = async ({ encoding, evidence, warning }: EncodingFinding, known?: Found): Promise<OpenText<Found>> => {
    const skip = mark?.encoding === encoding ? mark.bom : 0;
    const text = () => asUtf8(raw(), encoding, skip);
    const warnings = warning === undefined ? [] : [warning];
    return { encoding, bom: skip > 0, evidence, warnings, text, found: known ?? (await look(text)) };
  };
  if (mark && (stated === undefined || (mark.bom > 0 && mark.encoding !== stated))) {
    const warning = `source.encoding states ${stated}, but the file begins with the byte order mark of ${mark.encoding} and was read as that.`;
    return opened(stated === undefined ? mark : { ...mark, warning });
  }
  if (stated !== undefined && ONE_BYTE.test(stated) && (await isSavedAsUtf8(raw()))) {
    const warning = `source.encoding states ${stated}, but all bytes beyond ASCII are valid UTF-8, and the file was read as that.`;
    return opened({ encoding: 'utf-8', evidence: warning, warning });
  }
  if (stated !== undefined) return opened({ encoding: stated, evidence: statedEvidence(name!, stated) });

  // Of a packed file it counts first that it unpacks well.
  if (!file.gzip) assertText(file.path, file.head);
  let check = utf8Check();
  async function* checked() {
    check = utf8Check();
    for await (const chunk of raw()) {
      check.push(chunk);
      yield chunk;
    }
  }
  let [found, fault]: [Found | undefined, unknown] = [undefined, undefined];
  try {
    found = await look(checked);
    const utf8 = check.finding();
    if (utf8) return await opened(utf8, found);
  } catch (error) {
    fault = error;
  }
  const finding = await encodingOfText(raw());
  // What was found wrong counts, if it was the right encoding after all.
  if (finding.encoding === 'utf-8' && fault !== undefined) throw fault;
  return opened(finding, finding.encoding === 'utf-8' ? found : undefined);
}

/** Encodings in which characters beyond ASCII hardly ever make valid UTF-8. */
const ONE_BYTE = /^(?:windows-(?!31j)|iso-8859|mac|cp[48]\d\d$|koi8)/;

/** The bytes from their beginning; of a small file they are in hand. */
async function* bytesOf({ path, gzip, head, whole }: TextFile, limits: SourceLimits): AsyncGenerator<Buffer> {
  if (whole) yield head;
  else yield* fileBytes(path, gzip, limits);
}

function statedEvidence(name: string, encoding: string): string {
  if (!/^(?:latin-?[15]|iso[-_ ]?8859[-_ ]?[19])$/i.test(name.trim())) return `The encoding is ${encoding}, as stated.`;
  return (
    `The encoding is stated as ${name} and read as ${encoding}, which has the same characters and more: ` +
    'those that files of that name hold in fact.'
  );
}

/** A byte below the blank, as Latin-1, that is no tab or line end. */
const CONTROL = /[^\t\n\r -\xff]/g;

/** Some programs part cells with it. */
const UNIT_SEPARATOR = '\u001f';

/** Control characters in number mean that the file is no text. */
export function assertText(path: string, bytes: Buffer): void {
  const text = asciiText(bytes, 0, Math.min(bytes.length, 64 * 1024));
  const control = [...text.matchAll(CONTROL)].filter(([sign]) => sign !== UNIT_SEPARATOR).length;
  if (control > 16 && control * 20 > text.length) {
    throw new RunError(
      'failed',
      `${path}: the file is neither text nor a workbook; it cannot be read as a table. Save it as .xlsx or .csv.`,
    );
  }
}
