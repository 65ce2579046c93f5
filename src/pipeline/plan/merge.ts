import type { FieldDiff } from '../../model/change.js';
import { fault, type Issue, warning } from '../../model/issue.js';
import type { RowsJob } from '../../model/job.js';
import { type Fields, isEmpty, normaliseKey, sameValue, type Value, valueText } from '../../model/value.js';
import { isObject, putAt } from '../../resources/path.js';
import { type ReadRecord, readRecord } from '../../resources/read.js';
import { type Loss, recordId } from '../../resources/read-value.js';
import { isRequired } from '../../resources/rules.js';
import type { FieldSpec, Lexicon, ResourceSpec } from '../../resources/spec.js';
import { updateBody } from '../../resources/write.js';
import type { Json } from '../../service/port.js';
import { decodeFields } from '../rows.js';

/** What putting a row onto a record comes to. */
export interface Merge {
  /** The whole record as it would be after the update. */
  readonly target: Fields;
  /** What changes (`set`, `clear`), what is carried over from our own memory (`preserved`), what would be lost (`at_risk`). */
  readonly diff: readonly FieldDiff[];
  /** Errors make the row invalid. */
  readonly issues: readonly Issue[];
  /** Values that the PUT would destroy. */
  readonly risks: readonly Issue[];
  /** Fields nobody can see: reads do not show them and no run of ours wrote them. */
  readonly unseen: readonly string[];
}

export interface MergeOptions {
  readonly spec: ResourceSpec;
  readonly company: number;
  readonly lexicon: Lexicon;
  readonly specOf: (field: string) => FieldSpec | undefined;
  /** Job names of fields that a probe found to be kept although the update body does not list them. */
  readonly accepted: ReadonlySet<string>;
  /** PATCH, or a service that keeps what a PUT leaves out: nothing that is not mentioned is at risk. */
  readonly omittedIsKept: boolean;
  /** A probe found that the service has PATCH. */
  readonly patchWorks?: boolean;
  /** The heading that a field comes from. */
  readonly columnOf: (field: string) => string | undefined;
  /** Its `match.key` is what the record was found by; `write.method`, how the update is sent. */
  readonly job?: Pick<RowsJob, 'match' | 'write'>;
  /** Whose value stands where a row and the record differ; absent: the row's. */
  readonly authorityOf?: DecideAuthority;
}

/** `set`: what the row says, `current`: what the record has. `none`: the field is not compared at all. */
export type DecideAuthority = (field: string, set: Fields, current: Fields) => 'file' | 'service' | 'none';

/** What is known of a record before a row is put onto it. */
export interface MergeBase {
  /** Undefined where it cannot be read. */
  readonly record: Json | undefined;
  readonly read: ReadRecord;
  /** What our last write left there that reads do not show; undefined where none is known. */
  readonly ours: Fields | undefined;
  /** Both together: the record as far as it is known. */
  readonly base: Fields;
}

/** Reads a record, and adds what an earlier run of ours wrote and reads do not show. */
export function mergeBaseOf(record: Json | undefined, remembered: Json | undefined, options: MergeOptions): MergeBase {
  const read: ReadRecord = record
    ? readRecord(options.spec, record, options.lexicon)
    : { id: 0, fields: {}, losses: [], unknown: [] };
  const ours = remembered && decodeFields(remembered);
  const base: Record<string, Value> = { ...read.fields };
  // A customer is known from our own last write alone; of other records only what reads do not show.
  for (const [field, value] of Object.entries(ours ?? {})) {
    if (record === undefined || isOursAlone(field, value, base[field], options)) base[field] = value;
  }
  return { record, read, ours, base };
}

/**
 * Puts the values of a row onto a record as it was read: mapped fields get the new value, everything else is carried
 * over, and what cannot be carried over is named. Contract, section 7; interface, sections 2 and 4.
 */
