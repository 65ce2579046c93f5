import { dirname, join } from 'node:path';
import { chooseNames } from '../../blank-workbook/columns.js';
import { createNumberSet, type NumberSet } from '../../compact/dense-map.js';
import { runFailure, usageError } from '../../model/error.js';
import { jobFaultText, type RowsJob } from '../../model/job.js';
import { type SheetRow, SPREADSHEET_ERRORS } from '../../model/row.js';
import type { OpenSource } from '../../model/source.js';
import { type Fields, normaliseKey } from '../../model/value.js';
import { countHeadings, type Sample } from '../../pipeline/map/columns.js';
import { quoted } from '../../pipeline/map/headings.js';
import { compileMapping, type Mapping } from '../../pipeline/map/map.js';
import { compileSetValues } from '../../pipeline/map/set-values.js';
import { customFieldsIn, usesCustomFields } from '../../pipeline/map/targets.js';
import type { Keys } from '../../pipeline/match/key.js';
import { compileCompare } from '../../pipeline/plan/authority.js';
import type { PlanCounts } from '../../pipeline/plan/brakes.js';
import type { DecideAuthority } from '../../pipeline/plan/merge.js';
import { fingerprints } from '../../pipeline/plan/plan.js';
import { type Directory, loadDirectory } from '../../pipeline/resolve/directory.js';
import { makeResolver, NameCollector, type NewRecords, needsLookUp } from '../../pipeline/resolve/resolve.js';
import { isNoRecord, isRepeated, type ResolvedRow, type StagedRow } from '../../pipeline/rows.js';
import { resourceSpec } from '../../resources/registry.js';
import type { FieldSpec } from '../../resources/spec.js';
import { READ_AS } from '../../store/run-store.js';
import { reached } from '../../trace/milestones.js';
import { type EditedRows, openEditedRows } from '../export/base.js';
import { checkJobFile, jobFileNames, jobNameOf } from '../job-file.js';
import { loadCustomFields } from '../run/open-service.js';
import type { Run } from '../run/run.js';
import { readAsOf } from '../run/table.js';
import { type Connection, connect } from './connection.js';
import { openKeyStore } from './key-store.js';
import { fillRowFile, type RowWriter, readRows, rowWriter } from './row-files.js';

/** What the rows of a file are, whatever they refer to. */
interface RowsContext extends Connection {
  readonly mapping: Pick<Mapping, 'columnOf' | 'columns' | 'fields' | 'key' | 'specOf'>;
  /** Reconciliations: whose value stands where a row and its record differ. */
  readonly authority?: DecideAuthority;
  /** Files that an export wrote. */
  readonly edited?: EditedRows;
}

export interface Staged extends RowsContext {
  readonly names: NameCollector;
  /** Contracts: rows by number, two at most, for contracts that name a parent of the same file. */
  readonly rowsOfNumber: ReadonlyMap<string, readonly number[]> | undefined;
  /** Set where no field is looked up: the rows are resolved as they are. */
  readonly facts?: RowFacts;
}

/** What is known of the rows once all of them are resolved. */
interface RowFacts {
  /** Keys of all rows. */
  readonly keys: Keys;
  /** Lets go of the keys: nobody asks for them any more. Not there where they were never a burden. */
  readonly releaseKeys?: () => void;
  /** Rows that refer to rows of this file stand this much deeper than those. */
  readonly depth: ReadonlyMap<number, number>;
  /** Rows that have no key that can be read for certain, or may hold others. */
  readonly keyless: number;
  /** One more than the greatest depth. */
  readonly waves: number;
  readonly counts: PlanCounts;
  /** Of the rows that are unchanged where a record has the same. */
  readonly fingerprints: Pick<NumberSet, 'has'>;
}

export interface Resolved extends RowsContext, RowFacts {
  /** Names of the records that the file refers to. */
  readonly directory: Directory;
  /** Records that are created because rows refer to them. */
  readonly newRecords?: NewRecords;
}

/** Rows that a warning names. */
const MAX_NAMED = 10;

/** Rows per look at the beginning of a file, for what must be known before the first row is converted. */
const SAMPLE_ROWS = 2_000;

/**
 * file → mapped → validated: every row of the file as values by field, on disk. Where nothing is to be looked up, the rows
 * are resolved at once.
 */
