import { createHash } from 'node:crypto';
import { writeAtomically } from '../../files/atomic-write.js';
import type { Change } from '../../model/change.js';
import { RunInterrupted } from '../../model/error.js';
import { endSentence, fault, type Issue, warning } from '../../model/issue.js';
import { importJob } from '../../model/job.js';
import { noOutcomes, type Outcome, type OutcomeKind } from '../../model/outcome.js';
import { CREATABLE, type Creatable } from '../../model/resource-names.js';
import { foldText, isNewRef, normaliseKey, normaliseName, type Ref } from '../../model/value.js';
import { isPlaceholder } from '../../pipeline/map/column-warnings.js';
import { quoted } from '../../pipeline/map/headings.js';
import { changesOf } from '../../pipeline/plan/merge.js';
import type { NewRecords } from '../../pipeline/resolve/resolve.js';
import type { NamedRef } from '../../pipeline/rows.js';
import type { ReferenceResult } from '../../report/finish.js';
import { results } from '../../report/results.js';
import type { RunResult, Summary } from '../../report/summary.js';
import { findField, resourceSpec } from '../../resources/registry.js';
import { checkValue } from '../../resources/value-check.js';
import { REFERENCES_BEGUN, RunStore } from '../../store/run-store.js';
import { reached } from '../../trace/milestones.js';
import type { RunContext } from '../run/context.js';
import { countRequests } from '../run/core.js';
import { readRequest } from '../run/earlier-run.js';
import { innerRunId, runFolder } from '../run/layout.js';
import { openRun, type Run, reopenRun } from '../run/run.js';
import type { Staged } from './stage.js';

/** A name that rows of the plan refer to and that no record bears. */
interface MissingName {
  readonly resource: Creatable;
  /** As the first row spells it. */
  readonly name: string;
  /** Of the plan that write it, and the first of them. */
  rows: number;
  row: number;
}

/**
 * The records that a run creates because its rows refer to them (`references: { missing: create }`).
 *
 *   planned: a name that no record bears is stood for by a reference of its own (`id` below 0), and the plan of the rows tells
 *            which of them are needed → kept, counted by the brakes → created by an import of their names, a run of its own inside
 *            this one, with a journal of its own (`innerRunId`) → the rows are resolved and matched anew, with the ids
 *
 * A run that was killed while they were created goes on with that import first.
 */
export interface References extends NewRecords {
  /** Names that the plan needs. */
  readonly planned: number;
  /** Whether a name of the file is stood for, so that the plan has to be made whole. */
  readonly isOpen: boolean;
  /** Looks at a planned change. */
  see(change: Change): void;
  /** Keeps what was planned, for the reports. */
  keep(): void;
  /** Creates them; what was kept by an earlier process is gone on with. True where the rows are to be resolved anew. */
  create(execute: (run: Run) => Promise<RunResult>): Promise<boolean>;
}

/** Under this name stands in the run's store what was planned. */
const PLANNED_KEY = 'references';