export function mergeRow(set: Fields, current: MergeBase, options: MergeOptions): Merge {
  const { record, read, ours, base } = current;
  const issues: Issue[] = [];
  const risks: Issue[] = [];
  const diff: FieldDiff[] = [];
  const target: Record<string, Value> = { ...base };
  for (const field of Object.keys(set)) {
    if (field === 'id') continue;
    const value = set[field] ?? null;
    const lost = read.losses.find((loss) => loss.field === field);
    if (lost === undefined && (sameValue(base[field], value) || isSameKey(field, base[field], value, options)))
      continue;
    // A cleared yes-or-no takes its default, which is no (interface, section 4.1).
    if (isEmpty(value) && base[field] === false) continue;
    if (lost !== undefined && equalsLoss(value, lost)) continue;
    const old = lost?.text ?? base[field] ?? null;
    const authority = options.authorityOf?.(field, set, lost ? { ...base, [field]: old } : base) ?? 'file';
    if (authority !== 'file') {
      if (authority === 'service') diff.push({ field, old, new: value, kind: 'kept' });
      continue;
    }
    const refusal =
      lost?.value === undefined
        ? updateFault(field, base[field], value, options, record !== undefined)
        : unchangeableFault(field, value, lost);
    if (refusal) {
      issues.push(refusal);
      continue;
    }
    target[field] = value;
    diff.push({ field, old, new: value, kind: isEmpty(value) ? 'clear' : 'set' });
  }
  const conflict = severalTemplates(
    diff.flatMap((one) => (one.kind === 'set' ? [one.field] : [])),
    options.lexicon,
  );
  if (conflict) issues.push(conflict);
  templateConflict(base, target, options, risks, diff);
  const { lost } = updateBody(options.spec, options.company, target, options.lexicon, options.accepted);
  const changed = new Set(diff.flatMap(({ field, kind }) => (kind === 'kept' ? [] : field)));
  for (const loss of lost) {
    // A status is judged by the rules, which name the values it may take; that a template of several is left out is said once.
    const isReported = loss.field === 'status' || (conflict && templateOf(loss.field) !== undefined);
    if (changed.has(loss.field) && !isReported) issues.push(unwritable(loss));
  }
  for (const loss of [...read.losses.map((one) => ({ ...one, next: remedyFor(one, options) })), ...lost]) {
    if (changed.has(loss.field) || (options.omittedIsKept && !isRequiredInPut(loss.field, options))) continue;
    risks.push(riskOf(loss));
    diff.push({ field: loss.field, old: loss.text, new: null, kind: 'at_risk' });
  }
  if (!options.omittedIsKept) {
    for (const field of Object.keys(ours ?? {})) {
      if (
        record !== undefined &&
        !isEmpty(target[field]) &&
        !(field in set) &&
        isOursAlone(field, ours?.[field], read.fields[field], options)
      ) {
        diff.push({ field, old: target[field] ?? null, new: target[field] ?? null, kind: 'preserved' });
      }
    }
  }
  const unseen = options.omittedIsKept ? [] : [...unknownFields(set, current, options.spec), ...read.unknown];
  return { target, diff, issues, risks, unseen };
}

/** Whether a PUT is refused without the field, whatever the service keeps of what is left out. */
function isRequiredInPut(field: string, { job, specOf }: MergeOptions): boolean {
  const spec = specOf(field);
  return job?.write.method === 'put' && spec !== undefined && isRequired(spec, 'update');
}

/** Another Unicode form or outer blanks of the key that the record was found by: the form that the service keeps stays. */
function isSameKey(field: string, current: Value | undefined, value: Value, { job }: MergeOptions): boolean {
  if (typeof current !== 'string' || typeof value !== 'string' || !job?.match.key.includes(field)) return false;
  return normaliseKey(current) === normaliseKey(value);
}

function equalsLoss(value: Value, lost: Loss): boolean {
  return lost.value === undefined ? lost.text === valueText(value) : sameValue(lost.value, value);
}

function unchangeableFault(field: string, value: Value, lost: Loss): Issue {
  return fault(
    'field_not_updatable',
    `The record has ${field} = "${lost.text}", the file "${valueText(value)}", and it cannot be changed here: ${lost.why}. Change it in the service, or leave the column out.`,
    { field, value: valueText(value) },
  );
}

/** Whether the diff holds anything to send. */
export function changesOf(diff: readonly FieldDiff[]): readonly FieldDiff[] {
  return diff.filter((one) => one.kind === 'set' || one.kind === 'clear');
}

/** Whether reads do not show what is written to a field. */
export function isWriteOnly(field: string, { spec, specOf }: Pick<MergeOptions, 'spec' | 'specOf'>): boolean {
  if (field.startsWith('template.')) return false;
  if (field.startsWith('form.')) return spec.form?.read === undefined;
  const one = specOf(field);
  return one?.read === undefined || isNarrowEnum(one);
}

/** Whether what reads show of a field is what the record holds. */
export function isReadable(field: string, value: Value | undefined, options: MergeOptions): boolean {
  if (!isWriteOnly(field, options)) return true;
  const informative = !isEmpty(value) && value !== 'none';
  return informative && !field.startsWith('form.') && options.specOf(field)?.read !== undefined;
}

/** Whether reads would show this very value of a field. */
function isShown(field: string, value: Value | undefined, options: MergeOptions): boolean {
  const type = options.specOf(field)?.type;
  const isListed = type?.kind !== 'enum' || type.read === undefined || type.read.some((one) => one === value);
  return isListed && isReadable(field, value, options);
}

