import { posix } from 'node:path';
import { runFailure } from '../../model/error.js';
import type { OpenSource, SourceOptions } from '../../model/source.js';
import type { SourceLimits } from '../limits.js';
import type { NumberFormat } from '../number/cell-value.js';
import { builtInCode, numberFormat } from '../number/number-format.js';
import { createXmlScanner, type XmlTag } from '../package/xml-scan.js';
import type { Archive, WorkbookFile } from '../package/zip.js';
import { type BookSheet, openSheet, type StoredRow } from '../table/open-sheet.js';
import { NO_STRINGS, readSharedStrings } from './shared-strings.js';
import { createSheetScan } from './sheet-scan.js';

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
    stream: (sheet: BookSheet) => archive.stream(sheet.part!),
    scan: (sheet: BookSheet, onRow: (row: StoredRow) => void) =>
      createSheetScan({ what: `${path}: sheet "${sheet.name}"`, strings, formats, date1904, limits, onRow }),
  };
  return openSheet(book, options);
}

/** Calls `visit` for every start tag of a small part, with the names of the elements around it. */
async function eachTag(
  path: string,
  archive: Archive,
  part: string,
  visit: (tag: XmlTag, ancestors: readonly string[]) => void,
): Promise<void> {
  const ancestors: string[] = [];
  const scanner = createXmlScanner(`${path}: ${part}`, {
    open(tag) {
      visit(tag, ancestors);
      if (!tag.empty) ancestors.push(tag.name);
      return undefined;
    },
    close: () => void ancestors.pop(),
    text() {},
  });
  scanner.push(await archive.readWhole(part));
  scanner.finish();
}

/** The relations of a part by id; `type` is the last word of the type's address, the same in strict documents. */
async function relationsOf(path: string, archive: Archive, part: string) {
  const folder = posix.dirname(part);
  const name = posix.join(folder, '_rels', `${posix.basename(part)}.rels`);
  const relations = new Map<string, { readonly type: string; readonly target: string }>();
  if (!archive.has(name)) return relations;
  await eachTag(path, archive, name, (tag) => {
    if (tag.name !== 'Relationship') return;
    const a = tag.attributes();
    if (a.get('TargetMode') === 'External') return;
    const target = a.get('Target') ?? '';
    relations.set(a.get('Id') ?? '', {
      type: (a.get('Type') ?? '').split('/').pop() ?? '',
      target: targetPart(archive, folder, target),
    });
  });
  return relations;
}

/** The part a target names: from the root or the folder, with backslashes or percent signs as some programs write it. */
function targetPart(archive: Archive, folder: string, target: string): string {
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
async function readWorkbook(path: string, archive: Archive) {
  const root = await workbookPart(path, archive);
  const sheetTags: Map<string, string>[] = [];
  let date1904 = false;
  await eachTag(path, archive, root, (tag, ancestors) => {
    if (tag.name === 'sheet' && ancestors.includes('sheets')) sheetTags.push(tag.attributes());
    else if (tag.name === 'workbookPr') date1904 = /^(?:1|true|on)$/.test(tag.attributes().get('date1904') ?? '');
  });
  const relations = await relationsOf(path, archive, root);
  const partOf = (type: string) => [...relations.values()].find((relation) => relation.type === type)?.target;
  const styles = partOf('styles');
  const strings = partOf('sharedStrings');
  const sheets: BookSheet[] = [];
  const parts = new Set<string>();
  for (const attributes of sheetTags) {
    const [name, state] = [attributes.get('name') ?? '', attributes.get('state') ?? ''];
    const relation = relations.get(attributes.get('id') ?? '');
    const part = relation?.target ?? '';
    const isTaken = parts.has(part.toLowerCase());
    if (isTaken || !archive.has(part)) {
      throw runFailure(
        `${path}: the sheet "${name}" has ${isTaken ? 'the same part as another one' : 'no part'} in the file. The file is ` +
          'damaged and was refused whole, nothing was sent. Open it in the spreadsheet program and save it as .xlsx.',
      );
    }
    parts.add(part.toLowerCase());
    sheets.push({
      name,
      part: relation?.type === 'worksheet' ? part : undefined,
      place: sheets.length,
      state: state === 'hidden' || state === 'veryHidden' ? state : 'visible',
    });
  }
  return {
    sheets,
    date1904,
    /** By style number, the `s` of a cell. */
    formats: styles && archive.has(styles) ? await readFormats(path, archive, styles) : [],
    sharedStringsPart: strings && archive.has(strings) ? strings : undefined,
  };
}

async function workbookPart(path: string, archive: Archive): Promise<string> {
  const relations = [...(await relationsOf(path, archive, '')).values()];
  const root = relations.find((relation) => relation.type === 'officeDocument')?.target ?? 'xl/workbook.xml';
  if (archive.has(root)) return root;
  const names = archive.names
    .slice(0, 5)
    .map((name) => name.slice(0, 60))
    .join(', ');
  throw runFailure(
    `${path}: this is a zip file that holds no workbook (it holds: ${names || 'nothing'}), which is not read. ` +
      'Save the table as .xlsx or .csv.',
  );
}

async function readFormats(path: string, archive: Archive, part: string): Promise<NumberFormat[]> {
  const codes = new Map<number, string>();
  const styles: number[] = [];
  await eachTag(path, archive, part, (tag, ancestors) => {
    // Formats of the same numbers stand elsewhere, too, for what is shown under conditions.
    if (tag.name === 'numFmt' && ancestors.includes('numFmts')) {
      const a = tag.attributes();
      codes.set(Number(a.get('numFmtId')), a.get('formatCode') ?? 'General');
    } else if (tag.name === 'xf' && ancestors.includes('cellXfs'))
      styles.push(Number(tag.attributes().get('numFmtId') ?? 0));
  });
  return styles.map((id) => numberFormat(codes.get(id) ?? builtInCode(id) ?? 'General'));
}
