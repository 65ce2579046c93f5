import { posix } from 'node:path';
import { RunError } from '../../model/error.js';
import { builtInCode } from '../number/built-in-formats.js';
import { type NumberFormat, numberFormat } from '../number/number-format.js';
import { createXmlScanner, xmlAttributes } from '../package/xml-scan.js';
import type { Archive } from '../package/zip.js';

export interface WorkbookSheet {
  readonly name: string;
  /** Name of the part in the zip file; undefined for chart and dialogue sheets, which hold no cells. */
  readonly part: string | undefined;
  readonly state: 'visible' | 'hidden' | 'veryHidden';
}

/** How cells of one style show their numbers. `code` is undefined for General. */
export interface CellFormat {
  readonly code: string | undefined;
  readonly format: NumberFormat;
}

export interface Workbook {
  readonly sheets: readonly WorkbookSheet[];
  readonly date1904: boolean;
  /** By style number, the `s` of a cell. */
  readonly formats: readonly CellFormat[];
  readonly sharedStringsPart: string | undefined;
}

type Tag = (name: string, attributes: () => Map<string, string>, empty: boolean) => void;

/** Calls `tag` for every start tag of a small part. */
async function eachTag(path: string, archive: Archive, part: string, tag: Tag, closed?: Tag): Promise<void> {
  const none = () => new Map<string, string>();
  const scanner = createXmlScanner(`${path}: ${part}`, {
    open(bytes, from, to, attributesTo, empty) {
      tag(bytes.toString('latin1', from, to), () => xmlAttributes(bytes, to, attributesTo), empty);
    },
    close(bytes, from, to) {
      closed?.(bytes.toString('latin1', from, to), none, false);
    },
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
  await eachTag(path, archive, name, (tag, attributes) => {
    if (tag !== 'Relationship') return;
    const a = attributes();
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
    (tag, attributes, empty) => {
      if (tag === 'sheets') inSheets = !empty;
      else if (tag === 'sheet' && inSheets) {
        const a = attributes();
        sheets.push({ name: a.get('name') ?? '', id: a.get('id') ?? '', state: a.get('state') ?? 'visible' });
      } else if (tag === 'workbookPr') date1904 = /^(?:1|true|on)$/.test(attributes().get('date1904') ?? '');
    },
    (tag) => {
      if (tag === 'sheets') inSheets = false;
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

async function readFormats(path: string, archive: Archive, part: string): Promise<CellFormat[]> {
  const codes = new Map<number, string>();
  const styles: number[] = [];
  // Formats of the same numbers stand elsewhere, too, for what is shown under conditions.
  let inCodes = false;
  let inStyles = false;
  await eachTag(
    path,
    archive,
    part,
    (tag, attributes, empty) => {
      if (tag === 'numFmts') inCodes = !empty;
      else if (tag === 'numFmt' && inCodes) {
        const a = attributes();
        codes.set(Number(a.get('numFmtId')), a.get('formatCode') ?? 'General');
      } else if (tag === 'cellXfs') inStyles = !empty;
      else if (tag === 'xf' && inStyles) styles.push(Number(attributes().get('numFmtId') ?? 0));
    },
    (tag) => {
      if (tag === 'cellXfs') inStyles = false;
      else if (tag === 'numFmts') inCodes = false;
    },
  );
  return styles.map((id) => {
    const code = codes.get(id) ?? builtInCode(id) ?? 'General';
    const format = numberFormat(code);
    return { code: format.kind === 'general' ? undefined : code, format };
  });
}