export async function stageRows(run: Run): Promise<Staged> {
  const { job, source, store } = run;
  const { jsonRows = false } = run.request;
  if (!jsonRows) await assertJobFitsFile(run);
  const custom = usesCustomFields(job);
  // A file that does not fit is told of before the service is asked for anything; custom fields it alone knows.
  let connection = custom.templates || custom.forms ? await connect(run) : undefined;
  const spec = resourceSpec(job.resource);
  const catalogue = connection && (await loadCustomFields(custom, connection.lexicon));
  const readAs = readAsOf(store);
  const input = {
    job,
    meta: source.meta,
    spec,
    catalogue,
    sample: await takeSample(source),
    decimal: readAs.decimal,
    jsonRows,
  };
  const mapping = compileMapping(input);
  const compared = job.kind === 'reconcile' ? compileCompare(job, spec, catalogue, mapping) : undefined;
  if (compared && compared.problems.length > 0) {
    throw usageError(
      'What the job says about comparing does not fit. Nothing was sent.',
      compared.problems.map(jobFaultText),
    );
  }
  connection ??= await connect(run);
  store.setValue(READ_AS, { ...readAs, decimal: mapping.decimal });
  mapping.warnings.forEach(run.warn);
  run.evidence.push(...mapping.evidence);
  const names = new NameCollector(spec.fields.some(({ name }) => name === 'category.subcategory'));
  const rowsOfNumber = job.resource === 'contract' ? new Map<string, number[]>() : undefined;
  const resolvesNow = !needsLookUp(mapping);
  const out = rowWriter(resolvesNow ? run.folder.resolved : run.folder.staged, mapping.fields);
  const resolver = resolvesNow
    ? createRowResolver(
        run,
        out,
        { ...connection, mapping, rowsOfNumber },
        await loadDirectory(names.names, connection),
      )
    : undefined;
  run.rows = 0;
  const skipped: number[] = [];
  let noRecords = 0;
  const edited = await openEditedRows(run, input, mapping);
  await fillRowFile(out, async () => {
    for await (const batch of source.rows()) {
      const mapped = batch.map((row) => mapping.mapRow(row, source.meta.sheet ?? undefined));
      for (const [at, staged] of (edited?.keep(batch, mapped) ?? mapped).entries()) {
        // Rows that somebody emptied are no question.
        if (isNoRecord(staged) && batch[at]?.noRecord?.like !== 'nothing' && ++noRecords <= MAX_NAMED)
          skipped.push(staged.ref.row);
        if (rowsOfNumber) noteNumber(staged, rowsOfNumber, mapping.key);
        if (resolver) resolver.add(staged);
        else {
          names.add(staged);
          out.write(staged);
        }
        run.rows++;
      }
      run.progress('reading', run.rows);
      if (run.signal.aborted) throw runFailure('interrupted');
    }
  });
  edited?.warnUnknown();
  if (noRecords > 0) {
    const named = skipped.join(', ') + (noRecords > skipped.length ? ` and ${noRecords - skipped.length} more` : '');
    run.warn(
      `Rows that look like totals or notes and are skipped as no records: ${noRecords === 1 ? 'row' : 'rows'} ${named}. results.csv has the reasons. If they are records, state \`source: { footer: keep }\` in the job.`,
    );
  }
  mapping.remarks().forEach(run.warn);
  reached('staged');
  const facts = resolver && { facts: resolver.facts() };
  return {
    ...connection,
    mapping,
    names,
    rowsOfNumber,
    ...facts,
    ...(compared ? { authority: compared.authorityOf } : {}),
    ...(edited ? { edited } : {}),
  };
}