/** Undefined where the job creates none; a retry takes up rows whose references were there. */
export function openReferences(run: Run, { names, known: knownIds }: Staged): References | undefined {
  const { job, store, request } = run;
  if (job.kind !== 'import' || job.references.missing !== 'create' || request.lineage?.retries) return undefined;
  const spellings = new Map(CREATABLE.map((resource) => [resource, spellingsOf(names.names.get(resource))]));
  const provisional = new Map<string, Ref>();
  /** Names that are hardly different, by the name that is to be created. */
  const nearest = new Map<string, readonly string[]>();
  /** By the ids that stand for them: -1, -2 and so on. */
  const byId: MissingName[] = [];
  let created: Map<string, Outcome> | undefined;

  function makeProvisional({ name, column }: NamedRef, resource: Creatable, field: string): Ref | Issue | undefined {
    const where = { field, value: name, ...(column === undefined ? {} : { column }) };
    const others = [...(spellings.get(resource)?.get(foldText(name)) ?? [])].filter(
      (other) => other !== normaliseName(name),
    );
    if (others.length > 0)
      return fault(
        'reference_ambiguous',
        `There is no ${resource} "${name}", and other rows write ${quoted(others)}: which of them is to be created cannot be told. Write it the same in all rows.`,
        where,
      );
    const spec = findField(resourceSpec(resource), 'name');
    const wrong = spec && checkValue(spec, cleanName(name), 'create');
    if (wrong) return { ...wrong, message: `The ${resource} cannot be created: ${wrong.message}`, ...where };
    const key = keyOf(resource, name);
    const known = provisional.get(key);
    if (known) return known;
    const ref = { id: -byId.push({ resource, name: cleanName(name), rows: 0, row: 0 }), name: cleanName(name) };
    provisional.set(key, ref);
    return ref;
  }

  const needed = () => byId.filter(({ rows }) => rows > 0);

  return {
    get planned() {
      return needed().length;
    },
    get isOpen() {
      return byId.length > 0;
    },
    find(value, field, found, directory) {
      const { named, name, column } = value;
      if (!isCreatable(named)) return undefined;
      const key = keyOf(named, name);
      const outcome = created?.get(key);
      const where = { field, value: name, ...(column === undefined ? {} : { column }) };
      if (outcome && hasRecord(outcome)) {
        const ref = { id: outcome.id as number, name: cleanName(name) };
        return { ref, issue: newNameWarning(named, outcome.kind, where, nearest.get(key)) };
      }
      if (found.kind !== 'missing') return undefined;
      if (outcome) return { issue: notCreatedFault(named, outcome, where) };
      // Numbers are ids; a name that differs from another in its case alone is hardly a new one.
      if (isPlaceholder(name)) return { issue: missingNameFault(named, where) };
      if (!isName(name) || !directory.mayCreate(named, name)) return undefined;
      const provisionalRef = makeProvisional(value, named, field);
      if (!provisionalRef || !('id' in provisionalRef)) return provisionalRef && { issue: provisionalRef };
      nearest.set(key, found.nearest);
      return { ref: provisionalRef, issue: newNameWarning(named, 'created', where, found.nearest) };
    },
    see(change) {
      for (const id of new Set(provisionalIds(change))) {
        const one = byId[-1 - id] as MissingName;
        if (one.rows++ === 0 || change.ref.row < one.row) one.row = change.ref.row;
      }
    },
    withhold(change) {
      const [id] = provisionalIds(change);
      if (!created || id === undefined) return withoutCreatedWarning(change);
      const { ref, key, issues } = change;
      const { resource, name } = byId[-1 - id] as MissingName;
      const message = `There is no ${resource} "${name}" now, and what was planned does not create it: the records changed after this row was planned. Nothing was sent. Run the file again to plan it anew.`;
      const issue = fault('changed_meanwhile', message);
      return withoutCreatedWarning({ ref, key, kind: 'settled', outcome: 'conflict', issues: [...issues, issue] });
    },
    keep: () => store.setValue(PLANNED_KEY, needed()),
    async create(execute) {
      const begun = store.getValue(REFERENCES_BEGUN) as MissingName[] | undefined;
      const wanted = begun ?? needed();
      if (created || (wanted.length === 0 && byId.length === 0)) return false;
      // A plan that was interrupted does not name all that is needed.
      if (run.signal.aborted) throw new RunInterrupted();
      created = new Map();
      if (!begun && wanted.length > 0) {
        store.setValue(REFERENCES_BEGUN, wanted);
        await store.flush();
        reached('references-begun');
      }
      for (const resource of CREATABLE) {
        const missing = wanted.filter((one) => one.resource === resource);
        if (missing.length === 0) continue;
        await createAll(run, resource, missing, execute);
        for (const [at, outcome] of outcomesOf(run, resource)) {
          const name = missing[at]?.name ?? '';
          created.set(keyOf(resource, name), outcome);
          if (resource === 'customer' && hasRecord(outcome)) knownIds.learn(resource, outcome.id as number, name);
        }
      }
      return true;
    },
  };
}

/** A row that is not written does not tell of a new record: nothing is created for it, or an earlier run has done that. */
function withoutCreatedWarning(change: Change): Change {
  if (change.kind !== 'unchanged' && (change.kind !== 'settled' || WRITTEN.has(change.outcome))) return change;
  return { ...change, issues: change.issues.filter(({ code }) => code !== 'reference_created') };
}

