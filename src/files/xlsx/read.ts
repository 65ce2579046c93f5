import { posix } from 'node:path';
import { RunError } from '../../model/error.js';
import type { OpenSource, SourceOptions } from '../../model/source.js';
import type { SourceLimits } from '../limits.js';
import { builtInCode, type NumberFormat, numberFormat } from '../number/number-format.js';
import { createXmlScanner, type XmlTag } from '../package/xml-scan.js';
import type { Archive, WorkbookFile } from '../package/zip.js';
import { type BookRow, type BookSheet, openSheet } from '../table/open-sheet.js';
import { NO_STRINGS, readSharedStrings } from './shared-strings.js';
import { createSheetScan } from './sheet-scan.js';

type WorkbookSheet = Omit<BookSheet, 'blank'>;

/** What a workbook says about itself. */
interface Workbook {
  readonly sheets: readonly WorkbookSheet[];
  readonly date1904: boolean;
  /** By style number, the `s` of a cell. */
  readonly formats: readonly NumberFormat[];
  readonly sharedStringsPart: string | undefined;
}

/**
 * Opens one sheet of a workbook. The sheet is scanned once to its end, so that a damaged file is refused before a row
 * is handed out. Shared strings are kept as long as the source is: in memory, or in a file where they are too many.
 * Throws `RunError`.
 */
export async function openXlsx(
  { path, gzip, archive }: WorkbookFile,
  options: SourceOptions,
  limits: SourceLimits,
): Promise<OpenSource> {
  const { sheets, date1904, formats, sharedStringsPart: part } = await readWorkbook(path, archive);
  const strings = part ? await readSharedStrings(path, archive.stream(part), limits) : NO_STRINGS;
  const book = {
    path,
    format: 'xlsx' as const,
    gzip,
    limits,
    sheets,
    evidence: date1904 ? ['Dates are counted from 1904.'] : [],
    stream: (sheet: WorkbookSheet) => archive.stream(sheet.part!),
    scan: (sheet: WorkbookSheet, onRow: (row: BookRow) => void) =>
      createSheetScan({ what: `${path}: sheet "${sheet.name}"`, strings, formats, date1904, limits, onRow }),
  };
  return openSheet(book, options);
}

/** Calls `open` for every start tag of a small part, and `close` for every end tag. */
async function eachTag(
  path: string,
  archive: Archive,
  part: string,
  open: (tag: XmlTag) => void,
  close: (name: string) => void = () => {},
): Promise<void> {
  const scanner = createXmlScanner(`${path}: ${part}`, {
    open(tag) {
      open(tag);
      return undefined;
    },
    close: (tag) => close(tag.name),
    text() {},
  });
  scanner.push(await archive.whole(part));
  scanner.finish();
}

interface Relation {
  readonly type: string;
  readonly target: string;
}

/** The relations of a part by id; `type` is the last word of the type's address, the same in strict documents. */
async function relationsOf(path: string, archive: Archive, part: string): Promise<Map<string, Relation>> {
  const folder = posix.dirname(part);
  const name = posix.join(folder, '_rels', `${posix.basename(part)}.rels`);
  const relations = new Map<string, Relation>();
  if (!archive.has(name)) return relations;
  await eachTag(path, archive, name, (tag) => {
    if (tag.name !== 'Relationship') return;
    const a = tag.attributes();
    if (a.get('TargetMode') === 'External') return;
    const target = a.get('Target') ?? '';
    relations.set(a.get('Id') ?? '', {
      type: (a.get('Type') ?? '').split('/').pop() ?? '',
      target: partName(archive, folder, target),
    });
  });
  return relations;
}

/** The part a target names: from the root or the folder, with backslashes or percent signs as some programs write it. */
function partName(archive: Archive, folder: string, target: string): string {
  const path = target.replaceAll('\\', '/');
  const name = path.startsWith('/') ? posix.normalize(path.slice(1)) : posix.join(folder, path);
  if (archive.has(name) || !name.includes('%')) return name;
  try {
    return decodeURIComponent(name);
  } catch {
    return name;
  }
}