/** A file that lacks most headings of the job is another job's: one fault, and whose it may be. */
async function assertJobFitsFile({ job, request, source, settings }: Run): Promise<void> {
  const { headings, sheet, sheets = [], header_row: row } = source.meta;
  const { needed, missing } = countHeadings(job, headings);
  if (missing * 2 <= needed) return;
  const { name, path } = request.job;
  const dir = path === '' ? settings.jobsDir : dirname(path);
  const fits: { readonly name: string; readonly needed: number; readonly alike: boolean }[] = [];
  for (const file of await jobFileNames(dir).catch((): string[] => [])) {
    const found = await checkJobFile(join(dir, file), { jobsDir: dir }).catch(() => undefined);
    if (!found?.job || found.job.kind === 'export') continue;
    const other = countHeadings(found.job, headings);
    if (other.needed > 0 && other.missing === 0)
      fits.push({ name: jobNameOf(file), needed: other.needed, alike: found.job.kind === job.kind });
  }
  const [best] = fits.sort((a, b) => Number(b.alike) - Number(a.alike) || b.needed - a.needed);
  // One or two are more likely misspelt, unless another job finds more in the file: each has a fault of its own.
  if (missing < 3 && (best?.needed ?? 0) <= needed) return;
  const others = job.source.sheet === undefined ? sheets.filter((one) => one !== sheet) : [];
  const elsewhere =
    others.length > 0 ? `; if they are in ${quoted(others)}, name that sheet in the job (\`source.sheet\`)` : '';
  const where =
    sheet === null ? '' : ` They were looked for in row ${row} of the sheet ${quoted([sheet])}${elsewhere}.`;
  const listed = headings.filter((heading) => heading.trim() !== '').slice(0, 30);
  const has = listed.length < headings.length ? `${quoted(listed)} and others` : quoted(listed);
  const next = best
    ? ''
    : ' Correct the headings, in the file or in the job; `rowferry map` suggests a job for a file.';
  throw usageError(
    `${missing} of ${needed} headings of job \`${name}\` are missing; ${best ? `this file fits job \`${best.name}\`` : `the file has ${has}`}.${where} Nothing was sent.${next}`,
  );
}

/** references resolved: names become ids, duplicates and the order of rows that refer to one another are known. */
export async function resolveRows(run: Run, staged: Staged, newRecords?: NewRecords): Promise<Resolved> {
  const directory = await loadDirectory(staged.names.names, staged);
  staged.lexicon.useDirectory(directory);
  run.namesOf = (target) => chooseNames(directory.spellings(target)).names;
  const facts = staged.facts ?? (await lookUpNames(run, staged, directory, newRecords));
  reached('resolved');
  return { ...staged, ...facts, directory, ...(newRecords ? { newRecords } : {}) };
}

async function lookUpNames(
  run: Run,
  staged: Staged,
  directory: Directory,
  newRecords: NewRecords | undefined,
): Promise<RowFacts> {
  const out = rowWriter(run.folder.resolved, staged.mapping.fields);
  const resolver = createRowResolver(run, out, staged, directory, newRecords);
  let done = 0;
  await fillRowFile(out, async () => {
    for await (const rows of readRows(run.folder.staged)) {
      for (const row of rows) resolver.add(row);
      done += rows.length;
      run.progress('looking up', done);
    }
  });
  return resolver.facts();
}

/** Resolves rows, in the order of the file, into their file. */
function createRowResolver(
  run: Run,
  out: RowWriter,
  { mapping, spec, rowsOfNumber }: Pick<Staged, 'mapping' | 'spec' | 'rowsOfNumber'>,
  directory: Directory,
  newRecords?: NewRecords,
) {
  const { key, columnOf, specOf } = mapping;
  const { textOf } = out;
  const keys = openKeyStore(run.folder.keys);
  run.closers.push(async () => keys.close());
  // Also of faulty rows: which rules they break depends on whether their record exists.
  const resolve = makeResolver({
    ...{ directory, key, columnOf, specOf, textOf, firstRows: keys },
    append: key.length === 0,
    skipRepeated: run.job.match.duplicates === 'first',
    ...(rowsOfNumber && { rowsOfNumber }),
    ...(newRecords && { newRecords }),
  });
  const fingerprinter = fingerprints(spec, mapping.fields);
  const after = new Map<number, number>();
  let keyless = 0;
  const counts: PlanCounts = { rows: 0, invalid: 0, creates: 0, updates: 0, cleared: 0 };
  const rowFingerprints = createNumberSet();
  return {
    add(staged: StagedRow): void {
      const row = resolve(staged);
      counts.rows++;
      if (row.issues.some((issue) => issue.severity === 'error')) counts.invalid++;
      if (isNoRecord(row)) counts.noRecords = (counts.noRecords ?? 0) + 1;
      else if (key.length > 0 && (row.key === '' || isKeyDoubtful(row, key, run.source.meta.guessed))) keyless++;
      if (row.after) after.set(row.ref.row, row.after.row);
      const fingerprint = fingerprinter && decidedByValues(row) ? fingerprinter.ofRow(row.set) : undefined;
      // What became of an open row only its whole record tells.
      if (fingerprint !== undefined && !run.past.open.has(row.ref.row)) rowFingerprints.add(fingerprint);
      out.write(row, fingerprint);
    },
    facts(): RowFacts {
      const depth = depths(after);
      let waves = 1;
      for (const level of depth.values()) waves = Math.max(waves, level + 1);
      return { keys, releaseKeys: keys.close, keyless, depth, waves, counts, fingerprints: rowFingerprints };
    },
  };
}

/** Rows that no file has: they meet their records by id, and set the same fields. */
export function matchById(
  { service, spec, known, lexicon, readAll, warn, behaviour }: Connection,
  directory: Directory,
  ids: Iterable<number>,
  { fields, specOf }: JobValues = { fields: {}, specOf: () => undefined },
): Resolved {
  const keys = new Map([...ids].map((id) => [String(id), []]));
  return {
    ...{ service, spec, known, lexicon, readAll, warn, behaviour, directory, keys },
    mapping: { key: ['id'], columnOf: () => undefined, columns: [], fields: Object.keys(fields), specOf },
    keyless: 0,
    fingerprints: createNumberSet(),
    depth: new Map(),
    waves: 1,
    counts: { rows: keys.size, invalid: 0, creates: 0, updates: keys.size, cleared: 0 },
  };
}

/** Whether what becomes of a row depends on nothing but what it and its record hold. */
function decidedByValues(row: ResolvedRow): boolean {
  const { key, issues, duplicateOf, after } = row;
  if (key === '' || duplicateOf !== undefined || after || isRepeated(row)) return false;
  return !issues.some(({ severity }) => severity === 'error');
}

/**
 * Whether the key of a row may be another one, as its cells are not certain, it was read in a wrong encoding, or it is an error of a
 * spreadsheet; or whether a quotation mark that was never closed may have swallowed the rows that follow.
 */
function isKeyDoubtful({ key: text, issues }: ResolvedRow, key: readonly string[], guessed = false): boolean {
  if (guessed && !IS_ASCII.test(text)) return true;
  if (text.startsWith('#') && SPREADSHEET_ERRORS.has(text.toUpperCase())) return true;
  return issues.some(
    ({ code, field = '', value = '' }) =>
      code === 'ragged_row' ||
      code === 'stray_quote' ||
      (code === 'misread_text' && key.includes(field)) ||
      (code === 'too_long' && /[\r\n]/.test(value)),
  );
}

const IS_ASCII = /^[\0-\x7f]*$/;

async function takeSample(source: OpenSource): Promise<Sample> {
  const rows: SheetRow[] = [];
  for await (const batch of source.rows()) {
    rows.push(...batch.filter(({ noRecord }) => noRecord === undefined));
    if (rows.length >= SAMPLE_ROWS) break;
  }
  return { rows, delimiter: source.meta.delimiter };
}

/** Of two rows with one number and one key the earlier is meant; by another key they are two contracts. */
function noteNumber(row: StagedRow, rowsOfNumber: Map<string, number[]>, key: readonly string[]): void {
  const number = row.set['number'];
  if (typeof number !== 'string') return;
  const rows = rowsOfNumber.get(normaliseKey(number));
  if (!rows) rowsOfNumber.set(normaliseKey(number), [row.ref.row]);
  else if (rows.length === 1 && key.join() !== 'number') rows.push(row.ref.row);
}

/** Depth by row: 1 above the row it refers to. Rows of a circle get none; they are found out when they are planned. */
function depths(after: ReadonlyMap<number, number>): Map<number, number> {
  const depth = new Map<number, number>();
  const circles = new Set<number>();
  for (const row of after.keys()) {
    const chain: number[] = [];
    const seen = new Set<number>();
    let at: number | undefined = row;
    while (at !== undefined && after.has(at) && !depth.has(at) && !circles.has(at) && !seen.has(at)) {
      chain.push(at);
      seen.add(at);
      at = after.get(at);
    }
    if (at !== undefined && seen.has(at)) for (const one of chain.splice(chain.indexOf(at))) circles.add(one);
    let level = at === undefined ? 0 : (depth.get(at) ?? 0);
    for (const one of chain.reverse()) depth.set(one, ++level);
  }
  return depth;
}

/** Values that a job gives to records which are there already. */
export interface JobValues {
  /** By canonical field; names are resolved. */
  readonly fields: Fields;
  specOf(field: string): FieldSpec | undefined;
}

/**
 * Reads what a job says that records are to be given (`orphans.set`, `retire`), as it reads constants. `where`: the key of the
 * job file. Throws a `RunError` of kind `usage` that lists every fault.
 */
export async function resolveJobValues(
  jobValues: Readonly<Record<string, string | number | boolean>>,
  where: string,
  job: RowsJob,
  connection: Connection,
): Promise<JobValues> {
  const { spec, lexicon } = connection;
  const catalogue = await loadCustomFields(customFieldsIn(Object.keys(jobValues)), lexicon);
  const { set, specs, problems } = compileSetValues(jobValues, [where], { job, spec, catalogue });
  const faults = problems.map(jobFaultText);
  const names = new NameCollector();
  const row = { ref: { row: 1 }, set, issues: [] };
  names.add(row);
  const directory = await loadDirectory(names.names, connection);
  const resolved = makeResolver({ directory, key: [], columnOf: () => undefined, specOf: (field) => specs.get(field) })(
    row,
  );
  faults.push(...resolved.issues.map((issue) => `${where}.${issue.field ?? ''}: ${issue.message}`));
  if (faults.length > 0) {
    throw usageError('What the job gives to records does not fit. Nothing was sent.', faults);
  }
  return { fields: resolved.set, specOf: (field) => specs.get(field) };
}