/** Whether a field holds what our last write left there, for all that reads tell. */
function isOursAlone(field: string, ours: Value | undefined, read: Value | undefined, options: MergeOptions): boolean {
  return !isReadable(field, read, options) && !isShown(field, ours, options);
}

/** Whether a reading tells if a field holds what was written to it. */
export function isTold(
  field: string,
  wanted: Value | undefined,
  got: Value | undefined,
  options: MergeOptions,
): boolean {
  return isShown(field, wanted, options) || (!isReadable(field, wanted, options) && isReadable(field, got, options));
}

/** Whether reads show fewer values than writes accept: `none` may then stand for a value that they cannot show. */
export function isNarrowEnum(spec: FieldSpec): boolean {
  const { type } = spec;
  return type.kind === 'enum' && type.read !== undefined && type.values.some((value) => !type.read?.includes(value));
}

function updateFault(
  field: string,
  old: Value | undefined,
  value: Value,
  options: MergeOptions,
  isRead: boolean,
): Issue | undefined {
  const spec = options.specOf(field);
  const form = field.startsWith('form.');
  const writable = form ? options.spec.form?.update !== undefined : spec === undefined || spec.update !== undefined;
  if (writable || options.accepted.has(field) || (form && options.accepted.has('form'))) return undefined;
  const at = { field, value: valueText(value) };
  if (field === 'contract_type') {
    return fault(
      'contract_type_change',
      `The type of an existing contract cannot be changed: it is ${valueText(old)}, the file says ${valueText(value)}.`,
      at,
    );
  }
  if (isRead && old === undefined && (form ? options.spec.form?.read === undefined : spec?.read === undefined)) {
    return warning(
      'field_not_updatable',
      `The field ${field} can be set when a record is created only, and reads do not show what it holds: it was left as it is.`,
      at,
    );
  }
  return fault(
    'field_not_updatable',
    `The field ${field} can be set when a record is created, not afterwards: the record has "${valueText(old)}", the file "${valueText(value)}". Change it in the service, or leave the column out.`,
    at,
  );
}

/** The fault of a row that gives values to fields of more than one custom field template: a record has one. */
export function severalTemplates(filled: readonly string[], lexicon: Lexicon): Issue | undefined {
  let firstFields: Map<string, string> | undefined;
  for (const field of filled) {
    const id = templateOf(field);
    if (id === undefined) continue;
    firstFields ??= new Map();
    if (!firstFields.has(id)) firstFields.set(id, field);
  }
  if (!firstFields || firstFields.size < 2) return undefined;
  const names = [...firstFields.keys()].map((id) => `"${lexicon.template(Number(id))?.name ?? id}"`);
  return fault(
    'template_conflict',
    `The row sets values of the custom field templates ${names.join(' and ')}, and a record has one template only. Leave the cells of all but one template blank.`,
    { field: [...firstFields.values()][1] ?? '' },
  );
}

/** The id of the custom field template in the name of a custom field. */
export function templateOf(field: string): string | undefined {
  return field.startsWith('template.') ? field.split('.')[1] : undefined;
}

/** A record has one custom field template: setting values of another would drop those it holds. */
function templateConflict(
  base: Fields,
  target: Record<string, Value>,
  options: MergeOptions,
  risks: Issue[],
  diff: FieldDiff[],
): void {
  const wanted = diff.flatMap((one) => (one.kind === 'set' ? (templateOf(one.field) ?? []) : []))[0];
  if (wanted === undefined) return;
  const foreign = Object.keys(base).filter((field) => ![undefined, wanted].includes(templateOf(field)));
  // What the row itself clears is not lost.
  const dropped = foreign.filter((field) => !isEmpty(target[field]));
  for (const field of foreign) delete target[field];
  for (const field of dropped) diff.push({ field, old: base[field] ?? null, new: null, kind: 'at_risk' });
  if (dropped.length === 0) return;
  const other = Number(dropped[0]?.split('.')[1]);
  const name = options.lexicon.template(other)?.name ?? other;
  risks.push(
    fault(
      'template_conflict',
      `The record holds values of the custom field template "${name}" (${dropped.length} of them), and a record has one template only: writing this row would drop them.`,
      {
        field: dropped[0] ?? 'template',
        value: valueText(base[dropped[0] ?? '']),
      },
    ),
  );
}

/** A value of the row itself that an update cannot carry. */
function unwritable({ field, text, why }: Loss): Issue {
  const message = `"${text}" cannot be written to ${field} of an existing record: ${why}.`;
  return fault('field_not_updatable', message, { field, value: text });
}