/** Reads what a workbook says about itself. Throws `RunError('failed')` for a zip file that is no such workbook. */
export async function readWorkbook(path: string, archive: Archive): Promise<Workbook> {
  const root = await workbookPart(path, archive);
  const sheets: { name: string; id: string; state: string }[] = [];
  let date1904 = false;
  let inSheets = false;
  await eachTag(
    path,
    archive,
    root,
    (tag) => {
      if (tag.name === 'sheets') inSheets = !tag.empty;
      else if (tag.name === 'sheet' && inSheets) {
        const a = tag.attributes();
        sheets.push({ name: a.get('name') ?? '', id: a.get('id') ?? '', state: a.get('state') ?? 'visible' });
      } else if (tag.name === 'workbookPr') date1904 = /^(?:1|true|on)$/.test(tag.attributes().get('date1904') ?? '');
    },
    (name) => {
      if (name === 'sheets') inSheets = false;
    },
  );
  const relations = await relationsOf(path, archive, root);
  const partOf = (type: string) => [...relations.values()].find((relation) => relation.type === type)?.target;
  const styles = partOf('styles');
  const strings = partOf('sharedStrings');
  const parts = new Set<string>();
  for (const { name, id } of sheets) {
    const part = relations.get(id)?.target;
    if (part !== undefined && archive.has(part) && !parts.has(part.toLowerCase())) {
      parts.add(part.toLowerCase());
      continue;
    }
    const what = part !== undefined && parts.has(part.toLowerCase()) ? 'the same part as another one' : 'no part';
    throw new RunError(
      'failed',
      `${path}: the sheet "${name}" has ${what} in the file. The file is damaged and was refused whole, nothing was ` +
        'sent. Open it in the spreadsheet program and save it as .xlsx.',
    );
  }
  return {
    date1904,
    formats: styles && archive.has(styles) ? await readFormats(path, archive, styles) : [],
    sharedStringsPart: strings && archive.has(strings) ? strings : undefined,
    sheets: sheets.map(({ name, id, state }) => {
      const relation = relations.get(id);
      return {
        name,
        part: relation?.type === 'worksheet' ? relation.target : undefined,
        state: state === 'hidden' || state === 'veryHidden' ? state : 'visible',
      };
    }),
  };
}

async function workbookPart(path: string, archive: Archive): Promise<string> {
  const refuse = (what: string): never => {
    throw new RunError('failed', `${path}: this is ${what}, which is not read. Save the table as .xlsx or .csv.`);
  };
  const relations = [...(await relationsOf(path, archive, '')).values()];
  const root = relations.find((relation) => relation.type === 'officeDocument')?.target ?? 'xl/workbook.xml';
  if (archive.has(root)) return root;
  const names = [...archive.names()]
    .slice(0, 5)
    .map((name) => name.slice(0, 60))
    .join(', ');
  return refuse(`a zip file that holds no workbook (it holds: ${names || 'nothing'})`);
}

async function readFormats(path: string, archive: Archive, part: string): Promise<NumberFormat[]> {
  const codes = new Map<number, string>();
  const styles: number[] = [];
  // Formats of the same numbers stand elsewhere, too, for what is shown under conditions.
  let inCodes = false;
  let inStyles = false;
  await eachTag(
    path,
    archive,
    part,
    (tag) => {
      if (tag.name === 'numFmts') inCodes = !tag.empty;
      else if (tag.name === 'numFmt' && inCodes) {
        const a = tag.attributes();
        codes.set(Number(a.get('numFmtId')), a.get('formatCode') ?? 'General');
      } else if (tag.name === 'cellXfs') inStyles = !tag.empty;
      else if (tag.name === 'xf' && inStyles) styles.push(Number(tag.attributes().get('numFmtId') ?? 0));
    },
    (name) => {
      if (name === 'cellXfs') inStyles = false;
      else if (name === 'numFmts') inCodes = false;
    },
  );
  return styles.map((id) => numberFormat(codes.get(id) ?? builtInCode(id) ?? 'General'));
}