const WRITTEN: ReadonlySet<OutcomeKind> = new Set(['created', 'updated']);

/** References of a planned write that stand for records which are still to be created. */
function provisionalIds(change: Change): number[] {
  const values =
    change.kind === 'create'
      ? Object.values(change.fields)
      : change.kind === 'update'
        ? changesOf(change.diff).map((one) => one.new)
        : [];
  return values.flatMap((value) => (isNewRef(value) ? [value.id] : []));
}

const isCreatable = (target: string): target is Creatable => CREATABLE.some((one) => one === target);

/** Ids and other numbers (programs write an id as `17.0`) name nobody. */
const isName = (text: string): boolean => !/^\s*id:/i.test(text) && !NUMBER.test(normaliseKey(text));

const NUMBER = /^[#+-]?[\d\s.,'’]+(?:e[+-]?\d+)?$/iu;

const keyOf = (resource: Creatable, name: string): string => `${resource} ${normaliseName(name)}`;

/** A name as the new record bears it. */
const cleanName = (name: string): string => name.trim().replace(/\s+/gu, ' ');

const hasRecord = ({ kind, id }: Outcome): boolean => id !== undefined && (kind === 'created' || kind === 'skipped');

/** Names of a file by what they have in common but for case and invisible characters. */
function spellingsOf(names: ReadonlySet<string> = new Set()): ReadonlyMap<string, ReadonlySet<string>> {
  const spellings = new Map<string, Set<string>>();
  for (const name of names) {
    const folded = foldText(name);
    const known = spellings.get(folded) ?? new Set();
    spellings.set(folded, known.add(normaliseName(name)));
  }
  return spellings;
}

type Where = Pick<Issue, 'field' | 'value' | 'column'>;

const missingNameFault = (resource: Creatable, where: Where): Issue =>
  fault(
    'reference_not_found',
    `"${where.value}" stands where a name is missing: no ${resource} of this name is created. Write the name, or state \`source: { null_values: [${JSON.stringify(where.value)}] }\` in the job where it means that there is none.`,
    where,
  );

function newNameWarning(resource: Creatable, kind: OutcomeKind, where: Where, nearest: readonly string[] = []): Issue {
  const what =
    kind === 'created' ? 'the run creates it before the rows that name it' : 'somebody else created it meanwhile';
  const hint = nearest.length > 0 ? ` Is ${quoted(nearest, ' or ')} meant?` : '';
  return warning('reference_created', `There was no ${resource} "${where.value}": ${what}.${hint}`, where);
}

function notCreatedFault(resource: Creatable, { kind, issues }: Outcome, where: Where): Issue {
  const why = issues.map(({ message }) => endSentence(message)).join(' ');
  const what =
    kind === 'created' || kind === 'skipped'
      ? 'is there, and the service did not tell its id: write the id instead, e.g. `id:17`.'
      : `could not be created (${kind}).`;
  // Nothing lists customers: one that is there already is refused by the service alone.
  const next =
    kind === 'rejected' && resource === 'customer'
      ? 'If it is in the service already, write its id instead, e.g. `id:17`; else put that right. Then import the row again.'
      : 'Put that right and import the row again.';
  return fault('reference_not_found', `The ${resource} "${where.value}" ${what}${why && ` ${why}`} ${next}`, where);
}

/** Imports the names, in a run of its own inside this one; one that an earlier process began goes on. */
async function createAll(
  run: Run,
  resource: Creatable,
  missing: readonly MissingName[],
  execute: (run: Run) => Promise<RunResult>,
): Promise<void> {
  const { request } = run;
  const id = innerRunId(run.folder.run, resource);
  run.info(
    `Creating ${missing.length === 1 ? `the ${resource}` : `${missing.length} ${resource}s`} that rows refer to (${id}).`,
  );
  await executePart(run, id, execute, (context) =>
    openRun(
      {
        run: id,
        kind: 'import',
        lineage: { createsFor: run.folder.run },
        file: request.file,
        job: nameJob(run, resource),
        company: request.company,
        concurrency: request.concurrency,
        dryRun: false,
        force: request.force,
        makeSource: (path) => writeNames(path, missing),
      },
      context,
    ),
  );
  reached('references-ended');
}

/**
 * Carries out a run inside another one; one that an earlier process began goes on. Its requests count there, what it says to
 * people is said there, and where it is interrupted both are. Throws what stopped it.
 */
export async function executePart(
  run: Run,
  id: string,
  execute: (part: Run) => Promise<RunResult>,
  open: (context: RunContext) => Promise<Run>,
): Promise<Summary> {
  const { settings, log, signal, clock, worker, warn } = run;
  const context: RunContext = {
    settings,
    log,
    signal,
    clock,
    listener: { progress: () => undefined, notice: ({ level, text }) => level === 'warn' && warn(text) },
    ...(worker ? { worker } : {}),
  };
  const part = readRequest(runFolder(settings.home, id)) ? await reopenRun(id, context) : await open(context);
  run.counters.push(() => countRequests(part));
  const { summary, error } = await execute(part);
  if (summary.status === 'interrupted') {
    run.halt(`the run ${id} was interrupted`);
    throw new RunInterrupted();
  }
  if (error) throw error;
  return summary;
}

/** The names by themselves are the least that such a record is made of (interface, section 4.2). */
function nameJob({ request }: Run, resource: Creatable): Run['request']['job'] {
  const { company, references, write } = request.job.job as Extract<Run['job'], { readonly kind: 'import' }>;
  const job = importJob.parse({
    kind: 'import',
    resource,
    ...(company === undefined ? {} : { company }),
    source: { format: 'ndjson', encoding: 'utf-8' },
    match: { key: 'name', existing: 'skip', missing: 'create' },
    columns: { name: 'name' },
    write,
    brakes: { min_rows: 0 },
    ...(references.retire === undefined ? {} : { retire: references.retire }),
  });
  return { ...request.job, job, name: `${request.job.name}: ${resource}s`, path: '', warnings: [] };
}

async function writeNames(path: string, missing: readonly MissingName[]): Promise<{ readonly sha256: string }> {
  const text = missing.map(({ name }) => `${JSON.stringify({ name })}\n`).join('');
  await writeAtomically(path, (write) => write(text));
  return { sha256: createHash('sha256').update(text).digest('hex') };
}

/** What became of the names, by their place from 0; of those that were not reached nothing. */
function* outcomesOf({ settings, folder }: Run, resource: Creatable): Generator<readonly [at: number, Outcome]> {
  const store = RunStore.openExisting(runFolder(settings.home, innerRunId(folder.run, resource)).store);
  if (!store) return;
  try {
    for (const batch of results(store.rows, '')) for (const { outcome } of batch) yield [outcome.ref.row - 1, outcome];
  } finally {
    store.close();
  }
}

/** What the reports tell of the records that rows refer to: what was planned, and what became of it. */
export function referenceResults(run: Run): readonly ReferenceResult[] {
  const planned = (run.store.getValue(PLANNED_KEY) ?? []) as readonly MissingName[];
  return CREATABLE.flatMap((resource): ReferenceResult[] => {
    const names = planned.filter((one) => one.resource === resource);
    if (names.length === 0) return [];
    const ended = new Map(outcomesOf(run, resource));
    const counts = noOutcomes();
    const listed = names.map(({ name, rows, row }, at) => {
      const { kind = run.request.dryRun ? 'created' : 'not_attempted', id, issues = [] } = ended.get(at) ?? {};
      counts[kind]++;
      const message = issues.map((issue) => issue.message).join(' ');
      return { name, outcome: kind, rows, row, ...(id === undefined ? {} : { id }), ...(message && { message }) };
    });
    const by = ended.size > 0 ? { run: innerRunId(run.folder.run, resource) } : {};
    const present = Object.fromEntries(Object.entries(counts).filter(([, count]) => count > 0));
    return [{ resource, ...by, ...present, total: names.length, all: listed }];
  });
}

/** Runs inside a run that created what its rows refer to, or undid that. */
export function innerRuns(home: string, run: string): readonly (readonly [Creatable, string])[] {
  return CREATABLE.flatMap((resource) => {
    const id = innerRunId(run, resource);
    return readRequest(runFolder(home, id)) ? [[resource, id] as const] : [];
  });
}