/** What to do about a value that was read and cannot be written; undefined where only the service can tell. */
function remedyFor({ field, value }: Loss, options: MergeOptions): string | undefined {
  if (value !== undefined || options.specOf(field)?.type.kind !== 'reference') return undefined;
  const column = options.columnOf(field);
  const cell = column === undefined ? `a column that the job maps to ${field}` : `the column "${column}"`;
  const patch = options.patchWorks
    ? ' Or set `write: { method: patch }` in the job, which leaves it alone.'
    : ' Or `rowferry doctor --probe` finds out whether the service keeps it or has PATCH (`write: { method: patch }`).';
  return `Write its id, e.g. \`id:17\`, into ${cell}.${patch}`;
}

const PROBE = '`rowferry doctor --probe`';

/** The faults of a row that is held back: one of them names the command that may show that nothing is lost. Contract, section 7. */
export function withProbeHint(issues: readonly Issue[]): readonly Issue[] {
  const last = issues.findLastIndex((issue) => issue.severity === 'error');
  if (issues.some((issue) => issue.message.includes(PROBE))) return issues;
  return issues.map((issue, at) =>
    at === last ? { ...issue, message: `${issue.message} ${PROBE} finds out what the service keeps.` } : issue,
  );
}

/** A value of the record that an update would destroy. */
function riskOf({ field, text, why, next }: Loss & { readonly next?: string | undefined }): Issue {
  const at = { field, value: text };
  return field === 'status'
    ? fault(
        'status_not_writable',
        `The contract is ${text}, and an update accepts only active and archived: writing this row would change its status. Map the status column to say what it should become.`,
        at,
      )
    : fault(
        'would_lose_value',
        `The record holds ${field} = "${text}", which an update would destroy: ${why}. ${next ?? '`rowferry doctor --probe` finds out whether the service keeps it.'}`,
        at,
      );
}

/** A create takes a list of templates, and reads and updates have room for one (interface, sections 2.2 and 4.3). */
const FURTHER_TEMPLATES = 'further custom field templates';

/** What the record may hold although nobody can see it; nothing where our own last write is known. */
function unknownFields(set: Fields, { record, ours }: MergeBase, spec: ResourceSpec): string[] {
  if (record === undefined || ours !== undefined) return [];
  // A record that shows no template has none; a service that shows a list shows all.
  const template = record[spec.template.read];
  const one = isObject(template) && recordId(template['id']) !== undefined;
  return writeOnlyFields(spec).filter((field) => (field === FURTHER_TEMPLATES ? one : !(field in set)));
}

/** What records of a resource may hold and reads never show, so that an update cannot carry it over; `form`: all form rows. */
export function writeOnlyFields(spec: ResourceSpec): string[] {
  const fields = spec.fields.filter((field) => field.read === undefined && field.update !== undefined);
  return [
    ...fields.map((field) => field.name),
    ...(spec.form && spec.form.read === undefined ? ['form'] : []),
    ...(spec.template.createAsList ? [FURTHER_TEMPLATES] : []),
  ];
}

/**
 * The body of an update: PUT the whole record as it shall be, PATCH what changes, with the other parts of the same
 * compound. Where the service keeps what a body leaves out, a cleared field is said to be null. Interface, section 4.1.
 */
export function updateRequest(method: 'put' | 'patch', merge: Merge, options: MergeOptions): Json {
  const { spec, company, lexicon, accepted } = options;
  const { body } = updateBody(spec, company, method === 'put' ? merge.target : changedParts(merge), lexicon, accepted);
  if (method === 'patch' || options.omittedIsKept) nullCleared(body, merge, options);
  return body;
}

function changedParts(merge: Merge): Record<string, Value> {
  const roots = new Set(changesOf(merge.diff).map((one) => rootOf(one.field)));
  const part: Record<string, Value> = {};
  for (const field of Object.keys(merge.target)) {
    if (roots.has(rootOf(field))) part[field] = merge.target[field] ?? null;
  }
  return part;
}

/** Parts of one object are written together. */
function rootOf(field: string): string {
  return field.split('.')[0] ?? field;
}

function nullCleared(body: Record<string, unknown>, merge: Merge, options: MergeOptions): void {
  for (const { field, kind } of changesOf(merge.diff)) {
    // A form is a list of rows: what is not in the list is gone. Values of a template may be merged by their ids.
    if (kind !== 'clear' || field.startsWith('form.')) continue;
    const [, template, value] = field.startsWith('template.') ? field.split('.') : [];
    if (template !== undefined) {
      const { id, fields } = (body[options.spec.template.update] ?? {}) as { id?: unknown; fields?: unknown[] };
      if (id === Number(template)) fields?.push({ id: Number(value), value: null });
      continue;
    }
    const spec = options.specOf(field);
    const path = spec?.update ?? (options.accepted.has(field) ? spec?.create : undefined);
    if (path === undefined) continue;
    const root = rootOf(path);
    if (path !== root && isObject(body[root])) putAt(body, path, null);
    else body[root] = null;
  }
}
